//! The options of mosdepth 0.3.14, as `--mosdepth` takes them.

use super::quoted;
use clap::Parser;
use std::num::NonZeroU32;
use std::path::PathBuf;
use zerohop_align::{By, LEFT_OUT, MosdepthOptions, MosdepthSpec, Quantizer};

/// What nf-core/sarek gives mosdepth for whole genomes.
pub const SAREKS: &str = "--no-per-base --fast-mode --by 500";

/// The options that are taken; `_threads` and `_fasta` change nothing here.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
struct MosdepthArgs {
    #[arg(short = 't', long = "threads")]
    _threads: Option<u32>,
    #[arg(short = 'f', long = "fasta")]
    _fasta: Option<PathBuf>,
    #[arg(short, long)]
    by: Option<String>,
    #[arg(short, long)]
    no_per_base: bool,
    #[arg(short = 'F', long = "flag", default_value_t = LEFT_OUT)]
    without: u16,
    #[arg(short, long, default_value_t = 0)]
    include_flag: u16,
    #[arg(short = 'x', long)]
    fast_mode: bool,
    #[arg(short, long, value_parser = quantizer)]
    quantize: Option<Quantizer>,
    #[arg(short = 'Q', long, default_value_t = 0)]
    mapq: u8,
    #[arg(short = 'l', long, default_value_t = -1, allow_hyphen_values = true)]
    min_frag_len: i32,
    #[arg(short = 'u', long, default_value_t = -1, allow_hyphen_values = true)]
    max_frag_len: i32,
    #[arg(short = 'T', long, value_delimiter = ',', requires = "by")]
    thresholds: Vec<NonZeroU32>,
    #[arg(short = 'm', long)]
    use_median: bool,
    #[arg(short = 'R', long, value_delimiter = ',')]
    read_groups: Vec<String>,
}

fn quantizer(text: &str) -> Result<Quantizer, String> {
    Quantizer::parse(text).ok_or_else(|| "it needs depths with colons between them, such as 0:1:4:100:".to_owned())
}

/// Takes the options apart.
///
/// # Errors
/// In words: what mosdepth does not take, or zerohop does not.
pub fn parse(text: &str) -> Result<MosdepthOptions, String> {
    let args: MosdepthArgs = quoted::parse(text)?;
    let longest = u32::try_from(args.max_frag_len).unwrap_or(u32::MAX);
    let shortest = u32::try_from(args.min_frag_len).unwrap_or(0);
    if longest < shortest {
        return Err("--max-frag-len is smaller than --min-frag-len".to_owned());
    }
    // As mosdepth: what has digits alone is a length.
    let is_length = args.by.as_ref().is_some_and(|by| by.bytes().all(|byte| byte.is_ascii_digit()));
    let window = args.by.as_ref().filter(|_| is_length).map(|by| by.parse::<NonZeroU32>());
    let window = window.transpose().map_err(|_| "--by needs a file of BED, or bases from 1 to 4294967295")?;
    let mut thresholds: Vec<u32> = args.thresholds.into_iter().map(NonZeroU32::get).collect();
    thresholds.sort_unstable();
    let spec = MosdepthSpec {
        without: args.without,
        with: args.include_flag,
        least_mapq: args.mapq,
        template_lengths: shortest..=longest,
        read_groups: args.read_groups,
        is_fast: args.fast_mode,
        has_per_base: !args.no_per_base,
        by: window.map(By::Windows),
        tells_median: args.use_median,
        thresholds,
        quantize: args.quantize,
    };
    Ok(MosdepthOptions { words: text.to_owned(), spec, bed: args.by.filter(|_| !is_length).map(PathBuf::from) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_mosdepth() {
        let options = parse("-n -x -b 'my targets.bed' -T 20,1,10 -Q 20 -F 1028 -m -t 4 -q 0:1:").unwrap();
        assert_eq!(options.bed.as_deref(), Some("my targets.bed".as_ref()));
        let expected = MosdepthSpec {
            without: 1028,
            least_mapq: 20,
            is_fast: true,
            has_per_base: false,
            tells_median: true,
            thresholds: vec![1, 10, 20],
            quantize: Quantizer::parse("0:1:"),
            ..MosdepthSpec::plain()
        };
        assert_eq!(options.spec, expected);
        assert_eq!(parse("").unwrap().spec, MosdepthSpec::plain());
        assert_eq!(parse(SAREKS).unwrap().spec.by, Some(By::Windows(NonZeroU32::new(500).unwrap())));
        let refused =
            ["--chrom chr1", "-a", "--d4", "-T 1,2", "--by 0", "-q a", "-l 10 -u 5", "'", "more", "-T 0 -b 9"];
        for text in refused {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
