//! Options of other aligners on a command line of `align`.

use super::command::AlignCommand;
use super::lists;
use super::minimap2::{Translated, engine_of_preset, is_preset};
use super::network::{self, is_url};
use super::own::{Own, is_option};
use std::slice::Iter;
use zerohop_align::RAMMAP;
use zerohop_align::engines::options_of_minimap2;

/// What shows that a command line was meant for another program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Habit {
    #[default]
    None,
    /// `-p 8`, as bowtie2 has it.
    Threads,
    /// An option that zerohop does not have.
    Option(String),
    /// `a.fq,b.fq`: a file of each lane.
    List(String),
}

/// Options of `bwa mem` that have a value.
const BWA_WITH_VALUE: &str = "kwdrcDWmABOELUxKThIGNXQsy";
/// Options of `bwa mem` that strobealign, the default, has not.
const BWA_ALONE: &str = "KYTwdD5";
/// Options of bowtie2 and samtools that minimap2 has otherwise.
const NOT_OF_MINIMAP2: [&str; 5] = ["-1", "-2", "-U", "-S", "-O"];

/// Reads a command line, behind `align`; `exists` says whether there is a file.
pub(super) fn read(words: &[String], exists: impl Fn(&str) -> bool) -> (Habit, AlignCommand) {
    let engine = engine_meant(words);
    let named = engine.or_else(|| engine_named(words));
    let mut reader = Reader {
        rest: words.iter(),
        own: Own::of_command("align"),
        exists,
        is_bwa: named.is_some_and(|name| ["bwa-mem", "bwa", "bwa-mem2"].contains(&name)),
        is_rammap: named == Some(RAMMAP),
        translated: Translated::default(),
        habit: Habit::None,
        command: AlignCommand::default(),
        files: Vec::new(),
        mates: Vec::new(),
        lanes_before: 0,
    };
    if let Some(engine) = engine {
        reader.command.options.extend(["--engine".to_owned(), engine.to_owned()]);
    }
    while let Some(word) = reader.rest.next() {
        reader.take(word);
    }
    reader.end()
}

/// What `--engine` or `--aligner` says.
pub(super) fn engine_named(words: &[String]) -> Option<&str> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (option, glued) = word.split_once('=').map_or((&**word, None), |(option, value)| (option, Some(value)));
        if ["--engine", "--aligner"].contains(&option) {
            return glued.or_else(|| rest.next().map(String::as_str));
        }
    }
    None
}

/// The engine that options are of, if none is named and strobealign does not have them.
fn engine_meant(words: &[String]) -> Option<&'static str> {
    let is_bowties = |word: &String| ["-1", "-2", "-U"].contains(&&**word);
    if engine_named(words).is_some() || words.iter().any(is_bowties) {
        return None;
    }
    if let Some(engine) = engine_of_preset(words) {
        return Some(engine);
    }
    // strobealign's -M has a value.
    let is_bwas = |(word, next): (&String, Option<&String>)| match word.strip_prefix('-') {
        Some("M") => !next.is_some_and(|next| is_number(next)),
        Some(letters) => letters.starts_with(|letter| BWA_ALONE.contains(letter)),
        None => false,
    };
    let nexts = words.iter().skip(1).map(Some).chain([None]);
    words.iter().zip(nexts).any(is_bwas).then_some("bwa-mem")
}

/// Whether it is a number, such as 8 or 500M.
fn is_number(word: &str) -> bool {
    word.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']).parse::<f64>().is_ok()
}

/// A command line that is read from the left.
struct Reader<'w, E> {
    rest: Iter<'w, String>,
    own: Own,
    exists: E,
    is_bwa: bool,
    is_rammap: bool,
    /// What options of minimap2 say, where rammap is meant.
    translated: Translated,
    habit: Habit,
    command: AlignCommand,
    /// Words without an option: REF and reads.
    files: Vec<String>,
    /// Reads behind options of other aligners.
    mates: Vec<String>,
    /// Lanes of --reads that stand before other reads.
    lanes_before: usize,
}

impl<E: Fn(&str) -> bool> Reader<'_, E> {
    fn take(&mut self, word: &str) {
        if word == "--" {
            self.files.extend(self.rest.by_ref().cloned());
        } else if !is_option(word) {
            self.files.push(word.to_owned());
        } else if self.is_of_minimap2(word) {
            self.take_of_minimap2(word);
        } else if word == "-p" && self.is_number_next() {
            self.notice(Habit::Threads);
            self.take_as("-t");
        } else if word == "--reads" {
            self.take_lane();
        } else if let Some(has_value) = self.own.has_value(word) {
            self.take_own(word, has_value);
        } else if word.starts_with("--") {
            self.take_long(word);
        } else {
            self.take_short(word);
        }
    }

    /// The first habit counts.
    fn notice(&mut self, habit: Habit) {
        if self.habit == Habit::None {
            self.habit = habit;
        }
    }

    fn next(&self) -> Option<&String> {
        self.rest.as_slice().first()
    }

    fn is_number_next(&self) -> bool {
        self.next().is_some_and(|next| is_number(next) && !(self.exists)(next))
    }

    /// The next word is the value of this option of ours.
    fn take_as(&mut self, option: &str) {
        self.command.options.push(option.to_owned());
        self.command.options.extend(self.rest.next().cloned());
    }

    /// The files behind --reads.
    fn take_lane(&mut self) {
        let files: Vec<String> =
            self.rest.as_slice().iter().take_while(|word| !is_option(word)).take(2).cloned().collect();
        self.rest.by_ref().take(files.len()).for_each(drop);
        self.lanes_before += usize::from(self.files.len() < 2 && self.mates.is_empty());
        self.command.lanes.push(files);
    }

    fn take_own(&mut self, word: &str, has_value: bool) {
        if let Some(arguments) = word.strip_prefix("--engine-args=") {
            return self.command.engine_args.push(arguments.to_owned());
        }
        let value = if has_value { self.rest.next().cloned() } else { None };
        match (word, value) {
            ("--engine-args", Some(arguments)) => self.command.engine_args.push(arguments),
            ("-o" | "--output", Some(url)) if is_url(&url) => {
                self.command.options.extend([word.to_owned(), network::copy(&url)]);
                self.command.output = Some(url);
            }
            (_, value) => {
                self.command.options.push(word.to_owned());
                self.command.options.extend(value);
            }
        }
    }

    /// Whether rammap is meant, and minimap2 has the option: zerohop does not, or its own has no share for a value.
    fn is_of_minimap2(&self, word: &str) -> bool {
        let next = self.next().map(String::as_str);
        let is_index = word == "-x" && next.is_some_and(|next| !is_preset(next));
        let is_share = word == "-p" && next.is_some_and(|next| next.contains('.') && is_number(next));
        let is_own = self.own.has_value(word).is_some() && !is_share;
        let is_others = is_index || is_own || NOT_OF_MINIMAP2.contains(&word);
        self.is_rammap && !is_others && options_of_minimap2(word, next).is_some()
    }

    fn take_of_minimap2(&mut self, word: &str) {
        let Some((given, takes_next)) = options_of_minimap2(word, self.next().map(String::as_str)) else { return };
        self.notice(Habit::Option(word.to_owned()));
        if takes_next {
            self.rest.next();
        }
        given.into_iter().for_each(|given| self.translated.take(given));
    }

    /// What we do not have is told of elsewhere, but for what is known.
    fn take_long(&mut self, word: &str) {
        match word {
            "--aligner" => self.take_as("--engine"),
            "--reference" | "--ref" => self.command.reference = self.rest.next().cloned(),
            "--bam" => self.command.options.extend(["--format".to_owned(), "bam".to_owned()]),
            _ => return self.command.options.push(word.to_owned()),
        }
        self.notice(Habit::Option(word.to_owned()));
    }

    fn take_short(&mut self, word: &str) {
        let (name, is_alone) = match word.char_indices().nth(2) {
            Some((end, _)) => (&word[..end], false),
            None => (word, true),
        };
        self.notice(Habit::Option(name.to_owned()));
        let is_format = self.next().is_some_and(|value| ["sam", "bam", "cram"].contains(&&**value));
        let is_preset_next = self.next().is_some_and(|next| is_preset(next));
        match name {
            "-@" => self.take_as("-t"),
            "-S" => self.take_as("-o"),
            "-O" if is_format => self.take_as("--format"),
            "-1" | "-2" | "-U" => self.mates.extend(self.rest.next().cloned()),
            "-x" if !self.is_bwa && !is_preset_next => self.command.reference = self.rest.next().cloned(),
            "-a" if word == "-ax" => {
                self.command.engine_args.push("-x".to_owned());
                self.command.engine_args.extend(self.rest.next().cloned());
            }
            // What zerohop writes is SAM without it.
            "-a" if is_alone && !self.is_bwa => {}
            "-b" if is_alone => self.command.options.extend(["--format".to_owned(), "bam".to_owned()]),
            // How much is said is not asked for.
            "-v" if is_alone && self.is_number_next() => drop(self.rest.next()),
            "-v" => {}
            _ => {
                self.command.engine_args.push(word.to_owned());
                let of_bwa = self.is_bwa && name.ends_with(|letter| BWA_WITH_VALUE.contains(letter));
                if is_alone && (self.is_number_next() || of_bwa || is_preset_next) {
                    self.command.engine_args.extend(self.rest.next().cloned());
                }
            }
        }
    }

    fn end(mut self) -> (Habit, AlignCommand) {
        self.command.options.extend(self.translated.options);
        self.command.engine_args.extend(self.translated.engine_args);
        let mut files = self.files.into_iter();
        self.command.reference = self.command.reference.or_else(|| files.next());
        let unnamed: Vec<String> = self.mates.into_iter().chain(files).collect();
        // minimap2 takes any number of files of single reads.
        let lanes = unnamed.chunks(if self.is_rammap { 1 } else { unnamed.len().max(1) }).map(<[String]>::to_vec);
        self.command.lanes.splice(self.lanes_before..self.lanes_before, lanes);
        if let Some(list) = self.command.lanes.iter().flatten().find(|name| lists::is_list(name, &self.exists)) {
            if self.habit == Habit::None {
                self.habit = Habit::List(list.clone());
            }
            self.command.lanes = self.command.lanes.iter().flat_map(|lane| lists::lanes(lane, &self.exists)).collect();
        }
        (self.habit, self.command)
    }
}
