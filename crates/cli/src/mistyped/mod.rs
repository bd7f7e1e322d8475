//! What users of other programs type, and what they mean by it: each gets the whole command to type.

mod command;
mod habits;
mod index;
mod lists;
mod minimap2;
mod network;
mod own;
mod values;

use crate::args::Args;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use command::AlignCommand;
use habits::Habit;
use own::is_option;
use std::ffi::OsString;
use std::path::Path;

/// What to say of a command line that is of another program, or looks right and means something else.
pub fn instead(words: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let said = values::value_apart(&words).or_else(|| of_version(&words)).or_else(|| of_program(&words));
    let said = said.or_else(|| without_command(&words)).or_else(|| of_index(&words));
    said.or_else(|| of_plan(&words)).or_else(|| of_align(&words))
}

/// Programs, and what does the same: words of `zerohop`.
const PROGRAMS: [(&[&str], &[&str]); 10] = [
    (&["bwa", "mem"], &["align", "--engine", "bwa-mem"]),
    (&["bwa-mem2", "mem"], &["align", "--engine", "bwa-mem"]),
    (&["mem"], &["align", "--engine", "bwa-mem"]),
    (&["bwa", "index"], &["index", "--engine", "bwa-mem"]),
    (&["bwa-mem2", "index"], &["index", "--engine", "bwa-mem"]),
    (&["bwa-mem"], &["align", "--engine", "bwa-mem"]),
    (&["strobealign"], &["align"]),
    (&["minimap2"], &["align", "--engine", "minimap2"]),
    (&["bowtie2"], &["align", "--engine", "bowtie2"]),
    (&["hisat2"], &["align", "--engine", "hisat2"]),
];
/// What `align` does beside aligning.
const STEPS: [&str; 10] =
    ["samtools", "sort", "markdup", "fixmate", "stats", "flagstat", "idxstats", "coverage", "mosdepth", "picard"];

/// The version, as other programs are asked for it.
fn of_version(words: &[String]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_meant =
        matches!(words[..], ["version" | "-v" | "-version"] | ["align" | "index", "-v" | "-V" | "--version"]);
    is_meant.then(|| {
        format!("zerohop tells its version with --version: write\n  {}", command::line(&["--version".to_owned()]))
    })
}

/// Where the first word is no command, but a program.
fn of_program(words: &[String]) -> Option<String> {
    let first = words.first()?;
    if STEPS.contains(&&**first) {
        return Some(format!(
            "there is no command '{first}': align does it while it aligns, as in\n  zerohop align --sort \
             --mark-duplicates --qc -o out.bam REF READS_1 READS_2"
        ));
    }
    if first == "view" {
        let words =
            "align writes what the name of its output says, as in\n  zerohop align -o out.bam REF READS_1 READS_2";
        return Some(format!("there is no command 'view': {words}"));
    }
    if let Some(aligner) = first.strip_suffix("-build").filter(|name| ["bowtie", "bowtie2", "hisat2"].contains(name)) {
        return Some(format!(
            "there is no command '{first}': {aligner} makes its index before it aligns, with\n  zerohop align --engine \
             {aligner} --build-index -o out.bam REF READS_1 READS_2"
        ));
    }
    let is_typed = |program: &[&str]| words.iter().take(program.len()).eq(program);
    let (program, ours) = PROGRAMS.iter().find(|(program, _)| is_typed(program))?;
    let rest = &words[program.len()..];
    let typed = || right(&[&ours.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), rest].concat());
    let of_long_reads = if *program == ["minimap2"] { minimap2::right(rest) } else { None };
    Some(format!("there is no command '{}': write\n  {}", program.join(" "), of_long_reads.unwrap_or_else(typed)))
}

/// Where the command is left out, as with strobealign: files alone, or options before them.
fn without_command(words: &[String]) -> Option<String> {
    let is_file = |word: &String| Path::new(word).is_file();
    let first = words.first()?;
    if !(is_file(first) || is_option(first) && words.iter().any(is_file)) {
        return None;
    }
    let program = Args::command();
    let typed = [&["align".to_owned()], words].concat();
    let is_missing = words.iter().all(|word| program.find_subcommand(word).is_none());
    is_missing.then(|| format!("the command is missing: write\n  {}", right(&typed)))
}

/// A command line of zerohop, without habits.
fn right(typed: &[String]) -> String {
    let right = match typed.split_first() {
        Some((first, rest)) if first == "index" => index::instead(rest).map(|(_, line)| line),
        _ => of_habits(typed).map(|(_, command)| command.line()),
    };
    right.unwrap_or_else(|| command::line(typed))
}

fn of_index(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let (why, line) = index::instead(rest).filter(|_| first == "index")?;
    Some(format!("{why}: write\n  {line}"))
}

/// `plan REF`.
fn of_plan(words: &[String]) -> Option<String> {
    let [_, reference] = words else { return None };
    let is_meant = words[0] == "plan" && Path::new(reference).is_file();
    let typed = ["plan".to_owned(), "--reference".to_owned(), reference.clone()];
    is_meant.then(|| format!("the reference is behind its option: write\n  {}", command::line(&typed)))
}

fn of_align(words: &[String]) -> Option<String> {
    let (habit, command) = of_habits(words)?;
    let why = match (habit, command.url(), &command.output) {
        (_, Some(url), _) => format!("{url}: zerohop reads files and pipes"),
        (_, None, Some(url)) => format!("{url}: zerohop writes files and pipes"),
        (Habit::Threads, ..) => "-p says that the mates follow each other in one file, and threads are -t".to_owned(),
        (Habit::Option(option), ..) => format!("zerohop has no option {option}"),
        (Habit::List(list), ..) => {
            format!("there is no file {list}: several lanes are no list with commas, but have --reads each")
        }
        (Habit::None, None, None) => return None,
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
            ("index -a bwtsw ref.fa", "index --engine bwa-mem ref.fa"),
            ("bwa index -a bwtsw -p x ref.fa", "index --engine bwa-mem ref.fa"),
            ("index -t 2 ref.fa prefix", "index -t 2 ref.fa"),
            ("version", "--version"),
            ("align --version", "--version"),
            ("align -p 2 ref.fa 1.fq 2.fq", "align -t 2 ref.fa 1.fq 2.fq"),
            ("align -@ 4 ref.fa 1.fq", "align -t 4 ref.fa 1.fq"),
            ("align -x ref -1 1.fq -2 2.fq -S out.sam", "align -o out.sam ref 1.fq 2.fq"),
            ("bowtie2 -p 4 -x ref -U 1.fq -S o.sam", "align --engine bowtie2 -t 4 -o o.sam ref 1.fq"),
            ("minimap2 -ax sr -t 4 ref.fa 1.fq", "align --engine minimap2 -t 4 --engine-args '-x sr' ref.fa 1.fq"),
            ("align -a ref.fa 1.fq", "align ref.fa 1.fq"),
            ("align --engine bwa-mem -a ref.fa 1.fq", "align --engine bwa-mem --engine-args -a ref.fa 1.fq"),
            ("align -O bam ref.fa 1.fq", "align --format bam ref.fa 1.fq"),
            ("align -k 10 ref.fa 1.fq", "align --engine-args '-k 10' ref.fa 1.fq"),
            ("align -M 10 ref.fa 1.fq", "align --engine-args '-M 10' ref.fa 1.fq"),
            ("align -v 3 ref.fa 1.fq", "align ref.fa 1.fq"),
            ("align -Y -M ref.fa 1.fq", "align --engine bwa-mem --engine-args '-Y -M' ref.fa 1.fq"),
            ("align -ax sr -K 500M ref.fa 1.fq", "align --engine minimap2 --engine-args '-x sr -K 500M' ref.fa 1.fq"),
            ("align --aligner bwa-mem --ref ref.fa 1.fq", "align --engine bwa-mem ref.fa 1.fq"),
            ("align ref.fa a_1,b_1 a_2,b_2", "align ref.fa a_1 a_2 --reads b_1 b_2"),
            ("align ref.fa --reads a,b", "align ref.fa a --reads b"),
            ("align -@ 2 --reads a_1 a_2 ref.fa b_1 --reads c", "align -t 2 ref.fa a_1 a_2 --reads b_1 --reads c"),
            ("bowtie2 -x ref -1 a_1,b_1 -2 a_2,b_2", "align --engine bowtie2 ref a_1 a_2 --reads b_1 b_2"),
        ] {
            let said = said(typed).unwrap_or_default();
            assert!(said.ends_with(&format!(": write\n  zerohop {wanted}")), "{typed}: {said}");
        }
        assert!(said("bowtie2-build ref.fa ref").is_some_and(|words| words.contains("--engine bowtie2 --build-index")));
        assert!(said("sort x.bam").is_some_and(|words| words.contains("--sort --mark-duplicates")));
        let piped = said("align ref.fa https://x.org/1.fq").unwrap_or_default();
        assert!(piped.ends_with("\n  curl -sSfL https://x.org/1.fq | zerohop align ref.fa -"), "{piped}");
        let both = said("align ref.fa https://x.org/1.fq https://x.org/2.fq").unwrap_or_default();
        let wanted = "align ref.fa <(curl -sSfL https://x.org/1.fq) <(curl -sSfL https://x.org/2.fq)";
        assert!(both.ends_with(wanted), "{both}");
        let reference = said("align https://x.org/ref.fa 1.fq").unwrap_or_default();
        assert!(
            reference.ends_with("\n  curl -sSfLO https://x.org/ref.fa && zerohop align ref.fa 1.fq"),
            "{reference}"
        );
        let output = said("align -o s3://x/o.bam ref.fa 1.fq").unwrap_or_default();
        assert!(output.ends_with("\n  zerohop align -o o.bam ref.fa 1.fq"), "{output}");
    }

    #[test]
    fn what_is_right_is_left_alone() {
        for typed in [
            "align ref.fa 1.fq 2.fq",
            "align -p -t 4 ref.fa 1.fq",
            "align --sort -o out.bam --engine-args '-x y' ref.fa 1.fq",
            "align -R @RG\\tID:x ref.fa -",
            "align --engine rammap --engine-args -Y ref.fa 1.fq",
            "index --engine rammap --engine-args -k17 ref.fa",
            "align --reads 1.fq 2.fq --reads 3.fq 4.fq -- ref.fa",
            "run echo -x 1",
            "index ref.fa",
            "",
        ] {
            assert_eq!(said(typed), None, "{typed}");
        }
    }
}
