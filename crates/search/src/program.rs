//! What is known of each program: its names, its version, its forms of output and columns.

use crate::error::SearchError;
use crate::format::Format;
use crate::tool::{command, run};
use serde::{Deserialize, Serialize};
use zerohop_process::on_path;

/// The columns that `std` stands for, behind the names of query and subject.
const STANDARD: [&str; 10] =
    ["pident", "length", "mismatch", "gapopen", "qstart", "qend", "sstart", "send", "evalue", "bitscore"];

/// A program that searches sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// `diamond blastp`: proteins in proteins.
    Diamond,
    /// NCBI's `blastp`: proteins in proteins.
    Blastp,
    /// NCBI's `blastn`: nucleotides in nucleotides.
    Blastn,
    /// NCBI's `blastx`: translated nucleotides in proteins.
    Blastx,
}

/// diamond's columns that another cut of queries or database would change.
const DIAMOND_NUMBERS: [(&str, &str); 2] =
    [("qnum", "it is a number within a batch of queries"), ("snum", "it is a number within a part of the database")];

impl Program {
    /// All that there are.
    pub const ALL: [Program; 4] = [Program::Diamond, Program::Blastp, Program::Blastn, Program::Blastx];

    /// The program that is called `name`, as [`Program::name`] gives it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }

    /// What its executable is called.
    pub fn name(self) -> &'static str {
        match self {
            Program::Diamond => "diamond",
            Program::Blastp => "blastp",
            Program::Blastn => "blastn",
            Program::Blastx => "blastx",
        }
    }

    /// Whether it is one of NCBI's.
    pub fn is_blast(self) -> bool {
        self != Program::Diamond
    }

    /// Whether its database is of nucleotides.
    pub fn has_nucleotides(self) -> bool {
        self == Program::Blastn
    }

    /// How many subjects of a query it gives if it is not told.
    pub fn usual_max_target_seqs(self) -> u32 {
        if self.is_blast() { 500 } else { 25 }
    }

    /// Debian's package of it.
    fn package(self) -> &'static str {
        if self.is_blast() { "ncbi-blast+" } else { "diamond-aligner" }
    }

    /// Why `format` is not to be had of it, if it is not.
    pub(crate) fn lacks(self, format: Format) -> Option<&'static str> {
        match (format, self.is_blast()) {
            (Format::Headed, true) => Some("it has no line of names; take commented"),
            (Format::Csv, false) => Some("it writes no commas; take tabular"),
            (Format::Sam, true) => Some("its header lists the queries with hits, which are known only at the end"),
            (Format::Pairwise, true) => Some("it lists the subjects of a query in two places"),
            _ => None,
        }
    }

    /// Why a column is not to be had of it, if it is not.
    pub(crate) fn lacks_column(self, column: &str) -> Option<&'static str> {
        let columns: &[(&str, &str)] = if self.is_blast() { &[] } else { &DIAMOND_NUMBERS };
        columns.iter().find(|(name, _)| *name == column).map(|(_, why)| *why)
    }

    /// The columns that `std` stands for. The names are the same for both, but BLAST calls these columns otherwise in
    /// comments.
    pub(crate) fn standard(self) -> impl Iterator<Item = String> {
        let names = if self.is_blast() { ["qaccver", "saccver"] } else { ["qseqid", "sseqid"] };
        names.into_iter().chain(STANDARD).map(str::to_owned)
    }

    /// Columns that the merge needs.
    pub(crate) fn own_columns(self) -> &'static [&'static str] {
        match self {
            Program::Diamond => &["qseqid", "sseqid", "evalue", "score", "qlen", "slen"],
            _ => &["qseqid", "sseqid", "evalue", "score"],
        }
    }
}

/// A program that is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Which it is.
    pub program: Program,
    /// Its version, as it says it.
    pub version: String,
}

impl Installed {
    /// Asks the program for its version.
    ///
    /// # Errors
    /// [`SearchError::NotFound`], or what went wrong when it was run.
    pub fn find(program: Program) -> Result<Self, SearchError> {
        let name = program.name();
        if on_path(name).is_none() {
            return Err(SearchError::NotFound { program: name, package: program.package() });
        }
        let question = if program.is_blast() { "-version" } else { "version" };
        let said = run(command(name, [question]))?;
        // "diamond version 2.1.3"; "blastp: 2.12.0+" and more lines.
        let said = String::from_utf8_lossy(&said);
        let version = said.lines().next().and_then(|line| line.split_whitespace().last()).unwrap_or_default();
        Ok(Installed { program, version: version.to_owned() })
    }
}
