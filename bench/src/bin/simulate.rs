//! Makes references with repeats, and read pairs from a reference.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]

use clap::{Args, Parser, Subcommand};
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zerohop_bench::{fasta, pairs, reference};

const BUFFER: usize = 1 << 20;

/// Simulated references and reads, the same for the same seed.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a reference with repeats
    Reference(ReferenceOptions),
    /// Draw read pairs from a reference
    Pairs(PairOptions),
}

#[derive(Args)]
struct ReferenceOptions {
    /// Bases in all; K, M and G are accepted
    #[arg(long, value_parser = count)]
    bases: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// FASTA file to write
    #[arg(long)]
    out: PathBuf,
}

#[derive(Args)]
struct PairOptions {
    /// FASTA file, not compressed
    #[arg(long)]
    reference: PathBuf,
    /// Pairs to draw; K, M and G are accepted
    #[arg(long, value_parser = count)]
    pairs: u64,
    /// Bases of a read
    #[arg(long, default_value_t = 150)]
    length: usize,
    /// Mean length of a fragment, reads included
    #[arg(long, default_value_t = 400.0)]
    insert: f64,
    /// Standard deviation of the fragment's length
    #[arg(long, default_value_t = 50.0)]
    sd: f64,
    /// Share of wrong bases at the start of a read
    #[arg(long, default_value_t = 0.002)]
    error: f64,
    /// Share of wrong bases at its end [default: as at its start]
    #[arg(long)]
    error_at_end: Option<f64>,
    /// Share of bases in which the sample differs from the reference
    #[arg(long, default_value_t = 0.001)]
    snp: f64,
    /// Share of bases behind which the sample has an insertion or a deletion
    #[arg(long, default_value_t = 0.0)]
    indels: f64,
    #[arg(long, default_value_t = 2)]
    seed: u64,
    /// FASTQ file for the first mates
    #[arg(long)]
    out1: PathBuf,
    /// FASTQ file for the second mates
    #[arg(long)]
    out2: PathBuf,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Reference(options) => make_reference(&options),
        Command::Pairs(options) => make_pairs(options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("simulate: {message}");
            ExitCode::FAILURE
        }
    }
}

fn make_reference(options: &ReferenceOptions) -> Result<(), String> {
    let mut out = create(&options.out)?;
    let contigs = reference::generate(options.bases as usize, options.seed);
    fasta::write(&contigs, &mut out).map_err(|error| about(&options.out, &error))
}

fn make_pairs(options: PairOptions) -> Result<(), String> {
    let mut contigs = open(&options.reference)
        .and_then(|file| fasta::read(BufReader::with_capacity(BUFFER, file)))
        .map_err(|error| about(&options.reference, &error))?;
    let (mut out1, mut out2) = (create(&options.out1)?, create(&options.out2)?);
    let wanted = pairs::Options {
        pairs: options.pairs,
        length: options.length,
        insert: options.insert,
        deviation: options.sd,
        error: options.error,
        error_at_end: options.error_at_end.unwrap_or(options.error),
        snp: options.snp,
        indels: options.indels,
        seed: options.seed,
    };
    pairs::write(&mut contigs, &wanted, &mut out1, &mut out2).map_err(|error| error.to_string())
}

fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn create(path: &Path) -> Result<BufWriter<File>, String> {
    let file = File::create(path).map_err(|error| about(path, &error))?;
    Ok(BufWriter::with_capacity(BUFFER, file))
}

fn about(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// `100M` is 100 million.
fn count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'M') => (&text[..text.len() - 1], 1_000_000),
        Some(b'G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "a number such as 250000, 100M or 1G is wanted".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_suffixes() {
        assert_eq!(count("250000"), Ok(250_000));
        assert_eq!(count("100M"), Ok(100_000_000));
        assert_eq!(count("2k"), Ok(2_000));
        assert!(count("M").is_err() && count("1x").is_err() && count("").is_err());
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
