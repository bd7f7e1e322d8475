//! What users of other programs type, and what they mean by it: each gets the whole command to type.

mod command;
mod habits;
mod values;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use command::AlignCommand;
use habits::Habit;
use std::ffi::OsString;
use std::path::Path;

/// What to say of a command line that is of another program, or looks right and means something else.
pub fn instead(words: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let said = values::value_apart(&words).or_else(|| of_program(&words)).or_else(|| of_index(&words));
    said.or_else(|| of_align(&words))
}

/// Programs, and what does the same: words of `zerohop`.
const PROGRAMS: [(&[&str], &[&str]); 10] = [
    (&["bwa", "mem"], &["align", "--engine", "bwa-mem"]),
    (&["bwa-mem2", "mem"], &["align", "--engine", "bwa-mem"]),
    (&["mem"], &["align", "--engine", "bwa-mem"]),
    (&["bwa", "index"], &["index", "--engine", "bwa-mem"]),
    (&["bwa-mem2", "index"], &["index", "--engine", "bwa-mem"]),
    (&["strobealign"], &["align"]),
    (&["minimap2"], &["align", "--engine", "minimap2"]),
    (&["bowtie2"], &["align", "--engine", "bowtie2"]),
    (&["hisat2"], &["align", "--engine", "hisat2"]),
    (&["bowtie2-build"], &["index", "--engine", "bowtie2"]),
];
/// What `align` does beside aligning.
const STEPS: [&str; 6] = ["samtools", "sort", "markdup", "fixmate", "stats", "mosdepth"];

/// Where the first word is no command, but a program.
fn of_program(words: &[String]) -> Option<String> {
    let first = words.first()?;
    if STEPS.contains(&&**first) {
        return Some(format!(
            "there is no command '{first}': align does it while it aligns, as in\n  zerohop align --sort \
             --mark-duplicates --qc -o out.bam REF READS_1 READS_2"
        ));
    }
    let is_typed = |program: &[&str]| words.iter().take(program.len()).eq(program);
    let (program, ours) = PROGRAMS.iter().find(|(program, _)| is_typed(program))?;
    let typed: Vec<String> =
        ours.iter().map(|word| (*word).to_owned()).chain(words[program.len()..].to_vec()).collect();
    let written = match of_habits(&typed) {
        Some((_, command)) => command.words(),
        None => typed,
    };
    Some(format!("there is no command '{}': write\n  {}", program.join(" "), command::line(&written)))
}

/// `index -p PREFIX`, as bwa has it.
fn of_index(words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| word == "-p").filter(|_| words[0] == "index")?;
    let others = words.iter().enumerate().filter(|(number, _)| ![at, at + 1].contains(number));
    let others: Vec<String> = others.map(|(_, word)| word.clone()).collect();
    Some(format!("an index has the name of its reference, with endings: write\n  {}", command::line(&others)))
}

fn of_align(words: &[String]) -> Option<String> {
    let (habit, command) = of_habits(words)?;
    let url = command.urls().next().map(str::to_owned);
    let why = match (habit, url) {
        (_, Some(url)) => format!("{url}: zerohop reads files and pipes"),
        (Habit::Threads, _) => "-p says that the mates follow each other in one file, and threads are -t".to_owned(),
        (Habit::Option(option), _) => format!("zerohop has no option {option}"),
        (Habit::None, None) => return None,
    };
    Some(format!("{why}: write\n  {}", command.line()))
}

/// The first habit in a command line of `align`, and the command that is meant.
fn of_habits(words: &[String]) -> Option<(Habit, AlignCommand)> {
    (words.first()? == "align").then(|| habits::read(&words[1..], |word| Path::new(word).exists()))
}

/// What to say of a file that stands behind the two of a pair.
pub fn one_file_too_many(error: &clap::Error) -> Option<String> {
    let is_align = std::env::args_os().nth(1).is_some_and(|command| command == "align");
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_file = error.kind() == ErrorKind::UnknownArgument && is_align && !word.starts_with('-');
    is_file.then(|| {
        format!(
            "'{word}' is one file too many: REF, and one file of reads or the two of pairs. Each further lane needs \
             --reads, as in --reads L2_1.fq.gz L2_2.fq.gz"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &str) -> Option<String> {
        instead(words.split(' ').map(Into::into))
    }

    #[test]
    fn what_is_meant_is_written_out() {
        for (typed, wanted) in [
            ("mem -t 8 ref.fa 1.fq 2.fq", "align --engine bwa-mem -t 8 ref.fa 1.fq 2.fq"),
            ("bwa mem -K 100 -Y -t8 ref.fa 1.fq", "align --engine bwa-mem -t8 --engine-args '-K 100 -Y' ref.fa 1.fq"),
            ("bwa index ref.fa", "index --engine bwa-mem ref.fa"),
            ("index -p prefix ref.fa", "index ref.fa"),
            ("align -p 2 ref.fa 1.fq 2.fq", "align -t 2 ref.fa 1.fq 2.fq"),
            ("align -@ 4 ref.fa 1.fq", "align -t 4 ref.fa 1.fq"),
            ("align -x ref -1 1.fq -2 2.fq -S out.sam", "align -o out.sam ref 1.fq 2.fq"),
            ("bowtie2 -p 4 -x ref -U 1.fq -S o.sam", "align --engine bowtie2 -t 4 -o o.sam ref 1.fq"),
            ("minimap2 -ax sr -t 4 ref.fa 1.fq", "align --engine minimap2 -t 4 --engine-args '-x sr' ref.fa 1.fq"),
            ("align -a ref.fa 1.fq", "align ref.fa 1.fq"),
            ("align --engine bwa-mem -a ref.fa 1.fq", "align --engine bwa-mem --engine-args -a ref.fa 1.fq"),
            ("align -O bam ref.fa 1.fq", "align --format bam ref.fa 1.fq"),
            ("align -k 10 ref.fa 1.fq", "align --engine-args '-k 10' ref.fa 1.fq"),
        ] {
            let said = said(typed).unwrap_or_default();
            assert!(said.ends_with(&format!(": write\n  zerohop {wanted}")), "{typed}: {said}");
        }
        assert!(said("sort x.bam").is_some_and(|words| words.contains("--sort --mark-duplicates")));
        let piped = said("align ref.fa https://x.org/1.fq").unwrap_or_default();
        assert!(piped.ends_with("\n  curl -sSfL https://x.org/1.fq | zerohop align ref.fa -"), "{piped}");
        let both = said("align ref.fa https://x.org/1.fq https://x.org/2.fq").unwrap_or_default();
        let wanted = "align ref.fa <(curl -sSfL https://x.org/1.fq) <(curl -sSfL https://x.org/2.fq)";
        assert!(both.ends_with(wanted), "{both}");
    }

    #[test]
    fn what_is_right_is_left_alone() {
        for typed in [
            "align ref.fa 1.fq 2.fq",
            "align -p -t 4 ref.fa 1.fq",
            "align --sort -o out.bam --engine-args '-x y' ref.fa 1.fq",
            "align -R @RG\\tID:x ref.fa -",
            "align --reads 1.fq 2.fq --reads 3.fq 4.fq -- ref.fa",
            "run echo -x 1",
            "index ref.fa",
            "",
        ] {
            assert_eq!(said(typed), None, "{typed}");
        }
    }
}
