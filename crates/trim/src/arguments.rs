//! fastp's own words for its options (main.cpp of fastp 1.3.6; cmdline.h says how they are written).

use crate::error::OptionError;
use crate::options::{
    AdapterOptions, AdapterSequence, EndOptions, LengthFilter, Options, OverlapOptions, PolyG, PolyGOptions,
    QualityFilter, Window, WindowOptions,
};
use std::collections::BTreeMap;

/// What an option of fastp takes.
#[derive(Debug, Clone, Copy)]
enum Takes {
    Nothing,
    /// A number in this range.
    Number(i64, i64),
    Text,
    /// Nothing here, for this reason.
    Refused(&'static str),
}

use Takes::{Nothing, Number, Refused, Text};

/// The most that a number without another limit may be: that of a C `int`.
const MOST: i64 = i32::MAX as i64;
/// Bases of a window, and the mean quality of one.
const WINDOW_SIZE: Takes = Number(1, 1000);
const WINDOW_QUALITY: Takes = Number(1, 30);
/// The adapter that stands for what the first reads say.
const AUTO: &str = "auto";

const FILES: Takes = Refused("it reads and writes files by its own options");
const TRIMMED_FILES: Takes = Refused("it writes trimmed reads with --save-trimmed");
const MERGES: Takes = Refused("it aligns both mates, and merges none");
const UMI: Takes = Refused("it takes UMIs from reads and names with --read-structure and --barcode-name");
const INDEX: Takes = Refused("it drops no reads by the index in their names");
const CORRECTS: Takes = Refused("it trims reads, and never changes a base");
const DEDUP: Takes = Refused("it marks or removes duplicates by where they align (--mark-duplicates)");
const FREQUENT: Takes = Refused("which sequences are frequent depends on the order of the reads");
const REPORTS: Takes = Refused("it writes fastp's report with --fastp-json");
const QUALITIES: Takes = Refused("it reads qualities as Phred+33 alone");
const NAMES: Takes = Refused("it changes no names");
const GAPS: Takes = Refused("it finds overlaps without gaps alone");
const OLD: Takes = Refused("fastp itself calls it deprecated; see --cut_front, --cut_tail and --cut_right");

/// Every option: its letter, if it has one, its name, and what it takes.
#[rustfmt::skip]
const OPTIONS: &[(Option<char>, &str, Takes)] = &[
    (Some('A'), "disable_adapter_trimming", Nothing),
    (Some('a'), "adapter_sequence", Text),
    (None, "adapter_sequence_r2", Text),
    (None, "adapter_fasta", Text),
    (Some('2'), "detect_adapter_for_pe", Nothing),
    (None, "allow_gap_overlap_trimming", GAPS),
    (None, "dimer_max_len", Number(-1, MOST)),
    (Some('f'), "trim_front1", Number(0, MOST)),
    (Some('t'), "trim_tail1", Number(0, MOST)),
    (Some('b'), "max_len1", Number(0, MOST)),
    (Some('F'), "trim_front2", Number(0, MOST)),
    (Some('T'), "trim_tail2", Number(0, MOST)),
    (Some('B'), "max_len2", Number(0, MOST)),
    (Some('g'), "trim_poly_g", Nothing),
    (None, "poly_g_min_len", Number(1, MOST)),
    (Some('G'), "disable_trim_poly_g", Nothing),
    (Some('x'), "trim_poly_x", Nothing),
    (None, "poly_x_min_len", Number(1, MOST)),
    (Some('5'), "cut_front", Nothing),
    (Some('3'), "cut_tail", Nothing),
    (Some('r'), "cut_right", Nothing),
    (Some('W'), "cut_window_size", WINDOW_SIZE),
    (Some('M'), "cut_mean_quality", WINDOW_QUALITY),
    (None, "cut_front_window_size", WINDOW_SIZE),
    (None, "cut_front_mean_quality", WINDOW_QUALITY),
    (None, "cut_tail_window_size", WINDOW_SIZE),
    (None, "cut_tail_mean_quality", WINDOW_QUALITY),
    (None, "cut_right_window_size", WINDOW_SIZE),
    (None, "cut_right_mean_quality", WINDOW_QUALITY),
    (Some('Q'), "disable_quality_filtering", Nothing),
    (Some('q'), "qualified_quality_phred", Number(0, 93)),
    (Some('u'), "unqualified_percent_limit", Number(0, 100)),
    (Some('n'), "n_base_limit", Number(0, 50)),
    (Some('e'), "average_qual", Number(0, 93)),
    (Some('L'), "disable_length_filtering", Nothing),
    (Some('l'), "length_required", Number(0, MOST)),
    (None, "length_limit", Number(0, MOST)),
    (Some('y'), "low_complexity_filter", Nothing),
    (Some('Y'), "complexity_threshold", Number(0, 100)),
    (None, "overlap_len_require", Number(0, MOST)),
    (None, "overlap_diff_limit", Number(0, MOST)),
    (None, "overlap_diff_percent_limit", Number(0, 100)),
    // No duplicates are looked for before the alignment.
    (None, "dont_eval_duplication", Nothing),
    (Some('c'), "correction", CORRECTS),
    (Some('m'), "merge", MERGES),
    (None, "merged_out", MERGES),
    (None, "include_unmerged", MERGES),
    (None, "discard_unmerged", MERGES),
    (Some('U'), "umi", UMI),
    (None, "umi_loc", UMI),
    (None, "umi_len", UMI),
    (None, "umi_prefix", UMI),
    (None, "umi_skip", UMI),
    (None, "umi_delim", UMI),
    (None, "filter_by_index1", INDEX),
    (None, "filter_by_index2", INDEX),
    (None, "filter_by_index_threshold", INDEX),
    (Some('D'), "dedup", DEDUP),
    (None, "dup_calc_accuracy", DEDUP),
    (Some('p'), "overrepresentation_analysis", FREQUENT),
    (Some('P'), "overrepresentation_sampling", FREQUENT),
    (Some('j'), "json", REPORTS),
    (Some('h'), "html", REPORTS),
    (Some('R'), "report_title", REPORTS),
    (Some('V'), "verbose", REPORTS),
    (Some('w'), "thread", Refused("it has one number of threads for all (--threads)")),
    (Some('6'), "phred64", QUALITIES),
    (None, "fix_mgi_id", NAMES),
    (Some('i'), "in1", FILES),
    (Some('I'), "in2", FILES),
    (Some('o'), "out1", TRIMMED_FILES),
    (Some('O'), "out2", TRIMMED_FILES),
    (None, "unpaired1", FILES),
    (None, "unpaired2", FILES),
    (None, "overlapped_out", FILES),
    (None, "failed_out", Refused("it writes dropped reads with --save-failed")),
    (Some('z'), "compression", Refused("it compresses files as --level says")),
    (None, "stdin", FILES),
    (None, "stdout", FILES),
    (None, "interleaved_in", FILES),
    (None, "reads_to_process", FILES),
    (None, "dont_overwrite", FILES),
    (Some('s'), "split", FILES),
    (Some('S'), "split_by_lines", FILES),
    (Some('d'), "split_prefix_digits", FILES),
    (None, "cut_by_quality5", OLD),
    (None, "cut_by_quality3", OLD),
    (None, "cut_by_quality_aggressive", OLD),
];

impl Options {
    /// Reads fastp's words for its options: `--length_required 36`, `--length_required=36`, `-l 36`, `-gx`. Of an
    /// option that is given twice the last value counts.
    ///
    /// ```
    /// use zerohop_trim::Options;
    /// let options = Options::parse(["--cut_front", "-gl", "36"])?;
    /// assert_eq!(options.length.map(|length| length.required), Some(36));
    /// let refused = Options::parse(["-c"]).unwrap_err();
    /// assert_eq!(refused.to_string(), "-c is not for zerohop: it trims reads, and never changes a base");
    /// # Ok::<(), zerohop_trim::OptionError>(())
    /// ```
    ///
    /// # Errors
    /// Options that fastp has not, options that are not for zerohop, and values that fastp refuses.
    pub fn parse<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Result<Self, OptionError> {
        let mut given = Given::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let word = word.as_ref();
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let entry = OPTIONS.iter().find(|(_, known, _)| *known == name);
                let (_, name, takes) = *entry.ok_or_else(|| OptionError::Unknown(format!("--{name}")))?;
                given.take(&format!("--{name}"), (name, takes), value, &mut words)?;
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                for (at, letter) in letters.char_indices() {
                    let entry = OPTIONS.iter().find(|(known, ..)| *known == Some(letter));
                    let (_, name, takes) = *entry.ok_or_else(|| OptionError::Unknown(format!("-{letter}")))?;
                    // A value follows as a word of its own, behind the last letter.
                    let is_last = at + letter.len_utf8() == letters.len();
                    let mut none = std::iter::empty();
                    let option = format!("-{letter}");
                    match is_last {
                        true => given.take(&option, (name, takes), None, &mut words)?,
                        false => given.take::<&str>(&option, (name, takes), None, &mut none)?,
                    }
                }
            } else {
                return Err(OptionError::Stray(word.to_owned()));
            }
        }
        given.options()
    }
}

/// What was given: options by their names, with their values.
#[derive(Debug, Default)]
struct Given {
    numbers: BTreeMap<&'static str, i64>,
    texts: BTreeMap<&'static str, String>,
    flags: Vec<&'static str>,
}

impl Given {
    fn take<W: AsRef<str>>(
        &mut self,
        option: &str,
        (name, takes): (&'static str, Takes),
        value: Option<&str>,
        words: &mut impl Iterator<Item = W>,
    ) -> Result<(), OptionError> {
        let value = match (takes, value) {
            (Refused(reason), _) => return Err(OptionError::Refused { option: option.to_owned(), reason }),
            (Nothing, Some(_)) => return Err(OptionError::TakesNoValue(option.to_owned())),
            (Nothing, None) => {
                self.flags.push(name);
                return Ok(());
            }
            (_, Some(value)) => value.to_owned(),
            (_, None) => match words.next() {
                Some(word) => word.as_ref().to_owned(),
                None => return Err(OptionError::NeedsValue(option.to_owned())),
            },
        };
        if let Number(least, most) = takes {
            let number = value.parse().ok().filter(|number| (least..=most).contains(number));
            let option = option.to_owned();
            self.numbers.insert(name, number.ok_or(OptionError::Number { option, value, least, most })?);
        } else {
            self.texts.insert(name, value);
        }
        Ok(())
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// The number of the first of these options that was given.
    fn number(&self, names: &[&str]) -> Option<u32> {
        let number = names.iter().find_map(|name| self.numbers.get(name));
        number.and_then(|number| u32::try_from(*number).ok())
    }

    /// The same of numbers that a byte holds.
    fn byte(&self, name: &str) -> Option<u8> {
        self.number(&[name]).and_then(|number| u8::try_from(number).ok())
    }

    fn options(&self) -> Result<Options, OptionError> {
        let overlap = OverlapOptions::default();
        Ok(Options {
            adapters: if self.has("disable_adapter_trimming") { None } else { Some(self.adapters()?) },
            ends: self.ends(),
            windows: self.windows(),
            poly_g: self.poly_g()?,
            poly_x: self.has("trim_poly_x").then(|| self.number(&["poly_x_min_len"]).unwrap_or(10)),
            quality: (!self.has("disable_quality_filtering")).then(|| self.quality()),
            length: (!self.has("disable_length_filtering")).then(|| LengthFilter {
                required: self.number(&["length_required"]).unwrap_or(LengthFilter::default().required),
                limit: self.number(&["length_limit"]).unwrap_or_default(),
            }),
            complexity: self.has("low_complexity_filter").then(|| self.byte("complexity_threshold").unwrap_or(30)),
            overlap: OverlapOptions {
                required: self.number(&["overlap_len_require"]).unwrap_or(overlap.required),
                differences: self.number(&["overlap_diff_limit"]).unwrap_or(overlap.differences),
                differences_percent: self.byte("overlap_diff_percent_limit").unwrap_or(overlap.differences_percent),
            },
        })
    }

    fn adapters(&self) -> Result<AdapterOptions, OptionError> {
        let detect_for_pairs = self.has("detect_adapter_for_pe");
        let first = self.adapter("adapter_sequence")?;
        let second = match self.adapter("adapter_sequence_r2")? {
            AdapterSequence::Auto if !detect_for_pairs => first.clone(),
            second => second,
        };
        let dimer_length = match self.numbers.get("dimer_max_len") {
            Some(length) => u32::try_from(*length).ok(),
            None => AdapterOptions::default().dimer_length,
        };
        let fasta = self.texts.get("adapter_fasta").filter(|path| !path.is_empty()).map(Into::into);
        Ok(AdapterOptions { sequences: [first, second], fasta, detect_for_pairs, dimer_length })
    }

    fn adapter(&self, name: &str) -> Result<AdapterSequence, OptionError> {
        let is_adapter = |text: &str| text.len() > 3 && text.bytes().all(|letter| b"ACGT".contains(&letter));
        Ok(match self.texts.get(name).map(String::as_str) {
            None | Some(AUTO) => AdapterSequence::Auto,
            Some("") => AdapterSequence::None,
            Some(text) if is_adapter(text) => AdapterSequence::Given(text.to_owned()),
            Some(text) => {
                return Err(OptionError::Adapter { option: format!("--{name}"), value: text.to_owned() });
            }
        })
    }

    /// What was not given for the second read is that of the first.
    fn ends(&self) -> [EndOptions; 2] {
        let of = |front: &[&str], tail: &[&str], longest: &[&str]| EndOptions {
            front: self.number(front).unwrap_or_default(),
            tail: self.number(tail).unwrap_or_default(),
            longest: self.number(longest).unwrap_or_default(),
        };
        [
            of(&["trim_front1"], &["trim_tail1"], &["max_len1"]),
            of(&["trim_front2", "trim_front1"], &["trim_tail2", "trim_tail1"], &["max_len2", "max_len1"]),
        ]
    }

    fn windows(&self) -> WindowOptions {
        let of = |flag, size, quality| {
            self.has(flag).then(|| Window {
                size: self.number(&[size, "cut_window_size"]).unwrap_or(4),
                quality: self.number(&[quality, "cut_mean_quality"]).unwrap_or(20),
            })
        };
        WindowOptions {
            front: of("cut_front", "cut_front_window_size", "cut_front_mean_quality"),
            tail: of("cut_tail", "cut_tail_window_size", "cut_tail_mean_quality"),
            right: of("cut_right", "cut_right_window_size", "cut_right_mean_quality"),
        }
    }

    fn poly_g(&self) -> Result<PolyGOptions, OptionError> {
        let when = match (self.has("trim_poly_g"), self.has("disable_trim_poly_g")) {
            (true, true) => return Err(OptionError::Contradiction(["--trim_poly_g", "--disable_trim_poly_g"])),
            (true, false) => PolyG::Always,
            (false, true) => PolyG::Never,
            (false, false) => PolyG::ByInstrument,
        };
        Ok(PolyGOptions { when, least: self.number(&["poly_g_min_len"]).unwrap_or(PolyGOptions::default().least) })
    }

    fn quality(&self) -> QualityFilter {
        let default = QualityFilter::default();
        QualityFilter {
            qualified: self.byte("qualified_quality_phred").unwrap_or(default.qualified),
            unqualified_percent: self.byte("unqualified_percent_limit").unwrap_or(default.unqualified_percent),
            mean: self.byte("average_qual").unwrap_or(default.mean),
            n_bases: self.byte("n_base_limit").unwrap_or(default.n_bases),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Options, OptionError> {
        Options::parse(words.split_whitespace())
    }

    #[test]
    fn no_words_are_the_defaults() {
        assert_eq!(parse(""), Ok(Options::default()));
        assert_eq!(parse("--dont_eval_duplication"), Ok(Options::default()));
    }

    #[test]
    fn letters_and_names_say_the_same() {
        for (letters, names) in [
            ("-A", "--disable_adapter_trimming"),
            ("-a ACGT -2", "--adapter_sequence ACGT --detect_adapter_for_pe"),
            ("-f 1 -t 2 -b 3", "--trim_front1 1 --trim_tail1=2 --max_len1 3"),
            ("-F 1 -T 2 -B 3", "--trim_front2=1 --trim_tail2 2 --max_len2=3"),
            ("-gx53rQLyG", "-x -5 -3 -r -Q -L -y --trim_poly_g --disable_trim_poly_g"),
            ("-53rW 5", "--cut_front --cut_tail --cut_right --cut_window_size 5"),
            ("-rM 25", "--cut_right --cut_mean_quality 25"),
            (
                "-q 20 -u 30 -n 1 -e 25",
                "--qualified_quality_phred 20 --unqualified_percent_limit 30 -n 1 --average_qual 25",
            ),
            ("-l 20 -yY 40", "--length_required 20 --low_complexity_filter --complexity_threshold 40"),
        ] {
            assert_eq!(parse(letters), parse(names), "{letters}");
        }
    }

    #[test]
    fn what_is_not_given_for_the_second_read_is_that_of_the_first() {
        let ends = |words| parse(words).unwrap().ends;
        let of = |front, tail, longest| EndOptions { front, tail, longest };
        assert_eq!(ends("-f 1 -t 2 -b 3"), [of(1, 2, 3); 2]);
        assert_eq!(ends("-f 1 -F 0 -T 5 -B 7"), [of(1, 0, 0), of(0, 5, 7)]);
        let sequences = |words| parse(words).unwrap().adapters.unwrap().sequences;
        let given = |sequence: &str| AdapterSequence::Given(sequence.to_owned());
        assert_eq!(sequences("-a ACGT"), [given("ACGT"), given("ACGT")]);
        assert_eq!(sequences("-a ACGT -2"), [given("ACGT"), AdapterSequence::Auto]);
        assert_eq!(sequences("-a ACGT --adapter_sequence_r2 TTTT"), [given("ACGT"), given("TTTT")]);
        assert_eq!(sequences("--adapter_sequence="), [AdapterSequence::None, AdapterSequence::None]);
        let windows = parse("-5r -W 7 --cut_right_window_size 9 --cut_front_mean_quality 12").unwrap().windows;
        let window = |size, quality| Some(Window { size, quality });
        assert_eq!(windows, WindowOptions { front: window(7, 12), tail: None, right: window(9, 20) });
    }

    #[test]
    fn wrong_words_are_refused_by_their_names() {
        for (words, message) in [
            ("--trim_front 3", "fastp has no option --trim_front"),
            ("-gk", "fastp has no option -k"),
            ("-g reads.fq", "'reads.fq' belongs to no option"),
            ("-", "'-' belongs to no option"),
            ("-l", "-l needs a value"),
            ("-lg 5", "-l needs a value"),
            ("--cut_front=3", "--cut_front takes no value"),
            ("-l many", "-l takes a number from 0 to 2147483647, not 'many'"),
            ("-W 0", "-W takes a number from 1 to 1000, not '0'"),
            ("-a ACN", "--adapter_sequence takes at least 4 letters, all of them A, C, G or T, not 'ACN'"),
            ("-g -G", "--trim_poly_g and --disable_trim_poly_g contradict each other"),
            ("--correction", "--correction is not for zerohop: it trims reads, and never changes a base"),
            (
                "-U",
                "-U is not for zerohop: it takes UMIs from reads and names with --read-structure and --barcode-name",
            ),
            ("-w 4", "-w is not for zerohop: it has one number of threads for all (--threads)"),
        ] {
            assert_eq!(parse(words).unwrap_err().to_string(), message, "{words}");
        }
    }

    #[test]
    fn names_and_letters_are_there_once() {
        for (number, (letter, name, _)) in OPTIONS.iter().enumerate() {
            let others = &OPTIONS[number + 1..];
            assert!(others.iter().all(|(other, ..)| letter.is_none() || other != letter), "{letter:?}");
            assert!(others.iter().all(|(_, other, _)| other != name), "{name}");
        }
    }
}
