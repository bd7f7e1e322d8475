//! The options of strobealign, in its letters. What they mean and what is allowed is that of strobealign 0.19.1 (its
//! `main.rs`), and words are taken apart as its clap does. Options that zerohop has of its own, and those that it has
//! no use for, are refused by name.

use std::str::FromStr;
use strobealign::aligner::Scores;
use strobealign::chainer::ChainingParameters;
use strobealign::mcsstrategy::McsStrategy;
use strobealign::modes::align::MappingParameters;
use strobealign::seeding::DEFAULT_AUX_LEN;
use strobealign::simdaligner::check_scores;
use zerohop_model::index::Product;

/// The part of the most frequent seeds that are filtered, unless `-f` says otherwise.
pub(crate) const FILTER_FRACTION: f64 = 0.0002;
/// Bandwidth of the piecewise aligner, in diagonals, unless `--bw` says otherwise.
const BANDWIDTH: usize = 1024;

/// Options with a value.
const VALUED: [&str; 29] = [
    "-A",
    "-B",
    "-O",
    "-E",
    "-L",
    "--bw",
    "-k",
    "-l",
    "-u",
    "-s",
    "-m",
    "-c",
    "-b",
    "--aux-len",
    "-P",
    "-N",
    "--st",
    "--mcs",
    "-f",
    "-S",
    "-M",
    "-R",
    "-H",
    "--gd",
    "--gl",
    "--vp",
    "--sg",
    "--mw",
    "--mr",
];
/// Options without one.
const FLAGS: [&str; 7] = ["--ssw", "-U", "--eqx", "--details", "--no-PG", "-x", "--aemb"];
/// Options that something else stands for.
const ELSEWHERE: [(&str, &str); 17] = [
    ("-t", "use -t of zerohop"),
    ("--ithreads", "use -t of zerohop"),
    ("-o", "use -o of zerohop"),
    ("-p", "use -p of zerohop"),
    ("--interleaved", "use -p of zerohop"),
    ("-C", "use -C of zerohop"),
    ("-r", "use -r of zerohop"),
    ("--rg", "use --rg of zerohop"),
    ("--rg-id", "use --rg-id of zerohop"),
    ("-v", "the summary and --json of zerohop say how it went"),
    ("--trace", "the summary and --json of zerohop say how it went"),
    ("--no-progress", "use -q of zerohop"),
    ("-i", "use 'zerohop index', or --build-index"),
    ("--create-index", "use 'zerohop index', or --build-index"),
    ("--use-index", "an index file that is there is used in any case"),
    ("--chunk-size", "chunks have the 1,000,000 bases of strobealign's default"),
    ("-h", "see 'strobealign' in docs/engines.md"),
];

/// What the user asked for, with strobealign's defaults.
#[derive(Debug, Clone)]
pub struct StrobealignOptions {
    /// What is made of the reads: records, PAF (`-x`) or abundances (`--aemb`).
    pub product: Product,
    /// Whether the header has no line (@PG) of strobealign (`--no-PG`).
    pub no_pg: bool,
    /// Whether reads without an alignment are left out, pairs if neither mate has one (`-U`).
    pub(crate) only_mapped: bool,
    /// `--eqx`, `--details`.
    pub(crate) eqx: bool,
    pub(crate) details: bool,
    /// `-A -B -O -E -L`.
    pub(crate) scores: Scores,
    /// `--ssw`, `--bw`.
    pub(crate) use_ssw: bool,
    pub(crate) bandwidth: usize,
    pub(crate) seeding: Seeding,
    pub(crate) search: AlignmentSearch,
    /// `-H --gd --gl --vp --sg --mw --mr`.
    pub(crate) chaining: ChainingParameters,
}

/// What the index depends on; what is not given depends on the reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seeding {
    /// `-P noisy`.
    pub(crate) noisy: bool,
    /// `-k -s -l -u -m -c --aux-len`.
    pub(crate) k: Option<usize>,
    pub(crate) s: Option<usize>,
    pub(crate) window_start: Option<usize>,
    pub(crate) window_end: Option<usize>,
    pub(crate) max_seed_length: Option<usize>,
    pub(crate) bit_count: Option<u32>,
    pub(crate) aux_len: u32,
    /// `-b`, `-f`.
    pub(crate) bits: Option<u8>,
    pub(crate) filter_fraction: f64,
}

/// `-N --st --mcs -S -M -R`: where alignments are looked for, and which are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AlignmentSearch {
    pub(crate) max_secondary: usize,
    pub(crate) secondary_threshold: f32,
    pub(crate) mcs_strategy: McsStrategy,
    pub(crate) dropoff_threshold: f32,
    pub(crate) max_tries: usize,
    pub(crate) rescue_distance: usize,
}

impl Default for StrobealignOptions {
    fn default() -> Self {
        let seeding = Seeding {
            noisy: false,
            k: None,
            s: None,
            window_start: None,
            window_end: None,
            max_seed_length: None,
            bit_count: None,
            aux_len: DEFAULT_AUX_LEN,
            bits: None,
            filter_fraction: FILTER_FRACTION,
        };
        let theirs = MappingParameters::default();
        let search = AlignmentSearch {
            max_secondary: theirs.max_secondary,
            secondary_threshold: theirs.secondary_threshold,
            mcs_strategy: theirs.mcs_strategy,
            dropoff_threshold: theirs.dropoff_threshold,
            max_tries: theirs.max_tries,
            rescue_distance: theirs.rescue_distance,
        };
        StrobealignOptions {
            product: Product::Records,
            no_pg: false,
            only_mapped: false,
            eqx: false,
            details: false,
            scores: Scores::default(),
            use_ssw: false,
            bandwidth: BANDWIDTH,
            seeding,
            search,
            chaining: ChainingParameters::default(),
        }
    }
}

/// What is wrong with the text of `--engine-args`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--engine-args: {0}")]
pub struct StrobealignOptionsError(pub(crate) String);

impl StrobealignOptions {
    /// Reads what the user wrote, as a shell and clap take it apart.
    ///
    /// ```
    /// use zerohop_engine_strobealign::StrobealignOptions;
    /// assert!(StrobealignOptions::parse("-k 22 --aux-len=18 -N5 --no-PG")?.no_pg);
    /// assert!(StrobealignOptions::parse("-t 8").unwrap_err().to_string().contains("use -t of zerohop"));
    /// # Ok::<_, zerohop_engine_strobealign::StrobealignOptionsError>(())
    /// ```
    ///
    /// # Errors
    /// Options that are not supported, by name; values that strobealign does not take; scores that its aligner
    /// cannot use.
    pub fn parse(text: &str) -> Result<Self, StrobealignOptionsError> {
        let words =
            shlex::split(text).ok_or_else(|| StrobealignOptionsError(format!("a quote in '{text}' is not closed")))?;
        let (mut options, mut seen) = (StrobealignOptions::default(), Vec::new());
        for (name, value) in given(&words)? {
            if seen.contains(&name) {
                return Err(StrobealignOptionsError(format!("{name} is given twice")));
            }
            seen.push(name);
            options.set(name, &value)?;
        }
        if seen.contains(&"-x") && seen.contains(&"--aemb") {
            return Err(StrobealignOptionsError("-x and --aemb cannot be given together".to_owned()));
        }
        // Only the piecewise aligner has bounds.
        if !options.use_ssw {
            check_scores(options.scores)
                .map_err(|error| StrobealignOptionsError(format!("invalid scoring scheme: {error}")))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), StrobealignOptionsError> {
        match name {
            "-x" => self.product = Product::Paf,
            "--aemb" => self.product = Product::Abundances,
            "--no-PG" => self.no_pg = true,
            "-U" => self.only_mapped = true,
            "--eqx" => self.eqx = true,
            "--details" => self.details = true,
            "--ssw" => self.use_ssw = true,
            "--bw" => self.bandwidth = number(name, value)?,
            // Where nothing scores, strobealign divides by 0.
            "-A" => self.scores.match_ = within(name, value, 1, u8::MAX)?,
            "-B" => self.scores.mismatch = number(name, value)?,
            "-O" => self.scores.gap_open = number(name, value)?,
            "-E" => self.scores.gap_extend = number(name, value)?,
            // Far beyond, 60 times the score of a pair, of which its mapping quality is made, overflows in strobealign.
            "-L" => self.scores.end_bonus = within(name, value, 0, 10_000_000)?,
            "-N" | "--st" | "--mcs" | "-S" | "-M" | "-R" => self.search.set(name, value)?,
            "-H" | "--gd" | "--gl" | "--vp" | "--sg" | "--mw" | "--mr" => {
                set_chaining(&mut self.chaining, name, value)?
            }
            _ => self.seeding.set(name, value)?,
        }
        Ok(())
    }

    /// What strobealign's functions take.
    pub(crate) fn mapping(&self) -> MappingParameters {
        let AlignmentSearch {
            max_secondary,
            secondary_threshold,
            mcs_strategy,
            dropoff_threshold,
            max_tries,
            rescue_distance,
        } = self.search;
        MappingParameters {
            max_secondary,
            secondary_threshold,
            dropoff_threshold,
            rescue_distance,
            max_tries,
            mcs_strategy,
            output_unmapped: !self.only_mapped,
            use_ssw: self.use_ssw,
        }
    }
}

impl Seeding {
    fn set(&mut self, name: &str, value: &str) -> Result<(), StrobealignOptionsError> {
        match name {
            "-P" if value == "noisy" => self.noisy = true,
            "-P" => return Err(StrobealignOptionsError(format!("-P {value}: the only profile is noisy"))),
            // strobealign takes 32, too, but its k-mers of 32 bases are all the same.
            "-k" => self.k = Some(within(name, value, 8, 31)?),
            "-s" => self.s = Some(within(name, value, 1, 31)?),
            "-l" => self.window_start = Some(number(name, value)?),
            "-u" => self.window_end = Some(number(name, value)?),
            "-m" => self.max_seed_length = Some(number(name, value)?),
            "-c" => self.bit_count = Some(within(name, value, 2, 63)?),
            "-b" => self.bits = Some(within(name, value, 8, 31)?),
            "--aux-len" => self.aux_len = within(name, value, 0, 63)?,
            "-f" => self.filter_fraction = finite(name, value)?,
            _ => {}
        }
        Ok(())
    }
}

impl AlignmentSearch {
    fn set(&mut self, name: &str, value: &str) -> Result<(), StrobealignOptionsError> {
        match name {
            // Less than 0: no limit.
            "-N" => self.max_secondary = usize::try_from(number::<i64>(name, value)?).unwrap_or(usize::MAX),
            "--st" => self.secondary_threshold = within(name, value, 0.0, 1.0)?,
            "--mcs" => self.mcs_strategy = strategy(value)?,
            "-S" => self.dropoff_threshold = finite(name, value)?,
            "-M" => self.max_tries = number(name, value)?,
            "-R" => self.rescue_distance = number(name, value)?,
            _ => {}
        }
        Ok(())
    }
}

fn set_chaining(chaining: &mut ChainingParameters, name: &str, value: &str) -> Result<(), StrobealignOptionsError> {
    match name {
        "-H" => chaining.max_lookback = number(name, value)?,
        "--gd" => chaining.diag_diff_penalty = finite(name, value)?,
        "--gl" => chaining.gap_length_penalty = finite(name, value)?,
        "--vp" => chaining.valid_score_threshold = finite(name, value)?,
        "--sg" => chaining.max_ref_gap = Some(number(name, value)?),
        "--mw" => chaining.matches_weight = finite(name, value)?,
        "--mr" => chaining.max_diagonal_ratio = finite(name, value)?,
        _ => {}
    }
    Ok(())
}

/// The options in the words, by their names, with their values.
fn given(words: &[String]) -> Result<Vec<(&'static str, String)>, StrobealignOptionsError> {
    let (mut found, mut words) = (Vec::new(), words.iter());
    while let Some(word) = words.next() {
        let (mut name, mut rest) = match word.strip_prefix("--") {
            Some(_) => word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value))),
            None => first_letter(word).ok_or_else(|| unknown(word))?,
        };
        loop {
            if let Some(flag) = FLAGS.into_iter().find(|flag| *flag == name) {
                found.push((flag, String::new()));
                // More letters may stand behind it.
                match rest {
                    None => break,
                    Some(_) if flag.starts_with("--") => {
                        return Err(StrobealignOptionsError(format!("{flag} takes no value")));
                    }
                    Some(more) => (name, rest) = after_flag(more).ok_or_else(|| unknown(word))?,
                }
                continue;
            }
            let Some(valued) = VALUED.into_iter().find(|valued| *valued == name) else { return Err(refused(name)) };
            let value = match rest {
                Some(value) if valued.starts_with("--") => value,
                Some(value) => value.strip_prefix('=').unwrap_or(value),
                None => words.next().filter(|value| is_value(valued, value)).ok_or_else(|| missing(valued))?,
            };
            found.push((valued, value.to_owned()));
            break;
        }
    }
    Ok(found)
}

/// A word such as `-k20` as `-k` and what follows it.
fn first_letter(word: &str) -> Option<(&str, Option<&str>)> {
    let end = 1 + word.strip_prefix('-')?.chars().next()?.len_utf8();
    Some((&word[..end], Some(&word[end..]).filter(|rest| !rest.is_empty())))
}

/// The option behind a flag of one letter in the same word.
fn after_flag(rest: &str) -> Option<(&'static str, Option<&str>)> {
    let length = rest.chars().next()?.len_utf8();
    let all = VALUED.into_iter().chain(FLAGS).chain(ELSEWHERE.map(|(name, _)| name));
    let name = all.filter(|name| !name.starts_with("--")).find(|name| name[1..] == rest[..length])?;
    Some((name, Some(&rest[length..]).filter(|more| !more.is_empty())))
}

/// Whether a word is the value of the option before it. Of those that begin with a dash only numbers for `-N` are.
fn is_value(name: &str, word: &str) -> bool {
    !word.starts_with('-') || word == "-" || name == "-N" && word.parse::<f64>().is_ok()
}

fn unknown(word: &str) -> StrobealignOptionsError {
    StrobealignOptionsError(format!("'{word}' is not an option of strobealign"))
}

fn missing(name: &str) -> StrobealignOptionsError {
    StrobealignOptionsError(format!("{name} needs a value"))
}

fn refused(name: &str) -> StrobealignOptionsError {
    match ELSEWHERE.iter().find(|(other, _)| *other == name) {
        Some((_, instead)) => StrobealignOptionsError(format!("{name} cannot be given here: {instead}")),
        None => unknown(name),
    }
}

fn wrong(name: &str, value: &str) -> StrobealignOptionsError {
    StrobealignOptionsError(format!("{name} {value}: that is not a value for {name}"))
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, StrobealignOptionsError> {
    value.parse().map_err(|_| wrong(name, value))
}

/// A number that is one: strobealign takes infinity and NaN, too, and stops where it compares scores.
fn finite<T: FromStr + Into<f64> + Copy>(name: &str, value: &str) -> Result<T, StrobealignOptionsError> {
    let parsed: T = number(name, value)?;
    if parsed.into().is_finite() { Ok(parsed) } else { Err(wrong(name, value)) }
}

fn within<T>(name: &str, value: &str, least: T, most: T) -> Result<T, StrobealignOptionsError>
where
    T: FromStr + PartialOrd + std::fmt::Display,
{
    let parsed: T = number(name, value)?;
    if (&least..=&most).contains(&&parsed) {
        return Ok(parsed);
    }
    Err(StrobealignOptionsError(format!("{name} {value}: it must be {least} to {most}")))
}

fn strategy(value: &str) -> Result<McsStrategy, StrobealignOptionsError> {
    Ok(match value {
        "always" => McsStrategy::Always,
        "rescue" => McsStrategy::Rescue,
        "off" => McsStrategy::Off,
        "first-strobe" => McsStrategy::FirstStrobe,
        _ => {
            return Err(StrobealignOptionsError(format!(
                "--mcs {value}: it must be always, rescue, off or first-strobe"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> StrobealignOptions {
        StrobealignOptions::parse(text).unwrap()
    }

    #[test]
    fn words_are_taken_apart_as_clap_does() {
        for text in ["-k 22", "-k22", "-k=22", "'-k' 22", "-Uk22", "-Uk 22", "--aux-len=17 -k 22"] {
            assert_eq!(parsed(text).seeding.k, Some(22), "{text}");
        }
        assert!(parsed("-Ux").only_mapped && parsed("-xU").product == Product::Paf);
        assert_eq!(parsed("--aux-len=18").seeding.aux_len, 18);
        assert_eq!(parsed("--aux-len 18").seeding.aux_len, 18);
        let default = format!("{:?}", StrobealignOptions::default());
        assert_eq!(format!("{:?}", parsed("")), default);
    }

    #[test]
    fn each_option_sets_what_it_is_for() {
        let scores = parsed("-A 3 -B 4 -O 11 -E 2 -L 0 --bw 64");
        let Scores { match_, mismatch, gap_open, gap_extend, end_bonus } = scores.scores;
        assert_eq!((match_, mismatch, gap_open, gap_extend, end_bonus, scores.bandwidth), (3, 4, 11, 2, 0, 64));
        assert!(parsed("--ssw").use_ssw && parsed("--ssw").mapping().use_ssw);
        let seeding = parsed("-P noisy -k 20 -s 16 -l 2 -u 9 -m 100 -c 9 -b 12 --aux-len 3 -f 0.01").seeding;
        let wanted = Seeding {
            noisy: true,
            k: Some(20),
            s: Some(16),
            window_start: Some(2),
            window_end: Some(9),
            max_seed_length: Some(100),
            bit_count: Some(9),
            aux_len: 3,
            bits: Some(12),
            filter_fraction: 0.01,
        };
        assert_eq!(seeding, wanted);
        let search = parsed("-N 3 --st 0.5 --mcs rescue -S 0.25 -M 7 -R 0").search;
        let wanted = AlignmentSearch {
            max_secondary: 3,
            secondary_threshold: 0.5,
            mcs_strategy: McsStrategy::Rescue,
            dropoff_threshold: 0.25,
            max_tries: 7,
            rescue_distance: 0,
        };
        assert_eq!(search, wanted);
        assert_eq!(parsed("-N -1").search.max_secondary, usize::MAX);
        assert_eq!(parsed("--mcs first-strobe").search.mcs_strategy, McsStrategy::FirstStrobe);
        let chaining = parsed("-H 3 --gd 0.25 --gl 0.5 --vp 0.75 --sg 80 --mw 2 --mr 4").chaining;
        let wanted = ChainingParameters {
            max_lookback: 3,
            diag_diff_penalty: 0.25,
            gap_length_penalty: 0.5,
            valid_score_threshold: 0.75,
            max_ref_gap: Some(80),
            matches_weight: 2.0,
            max_diagonal_ratio: 4.0,
        };
        assert_eq!(format!("{chaining:?}"), format!("{wanted:?}"));
        let output = parsed("-U --eqx --details --no-PG --aemb");
        assert!(output.only_mapped && output.eqx && output.details && output.no_pg);
        assert!(!output.mapping().output_unmapped && output.product == Product::Abundances);
    }

    #[test]
    fn what_cannot_be_had_is_refused_by_name() {
        let is_nothing = "is not an option of strobealign";
        for (text, said) in [
            ("-t 4", "-t cannot be given here: use -t of zerohop"),
            ("-Ut4", "-t cannot be given here: use -t of zerohop"),
            ("--rg=SM:x", "--rg cannot be given here: use --rg of zerohop"),
            ("-i", "-i cannot be given here: use 'zerohop index', or --build-index"),
            ("-x --aemb", "-x and --aemb cannot be given together"),
            ("-k 20 -k 20", "-k is given twice"),
            ("-k", "-k needs a value"),
            ("-B -4", "-B needs a value"),
            ("-k x", "-k x: that is not a value for -k"),
            ("-k ''", "-k : that is not a value for -k"),
            ("-k 32", "-k 32: it must be 8 to 31"),
            ("-s 0", "-s 0: it must be 1 to 31"),
            ("-b 7", "-b 7: it must be 8 to 31"),
            ("-c 64", "-c 64: it must be 2 to 63"),
            ("-A 0", "-A 0: it must be 1 to 255"),
            ("--st 1.5", "--st 1.5: it must be 0 to 1"),
            ("--st nan", "--st nan: it must be 0 to 1"),
            ("--mw inf", "--mw inf: that is not a value for --mw"),
            ("--mcs all", "--mcs all: it must be always, rescue, off or first-strobe"),
            ("-P clean", "-P clean: the only profile is noisy"),
            ("--eqx=1", "--eqx takes no value"),
            ("-O 'x", "a quote in '-O 'x' is not closed"),
            (
                "-O 1 -E 2",
                "invalid scoring scheme: gap open penalty (1) must be at least the gap extension penalty (2)",
            ),
            ("ref.fa", &format!("'ref.fa' {is_nothing}")),
            ("-", &format!("'-' {is_nothing}")),
            ("--", &format!("'--' {is_nothing}")),
            ("-z", &format!("'-z' {is_nothing}")),
            ("-Uz", &format!("'-Uz' {is_nothing}")),
            ("--eq", &format!("'--eq' {is_nothing}")),
            ("-\u{e9}3", &format!("'-\u{e9}' {is_nothing}")),
        ] {
            assert_eq!(
                StrobealignOptions::parse(text).unwrap_err().to_string(),
                format!("--engine-args: {said}"),
                "{text}"
            );
        }
        assert!(StrobealignOptions::parse("--ssw -O 1 -E 2").is_ok(), "only the piecewise aligner has bounds");
    }
}
