//! Options of other aligners on a command line of `align`.

use super::command::AlignCommand;
use crate::args::Args;
use clap::CommandFactory;

/// What shows that a command line was meant for another program.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Habit {
    None,
    /// `-p 8`, as bowtie2 has it.
    Threads,
    /// An option of one letter that zerohop does not have.
    Option(String),
}

/// Options of `bwa mem` that have a value.
const BWA_WITH_VALUE: &str = "kwdrcDWmABOELUxKThIGNXQsy";
/// What minimap2's -x names; other aligners name their index by -x.
const PRESETS: [&str; 6] = ["sr", "map-", "lr", "splice", "asm", "ava-"];

/// Reads a command line, behind `align`; `exists` says whether there is a file.
pub(super) fn read(words: &[String], exists: impl Fn(&str) -> bool) -> (Habit, AlignCommand) {
    let own = Own::new();
    let is_bwa = words.iter().any(|word| ["bwa-mem", "bwa", "bwa-mem2"].contains(&&**word));
    let (mut habit, mut command, mut files, mut mates) = (Habit::None, AlignCommand::default(), Vec::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            files.extend(rest.by_ref().cloned());
            continue;
        }
        let Some(letter) = word.strip_prefix('-').and_then(|letters| letters.chars().next()) else {
            files.push(word.clone());
            continue;
        };
        let next = rest.as_slice().first().cloned();
        let is_number = next.as_ref().is_some_and(|next| next.parse::<f64>().is_ok() && !exists(next));
        if letter == 'p' && word.len() == 2 && is_number {
            if habit == Habit::None {
                habit = Habit::Threads;
            }
            command.options.extend([Some("-t".to_owned()), next].into_iter().flatten());
            rest.next();
            continue;
        }
        if let Some(has_value) = own.of(word) {
            match word.as_str() {
                "--engine-args" => command.engine_args.extend(next),
                _ => {
                    command.options.push(word.clone());
                    command.options.extend(next.filter(|_| has_value));
                }
            }
            if has_value {
                rest.next();
            }
            continue;
        }
        if word.starts_with("--") {
            // It is told of by itself.
            command.options.push(word.clone());
            continue;
        }
        if habit == Habit::None {
            habit = Habit::Option(format!("-{letter}"));
        }
        let is_preset = |value: &String| PRESETS.iter().any(|preset| value.starts_with(preset));
        let ours = match letter {
            '@' => Some("-t"),
            'S' => Some("-o"),
            'O' if next.as_ref().is_some_and(|value| ["sam", "bam", "cram"].contains(&&**value)) => Some("--format"),
            _ => None,
        };
        match (letter, ours) {
            (_, Some(option)) => {
                command.options.push(option.to_owned());
                command.options.extend(rest.next().cloned());
            }
            ('1' | '2' | 'U', _) => mates.extend(rest.next().cloned()),
            ('x', _) if !is_bwa && !next.as_ref().is_some_and(is_preset) => command.reference = rest.next().cloned(),
            ('a', _) if word == "-ax" => {
                command.engine_args.push("-x".to_owned());
                command.engine_args.extend(rest.next().cloned());
            }
            // What zerohop writes is SAM without it.
            ('a', _) if word.len() == 2 && !is_bwa => {}
            ('b', _) if word.len() == 2 => command.options.extend(["--format".to_owned(), "bam".to_owned()]),
            _ => {
                command.engine_args.push(word.clone());
                let of_bwa = is_bwa && BWA_WITH_VALUE.contains(letter);
                if word.len() == 2 && (is_number || of_bwa || next.as_ref().is_some_and(is_preset)) {
                    command.engine_args.extend(rest.next().cloned());
                }
            }
        }
    }
    let mut files = files.into_iter();
    command.reference = command.reference.or_else(|| files.next());
    command.reads = mates.into_iter().chain(files).collect();
    (habit, command)
}

/// The options of `align`, and which of them have a value that is the next word.
struct Own(Vec<(String, bool)>);

impl Own {
    fn new() -> Self {
        let program = Args::command();
        let arguments = program.find_subcommand("align").into_iter().flat_map(|align| align.get_arguments());
        let options = arguments.flat_map(|argument| {
            let has_value = argument.get_action().takes_values() && !argument.is_require_equals_set();
            let short = argument.get_short().map(|letter| format!("-{letter}"));
            let long = argument.get_long().map(|name| format!("--{name}"));
            [short, long].into_iter().flatten().map(move |name| (name, has_value))
        });
        let of_all = ["-h", "--help"].map(|name| (name.to_owned(), false));
        Own(options.chain(of_all).collect())
    }

    /// Whether the next word is the value of this option; none if it is no option of ours.
    fn of(&self, word: &str) -> Option<bool> {
        let find = |name: &str| self.0.iter().find(|(own, _)| own == name).map(|(_, has_value)| *has_value);
        let (name, is_glued) = match word.split_once('=') {
            Some((name, _)) if word.starts_with("--") => (name, true),
            _ if !word.starts_with("--") && word.chars().count() > 2 => (word.get(..2)?, true),
            _ => (word, false),
        };
        find(name).map(|has_value| has_value && !is_glued)
    }
}
