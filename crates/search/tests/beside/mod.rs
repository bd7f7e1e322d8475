//! What a test needs to compare parts of a database with one search of the whole by the program itself.
#![allow(clippy::explicit_write)]

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use zerohop_ranks::exchange::merge;
use zerohop_search::fasta::{FastaReader, Limits, Record};
use zerohop_search::{Batch, Batches, Found, Hit, Installed, Key, Program, Search};

/// The records of a FASTA file, as they stand there.
pub fn records(path: &Path) -> Vec<Vec<u8>> {
    let (mut reader, mut record, mut records) = (FastaReader::open(path).unwrap(), Record::default(), Vec::new());
    while reader.next(&mut record).unwrap() {
        records.push(record.text.clone());
    }
    records
}

/// Whether the program is here; says so if not.
pub fn is_here(program: Program) -> bool {
    match Installed::find(program) {
        Ok(_) => true,
        Err(error) => {
            // Past the harness, which would keep it from who runs the tests.
            writeln!(std::io::stderr(), "SKIPPED part: {error}").unwrap();
            // For the last line of scripts/test.sh.
            if let Some(told) = std::env::var_os("SKIPPED_PARTS") {
                writeln!(std::fs::OpenOptions::new().append(true).open(told).unwrap(), "part search: {error}").unwrap();
            }
            false
        }
    }
}

fn output(program: &str, arguments: &[&str], folder: &Path) -> Vec<u8> {
    // Once more if it stands still, as diamond 2.1.3 does once in thousands of runs (bbuchfink/diamond issues 801, 849,
    // 943).
    for _ in 0..3 {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "600", program]).args(arguments).current_dir(folder);
        let output = command.env("BLAST_USAGE_REPORT", "false").stderr(Stdio::inherit()).output().unwrap();
        if output.status.success() {
            return output.stdout;
        }
        let stood_still = output.status.signal() == Some(9) || output.status.code() == Some(128 + 9);
        assert!(stood_still, "{program} {arguments:?}: {}", output.status);
    }
    panic!("{program} {arguments:?} stands still");
}

/// Formats the whole database for the program.
pub fn format_whole(program: Program, subjects: &str, folder: &Path) {
    if program.is_blast() {
        let kind = if program.has_nucleotides() { "nucl" } else { "prot" };
        output("makeblastdb", &["-in", subjects, "-dbtype", kind, "-out", "whole"], folder);
    } else {
        output("diamond", &["makedb", "--quiet", "--in", subjects, "-d", "whole"], folder);
    }
}

/// One search of the whole database by the program itself, without anything of ours.
pub fn whole(program: Program, queries: &str, user: &[&str], limit: &str, form: &str, folder: &Path) -> Vec<u8> {
    if program.is_blast() {
        let line = ["-db", "whole", "-query", queries, "-max_target_seqs", limit, "-outfmt", form, "-num_threads", "2"];
        return output(program.name(), &[&line, user].concat(), folder);
    }
    let line = ["blastp", "--quiet", "--no-ranking", "-d", "whole", "-q", queries, "-k", limit];
    let form: Vec<&str> = form.split(' ').collect();
    output("diamond", &[&line, user, &form].concat(), folder)
}

/// The same over the parts of a database, batch by batch.
pub fn parted(search: &Search, queries: &Path, limits: Limits) -> Vec<u8> {
    let mut batches = Batches::new(FastaReader::open(queries).unwrap(), limits);
    let (mut batch, mut text, mut answered) = (Batch::default(), Vec::new(), 0);
    while batches.next(&mut batch).unwrap() {
        let found = |part| search.part(part, &batch).unwrap();
        let found: Vec<Found> = (0..search.database().parts()).map(found).collect();
        assert!(found.iter().all(|found| found.queries as usize == batch.queries()));
        assert!(found.iter().all(|part| part.frame == found[0].frame), "all parts make the same frame");
        answered += u64::from(found[0].queries);
        let lists: Vec<&[Hit]> = found.iter().map(|found| &*found.hits).collect();
        let most = search.settings().max_target_seqs.map_or(usize::MAX, |most| most as usize);
        let places = merge(&lists, Hit::order, most);
        let hits: Vec<Hit> = places.iter().map(|place| found[place.list].hits[place.number]).collect();
        let kept: Vec<(u32, Key)> = hits.iter().map(|hit| (hit.query, hit.key)).collect();
        let mut pieces = found[0].frame.pieces(&kept).into_iter().peekable();
        for at in 0..=hits.len() {
            while let Some((_, piece)) = pieces.next_if(|(before, _)| *before == at) {
                text.extend(piece);
            }
            if let Some(hit) = hits.get(at) {
                text.extend_from_slice(found[places[at].list].lines(hit));
            }
        }
        assert!(pieces.next().is_none());
    }
    assert_eq!(answered, batches.queries());
    assert_eq!(answered, records(queries).len() as u64, "queries answered are queries in");
    text
}

/// Whether every combination is to be tried (`make test-long`).
pub fn is_long() -> bool {
    std::env::var_os("LONG").is_some_and(|long| !long.is_empty())
}

/// DNA that has the proteins of a file in it: one codon for each amino acid.
pub fn back_translated(proteins: &Path, to: &Path) {
    let codon = |letter: u8| match letter {
        b'A' => "GCT",
        b'R' => "CGT",
        b'N' => "AAC",
        b'D' => "GAT",
        b'C' => "TGC",
        b'Q' => "CAG",
        b'E' => "GAA",
        b'G' => "GGC",
        b'H' => "CAT",
        b'I' => "ATC",
        b'L' => "CTG",
        b'K' => "AAA",
        b'M' => "ATG",
        b'F' => "TTC",
        b'P' => "CCG",
        b'S' => "AGC",
        b'T' => "ACC",
        b'W' => "TGG",
        b'Y' => "TAC",
        b'V' => "GTG",
        b'*' => "TAA",
        _ => "NNN",
    };
    let mut text = String::new();
    for record in records(proteins) {
        let record = String::from_utf8(record).unwrap();
        let (header, sequence) = record.split_once('\n').unwrap();
        let bases: String = sequence.bytes().filter(u8::is_ascii_graphic).map(codon).collect();
        text += &format!("{header}\n{bases}\n");
    }
    fs::write(to, text).unwrap();
}
