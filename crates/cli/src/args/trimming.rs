//! Options for trimming.

use std::path::PathBuf;
use zerohop_align::{TrimOptions, Trimming};

/// Options for trimming.
#[derive(Debug, clap::Args)]
pub struct TrimArgs {
    /// Trim reads, and drop bad ones, as fastp does
    ///
    /// Adapters of pairs are found where mates overlap; tails of G are cut off where the instrument has two colours;
    /// reads of low quality, with many N or below 15 bases are dropped with their mates. The alignments are those of
    /// 'fastp' and the aligner one after the other. Fields of BAM with one value per base are cut with the bases.
    #[arg(long)]
    pub trim: bool,

    /// With --trim: fastp's own options, quoted as in a shell
    ///
    /// Such as "--detect_adapter_for_pe --cut_right -l 36". What changes bases or merges mates is refused.
    #[arg(long, value_name = "OPTIONS", default_value = "", requires = "trim", hide_short_help = true)]
    #[arg(allow_hyphen_values = true, hide_default_value = true)]
    pub trim_args: String,

    /// With --trim: the adapter of the reads; given twice for pairs: first of R1, then of R2
    #[arg(long, value_name = "SEQUENCE", requires = "trim", hide_short_help = true)]
    pub adapter: Vec<String>,

    /// With --trim: adapters in FASTA
    #[arg(long, value_name = "FILE", requires = "trim", hide_short_help = true)]
    pub adapter_fasta: Option<PathBuf>,

    /// With --trim: write fastp's report to FILE, which MultiQC reads
    #[arg(long, value_name = "FILE", requires = "trim", hide_short_help = true)]
    pub fastp_json: Option<PathBuf>,

    /// With --trim: write what stays of the reads to FILE, too: FASTQ (.fq.gz, .fq)
    ///
    /// The mates of a pair follow one another; a '%' in the name stands for 1 and 2, for one file per mate:
    /// trimmed_%.fq.gz. They are compressed in blocks, at level 4 as by fastp, or at --level. Optional fields stand
    /// behind tabs, as 'samtools fastq -T' writes them. With --samples FILE is the ending alone, as for --unaligned.
    #[arg(long, value_name = "FILE", requires = "trim", hide_short_help = true)]
    pub save_trimmed: Option<PathBuf>,

    /// With --trim: write the reads that are dropped to FILE, with the reason behind their names
    ///
    /// Names and reasons are as for --save-trimmed and fastp's --failed_out; pairs of which both mates are bad, which
    /// fastp leaves out, are there, too.
    #[arg(long, value_name = "FILE", requires = "trim", hide_short_help = true)]
    pub save_failed: Option<PathBuf>,
}

impl TrimArgs {
    /// How reads are trimmed, if they are.
    ///
    /// # Errors
    /// In words: options that cannot be taken.
    pub fn trimming(&self) -> Result<Option<Trimming>, String> {
        if !self.trim {
            return Ok(None);
        }
        let words =
            shlex::split(&self.trim_args).ok_or_else(|| "--trim-args: a quotation mark is missing".to_owned())?;
        let adapters: Vec<String> = match &self.adapter[..] {
            [] => Vec::new(),
            [one] => vec!["--adapter_sequence".to_owned(), one.clone()],
            [one, two] => ["--adapter_sequence", one, "--adapter_sequence_r2", two].map(str::to_owned).to_vec(),
            _ => return Err("--adapter is given once, or twice for pairs".to_owned()),
        };
        let fasta = self
            .adapter_fasta
            .iter()
            .flat_map(|path| ["--adapter_fasta".to_owned(), path.to_string_lossy().into_owned()]);
        let options = TrimOptions::parse(words.into_iter().chain(adapters).chain(fasta));
        let options = options.map_err(|error| format!("--trim-args: {error}"))?;
        Ok(Some(Trimming { options, has_statistics: self.fastp_json.is_some() }))
    }
}
