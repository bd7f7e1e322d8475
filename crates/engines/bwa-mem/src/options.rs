//! The options of `bwa mem`, in its letters. What they mean, which presets there are (`-x`) and which scores grow with
//! `-A` is that of bwa 0.7.17 (its `main_mem`). Options that zerohop has of its own, and those that it has no use for,
//! are refused by name.

use crate::files::IndexKind;
use std::str::FromStr;

/// Bases of a cohort unless `-K` says otherwise: what `bwa mem -t 1` takes.
pub const COHORT_BASES: u64 = 10_000_000;

/// Letters with a value.
const VALUED: &str = "kwdrycDWmABOELUxKThIsGNXQ";
/// Letters without one.
const FLAGS: &str = "5qSPaMYjV";
/// The word for bisulfite reads.
pub(crate) const BISULFITE: &str = "--meth";
/// The word for all shortcuts of the library, and what its program calls them.
const FAST: &str = "--fast-unlike-bwa";
const FAST_OF_THE_PROGRAM: &str = "--fast";
/// `-m` and `-y` of these, and `-s` for bisulfite reads.
const FAST_RESCUES: i32 = 10;
const FAST_INTERVALS: u64 = 0;
const FAST_SPLIT_WIDTH: i32 = 2;
/// Letters that something else stands for.
const ELSEWHERE: [(char, &str); 9] = [
    ('t', "-t of zerohop"),
    ('p', "-p of zerohop"),
    ('C', "-C of zerohop"),
    ('R', "-R of zerohop"),
    ('o', "-o of zerohop"),
    ('f', "-o of zerohop"),
    ('v', "-q of zerohop"),
    ('H', "-R of zerohop for read groups; other header lines are not supported"),
    ('1', "nothing in its place: reading and mapping overlap in any case"),
];

/// What the user asked for, with bwa's defaults. Scores and lengths are those of bwa's manual, under its letters.
#[derive(Debug, Clone, PartialEq)]
pub struct BwaMemOptions {
    /// Bases of a cohort (`-K`).
    pub cohort_bases: u64,
    /// Insert sizes that are given and not found out (`-I`).
    pub insert_sizes: Option<InsertSizeOption>,
    /// Whether ALT contigs are taken for ordinary ones (`-j`).
    pub ignore_alt: bool,
    /// Whether records have the comment of their contig (`-V`).
    pub contig_comments: bool,
    /// Whether reads are those of bisulfite or EM-seq libraries (`--meth` of bwa-mem3).
    pub bisulfite: bool,
    /// Whether the library takes all its shortcuts (`--fast` of bwa-mem3): then records are not bwa's.
    pub fast: bool,
    /// `-A`, `-B`.
    pub(crate) match_score: i32,
    pub(crate) mismatch: i32,
    /// `-O`, `-E`: of deletions and insertions.
    pub(crate) gap_open: (i32, i32),
    pub(crate) gap_extend: (i32, i32),
    /// `-U`.
    pub(crate) unpaired: i32,
    /// `-L`: of the 5' and the 3' end.
    pub(crate) clip: (i32, i32),
    /// `-w`, `-d`, `-T`.
    pub(crate) band: i32,
    pub(crate) z_drop: i32,
    pub(crate) least_score: i32,
    /// `-k`, `-r`, `-y`, `-s`, `-c`.
    pub(crate) min_seed: i32,
    pub(crate) split_factor: f32,
    pub(crate) most_intervals: u64,
    pub(crate) split_width: i32,
    pub(crate) most_places: i32,
    /// `-W`, `-N`, `-G`, `-D`, `-X`.
    pub(crate) min_chain_weight: i32,
    pub(crate) most_chains: i32,
    pub(crate) chain_gap: i32,
    pub(crate) drop_ratio: f32,
    pub(crate) mask_level: f32,
    /// `-m`, `-Q`.
    pub(crate) most_rescues: i32,
    pub(crate) mapq_length: i32,
    /// `-h`: alignments in XA, and those with ALT contigs.
    pub(crate) most_xa: (i32, i32),
    /// `-P -a -M -S -Y -5 -q`.
    pub(crate) no_pairing: bool,
    pub(crate) all: bool,
    pub(crate) mark_secondary: bool,
    pub(crate) no_rescue: bool,
    pub(crate) soft_clip: bool,
    pub(crate) primary_5: bool,
    pub(crate) keep_mapq: bool,
}

impl Default for BwaMemOptions {
    fn default() -> Self {
        BwaMemOptions {
            cohort_bases: COHORT_BASES,
            insert_sizes: None,
            ignore_alt: false,
            contig_comments: false,
            bisulfite: false,
            fast: false,
            match_score: 1,
            mismatch: 4,
            gap_open: (6, 6),
            gap_extend: (1, 1),
            unpaired: 17,
            clip: (5, 5),
            band: 100,
            z_drop: 100,
            least_score: 30,
            min_seed: 19,
            split_factor: 1.5,
            most_intervals: 20,
            split_width: 10,
            most_places: 500,
            min_chain_weight: 0,
            most_chains: 1 << 30,
            chain_gap: 10_000,
            drop_ratio: 0.5,
            mask_level: 0.5,
            most_rescues: 50,
            mapq_length: 50,
            most_xa: (5, 200),
            no_pairing: false,
            all: false,
            mark_secondary: false,
            no_rescue: false,
            soft_clip: false,
            primary_5: false,
            keep_mapq: false,
        }
    }
}

/// Insert sizes of pairs whose mates face each other, in bases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InsertSizeOption {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// The shortest of a proper pair.
    pub shortest: i32,
    /// The longest of a proper pair.
    pub longest: i32,
}

/// What is wrong with the text of `--engine-args`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--engine-args: {0}")]
pub struct BwaMemOptionsError(String);

impl BwaMemOptions {
    /// Reads what the user wrote, as a shell and getopt take it apart.
    ///
    /// ```
    /// use zerohop_engine_bwa_mem::BwaMemOptions;
    /// assert_eq!(BwaMemOptions::parse("-K 100000000 -Y")?.cohort_bases, 100_000_000);
    /// assert!(BwaMemOptions::parse("-t 8").unwrap_err().to_string().contains("use -t of zerohop"));
    /// # Ok::<_, zerohop_engine_bwa_mem::BwaMemOptionsError>(())
    /// ```
    ///
    /// # Errors
    /// Options that are not supported, by name; values that are not valid.
    pub fn parse(text: &str) -> Result<Self, BwaMemOptionsError> {
        let words =
            shlex::split(text).ok_or_else(|| BwaMemOptionsError(format!("a quote in '{text}' is not closed")))?;
        if words.iter().any(|word| word == FAST_OF_THE_PROGRAM) {
            return Err(BwaMemOptionsError(format!(
                "{FAST_OF_THE_PROGRAM} of bwa-mem3 is {FAST} here, for its records are not bwa's; those of bwa mem -m \
                 {FAST_RESCUES} -y {FAST_INTERVALS} take little longer"
            )));
        }
        let is_long = |word: &String| [BISULFITE, FAST].contains(&&**word);
        let (long, words): (Vec<String>, Vec<String>) = words.into_iter().partition(is_long);
        let (mut options, letters) = (BwaMemOptions::default(), letters(&words)?);
        for (letter, value) in &letters {
            options.set(*letter, value)?;
        }
        let has = |word: &str| long.iter().any(|long| long == word);
        (options.bisulfite, options.fast) = (has(BISULFITE), has(FAST));
        let is_given = |letter: char| letters.iter().any(|(given, _)| *given == letter);
        let preset = letters.iter().rfind(|(letter, _)| *letter == 'x');
        match preset {
            Some((_, preset)) => options.preset(preset, is_given)?,
            None if is_given('A') => options.scale(is_given),
            None => {}
        }
        if options.bisulfite {
            options.scores_for_bisulfite(is_given)?;
        }
        if options.fast {
            options.take_shortcuts(is_given);
        }
        options.check(|letter| preset.is_none() && is_given('A') && !is_given(letter))?;
        Ok(options)
    }

    /// The index that it needs.
    pub(crate) fn index(&self) -> IndexKind {
        if self.bisulfite { IndexKind::Bisulfite } else { IndexKind::Plain }
    }

    /// Refuses what bwa does not take either, and what the library computes in narrower numbers than bwa: scores of one
    /// base in 8 bits, of a gap of one base too, and the drop-off in 16. Where opening or extending a gap costs
    /// nothing, shortcuts of the library find other scores; with a negative length of seeds it finds none. `is_scaled`
    /// tells what nobody gave, but -A made.
    fn check(&self, is_scaled: impl Fn(char) -> bool) -> Result<(), BwaMemOptionsError> {
        let by = format!(" (-A {} scales it)", self.match_score);
        let scaled = |letter| if is_scaled(letter) { &*by } else { "" };
        let limits = [
            ('A', self.match_score, 1, i8::MAX.into()),
            ('B', self.mismatch, 0, i8::MAX.into()),
            ('k', self.min_seed, 0, i32::MAX),
            ('w', self.band, 0, i32::MAX),
            ('c', self.most_places, 1, i32::MAX),
            ('s', self.split_width, 0, i32::MAX),
        ];
        if let Some((letter, value, least, most)) = limits.into_iter().find(|(_, v, least, most)| v < least || v > most)
        {
            let most = if most == i32::MAX { "or more".to_owned() } else { format!("to {most}") };
            let scaled = if letter == 'B' { scaled(letter) } else { "" };
            return Err(BwaMemOptionsError(format!(
                "-{letter} {value}{scaled} is out of range: it must be {least} {most}"
            )));
        }
        if !(0..=i16::MAX.into()).contains(&self.z_drop) {
            let what = "it must be 0 to 32767, and 0 turns it off";
            return Err(BwaMemOptionsError(format!("-d {}{} is out of range: {what}", self.z_drop, scaled('d'))));
        }
        let gaps = [(self.gap_open.0, self.gap_extend.0), (self.gap_open.1, self.gap_extend.1)];
        match gaps.into_iter().find(|(open, extend)| *open < 1 || *extend < 1 || open.saturating_add(*extend) > 255) {
            Some((open, extend)) => Err(BwaMemOptionsError(format!(
                "-O {open}{} with -E {extend}{} is out of range: both must be 1 or more, and their sum at most 255",
                scaled('O'),
                scaled('E')
            ))),
            None => Ok(()),
        }
    }

    fn set(&mut self, letter: char, value: &str) -> Result<(), BwaMemOptionsError> {
        let whole = || number::<i32>(letter, value);
        let fraction = || match number::<f32>(letter, value)? {
            fraction if fraction.is_finite() => Ok(fraction),
            _ => Err(wrong(letter, value)),
        };
        match letter {
            'K' => self.cohort_bases = number::<u64>(letter, value).and_then(|bases| positive(bases, letter, value))?,
            'I' => self.insert_sizes = Some(insert_sizes(value)?),
            'j' => self.ignore_alt = true,
            'V' => self.contig_comments = true,
            'A' => self.match_score = whole()?,
            'B' => self.mismatch = whole()?,
            'O' => self.gap_open = two(letter, value)?,
            'E' => self.gap_extend = two(letter, value)?,
            'U' => self.unpaired = whole()?,
            'L' => self.clip = two(letter, value)?,
            'w' => self.band = whole()?,
            'd' => self.z_drop = whole()?,
            'T' => self.least_score = whole()?,
            'k' => self.min_seed = whole()?,
            'r' => self.split_factor = fraction()?,
            'y' => self.most_intervals = number(letter, value)?,
            's' => self.split_width = whole()?,
            'c' => self.most_places = whole()?,
            'W' => self.min_chain_weight = whole()?,
            'N' => self.most_chains = whole()?,
            'G' => self.chain_gap = whole()?,
            'D' => self.drop_ratio = fraction()?,
            'X' => self.mask_level = fraction()?,
            'm' => self.most_rescues = whole()?,
            'Q' => self.mapq_length = whole()?,
            'h' => self.most_xa = two(letter, value)?,
            'P' => self.no_pairing = true,
            'a' => self.all = true,
            'M' => self.mark_secondary = true,
            'S' => self.no_rescue = true,
            'Y' => self.soft_clip = true,
            '5' => (self.primary_5, self.keep_mapq) = (true, true),
            'q' => self.keep_mapq = true,
            _ => {}
        }
        Ok(())
    }

    /// What `-x` sets, but for what was given.
    fn preset(&mut self, name: &str, is_given: impl Fn(char) -> bool) -> Result<(), BwaMemOptionsError> {
        let unless = |letter: char, target: &mut (i32, i32), value: i32| {
            if !is_given(letter) {
                *target = (value, value);
            }
        };
        let is_long = match name {
            "intractg" => false,
            "pacbio" | "pbref" | "ont2d" => true,
            _ => return Err(BwaMemOptionsError(format!("-x {name}: the types are intractg, pacbio, pbref and ont2d"))),
        };
        unless('O', &mut self.gap_open, if is_long { 1 } else { 16 });
        unless('L', &mut self.clip, if is_long { 0 } else { 5 });
        if !is_given('B') {
            self.mismatch = if is_long { 1 } else { 9 };
        }
        if !is_long {
            return Ok(());
        }
        unless('E', &mut self.gap_extend, 1);
        let (weight, seed) = if name == "ont2d" { (20, 14) } else { (40, 17) };
        if !is_given('r') {
            self.split_factor = 10.0;
        }
        if !is_given('W') {
            self.min_chain_weight = weight;
        }
        if !is_given('k') {
            self.min_seed = seed;
        }
        Ok(())
    }

    /// The scores of bwameth.py, as the library has them (`mem_opt_apply_meth_defaults`), but for what was given.
    fn scores_for_bisulfite(&mut self, is_given: impl Fn(char) -> bool) -> Result<(), BwaMemOptionsError> {
        for (letter, why) in [('x', "it is for long reads and contigs"), ('V', "XR says how reads were converted")] {
            if is_given(letter) {
                return Err(BwaMemOptionsError(format!("-{letter} and {BISULFITE} exclude each other: {why}")));
            }
        }
        let by = |score: i32| score.saturating_mul(self.match_score);
        let (clip, unpaired, least_score, mismatch) = (by(10), by(100), by(40), by(2));
        let unless = |letter: char, target: &mut i32, value: i32| {
            if !is_given(letter) {
                *target = value;
            }
        };
        unless('U', &mut self.unpaired, unpaired);
        unless('T', &mut self.least_score, least_score);
        unless('B', &mut self.mismatch, mismatch);
        if !is_given('L') {
            self.clip = (clip, clip);
        }
        self.mark_secondary = true;
        Ok(())
    }

    /// What bwa has letters for of the library's shortcuts (`--fast` in its fastmap.cpp), but for what was given.
    fn take_shortcuts(&mut self, is_given: impl Fn(char) -> bool) {
        if !is_given('m') {
            self.most_rescues = FAST_RESCUES;
        }
        if !is_given('y') {
            self.most_intervals = FAST_INTERVALS;
        }
        if self.bisulfite && !is_given('s') {
            self.split_width = FAST_SPLIT_WIDTH;
        }
    }

    /// Scores grow with that of a match, but for those that were given.
    fn scale(&mut self, is_given: impl Fn(char) -> bool) {
        let by = self.match_score;
        let single = [
            ('B', &mut self.mismatch),
            ('T', &mut self.least_score),
            ('d', &mut self.z_drop),
            ('U', &mut self.unpaired),
        ];
        single
            .into_iter()
            .filter(|(letter, _)| !is_given(*letter))
            .for_each(|(_, score)| *score = score.saturating_mul(by));
        let both = [('O', &mut self.gap_open), ('E', &mut self.gap_extend), ('L', &mut self.clip)];
        for (_, (one, other)) in both.into_iter().filter(|(letter, _)| !is_given(*letter)) {
            (*one, *other) = (one.saturating_mul(by), other.saturating_mul(by));
        }
    }
}

/// The letters in the words, with their values.
fn letters(words: &[String]) -> Result<Vec<(char, String)>, BwaMemOptionsError> {
    let (mut found, mut words) = (Vec::new(), words.iter());
    while let Some(word) = words.next() {
        let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            return Err(BwaMemOptionsError(format!("'{word}' is not an option of bwa mem")));
        };
        let mut rest = cluster.chars();
        while let Some(letter) = rest.next() {
            if FLAGS.contains(letter) {
                found.push((letter, String::new()));
            } else if VALUED.contains(letter) {
                let value = match rest.as_str() {
                    "" => words.next().ok_or_else(|| BwaMemOptionsError(format!("-{letter} needs a value")))?,
                    same_word => same_word,
                };
                found.push((letter, value.to_owned()));
                break;
            } else {
                return Err(refused(letter));
            }
        }
    }
    Ok(found)
}

fn refused(letter: char) -> BwaMemOptionsError {
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == letter);
    BwaMemOptionsError(match elsewhere {
        Some((_, instead)) => format!("-{letter} cannot be given here: use {instead}"),
        None => format!("-{letter} is not supported"),
    })
}

fn wrong(letter: char, value: &str) -> BwaMemOptionsError {
    BwaMemOptionsError(format!("-{letter} {value}: that is not a value for -{letter}"))
}

fn number<T: FromStr>(letter: char, value: &str) -> Result<T, BwaMemOptionsError> {
    value.parse().map_err(|_| wrong(letter, value))
}

fn positive(bases: u64, letter: char, value: &str) -> Result<u64, BwaMemOptionsError> {
    if bases > 0 { Ok(bases) } else { Err(wrong(letter, value)) }
}

/// One or two numbers, `6,7`; one stands for both.
fn two(letter: char, value: &str) -> Result<(i32, i32), BwaMemOptionsError> {
    let (one, other) = value.split_once(',').unwrap_or((value, value));
    one.parse().ok().zip(other.parse().ok()).ok_or_else(|| wrong(letter, value))
}

/// `MEAN[,DEVIATION[,LONGEST[,SHORTEST]]]`.
fn insert_sizes(value: &str) -> Result<InsertSizeOption, BwaMemOptionsError> {
    let numbers: Option<Vec<f64>> = value.split(',').map(|part| part.parse().ok()).collect();
    let numbers = numbers.ok_or_else(|| wrong('I', value))?;
    let [mean, ref more @ ..] = numbers[..] else { return Err(wrong('I', value)) };
    if more.len() > 3 || numbers.iter().any(|number| !number.is_finite()) {
        return Err(wrong('I', value));
    }
    let deviation = more.first().copied().unwrap_or(mean * 0.1);
    if mean <= 0.0 || deviation <= 0.0 {
        return Err(BwaMemOptionsError(format!("-I {value} is out of range: mean and deviation must be above 0")));
    }
    let rounded = |number: f64| (number + 0.499) as i32;
    let longest = more.get(1).copied().map_or(rounded(mean + 4.0 * deviation), rounded);
    let shortest = more.get(2).copied().map_or(rounded(mean - 4.0 * deviation).max(1), rounded);
    Ok(InsertSizeOption { mean, deviation, shortest, longest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_taken_apart_as_getopt_does() {
        let options = BwaMemOptions::parse("-SP -k17 -O 6,7 -Y '-L' 4").unwrap();
        assert!(options.no_rescue && options.no_pairing && options.soft_clip);
        assert_eq!((options.min_seed, options.gap_open, options.clip), (17, (6, 7), (4, 4)));
        assert_eq!(BwaMemOptions::parse("").unwrap(), BwaMemOptions::default());
    }

    #[test]
    fn scores_grow_with_a_match_and_presets_leave_what_was_given() {
        let options = BwaMemOptions::parse("-A 2 -T 40").unwrap();
        let scores = (options.mismatch, options.least_score, options.gap_open, options.unpaired, options.clip);
        assert_eq!(scores, (8, 40, (12, 12), 34, (10, 10)));
        let options = BwaMemOptions::parse("-x ont2d -k 15 -A 2").unwrap();
        assert_eq!(
            (options.min_seed, options.min_chain_weight, options.mismatch, options.least_score),
            (15, 20, 1, 30)
        );
        assert_eq!(BwaMemOptions::parse("-x intractg").unwrap().gap_open, (16, 16));
        assert_eq!(BwaMemOptions::parse("-A 127 -B 127 -O 128 -E 127 -d 32767").unwrap().gap_open, (128, 128));
    }

    #[test]
    fn scores_for_bisulfite_are_those_of_bwameth() {
        let scores = |text: &str| {
            let options = BwaMemOptions::parse(text).unwrap();
            assert!(options.bisulfite && options.mark_secondary);
            (options.mismatch, options.clip, options.least_score, options.unpaired, options.gap_open)
        };
        assert_eq!(scores("--meth"), (2, (10, 10), 40, 100, (6, 6)));
        assert_eq!(scores("-A 2 -T 30 --meth"), (4, (20, 20), 30, 200, (12, 12)));
        assert_eq!(scores("--meth -B 4 -L 5 -U 17"), (4, (5, 5), 40, 17, (6, 6)));
        assert!(!BwaMemOptions::parse("-T 40").unwrap().bisulfite);
    }

    #[test]
    fn shortcuts_leave_what_was_given() {
        let taken = |text: &str| {
            let options = BwaMemOptions::parse(text).unwrap();
            (options.fast, options.most_rescues, options.most_intervals, options.split_width)
        };
        assert_eq!(taken("--fast-unlike-bwa"), (true, 10, 0, 10));
        assert_eq!(taken("--meth --fast-unlike-bwa"), (true, 10, 0, 2));
        assert_eq!(taken("-m 7 --fast-unlike-bwa --meth -s 9 -y 20"), (true, 7, 20, 9));
        assert_eq!(taken("-m 10 -y 0"), (false, 10, 0, 10));
    }

    #[test]
    fn insert_sizes_are_those_of_bwa() {
        let sizes = |text: &str| BwaMemOptions::parse(text).unwrap().insert_sizes.unwrap();
        let wanted = InsertSizeOption { mean: 400.0, deviation: 40.0, shortest: 240, longest: 560 };
        assert_eq!(sizes("-I 400"), wanted);
        assert_eq!(sizes("-I 400,40"), wanted);
        assert_eq!((sizes("-I 400,200").shortest, sizes("-I 400,50,700,20").longest), (1, 700));
    }

    #[test]
    fn what_cannot_be_had_is_refused_by_name() {
        for (text, said) in [
            ("-t 4", "-t cannot be given here: use -t of zerohop"),
            ("-z 0.5", "-z is not supported"),
            ("-k x", "-k x: that is not a value for -k"),
            ("-K 0", "-K 0: that is not a value for -K"),
            ("-k", "-k needs a value"),
            ("ref.fa", "'ref.fa' is not an option of bwa mem"),
            ("-x hifi", "-x hifi: the types are intractg, pacbio, pbref and ont2d"),
            ("-I 1,2,3,4,5", "-I 1,2,3,4,5: that is not a value for -I"),
            ("-I 300,0", "-I 300,0 is out of range: mean and deviation must be above 0"),
            ("-A 0", "-A 0 is out of range: it must be 1 to 127"),
            ("-I 300,", "-I 300,: that is not a value for -I"),
            ("-h 5,", "-h 5,: that is not a value for -h"),
            ("-r nan", "-r nan: that is not a value for -r"),
            ("-A 32", "-B 128 (-A 32 scales it) is out of range: it must be 0 to 127"),
            ("-k -5", "-k -5 is out of range: it must be 0 or more"),
            ("-E 0", "-O 6 with -E 0 is out of range: both must be 1 or more, and their sum at most 255"),
            ("-A 2000000000", "-A 2000000000 is out of range: it must be 1 to 127"),
            ("-w -1", "-w -1 is out of range: it must be 0 or more"),
            ("-d 32768", "-d 32768 is out of range: it must be 0 to 32767, and 0 turns it off"),
            ("--meth -x ont2d", "-x and --meth exclude each other: it is for long reads and contigs"),
            ("--meth -V", "-V and --meth exclude each other: XR says how reads were converted"),
            ("--methyl", "-- is not supported"),
            (
                "--fast",
                "--fast of bwa-mem3 is --fast-unlike-bwa here, for its records are not bwa's; those of bwa mem -m 10 \
                 -y 0 take little longer",
            ),
            ("-O 6,250 -E 6", "-O 250 with -E 6 is out of range: both must be 1 or more, and their sum at most 255"),
        ] {
            assert_eq!(BwaMemOptions::parse(text).unwrap_err().to_string(), format!("--engine-args: {said}"), "{text}");
        }
    }
}
