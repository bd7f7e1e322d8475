//! The options of minimap2, in its letters and words. What they mean is that of minimap2 2.31 (its main.c and
//! options.c). Options that zerohop has of its own, and those that cannot be had here, are refused by name.

mod check;
mod words;

use crate::parameters::IndexParameters;
use rammap::align::map::{AlignFlags, MapOptions};
use std::path::PathBuf;
use std::str::FromStr;
use words::options_in;
pub use words::{Given, options_of};
use zerohop_model::index::Product;

/// What something else stands for.
const ELSEWHERE: [(&str, &str); 7] = [
    ("-t", "-t of zerohop"),
    ("-o", "-o of zerohop"),
    ("-R", "-R of zerohop"),
    ("-y", "-C of zerohop; of BAM, all fields are copied in any case"),
    ("-d", "'zerohop index --engine rammap'"),
    ("-v", "-q of zerohop"),
    ("-S", "--cs=long"),
];
/// What does nothing here.
const NOT_NEEDED: [(&str, &str); 9] = [
    ("-K", "it is not needed: reads are dealt in small chunks, and no thread waits for the longest"),
    ("-I", "it is not needed: the index is always whole"),
    ("-2", "it is not needed: reading, mapping and writing overlap in any case"),
    ("--cap-kalloc", "it is not needed: what a long read took is given back behind it"),
    ("--bucket-bits", "it is not needed: records do not depend on it"),
    ("--split-prefix", "the index is always whole, so nothing is split"),
    ("--idx-no-seq", "the index always holds the reference"),
    ("--lj-min-ratio", "minimap2 does nothing with it"),
    ("-T", "minimap2 does nothing with it"),
];
/// What is for other work than aligning reads to a reference, or for pairs.
const NOT_HERE: [(&str, &str); 10] = [
    ("-Q", "qualities cannot be left out here"),
    ("-X", "overlaps of reads are not made here: run minimap2"),
    ("-D", "overlaps of reads are not made here: run minimap2"),
    ("--dual", "overlaps of reads are not made here: run minimap2"),
    ("--sr", "short reads are not aligned here: use --engine strobealign or --engine bwa-mem"),
    ("--frag", "pairs are not aligned here: use --engine strobealign or --engine bwa-mem"),
    ("-F", "pairs are not aligned here: use --engine strobealign or --engine bwa-mem"),
    ("--pairing", "pairs are not aligned here: use --engine strobealign or --engine bwa-mem"),
    ("--no-pairing", "pairs are not aligned here: use --engine strobealign or --engine bwa-mem"),
    ("--write-junc", "junctions are not written here: run minimap2"),
];
/// Presets that are for other work.
const OTHER_PRESETS: [(&str, &str); 5] = [
    ("sr", "short reads are not aligned here: use --engine strobealign or --engine bwa-mem"),
    ("short", "short reads are not aligned here: use --engine strobealign or --engine bwa-mem"),
    ("splice:sr", "short reads are not aligned here: run minimap2, or an aligner for short reads of RNA"),
    ("ava-ont", "overlaps of reads are not made here: run minimap2"),
    ("ava-pb", "overlaps of reads are not made here: run minimap2"),
];
/// What minimap2 filters out of the most frequent minimizers (-f), and what it leaves of scores of splice sites.
const FREQUENT: f32 = 2e-4;
const SCORE_SCALE: f32 = 0.7;

/// What the user asked for, with minimap2's defaults.
#[derive(Debug, Clone)]
pub struct RammapOptions {
    /// What index they are for.
    pub index: IndexParameters,
    /// Records, or lines of PAF (`-c`, `--paf`).
    pub product: Product,
    /// As rammap knows them, without what depends on the index.
    pub(crate) map: MapOptions,
    /// Minimizers that are more frequent than all but this part of them are not looked up (`-f`).
    pub(crate) frequent: f32,
    /// What records show.
    pub(crate) shown: Shown,
    /// What is read beside the reference.
    pub(crate) files: OptionFiles,
}

/// What records show, or lines of PAF.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// There is a CIGAR: of records always, of PAF with `-c` and `--cs`; and whether PAF shows it (`-c`).
    pub(crate) cigar: bool,
    pub(crate) cigar_in_paf: bool,
    /// `--cs`, and whether in its long form.
    pub(crate) cs: Option<bool>,
    /// `--MD`, `--ds`.
    pub(crate) md: bool,
    pub(crate) ds: bool,
    /// `--eqx`.
    pub(crate) eqx: bool,
    /// `-Y`, `--secondary-seq`.
    pub(crate) soft_clips: bool,
    pub(crate) bases_of_secondary: bool,
    /// `-L`: a long CIGAR is in CG, in SAM, too.
    pub(crate) long_cigar_in_tag: bool,
    /// `--secondary=no`, `--sam-hit-only`, `--paf-no-hit`.
    pub(crate) no_secondary: bool,
    pub(crate) only_mapped: bool,
    pub(crate) unmapped_in_paf: bool,
}

/// Files that options name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OptionFiles {
    /// `--junc-bed`: introns that are known.
    pub(crate) junctions: Option<PathBuf>,
    /// `-j`, `--pass1`: introns over which short ends are aligned.
    pub(crate) jumps: Option<PathBuf>,
    pub(crate) jumps_of_first_pass: Option<PathBuf>,
    /// `--spsc`, and what scores are multiplied with (`--spsc-scale`).
    pub(crate) scores: Option<PathBuf>,
    pub(crate) score_scale: f32,
    /// `--alt`: contigs that are alternates of others.
    pub(crate) alternates: Option<PathBuf>,
}

impl OptionFiles {
    /// All that were named.
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        let OptionFiles { junctions, jumps, jumps_of_first_pass, scores, alternates, .. } = self;
        [junctions, jumps, jumps_of_first_pass, scores, alternates].into_iter().flatten()
    }
}

/// What is wrong with the text of `--engine-args`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--engine-args: {0}")]
pub struct RammapOptionsError(String);

impl Given {
    /// Whether it does nothing here: [`RammapOptions::parse`] says why.
    pub fn is_needless(&self) -> bool {
        NOT_NEEDED.iter().any(|(option, _)| *option == self.option)
    }
}

impl RammapOptions {
    /// Reads what the user wrote: presets first, as minimap2 does, then the rest in order.
    ///
    /// ```
    /// use zerohop_engine_rammap::RammapOptions;
    /// assert_eq!(RammapOptions::parse("-x map-hifi")?.index.k, 19);
    /// assert!(RammapOptions::parse("-x sr").unwrap_err().to_string().contains("short reads are not aligned here"));
    /// # Ok::<_, zerohop_engine_rammap::RammapOptionsError>(())
    /// ```
    ///
    /// # Errors
    /// Options that cannot be had, by name; values that are not valid.
    pub fn parse(text: &str) -> Result<Self, RammapOptionsError> {
        let given = options_in(text)?;
        let mut options = RammapOptions {
            index: IndexParameters::default(),
            product: Product::Records,
            map: MapOptions::default(),
            frequent: FREQUENT,
            shown: Shown { cigar: true, ..Shown::default() },
            files: OptionFiles { score_scale: SCORE_SCALE, ..OptionFiles::default() },
        };
        for preset in given.iter().filter(|given| given.option == "-x") {
            options.preset(&preset.value)?;
        }
        let is_given = |wanted: &str| given.iter().any(|given| given.option == wanted);
        if is_given("-c") || is_given("--paf") {
            if is_given("-a") {
                return Err(RammapOptionsError("-a asks for records, and -c and --paf for lines of PAF".to_owned()));
            }
            options.product = Product::Paf;
            options.shown.cigar = is_given("-c") || is_given("--cs");
            options.shown.cigar_in_paf = is_given("-c");
        }
        for given in given.iter().filter(|given| given.option != "-x") {
            options.set(given)?;
        }
        if let Some(last) = given.iter().rfind(|given| given.option == "-N") {
            match number("-N", &last.value)? {
                0 => options.shown.no_secondary = true,
                most => options.map.filtering.best_n = most,
            }
        }
        options.complete();
        options.check()?;
        Ok(options)
    }

    fn preset(&mut self, name: &str) -> Result<(), RammapOptionsError> {
        if let Some((_, why)) = OTHER_PRESETS.iter().find(|(other, _)| *other == name) {
            return Err(RammapOptionsError(format!("-x {name}: {why}")));
        }
        let IndexParameters { k, w, homopolymers } = &mut self.index;
        // Those of minimap2 that leave homopolymers alone say so.
        if !matches!(name, "lr" | "map-ont" | "map-pb" | "map10k") {
            *homopolymers = false;
        }
        let before = (*k, *w);
        let applied = rammap::api::apply_preset_str(&mut self.map, k, w, homopolymers, name);
        // Not minimap2's: its preset is what was there before.
        if matches!(name, "lr" | "map-ont") {
            (*k, *w) = before;
        }
        applied.map_err(|_| {
            let all =
                "map-ont, map-hifi, lr:hq, map-pb, map-iclr, splice, splice:hq, cdna, asm5, asm10, asm20, lr:hqae";
            RammapOptionsError(format!("-x {name}: there is no such preset: there are {all}"))
        })
    }

    fn set(&mut self, given: &Given) -> Result<(), RammapOptionsError> {
        let Given { option, value } = given;
        let whole = || number::<i32>(option, value);
        let size = || sized(option, value);
        let small = || sized(option, value).and_then(|size| i32::try_from(size).map_err(|_| wrong(option, value)));
        let fraction = || finite(option, value);
        let MapOptions { seeding, chaining, scoring, alignment, filtering, flags, .. } = &mut self.map;
        match &**option {
            "-k" => self.index.k = number(option, value)?,
            "-w" => self.index.w = number(option, value)?,
            "-H" => self.index.homopolymers = true,
            "-a" | "--paf" | "-c" => {}
            "-g" => chaining.max_gap = small()?,
            "-G" => {
                let longest = small()?;
                if flags.contains(AlignFlags::SPLICE) && longest > 0 {
                    (chaining.max_gap_ref, chaining.bandwidth, chaining.bandwidth_long) = (longest, longest, longest);
                }
            }
            // The last one counts.
            "-N" => {}
            "-p" => filtering.pri_ratio = fraction()?,
            "-M" => filtering.mask_level = fraction()?,
            "-P" => flags.insert(AlignFlags::ALL_CHAINS),
            "-n" => chaining.min_cnt = whole()?,
            "-m" => chaining.min_chain_score = whole()?,
            "-A" => scoring.match_score = whole()?,
            "-B" => scoring.mismatch_penalty = whole()?,
            "-b" => scoring.transition = whole()?.saturating_abs(),
            "-s" => alignment.min_dp_max = whole()?,
            "-C" => scoring.noncanon_penalty = whole()?,
            "-e" => seeding.occ_dist = small()?,
            "-J" => match whole()? {
                0 => flags.insert(AlignFlags::SPLICE_OLD),
                1 => flags.remove(AlignFlags::SPLICE_OLD),
                _ => return Err(wrong(option, value)),
            },
            "-r" => two(option, value, &mut chaining.bandwidth, &mut chaining.bandwidth_long, sized)?,
            "-U" => two(option, value, &mut seeding.min_mid_occ, &mut seeding.max_mid_occ, plain)?,
            "-z" => {
                alignment.zdrop_inv = first(option, value)?;
                two(option, value, &mut alignment.zdrop, &mut alignment.zdrop_inv, plain)?;
            }
            "-O" => {
                scoring.gap_open2 = first(option, value)?;
                two(option, value, &mut scoring.gap_open, &mut scoring.gap_open2, plain)?;
            }
            "-E" => {
                scoring.gap_extend2 = first(option, value)?;
                two(option, value, &mut scoring.gap_extend, &mut scoring.gap_extend2, plain)?;
            }
            "-f" => {
                let (frequent, most) = value.split_once(',').map_or((&**value, None), |(a, b)| (a, Some(b)));
                match number::<f64>(option, frequent)? {
                    part if (0.0..1.0).contains(&part) => (self.frequent, seeding.mid_occ) = (part as f32, 0),
                    places if places.is_finite() && places >= 1.0 => seeding.mid_occ = (places + 0.499) as usize,
                    _ => return Err(wrong(option, value)),
                }
                if let Some(most) = most {
                    seeding.max_occ = number(option, most)?;
                }
            }
            "-u" => {
                let both = AlignFlags::SPLICE_FOR | AlignFlags::SPLICE_REV;
                flags.remove(both);
                match &**value {
                    "b" => flags.insert(both),
                    "f" => flags.insert(AlignFlags::SPLICE_FOR),
                    "r" => flags.insert(AlignFlags::SPLICE_REV),
                    "n" => {}
                    _ => return Err(wrong(option, value)),
                }
            }
            "--seed" => filtering.seed = whole()?,
            "--max-chain-skip" => chaining.max_chain_skip = whole()?,
            "--max-chain-iter" => chaining.max_chain_iter = whole()?,
            "--min-dp-len" => alignment.min_dp_len = whole()?,
            "--splice" => flags.insert(AlignFlags::SPLICE),
            "--no-long-join" => flags.insert(AlignFlags::NO_LJOIN),
            "--end-bonus" => alignment.end_bonus = whole()?,
            "--end-seed-pen" => alignment.anchor_ext_shift = whole()?,
            "--splice-flank" => flags.set(AlignFlags::SPLICE_FLANK, yes(option, value)?),
            "--heap-sort" => flags.set(AlignFlags::HEAP_SORT, yes(option, value)?),
            "--for-only" => flags.insert(AlignFlags::FOR_ONLY),
            "--rev-only" => flags.insert(AlignFlags::REV_ONLY),
            "--max-clip-ratio" => alignment.max_clip_ratio = fraction()?,
            "--min-occ-floor" => seeding.min_mid_occ = whole()?,
            "--eqx" => {
                self.shown.eqx = true;
                flags.insert(AlignFlags::EQX);
            }
            "--score-N" => scoring.ambig_penalty = whole()?,
            "--no-end-flt" => flags.insert(AlignFlags::NO_END_FLT),
            "--hard-mask-level" => flags.insert(AlignFlags::HARD_MASK_LEVEL),
            "--cap-sw-mem" => alignment.max_sw_mat = size()?,
            "--max-qlen" => filtering.max_qlen = small()?,
            "--junc-bonus" => scoring.junc_bonus = whole()?,
            "--junc-pen" => scoring.junc_pen = whole()?,
            "--jump-min-match" => filtering.jump_min_match = small()?,
            "--chain-gap-scale" => chaining.chain_gap_scale = fraction()?,
            "--chain-skip-scale" => filtering.chain_skip_scale = fraction()?,
            "--alt-drop" => filtering.alt_drop = fraction()?,
            "--mask-len" => filtering.mask_len = small()?,
            "--rmq" => flags.set(AlignFlags::RMQ_CHAIN, value.is_empty() || yes(option, value)?),
            "--rmq-inner" => chaining.rmq_inner_dist = small()?,
            "--qstrand" => flags.insert(AlignFlags::QSTRAND | AlignFlags::NO_INV),
            "--q-occ-frac" => seeding.q_occ_frac = fraction()?,
            "--no-hash-name" => flags.insert(AlignFlags::NO_HASH_NAME),
            _ => return self.set_shown(given),
        }
        Ok(())
    }

    /// What records show, and files.
    fn set_shown(&mut self, Given { option, value }: &Given) -> Result<(), RammapOptionsError> {
        let (shown, files, path) = (&mut self.shown, &mut self.files, || Some(PathBuf::from(value)));
        match &**option {
            "-Y" => shown.soft_clips = true,
            "-L" => shown.long_cigar_in_tag = true,
            "-j" => files.jumps = path(),
            "--secondary" => shown.no_secondary = !yes(option, value)?,
            "--cs" => {
                shown.cs = match &**value {
                    "" | "short" => Some(false),
                    "long" => Some(true),
                    "none" => None,
                    _ => return Err(wrong(option, value)),
                }
            }
            "--MD" => shown.md = true,
            "--ds" => shown.ds = true,
            "--paf-no-hit" => shown.unmapped_in_paf = true,
            "--sam-hit-only" => shown.only_mapped = true,
            "--secondary-seq" => shown.bases_of_secondary = true,
            "--junc-bed" => files.junctions = path(),
            "--spsc" => files.scores = path(),
            "--spsc-scale" => files.score_scale = finite(option, value)?,
            "--pass1" => files.jumps_of_first_pass = path(),
            "--alt" => files.alternates = path(),
            _ => return Err(refused(option)),
        }
        Ok(())
    }

    /// What follows from the rest.
    fn complete(&mut self) {
        let MapOptions { filtering, flags, .. } = &mut self.map;
        if flags.intersects(AlignFlags::SPLICE_FOR | AlignFlags::SPLICE_REV) {
            flags.insert(AlignFlags::SPLICE);
        }
        filtering.is_splice = flags.contains(AlignFlags::SPLICE);
        flags.set(AlignFlags::OUT_CIGAR, self.shown.cigar);
    }
}

fn refused(option: &str) -> RammapOptionsError {
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == option);
    let not_here = NOT_NEEDED.iter().chain(&NOT_HERE).find(|(other, _)| *other == option);
    RammapOptionsError(match (elsewhere, not_here) {
        (Some((_, instead)), _) => format!("{option} cannot be given here: use {instead}"),
        (_, Some((_, why))) => format!("{option}: {why}"),
        _ => format!("{option} is not supported"),
    })
}

fn wrong(option: &str, value: &str) -> RammapOptionsError {
    RammapOptionsError(format!("{option} {value}: that is not a value for {option}"))
}

fn number<T: FromStr>(option: &str, value: &str) -> Result<T, RammapOptionsError> {
    value.parse().map_err(|_| wrong(option, value))
}

fn finite(option: &str, value: &str) -> Result<f32, RammapOptionsError> {
    number::<f32>(option, value).and_then(|number| match number.is_finite() {
        true => Ok(number),
        false => Err(wrong(option, value)),
    })
}

/// A number behind which k, M or G may stand, as minimap2 rounds it.
fn sized(option: &str, value: &str) -> Result<i64, RammapOptionsError> {
    let times = match value.bytes().last() {
        Some(b'G' | b'g') => 1e9,
        Some(b'M' | b'm') => 1e6,
        Some(b'K' | b'k') => 1e3,
        _ => 1.0,
    };
    let digits = if times == 1.0 { value } else { &value[..value.len() - 1] };
    let size = number::<f64>(option, digits).map_err(|_| wrong(option, value))? * times + 0.499;
    if size.is_finite() && size.abs() < i64::MAX as f64 { Ok(size as i64) } else { Err(wrong(option, value)) }
}

fn plain(option: &str, value: &str) -> Result<i64, RammapOptionsError> {
    number(option, value)
}

/// One number, or two with a comma between them; without a second one that one stays as it is.
fn two(
    option: &str,
    value: &str,
    one: &mut i32,
    other: &mut i32,
    read: fn(&str, &str) -> Result<i64, RammapOptionsError>,
) -> Result<(), RammapOptionsError> {
    let (left, right) = value.split_once(',').map_or((value, None), |(left, right)| (left, Some(right)));
    let fits = |text: &str| i32::try_from(read(option, text)?).map_err(|_| wrong(option, value));
    *one = fits(left)?;
    if let Some(right) = right {
        *other = fits(right)?;
    }
    Ok(())
}

/// The first of two numbers.
fn first(option: &str, value: &str) -> Result<i32, RammapOptionsError> {
    number(option, value.split_once(',').map_or(value, |(first, _)| first))
}

fn yes(option: &str, value: &str) -> Result<bool, RammapOptionsError> {
    match value {
        "yes" | "y" => Ok(true),
        "no" | "n" => Ok(false),
        _ => Err(RammapOptionsError(format!("{option}={value}: it must be yes or no"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> RammapOptions {
        RammapOptions::parse(text).unwrap()
    }

    #[test]
    fn presets_come_first_wherever_they_stand() {
        let IndexParameters { k, w, homopolymers } = parse("-k 17 -x map-pb").index;
        assert_eq!((k, w, homopolymers), (17, 10, true));
        let IndexParameters { k, w, homopolymers } = parse("-x map-hifi").index;
        assert_eq!((k, w, homopolymers), (19, 19, false));
        // One after the other, as minimap2 applies them.
        let IndexParameters { k, w, homopolymers } = parse("-x asm20 -x map-ont").index;
        assert_eq!((k, w, homopolymers), (19, 10, false));
        assert_eq!(parse("-x splice -u f -C 5").map.scoring.noncanon_penalty, 5);
    }

    #[test]
    fn values_are_those_of_minimap2() {
        let map = |text: &str| parse(text).map;
        assert_eq!((map("-r 1k,2M").chaining.bandwidth, map("-r 1k,2M").chaining.bandwidth_long), (1000, 2_000_000));
        assert_eq!((map("-O 5,20").scoring.gap_open, map("-O 5,20").scoring.gap_open2), (5, 20));
        assert_eq!(map("-z 300").alignment.zdrop_inv, 300);
        assert_eq!((parse("-f 0.001").frequent, map("-f 50").seeding.mid_occ), (0.001, 50));
        assert_eq!(map("-x splice -G 500k").chaining.max_gap_ref, 500_000);
        assert_eq!(map("-G 500k").chaining.max_gap_ref, -1);
        assert!(parse("-N 0").shown.no_secondary && !parse("-N 0 -N 3").shown.no_secondary);
        assert_eq!(map("-b -2").scoring.transition, 2);
        assert_eq!(parse("-c").product, Product::Paf);
        assert!(!parse("--paf").shown.cigar && parse("--paf --cs").shown.cigar);
    }

    #[test]
    fn what_cannot_be_had_is_refused_by_name() {
        for (text, what) in [
            ("-t 4", "use -t of zerohop"),
            ("-x sr", "short reads are not aligned here"),
            ("-x map-on", "there is no such preset"),
            ("-X", "overlaps of reads"),
            ("--no-kalloc", "--no-kalloc is not supported"),
            ("-k x", "-k x: that is not a value"),
            ("-a -c", "lines of PAF"),
            ("-P", "-P is for PAF"),
            ("-c -P --secondary=no", "exclude each other"),
            ("--secondary=maybe", "yes or no"),
            ("-k 29", "-k 29"),
            ("-w 256", "-w 256"),
            ("-B 1", "-B must be above --score-N, which is 1"),
            ("-O 4 -E 2", "two different costs"),
            ("-r 30k", "the first number must not be larger"),
            ("-g 3G", "-g 3G: that is not a value"),
            ("-g 2G", "-g, -G and -r must be 0 to"),
            ("-g 1G", "-g, -G and -r must be 0 to"),
            ("-z -5", "-z must be 0 or more"),
            ("-p 0", "-p 0 cannot be had here"),
            ("--max-chain-skip 0", "--max-chain-skip must be 1"),
            ("--ds --cs=long", "exclude each other"),
            ("-K 1G", "-K: it is not needed"),
            ("-x map-ont --rmq --splice", "--rmq"),
        ] {
            let error = RammapOptions::parse(text).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
