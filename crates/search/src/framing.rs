//! What a search must know to make its frames, found out once.

use crate::database::Database;
use crate::error::SearchError;
use crate::fasta::Batch;
use crate::format::Format;
use crate::frame::Frame;
use crate::program::Program;
use crate::settings::Settings;
use crate::tool::{command, run};
use crate::written::{Alignment, Fault, Lines, commented, pairwise, sam, tabular};
use std::io::Write;

/// A protein and its gene, which every program finds in themselves.
const PROTEIN: &str = ">p\nMKVLAAGIVGLPNVGKSTLFNALTGAKVEVGNYPGVTVERKEG\n";
const GENE: &str = ">g\nATGAAAGTTCTGGCGGCGGGCATTGTGGGTCTGCCGAACGTTGGCAAAAGCACCCTGTTTAACGCGCTGACCGGTGCTAAAGTG\n";

/// What a search must know to make its frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Framing {
    format: Format,
    /// What a user calls the database.
    database: String,
    /// BLAST's line that names the columns.
    fields: String,
    /// What stands in the place of diamond's command line.
    invocation: String,
    /// Whether diamond says of those queries that have alignments that they have none.
    swapped: bool,
}

impl Framing {
    /// For a search of `database`, which the user calls `name`.
    pub(crate) fn new(settings: &Settings, database: &Database, name: &str) -> Result<Self, SearchError> {
        let is_counted = settings.is_twofold();
        Ok(Framing {
            format: settings.format,
            database: name.to_owned(),
            fields: if is_counted { fields(settings)? } else { String::new() },
            invocation: settings.invocation(name),
            swapped: is_swapped(&database.manifest().version),
        })
    }

    /// The alignments in what diamond wrote, and the frame.
    pub(crate) fn diamond<'a>(
        &self,
        text: &'a [u8],
        batch: &Batch,
        settings: &Settings,
    ) -> Result<(Vec<Alignment<'a>>, Frame), Fault> {
        let mut lines = Lines::new(text)?;
        let layout = settings.layout();
        let mut opening = Vec::new();
        let (alignments, mut frame) = match self.format {
            Format::Sam => {
                opening = sam::opening(&mut lines, &self.invocation)?;
                sam::alignments(lines, batch, self.swapped)?
            }
            Format::Pairwise => {
                opening = pairwise::opening(&mut lines)?;
                pairwise::alignments(lines, batch, self.swapped)?
            }
            Format::Headed | Format::Commented => {
                opening = tabular::opening(&mut lines, self.format, &layout, &self.invocation)?;
                (tabular::alignments(lines, &layout, batch)?, Frame::default())
            }
            Format::Tabular | Format::Csv => (tabular::alignments(lines, &layout, batch)?, Frame::default()),
        };
        if batch.number == 0 {
            frame.opening = opening;
        }
        Ok((alignments, frame))
    }

    /// Gives BLAST's alignments the lines that the user gets, and takes the frame.
    pub(crate) fn blast<'a>(
        &self,
        text: &'a [u8],
        alignments: &mut [Alignment<'a>],
        batch: &Batch,
    ) -> Result<Frame, Fault> {
        let lines = Lines::new(text)?;
        match self.format {
            Format::Csv => commented::lines(lines, alignments).map(|()| Frame::default()),
            _ => commented::comments(lines, alignments, batch, (&self.database, &self.fields)),
        }
    }
}

/// Between 2.1.0 and 2.1.5 diamond has it the wrong way round (`generate_output` in its align/output.cpp).
fn is_swapped(version: &str) -> bool {
    let numbers: Vec<u32> = version.split('.').map_while(|number| number.parse().ok()).collect();
    matches!(numbers[..], [2, 1, 0..=5, ..])
}

/// What BLAST calls the user's columns. It says so only where it has found something; so it is given something to find.
fn fields(settings: &Settings) -> Result<String, SearchError> {
    let program = settings.program;
    let sequence = |is_gene: bool| {
        let mut file = tempfile::NamedTempFile::new_in(&settings.scratch).map_err(unwritten)?;
        let text = if is_gene { GENE } else { PROTEIN };
        file.write_all(text.as_bytes()).map_err(unwritten)?;
        Ok::<_, SearchError>(file)
    };
    let (query, subject) = (sequence(program != Program::Blastp)?, sequence(program.has_nucleotides())?);
    // The same for csv, whose columns could not be counted.
    let format = format!("7 {}", settings.columns.join(" "));
    let files = [query.path(), "-subject".as_ref(), subject.path()];
    let text = run(command(program.name(), ["-outfmt", &format, "-query"]).args(files))?;
    let mut columns = settings.columns.clone();
    columns.sort();
    columns.dedup();
    commented::fields(&text, columns.len()).map_err(|fault| fault.of(program))
}

fn unwritten(error: std::io::Error) -> SearchError {
    SearchError::system("a temporary file cannot be written")(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_versions_have_it_the_wrong_way_round() {
        for (version, swapped) in [("2.1.3", true), ("2.1.5.1", true), ("2.1.6", false), ("2.0.14", false), ("", false)]
        {
            assert_eq!(is_swapped(version), swapped, "{version}");
        }
    }
}
