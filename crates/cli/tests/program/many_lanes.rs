//! More lanes than a process may have files open, and than there would be memory for if all were read at once.

use crate::table::{Code, bgzf, data, first_records, gzip, words};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Pairs of lanes: many more than the limit lets be open.
const LANES: usize = 300;
/// What the shell sets as the limit of open files, the soft and the hard one.
const LIMIT: usize = 64;

fn zerohop(folder: &Path, limit: Option<usize>, arguments: &[String]) -> Output {
    let limit = limit.map_or(String::new(), |limit| format!("ulimit -n {limit} && "));
    Command::new("sh")
        .args(["-c", &format!("{limit}exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_zerohop")])
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// `align` of all lanes, with these options.
fn align(options: &str, lanes: impl Iterator<Item = [String; 2]>) -> Vec<String> {
    let options = words(&format!("align -q -t 2 {options} ref.fa"));
    options.into_iter().chain(lanes.flat_map(|[one, two]| ["--reads".to_owned(), one, two])).collect()
}

fn records(sam: &[u8]) -> Vec<&[u8]> {
    sam.split(|b| *b == b'\n').filter(|line| !line.is_empty() && line[0] != b'@').collect()
}

/// Some records of a file, so that lanes are small.
fn some(name: &str, from: usize) -> Vec<u8> {
    let text = data(name);
    let skipped = first_records(&text, from).len();
    first_records(&text[skipped..], 2).to_vec()
}

#[test]
fn more_lanes_than_files_may_be_open() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ref.fa"), data("phix.fasta")).unwrap();
    let codings: [Code; 3] = [<[u8]>::to_vec, gzip, bgzf];
    let lanes = (0..LANES).map(|lane| {
        [1, 2].map(|mate| {
            let name = format!("{lane}_{mate}");
            let text = some(&format!("phix.{mate}.fastq"), lane % 20);
            std::fs::write(folder.path().join(&name), codings[lane % codings.len()](&text)).unwrap();
            name
        })
    });
    let lanes: Vec<[String; 2]> = lanes.collect();
    let arguments = align("", lanes.iter().cloned());
    let expected = zerohop(folder.path(), None, &arguments);
    assert!(expected.status.success(), "{}", String::from_utf8_lossy(&expected.stderr));
    assert_eq!(records(&expected.stdout).len(), 4 * LANES);
    let own = zerohop(folder.path(), Some(LIMIT), &arguments);
    assert!(own.status.success(), "{}", String::from_utf8_lossy(&own.stderr));
    assert!(records(&own.stdout) == records(&expected.stdout), "other records");
    // A fault of the last lane is found before anything is aligned.
    std::fs::write(folder.path().join(&lanes[LANES - 1][1]), b"no reads").unwrap();
    let refused = zerohop(folder.path(), Some(LIMIT), &arguments);
    let what = "record 1 (byte 0): not FASTQ, FASTA, BAM, SAM or CRAM: it starts with 'n'";
    assert_eq!(String::from_utf8_lossy(&refused.stderr), format!("error: {}: {what}\n", lanes[LANES - 1][1]));
    assert!(refused.status.code() == Some(1) && records(&refused.stdout).is_empty());
}

/// Peak memory of the run, in bytes.
fn peak(folder: &Path, lanes: usize) -> u64 {
    let options = format!("-o /dev/null --json {lanes}.json");
    let names = ["1.fq.gz".to_owned(), "2.fq.gz".to_owned()];
    let run = zerohop(folder, None, &align(&options, std::iter::repeat_n(names, lanes)));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let report = std::fs::read(folder.join(format!("{lanes}.json"))).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    report["resources"]["peak_memory"].as_u64().unwrap()
}

/// Each file of plain gzip has buffers of half a mebibyte at least while it is read.
#[test]
fn lanes_that_are_not_read_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ref.fa"), data("phix.fasta")).unwrap();
    for mate in [1, 2] {
        let text = data(&format!("phix.{mate}.fastq"));
        std::fs::write(folder.path().join(format!("{mate}.fq.gz")), gzip(&text)).unwrap();
    }
    let [few, many] = [2, 202].map(|lanes| peak(folder.path(), lanes));
    assert!(many < few + (60 << 20), "2 lanes took {few} bytes, 202 lanes {many}");
}
