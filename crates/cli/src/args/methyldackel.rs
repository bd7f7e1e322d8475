//! The options of MethylDackel 0.6.1, as `--methyldackel` takes them.

use super::quoted;
use clap::Parser;
use zerohop_align::{Bounds, MethylDackelOptions, MethylDackelSpec, SiteColumns};

/// FLAG of duplicates.
const DUPLICATE: u16 = 0x400;

/// The options that are taken; those with `_` change nothing here.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
struct MethylDackelArgs {
    #[arg(short = '@')]
    _threads: Option<u32>,
    #[arg(long = "chunkSize")]
    _chunk_size: Option<u64>,
    #[arg(short = 'D')]
    _most_depth: Option<u32>,
    #[arg(short = 'q', default_value_t = 10)]
    least_mapq: u8,
    #[arg(short = 'p', default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    least_quality: u8,
    #[arg(short = 'd', long = "minDepth", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    least_depth: u32,
    #[arg(short = 'F', long = "ignoreFlags")]
    without: Option<u16>,
    #[arg(short = 'R', long = "requireFlags", default_value_t = 0)]
    with: u16,
    #[arg(long = "noCpG")]
    no_cpg: bool,
    #[arg(long = "CHG")]
    chg: bool,
    #[arg(long = "CHH")]
    chh: bool,
    #[arg(long = "keepDupes")]
    keeps_duplicates: bool,
    #[arg(long = "keepSingleton")]
    keeps_singletons: bool,
    #[arg(long = "keepDiscordant")]
    keeps_discordant: bool,
    #[arg(long = "ignoreNH")]
    ignores_nh: bool,
    #[arg(long = "mergeContext", conflicts_with = "methylkit")]
    merges: bool,
    #[arg(long = "fraction", group = "columns")]
    fraction: bool,
    #[arg(long = "counts", group = "columns")]
    counts: bool,
    #[arg(long = "methylKit", group = "columns")]
    methylkit: bool,
    #[arg(long = "OT", value_parser = four)]
    ot: Option<[u32; 4]>,
    #[arg(long = "OB", value_parser = four)]
    ob: Option<[u32; 4]>,
    #[arg(long = "CTOT", value_parser = four)]
    ctot: Option<[u32; 4]>,
    #[arg(long = "CTOB", value_parser = four)]
    ctob: Option<[u32; 4]>,
    #[arg(long = "nOT", value_parser = four)]
    n_ot: Option<[u32; 4]>,
    #[arg(long = "nOB", value_parser = four)]
    n_ob: Option<[u32; 4]>,
    #[arg(long = "nCTOT", value_parser = four)]
    n_ctot: Option<[u32; 4]>,
    #[arg(long = "nCTOB", value_parser = four)]
    n_ctob: Option<[u32; 4]>,
}

fn four(text: &str) -> Result<[u32; 4], String> {
    let numbers = text.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>().ok();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| "it needs four numbers with commas between them, such as 0,0,5,0".to_owned())
}

/// Takes the options apart.
///
/// # Errors
/// In words: what MethylDackel does not take, or zerohop does not.
pub fn parse(text: &str) -> Result<MethylDackelOptions, String> {
    let args: MethylDackelArgs = quoted::parse(text)?;
    let contexts = [!args.no_cpg, args.chg, args.chh];
    if !contexts.contains(&true) {
        return Err("with --noCpG there is nothing to tell of: give --CHG or --CHH, too".to_owned());
    }
    let pairs = |four: Option<[u32; 4]>| {
        let [a, b, c, d] = four.unwrap_or_default();
        [[a, b], [c, d]]
    };
    let of_strands = [(args.ot, args.n_ot), (args.ob, args.n_ob), (args.ctot, args.n_ctot), (args.ctob, args.n_ctob)];
    let plain = MethylDackelSpec::plain();
    let without = args.without.unwrap_or(plain.without);
    let spec = MethylDackelSpec {
        contexts,
        least_mapq: args.least_mapq,
        least_quality: args.least_quality,
        least_depth: args.least_depth,
        without: if args.keeps_duplicates { without & !DUPLICATE } else { without },
        with: args.with,
        keeps_singletons: args.keeps_singletons,
        keeps_discordant: args.keeps_discordant,
        ignores_nh: args.ignores_nh,
        merges: args.merges,
        columns: match (args.fraction, args.counts, args.methylkit) {
            (true, ..) => SiteColumns::Fraction,
            (_, true, _) => SiteColumns::Counts,
            (_, _, true) => SiteColumns::MethylKit,
            _ => SiteColumns::Percent,
        },
        bounds: of_strands.map(|(places, counts)| Bounds { places: pairs(places), counts: pairs(counts) }),
    };
    Ok(MethylDackelOptions { words: text.to_owned(), spec })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_methyldackel() {
        assert_eq!(parse("").unwrap().spec, MethylDackelSpec::plain());
        let options = parse("-q 20 -p 13 -d 3 --CHG --noCpG --keepDupes --mergeContext --nOB 1,2,3,4 -@ 4 --fraction");
        let mut bounds = [Bounds::default(); 4];
        bounds[1].counts = [[1, 2], [3, 4]];
        let expected = MethylDackelSpec {
            contexts: [false, true, false],
            least_mapq: 20,
            least_quality: 13,
            least_depth: 3,
            without: 0xb00,
            merges: true,
            columns: SiteColumns::Fraction,
            bounds,
            ..MethylDackelSpec::plain()
        };
        assert_eq!(options.unwrap().spec, expected);
        let refused = [
            "--noCpG",
            "--cytosine_report",
            "--fraction --counts",
            "--methylKit --mergeContext",
            "--nOT 1,2",
            "-r chr1",
            "-l targets.bed",
            "--minOppositeDepth 5",
            "-p 0",
            "'",
            "more",
        ];
        for text in refused {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
