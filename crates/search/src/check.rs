//! Queries are looked at before the first search: a fault in the last of them must not cost the results of all others.

use crate::database::{Digesting, FileEntry};
use crate::error::SearchError;
use crate::fasta::{Batch, FastaReader, Record};
use crate::program::Program;
use crate::settings::Settings;
use std::fs::File;
use std::io::BufRead;
use std::path::Path;

/// A file of queries without a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The file, by its bytes.
    pub file: FileEntry,
    /// Its queries.
    pub queries: u64,
}

/// Reads all of `queries`, a regular file, and looks for what would end a search with `settings`.
///
/// # Errors
/// [`SearchError::Fasta`] for the first record that cannot be searched, [`SearchError::Arguments`] for queries that
/// diamond would take for DNA, [`SearchError::System`] if the file cannot be read.
pub fn check(queries: &Path, settings: &Settings) -> Result<Checked, SearchError> {
    let file = File::open(queries).map_err(SearchError::file("opened", queries))?;
    let mut read = Digesting::new(file);
    let mut reader = self::queries(FastaReader::inflate(&mut read, queries)?, settings.program);
    let (mut record, mut count, mut all_bases) = (Record::default(), 0, true);
    while reader.next(&mut record)? {
        count += 1;
        all_bases = all_bases && has_only_bases(&record.text);
    }
    drop(reader);
    if count > 0 && all_bases {
        no_dna(queries, settings)?;
    }
    let name = queries.to_string_lossy().into_owned();
    Ok(Checked { file: read.entry(name), queries: count })
}

/// Looks at the first batch of a stream, which cannot be read before it is searched, as [`check`] does at a file.
///
/// # Errors
/// [`SearchError::Arguments`] for queries that diamond would take for DNA.
pub fn check_first(batch: &Batch, stream: &Path, settings: &Settings) -> Result<(), SearchError> {
    match batch.queries() > 0 && has_only_bases(&batch.text) {
        true => no_dna(stream, settings),
        false => Ok(()),
    }
}

/// A reader of queries that refuses what `program` refuses or cannot tell apart.
pub fn queries<R: BufRead>(reader: FastaReader<R>, program: Program) -> FastaReader<R> {
    match program.is_blast() {
        true => reader.with_ascii_names(program.name()),
        false => subjects(reader, program),
    }
}

/// A reader of subjects that refuses what `program` refuses. (BLAST's programs leave out what is no letter to them.)
pub fn subjects<R: BufRead>(reader: FastaReader<R>, program: Program) -> FastaReader<R> {
    match program {
        Program::Diamond => reader.with_letters(program.name(), is_letter_of_diamond),
        _ => reader,
    }
}

/// diamond 2.1.3 takes U, O and '-' for X.
fn is_letter_of_diamond(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || b"*-_".contains(&byte)
}

/// diamond itself ends at one such sequence among the first ten.
fn no_dna(queries: &Path, settings: &Settings) -> Result<(), SearchError> {
    if settings.program != Program::Diamond || settings.ignores_warnings() {
        return Ok(());
    }
    Err(SearchError::Arguments(format!(
        "{}: all queries have the letters A, C, G, T and N alone, and diamond blastp searches proteins: \
         translate them first, or, if they are proteins, add --engine-args '--ignore-warnings'.",
        queries.display()
    )))
}

/// Whether the sequences of some FASTA could be DNA.
fn has_only_bases(fasta: &[u8]) -> bool {
    let sequences = fasta.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b">"));
    sequences.flatten().all(|letter| b"ACGTN".contains(&letter.to_ascii_uppercase()) || letter.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fasta::tests::batch;

    /// What is said of a file with this text.
    fn told(program: Program, user: &[&str], text: &[u8]) -> Result<u64, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.fa");
        std::fs::write(&path, text).unwrap();
        let settings = Settings::new(program, user.iter().map(|&word| word.to_owned()).collect()).unwrap();
        let place = format!("{}/", folder.path().display());
        check(&path, &settings).map(|checked| checked.queries).map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn a_fault_in_the_last_query_is_found() {
        let good = ">a\nMKV\n".repeat(1000);
        let with = |bad: &str| told(Program::Diamond, &[], (good.clone() + bad).as_bytes());
        assert_eq!(with(""), Ok(1000));
        assert!(with("> \nMKV\n").unwrap_err().starts_with("q.fa, record 1001, byte 7000: the record has no name"));
        assert!(with(">z\n\n").unwrap_err().starts_with("q.fa, record 1001, byte 7000: z has no letters"));
    }

    #[test]
    fn blast_takes_names_in_ascii_alone() {
        let text = ">b Müller\nMKV\n>Müller\nMKV\n".as_bytes();
        assert_eq!(told(Program::Diamond, &[], text), Ok(2));
        let words = told(Program::Blastp, &[], text).unwrap_err();
        let expected = "q.fa, record 2, byte 15: the name Müller is not ASCII, and blastp would write '#' for some of \
                        its bytes; rename it";
        assert_eq!(words, expected);
    }

    #[test]
    fn diamond_takes_letters_alone() {
        let with = |program, line: &str| told(program, &[], format!(">a\nMKV\n>b x\nMKUO*\n{line}").as_bytes());
        for line in ["mk-v_*", "MKV\r\n", "\r\nMKV\r\n\n", "MKV\r"] {
            assert_eq!(with(Program::Diamond, line), Ok(2), "{line:?}");
        }
        let begin = "q.fa, record 2, byte 7: the sequence of b has ";
        let end = ", which diamond refuses; take it out, or write X for it";
        for (line, letter) in [
            ("MK.V", "'.'"),
            ("MKV1\n", "'1'"),
            ("MKV \n", "a blank"),
            ("\tMKV", "the byte 0x09"),
            ("M\rK", "the byte 0x0d"),
        ] {
            assert_eq!(with(Program::Diamond, line), Err(format!("{begin}{letter}{end}")));
            assert_eq!(with(Program::Blastp, line), Ok(2));
        }
    }

    #[test]
    fn queries_that_are_dna_altogether_are_refused() {
        let dna = b">a\nACGT\nnnac\n>b\nGGGA\r\n";
        assert!(told(Program::Diamond, &[], dna).unwrap_err().contains("translate them first"));
        assert_eq!(told(Program::Diamond, &["--ignore-warnings"], dna), Ok(2));
        assert_eq!(told(Program::Blastn, &[], dna), Ok(2));
        assert_eq!(told(Program::Diamond, &[], b">a\nACGT\n>b\nMKV\n"), Ok(2));
        assert_eq!(told(Program::Diamond, &[], b""), Ok(0));
        let settings = Settings::new(Program::Diamond, Vec::new()).unwrap();
        let stream = Path::new("standard input");
        assert!(check_first(&batch(">a M\nACGT\n"), stream, &settings).is_err());
        assert!(check_first(&batch(">a\nACGT\n>b\nMKV\n"), stream, &settings).is_ok());
    }
}
