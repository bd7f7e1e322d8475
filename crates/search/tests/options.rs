//! Each option that stands as the same in the tables gives the lines of one search by the program itself, in its order.
//!
//! `LONG=1` tries all of them over 1, 2, 3 and 5 parts, with the program's own `-k` and with 3 (50 where BLAST loses
//! subjects with less); otherwise every twentieth is tried over 3 parts with `-k 3`. docs/distributed.md lists the same
//! tables; `FILL=1` writes the list there.
#![allow(clippy::print_stderr, reason = "a developer reads it")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod beside;

use beside::{back_translated, format_whole, is_here, is_long, parted, records, whole};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use zerohop_search::build::build;
use zerohop_search::fasta::Limits;
use zerohop_search::options::{Effect, EngineOption, options};
use zerohop_search::{Database, Program, Search, Settings};

/// Without `LONG` one of so many is tried.
const STEP: usize = 20;

/// Proteins in a file: some of those in `tests/data/protein`, with many that are like one another.
fn proteins(folder: &Path, name: &str, file: &str, (step, like): (usize, usize)) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/protein");
    let some = records(&data.join(file)).into_iter().step_by(step);
    let like = records(&data.join("transporters.faa.gz")).into_iter().take(like);
    let mut names = HashSet::new();
    let is_new = |record: &Vec<u8>| names.insert(record.split(u8::is_ascii_whitespace).next().unwrap().to_owned());
    let path = folder.join(name);
    fs::write(&path, some.chain(like).filter(is_new).collect::<Vec<_>>().concat()).unwrap();
    path
}

/// Arguments with which the options of `program` are tried, each once.
fn tries(program: Program) -> Vec<&'static str> {
    let mut all: Vec<&str> = Vec::new();
    for option in options(program) {
        if let Effect::Same { tries, .. } = option.effect {
            let new: Vec<&str> = tries.iter().copied().filter(|words| !all.contains(words)).collect();
            all.extend(new);
        }
    }
    let step = if is_long() { 1 } else { STEP };
    all.into_iter().step_by(step).collect()
}

/// Compares parts with one search by the program, with each of its options.
fn compare(program: Program, (queries, subjects): (&Path, &Path), folder: &Path) {
    let numbers: &[usize] = if is_long() { &[1, 2, 3, 5] } else { &[3] };
    format_whole(program, subjects.to_str().unwrap(), folder);
    let database =
        |parts: usize| build(subjects, parts, program, &folder.join(format!("db{parts}")), None, &|_| ()).unwrap();
    let databases: Vec<Database> = numbers.iter().map(|parts| database(*parts)).collect();
    for words in tries(program) {
        let user = shlex::split(words).unwrap();
        let own: Vec<&str> = user.iter().map(String::as_str).collect();
        let settings = Settings::new(program, user.clone()).unwrap().with_scratch(folder);
        let few = if settings.clone().with_max_target_seqs(Some(3)).is_ok() { 3 } else { 50 };
        let limits = if is_long() { vec![few, program.usual_max_target_seqs()] } else { vec![few] };
        for limit in limits {
            let form = if program.is_blast() { "6" } else { "-f 6" };
            let expected = whole(program, queries.to_str().unwrap(), &own, &limit.to_string(), form, folder);
            assert!(!expected.is_empty(), "{words} finds nothing: it tests nothing");
            for database in &databases {
                let settings = settings.clone().with_max_target_seqs(Some(limit)).unwrap();
                let search = Search::new(database.clone(), settings, "whole").unwrap();
                let merged = parted(&search, queries, Limits { letters: 1_000_000, queries: 1000 });
                let (merged, expected) = (String::from_utf8_lossy(&merged), String::from_utf8_lossy(&expected));
                let what = format!("{} {words} -k {limit} over {} parts", program.name(), database.parts());
                let differs = merged.lines().zip(expected.lines()).position(|(ours, theirs)| ours != theirs);
                assert_eq!(differs, None, "{what}: \n{merged}\n{expected}");
                assert_eq!(merged.lines().count(), expected.lines().count(), "{what}");
            }
        }
        eprintln!("{} {words}: the same", program.name());
    }
}

#[test]
fn diamond_gives_the_same_with_each_option() {
    if is_here(Program::Diamond) {
        let folder = tempfile::tempdir().unwrap();
        let queries = proteins(folder.path(), "q.faa", "queries.faa", (3, 2));
        let subjects = proteins(folder.path(), "s.faa", "subjects.faa", (1, 120));
        compare(Program::Diamond, (&queries, &subjects), folder.path());
    }
}

#[test]
fn blast_gives_the_same_with_each_option() {
    for program in [Program::Blastp, Program::Blastx, Program::Blastn] {
        if !is_here(program) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut queries = proteins(folder.path(), "q.faa", "queries.faa", (8, 1));
        let mut subjects = proteins(folder.path(), "s.faa", "subjects.faa", (2, 60));
        if program != Program::Blastp {
            queries = in_bases(&queries);
        }
        if program.has_nucleotides() {
            subjects = in_bases(&subjects);
        }
        compare(program, (&queries, &subjects), folder.path());
    }
}

fn in_bases(proteins: &Path) -> PathBuf {
    let bases = proteins.with_extension("fna");
    back_translated(proteins, &bases);
    bases
}

/// Text in lines of at most 118 columns; all but the first begin with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if !last.is_empty() && last.len() + 1 + word.len() > 118 {
            lines.push(format!("{indent}{word}"));
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// What docs/distributed.md says of options that are the same.
fn same(program: Program) -> String {
    let told = |option: &EngineOption| match option.effect {
        Effect::Same { only: [], .. } => Some(quoted(option.names)),
        Effect::Same { only, .. } => Some(format!("{} ({})", quoted(option.names), only.join(", "))),
        Effect::Refused(_) => None,
    };
    let all: Vec<String> = options(program).filter_map(told).collect();
    wrapped(&format!("**{}, the same**: {}.", program.name(), all.join(", ")), "") + "\n"
}

/// What it says of refused ones of several programs.
fn refused(programs: &[Program]) -> String {
    let names: Vec<&str> = programs.iter().map(|program| program.name()).collect();
    let mut told = vec![format!("**{}, refused**:\n\n", names.join(", "))];
    for option in programs.iter().flat_map(|program| options(*program)) {
        let Effect::Refused(why) = option.effect else { continue };
        let line = wrapped(&format!("- {}: {why}", quoted(option.names)), "  ");
        if !told.contains(&line) {
            told.push(line);
        }
    }
    told.concat()
}

#[test]
fn the_docs_list_the_options() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/distributed.md");
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- options of the programs -->\n", "<!-- end of the options -->\n");
    let (before, rest) = text.split_once(begin).unwrap();
    let (there, behind) = rest.split_once(end).unwrap();
    let blast = [Program::Blastp, Program::Blastx, Program::Blastn];
    let of_diamond = same(Program::Diamond) + &refused(&[Program::Diamond]);
    let wanted = format!("{of_diamond}\n{}{}", blast.map(same).concat(), refused(&blast));
    if std::env::var_os("FILL").is_some() {
        fs::write(&path, [before, begin, &wanted, end, behind].concat()).unwrap();
    } else {
        assert!(there == wanted, "docs/distributed.md does not list the options as they are: run this with FILL=1");
    }
}
