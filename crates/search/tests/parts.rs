//! A search over parts gives the lines of one search of the whole database by the program itself, in the same order.
//!
//! With `LONG=1` and `ZEROHOP_DATA`, a folder with `protein/*.faa`: 40 proteins of *E. coli* against every 25th of the
//! others; with `ZEROHOP_SEARCH=300`, 300 against all. Otherwise the data of `tests/data/protein`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod beside;

use beside::{back_translated, format_whole, is_here, is_long, parted, records, whole};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_search::build::{Sampling, build};
use zerohop_search::database::FileEntry;
use zerohop_search::fasta::Limits;
use zerohop_search::{Batch, Database, Format, Outcome, Program, Sample, Search, SearchError, Settings, Times};

const ECOLI: &str = "ecoli_K12_MG1655.faa";
const COLUMNS: &str = "std qlen slen";

/// Files with queries and subjects, in `folder`.
fn data(folder: &Path) -> (PathBuf, PathBuf) {
    let (queries, subjects) = (folder.join("queries.faa"), folder.join("subjects.faa"));
    let most: Option<usize> = std::env::var("ZEROHOP_SEARCH").ok().and_then(|most| most.parse().ok());
    match std::env::var_os("ZEROHOP_DATA").filter(|_| is_long() || most.is_some()) {
        Some(data) => {
            let data = Path::new(&data).join("protein");
            let (most, step) = most.map_or((40, 25), |most| (most, 1));
            fs::write(&queries, records(&data.join(ECOLI)).into_iter().take(most).collect::<Vec<_>>().concat())
                .unwrap();
            let entries = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path());
            let mut others: Vec<PathBuf> =
                entries.filter(|p| p.extension().is_some_and(|e| e == "faa") && !p.ends_with(ECOLI)).collect();
            others.sort();
            let all = others.iter().flat_map(|path| records(path));
            fs::write(&subjects, all.step_by(step).collect::<Vec<_>>().concat()).unwrap();
        }
        None => {
            let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/protein");
            fs::copy(data.join("queries.faa"), &queries).unwrap();
            fs::copy(data.join("subjects.faa"), &subjects).unwrap();
        }
    }
    (queries, subjects)
}

/// What the program itself is told of a form of output.
fn form_of(program: Program, format: Format) -> String {
    const DIAMOND: &str =
        "qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore qlen slen";
    match (format, program.is_blast()) {
        (Format::Tabular, true) => format!("6 {COLUMNS}"),
        (Format::Commented, true) => format!("7 {COLUMNS}"),
        (Format::Csv, _) => format!("10 {COLUMNS}"),
        (Format::Tabular, false) => format!("-f 6 {DIAMOND}"),
        (Format::Headed, _) => format!("--header simple -f 6 {DIAMOND}"),
        (Format::Commented, false) => format!("--header verbose -f 6 {DIAMOND}"),
        (Format::Sam, _) => "-f 101".to_owned(),
        (Format::Pairwise, _) => "-f 0".to_owned(),
    }
}

/// Lines, without the command line that diamond and zerohop each write of themselves.
fn comparable(text: &[u8]) -> Vec<String> {
    let line = |line: &str| match line.split_once("\tCL:") {
        Some((before, _)) => before.to_owned(),
        None if line.starts_with("# Invocation: ") => String::new(),
        None => line.to_owned(),
    };
    String::from_utf8_lossy(text).split('\n').map(line).collect()
}

/// Compares over 2 and 8 parts, with `LONG` over 1 and 4 too; batches are small with 2 parts.
fn compare(program: Program, subjects: &Path, queries: &Path, user: &[&str], limit: u32, folder: &Path) {
    let numbers: &[usize] = if is_long() { &[1, 2, 4, 8] } else { &[3] };
    for &parts in numbers {
        compare_format(program, Format::Tabular, (subjects, queries), user, limit, parts, folder);
    }
}

/// Compares every other form of the output over 2 parts, in small batches.
fn compare_formats(program: Program, subjects: &Path, queries: &Path, user: &[&str], limit: u32, folder: &Path) {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Tabular) {
        if Settings::new(program, Vec::new()).unwrap().with_format(format).is_ok() {
            compare_format(program, format, (subjects, queries), user, limit, 2, folder);
        }
    }
}

fn compare_format(
    program: Program,
    format: Format,
    (subjects, queries): (&Path, &Path),
    user: &[&str],
    limit: u32,
    parts: usize,
    folder: &Path,
) {
    let (subject_path, query_path) = (subjects.to_str().unwrap(), queries.to_str().unwrap());
    let form = form_of(program, format);
    format_whole(program, subject_path, folder);
    let expected = whole(program, query_path, user, &limit.to_string(), &form, folder);
    assert!(!expected.is_empty());
    let user = user.iter().map(|&word| word.to_owned()).collect();
    let settings = Settings::new(program, user).unwrap().with_format(format).unwrap().with_columns(COLUMNS).unwrap();
    let settings = settings.with_max_target_seqs(Some(limit)).unwrap().with_scratch(folder);
    // A path with a blank.
    let place = folder.join(format!("db {} {parts}", program.name()));
    let database = match place.exists() {
        true => Database::open(&place).unwrap(),
        false => build(subjects, parts, program, &place, None, &|_| ()).unwrap(),
    };
    let few = if is_long() { 7 } else { 15 };
    let queries_per_batch = if parts == 2 && expected.len() < 1 << 20 { few } else { 100_000 };
    let limits = Limits { letters: 100_000_000, queries: queries_per_batch };
    let merged = parted(&Search::new(database, settings, "whole").unwrap(), queries, limits);
    let (merged, expected) = (comparable(&merged), comparable(&expected));
    let what = format!("{} as {format} over {parts} parts", program.name());
    if let Some(line) = merged.iter().zip(&expected).position(|(a, b)| a != b) {
        panic!("{what}, line {}: {:?}", line + 1, (&merged[line], &expected[line]));
    }
    assert_eq!(merged.len(), expected.len(), "{what}");
    eprintln!("{what}: {} lines, the same", expected.len() - 1);
}

#[test]
fn diamond_gives_the_same_over_parts() {
    if is_here(Program::Diamond) {
        let folder = tempfile::tempdir().unwrap();
        let (queries, subjects) = data(folder.path());
        compare(Program::Diamond, &subjects, &queries, &[], 25, folder.path());
        compare(Program::Diamond, &subjects, &queries, &["--sensitive"], 25, folder.path());
        compare(Program::Diamond, &subjects, &queries, &["-e", "10"], 3, folder.path());
        compare_formats(Program::Diamond, &subjects, &queries, &[], 2, folder.path());
    }
}

#[test]
fn blastp_gives_the_same_over_parts() {
    if is_here(Program::Blastp) {
        let folder = tempfile::tempdir().unwrap();
        let (queries, subjects) = data(folder.path());
        compare(Program::Blastp, &subjects, &queries, &[], 500, folder.path());
        compare(Program::Blastp, &subjects, &queries, &["-evalue", "1e-3"], 5, folder.path());
        compare_formats(Program::Blastp, &subjects, &queries, &["-evalue", "1e-3"], 5, folder.path());
    }
}

#[test]
fn blastx_and_blastn_give_the_same_over_parts() {
    if is_here(Program::Blastx) && is_here(Program::Blastn) && std::env::var_os("ZEROHOP_SEARCH").is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (queries, subjects) = data(folder.path());
        let (bases, contigs) = (folder.path().join("queries.fna"), folder.path().join("subjects.fna"));
        back_translated(&queries, &bases);
        back_translated(&subjects, &contigs);
        compare(Program::Blastx, &subjects, &bases, &[], 500, folder.path());
        compare(Program::Blastn, &contigs, &bases, &["-task", "blastn"], 500, folder.path());
        if is_long() {
            compare_formats(Program::Blastx, &subjects, &bases, &["-evalue", "1e-9"], 5, folder.path());
            // With few subjects kept, BLAST itself loses better ones before it knows their final scores.
            compare_formats(Program::Blastn, &contigs, &bases, &["-evalue", "1e-9"], 500, folder.path());
        }
    }
}

#[test]
fn what_is_found_is_nothing_when_there_is_nothing() {
    for program in [Program::Diamond, Program::Blastp] {
        if !is_here(program) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let (_, subjects) = data(folder.path());
        let database = build(&subjects, 2, program, &folder.path().join("db"), None, &|_| ()).unwrap();
        let queries = folder.path().join("none.faa");
        fs::write(&queries, ">none\nMWMWMWPGPGPCHCHCYW\n>two\nPWCHPWCHGGMWPWCH").unwrap();
        let user = if program.is_blast() { ["-evalue", "1e-9"] } else { ["-e", "1e-9"] }.map(str::to_owned);
        let settings = Settings::new(program, user.into()).unwrap().with_scratch(folder.path());
        let search = Search::new(database, settings, "db").unwrap();
        let text = parted(&search, &queries, Limits { letters: 1000, queries: 10 });
        assert_eq!(String::from_utf8_lossy(&text), "");
    }
}

/// A letter of a part takes the longer, the farther back in the database the part begins.
struct Slope {
    sequences: u64,
}

impl Sampling for Slope {
    fn queries(&self) -> FileEntry {
        FileEntry { name: "made up".to_owned(), bytes: 1, xxh3: String::new() }
    }

    fn threads(&self) -> usize {
        1
    }

    fn time(&mut self, database: &Database, part: usize) -> Result<Duration, SearchError> {
        let part = &database.manifest().parts[part];
        let middle = (part.first as f64 + part.sequences as f64 / 2.0) / self.sequences as f64;
        Ok(Duration::from_secs_f64(part.letters as f64 * (0.01 + middle)))
    }
}

#[test]
fn a_pilot_makes_search_times_more_equal_and_says_so() {
    if is_here(Program::Diamond) {
        let folder = tempfile::tempdir().unwrap();
        let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/protein/subjects.faa");
        let place = folder.path().join("db");
        let mut slope = Slope { sequences: records(&subjects).len() as u64 };
        let database = build(&subjects, 4, Program::Diamond, &place, Some(&mut slope), &|_| ()).unwrap();
        database.check_digests(0..database.parts(), 2).unwrap();
        let pilot = Database::open(&place).unwrap().manifest().pilot.clone().unwrap();
        assert_eq!((pilot.trial.outcome, pilot.queries.name.as_str()), (Outcome::Moved, "made up"));
        let spread = |seconds: Vec<f64>| {
            let (least, most) = seconds.iter().fold((f64::MAX, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
            most / least
        };
        let medians = |times: &[Times]| times.iter().map(|times| times.median).collect();
        assert!(spread(medians(&pilot.trial.equal)) > 5.0);
        assert!(spread(pilot.trial.predicted.clone()) < 1.1, "{:?}", pilot.trial);
        assert!(spread(medians(&pilot.trial.measured)) < 2.0, "{:?}", pilot.trial);
        let parts = &database.manifest().parts;
        assert!(parts.is_sorted_by(|a, b| a.letters > b.letters && a.first + a.sequences == b.first));
        assert_eq!(parts.iter().map(|part| part.sequences).sum::<u64>(), slope.sequences);

        // Searches that are over at once tell nothing.
        let queries = subjects.with_file_name("queries.faa");
        let one = folder.path().join("one.faa");
        fs::write(&one, records(&queries)[2].clone()).unwrap();
        let mut sample = Sample::read(&one, Program::Diamond, Limits { letters: 1000, queries: 10 }, 1).unwrap();
        let place = folder.path().join("short");
        let short = build(&subjects, 2, Program::Diamond, &place, Some(&mut sample), &|_| ()).unwrap();
        let trial = short.manifest().pilot.clone().unwrap().trial;
        assert!(trial.outcome != Outcome::Moved || trial.measured.len() == 2, "{trial:?}");
        assert_eq!(trial.equal.len(), 2);
        fs::write(&one, "").unwrap();
        let told =
            Sample::read(&one, Program::Diamond, Limits { letters: 1000, queries: 10 }, 1).unwrap_err().to_string();
        assert!(told.contains("has no queries"), "{told}");
        fs::write(&one, ">a\nMKV\n>M\u{fc}ller\nMKV\n").unwrap();
        let told = Sample::read(&one, Program::Blastp, Limits { letters: 1000, queries: 10 }, 1).unwrap_err();
        assert!(told.to_string().contains("record 2, byte 7: the name M\u{fc}ller is not ASCII"), "{told}");
    }
}

#[test]
fn a_database_is_whole_or_refused() {
    for program in [Program::Diamond, Program::Blastp] {
        if !is_here(program) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let (_, subjects) = data(folder.path());
        let place = folder.path().join("db");
        let told = |parts| build(&subjects, parts, program, &place, None, &|_| ()).unwrap_err().to_string();
        assert!(told(0).contains("cannot be cut into 0 parts"));
        assert!(told(1_000_000).contains("cannot be cut into 1000000 parts"));
        let of = |fasta: &Path| build(fasta, 1, program, &place, None, &|_| ());
        assert!(of(Path::new("/dev/null")).unwrap_err().to_string().contains("it is not a regular file"));
        let database = build(&subjects, 3, program, &place, None, &|_| ()).unwrap();
        assert!(told(3).contains("is there already"));
        database.check_digests(0..database.parts(), 2).unwrap();
        let manifest = database.manifest();
        assert_eq!(manifest.sequences, manifest.parts.iter().map(|part| part.sequences).sum::<u64>());
        assert_eq!(manifest.letters, manifest.parts.iter().map(|part| part.letters).sum::<u64>());
        assert_eq!(manifest.parts[1].first, manifest.parts[0].sequences);
        let settings = Settings::new(Program::Blastx, Vec::new()).unwrap();
        let told = Search::new(database.clone(), settings, "db").unwrap_err().to_string();
        assert!(told.contains("cannot be searched by blastx"), "{told}");
        let search = Search::new(database.clone(), Settings::new(program, Vec::new()).unwrap(), "db").unwrap();
        assert!(search.part(3, &Batch::default()).is_err());

        let file = &manifest.parts[1].files[0];
        let path = place.join(&file.name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[0] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let told = Database::open(&place).unwrap().check_digests(0..3, 2).unwrap_err().to_string();
        assert!(told.contains(&format!("the bytes of {} are not those that", file.name)), "{told}");
        Database::open(&place).unwrap().check_digests([0, 2], 2).unwrap();
        bytes.pop();
        fs::write(&path, &bytes).unwrap();
        let told = Database::open(&place).unwrap_err().to_string();
        assert!(told.contains(&format!("{} has {} bytes instead of", file.name, bytes.len())), "{told}");
        fs::remove_file(&path).unwrap();
        assert!(Database::open(&place).unwrap_err().to_string().contains("is missing"));

        let wrong = folder.path().join("wrong.faa");
        let told = |fasta: &str| {
            fs::write(&wrong, fasta).unwrap();
            let made = build(&wrong, 1, program, &folder.path().join("no"), None, &|_| ());
            made.unwrap_err().to_string()
        };
        if program == Program::Diamond {
            let told = told(">b\nMKV\n>a\nMK1V\n");
            assert!(told.contains("record 2, byte 7: the sequence of a has '1', which diamond refuses"), "{told}");
        }
        let told = told(">b\nMKV\n>a\nMKV\n>a\nMKV\n");
        assert!(told.contains("records 2 and 3 are both named a"), "{told}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().contains("zerohop")), "{left:?}");
    }
}
