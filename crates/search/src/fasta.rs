//! FASTA: records one by one, and queries in batches.

use crate::error::SearchError;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One record.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// All of it, header and lines, as in the file; it ends with a newline.
    pub text: Vec<u8>,
    /// Where in the text its name is: the first word of the header.
    pub name: Range<usize>,
    /// Letters of its sequence.
    pub letters: u64,
}

impl Record {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        self.text.get(self.name.clone()).unwrap_or_default()
    }
}

/// Whether what a user calls `path` can be read once only: standard input (`-`), a pipe, a device.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || (path.exists() && !path.is_file())
}

/// Whether a byte is a letter to some program.
pub type IsLetter = fn(u8) -> bool;

/// Reads records, one at a time.
#[derive(Debug)]
pub struct FastaReader<R> {
    input: R,
    file: PathBuf,
    /// The header of the next record.
    header: Vec<u8>,
    /// Records given out.
    records: u64,
    /// Bytes read before the header.
    byte: u64,
    /// A program that takes names in ASCII alone.
    ascii_for: Option<&'static str>,
    /// A program that takes not all letters, and which it takes.
    letters_of: Option<(&'static str, IsLetter)>,
}

impl<'r> FastaReader<Box<dyn BufRead + 'r>> {
    /// Opens a file of plain text, or of gzip or BGZF.
    ///
    /// # Errors
    /// [`SearchError::System`] if it cannot be opened or read, [`SearchError::Fasta`] if it does not begin as FASTA.
    pub fn open(path: &Path) -> Result<Self, SearchError> {
        Self::inflate(File::open(path).map_err(SearchError::file("opened", path))?, path)
    }

    /// Reads `raw`, plain or compressed, which errors call `file`. (Bytes that they name are of the text.)
    ///
    /// # Errors
    /// As for [`FastaReader::open`].
    pub fn inflate(raw: impl Read + 'r, file: &Path) -> Result<Self, SearchError> {
        Self::new(zerohop_input::inflated(raw).map_err(SearchError::file("read", file))?, file)
    }
}

impl<R: BufRead> FastaReader<R> {
    /// Reads `input`, which errors call `file`.
    ///
    /// # Errors
    /// As for [`FastaReader::open`].
    pub fn new(input: R, file: &Path) -> Result<Self, SearchError> {
        let mut reader = FastaReader {
            input,
            file: file.to_owned(),
            header: Vec::new(),
            records: 0,
            byte: 0,
            ascii_for: None,
            letters_of: None,
        };
        while reader.header.trim_ascii().is_empty() {
            reader.byte += reader.header.len() as u64;
            reader.header.clear();
            let mut header = Vec::new();
            if reader.line(&mut header)? == 0 {
                break;
            }
            reader.header = header;
        }
        match reader.header.first() {
            None | Some(b'>') => Ok(reader),
            Some(_) => Err(reader.wrong("it does not begin with '>'; give FASTA, plain or as gzip")),
        }
    }

    /// The same, for `program`, which takes names in ASCII alone.
    pub fn with_ascii_names(mut self, program: &'static str) -> Self {
        self.ascii_for = Some(program);
        self
    }

    /// The same, for `program`, which refuses what is no letter to it in sequences, blanks too. Lines end with LF or
    /// CRLF.
    pub fn with_letters(mut self, program: &'static str, is_letter: IsLetter) -> Self {
        self.letters_of = Some((program, is_letter));
        self
    }

    /// The next record; `false` when there are no more.
    ///
    /// # Errors
    /// [`SearchError::Fasta`] for a record without a name, with one that the program does not take, or without
    /// letters, or with bytes that are no text or no letters of the program;
    /// [`SearchError::System`] if the file cannot be read.
    pub fn next(&mut self, record: &mut Record) -> Result<bool, SearchError> {
        record.text.clear();
        record.letters = 0;
        if self.header.is_empty() {
            return Ok(false);
        }
        record.text.append(&mut self.header);
        end_line(&mut record.text);
        let is_end = |byte: &u8| *byte <= b' ';
        let end = record.text.iter().position(is_end).unwrap_or(record.text.len());
        record.name = 1..end;
        if end == 1 {
            return Err(self.wrong("the record has no name; a name follows '>' without a blank"));
        }
        if let Some(program) = self.ascii_for.filter(|_| !record.name().is_ascii()) {
            let name = String::from_utf8_lossy(record.name()).into_owned();
            return Err(self.wrong(&format!(
                "the name {name} is not ASCII, and {program} would write '#' for some of its bytes; rename it"
            )));
        }
        loop {
            let start = record.text.len();
            let length = self.line(&mut record.text)?;
            let line = record.text.get(start..).unwrap_or_default();
            if length == 0 || line.first() == Some(&b'>') {
                self.header.extend_from_slice(line);
                record.text.truncate(start);
                break;
            }
            if let Some(byte) = line.iter().find(|b| !b.is_ascii_graphic() && !b.is_ascii_whitespace()) {
                return Err(self.wrong(&format!("the sequence has the byte {byte:#04x}, which is no letter")));
            }
            record.letters += line.iter().filter(|b| b.is_ascii_graphic()).count() as u64;
            end_line(&mut record.text);
            if let Some(what) = self.refused(record, start) {
                return Err(self.wrong(&what));
            }
        }
        if record.letters == 0 {
            let name = String::from_utf8_lossy(record.name()).into_owned();
            return Err(self.wrong(&format!("{name} has no letters; take it out of the file")));
        }
        self.records += 1;
        self.byte += record.text.len() as u64;
        Ok(true)
    }

    fn line(&mut self, to: &mut Vec<u8>) -> Result<usize, SearchError> {
        self.input.read_until(b'\n', to).map_err(SearchError::file("read", &self.file))
    }

    /// What is wrong with the line that begins at `start` in `record`, if it has what the program does not take.
    fn refused(&self, record: &Record, start: usize) -> Option<String> {
        let (program, is_letter) = self.letters_of?;
        let line = record.text.get(start..)?.strip_suffix(b"\n")?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let byte = *line.iter().find(|byte| !is_letter(**byte))?;
        let letter = match byte {
            b' ' => "a blank".to_owned(),
            _ if byte.is_ascii_graphic() => format!("'{}'", char::from(byte)),
            _ => format!("the byte {byte:#04x}"),
        };
        let name = String::from_utf8_lossy(record.name());
        Some(format!("the sequence of {name} has {letter}, which {program} refuses; take it out, or write X for it"))
    }

    fn wrong(&self, what: &str) -> SearchError {
        let (file, what) = (self.file.clone(), what.to_owned());
        SearchError::Fasta { file, record: self.records + 1, byte: self.byte, what }
    }
}

/// The last line of a file may lack its newline, and then could not be followed by another record.
fn end_line(text: &mut Vec<u8>) {
    if text.last() != Some(&b'\n') {
        text.push(b'\n');
    }
}

/// Where a batch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most so many letters, unless one query alone has more.
    pub letters: u64,
    /// At most so many queries.
    pub queries: u32,
}

/// Queries that are searched together.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Its number, from 0.
    pub number: u64,
    /// Queries before it.
    pub first: u64,
    /// Letters of its queries.
    pub letters: u64,
    /// Its records, one after another.
    pub text: Vec<u8>,
    /// Whether no other comes behind it.
    pub is_last: bool,
    names: Vec<Range<usize>>,
    /// Letters of each query.
    query_letters: Vec<u64>,
}

/// A query of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Query<'a> {
    pub(crate) name: &'a [u8],
    /// Its header without '>'.
    pub(crate) title: &'a [u8],
    pub(crate) letters: u64,
}

impl Batch {
    /// How many queries it has.
    pub fn queries(&self) -> usize {
        self.names.len()
    }

    /// The names of its queries, in order; no two are the same.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| self.text.get(name.clone()).unwrap_or_default())
    }

    /// Its queries, in order.
    pub(crate) fn details(&self) -> impl Iterator<Item = Query<'_>> {
        self.names.iter().zip(&self.query_letters).map(|(name, &letters)| {
            let from = |range| self.text.get(range).unwrap_or_default();
            let header = from(name.start..self.text.len());
            let title = header.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let title = title.strip_suffix(b"\r").unwrap_or(title);
            Query { name: from(name.clone()), title, letters }
        })
    }

    /// Where each query is, by name.
    pub(crate) fn index(&self) -> HashMap<&[u8], u32> {
        self.names().zip(0..).collect()
    }

    fn push(&mut self, record: &Record) {
        let at = self.text.len();
        self.text.extend_from_slice(&record.text);
        self.names.push(at + record.name.start..at + record.name.end);
        self.query_letters.push(record.letters);
        self.letters += record.letters;
    }
}

/// Cuts queries into batches, in order. Where it cuts depends on the queries and the limits alone.
#[derive(Debug)]
pub struct Batches<R> {
    reader: FastaReader<R>,
    limits: Limits,
    /// The query after the last batch.
    ahead: Option<Record>,
    batches: u64,
    queries: u64,
}

impl<R: BufRead> Batches<R> {
    /// Batches of what `reader` reads.
    pub fn new(reader: FastaReader<R>, limits: Limits) -> Self {
        Batches { reader, limits, ahead: Some(Record::default()), batches: 0, queries: 0 }
    }

    /// Queries given out.
    pub fn queries(&self) -> u64 {
        self.queries
    }

    /// The next batch; `false` when there are no more.
    ///
    /// A batch also ends before a query that is named as one in it: programs tell queries by their names.
    ///
    /// # Errors
    /// As for [`FastaReader::next`].
    pub fn next(&mut self, batch: &mut Batch) -> Result<bool, SearchError> {
        batch.text.clear();
        batch.names.clear();
        batch.query_letters.clear();
        (batch.number, batch.first, batch.letters) = (self.batches, self.queries, 0);
        let Some(mut record) = self.ahead.take() else { return Ok(false) };
        let mut names: HashSet<Box<[u8]>> = HashSet::new();
        let is_there = !record.text.is_empty() || self.reader.next(&mut record)?;
        let mut more = is_there;
        while more {
            let full = batch.letters + record.letters > self.limits.letters
                || batch.names.len() as u64 >= u64::from(self.limits.queries);
            if (full && !batch.names.is_empty()) || !names.insert(record.name().into()) {
                break;
            }
            batch.push(&record);
            more = self.reader.next(&mut record)?;
        }
        self.ahead = more.then_some(record);
        batch.is_last = !more;
        self.batches += u64::from(is_there);
        self.queries += batch.names.len() as u64;
        Ok(is_there)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All queries in `text`, as one batch.
    pub(crate) fn batch(text: &str) -> Batch {
        let mut batch = Batch::default();
        let limits = Limits { letters: u64::MAX, queries: u32::MAX };
        assert!(Batches::new(reader(text.as_bytes()).unwrap(), limits).next(&mut batch).unwrap());
        batch
    }

    fn reader(text: &[u8]) -> Result<FastaReader<&[u8]>, SearchError> {
        FastaReader::new(text, Path::new("q.fa"))
    }

    fn all(text: &str) -> Result<Vec<Record>, SearchError> {
        let (mut reader, mut records, mut record) = (reader(text.as_bytes())?, Vec::new(), Record::default());
        while reader.next(&mut record)? {
            records.push(record.clone());
        }
        Ok(records)
    }

    #[test]
    fn records_are_read_as_they_are() {
        let records = all("\n>a one\nMK\nR*\n\n>b\r\nACD\r\n>c\tx\nM").unwrap();
        let told: Vec<_> =
            records.iter().map(|r| (r.name(), String::from_utf8_lossy(&r.text).into_owned(), r.letters)).collect();
        let expected: [(&[u8], String, u64); 3] =
            [(b"a", ">a one\nMK\nR*\n\n".into(), 4), (b"b", ">b\r\nACD\r\n".into(), 3), (b"c", ">c\tx\nM\n".into(), 1)];
        assert_eq!(told, expected);
        assert!(all("").unwrap().is_empty());
    }

    #[test]
    fn errors_name_file_record_and_byte() {
        let told = |text: &str| all(text).unwrap_err().to_string();
        assert!(told("ACGT\n").starts_with("q.fa, record 1, byte 0: it does not begin with '>'"));
        assert!(told(">a\nM\n> b\nM\n").starts_with("q.fa, record 2, byte 5: the record has no name"));
        assert!(told(">a\nM\n>b\n>c\nM").starts_with("q.fa, record 2, byte 5: b has no letters"));
        assert!(told(">a\nM\u{1}\n").contains("0x01"));
    }

    #[test]
    fn a_name_comes_once_in_a_batch() {
        let limits = Limits { letters: 100, queries: 100 };
        let mut batches = Batches::new(reader(b">a\nM\n>b\nM\n>a\nMM\n>a\nM\n").unwrap(), limits);
        let (mut batch, mut told) = (Batch::default(), Vec::new());
        while batches.next(&mut batch).unwrap() {
            told.push((batch.number, batch.first, batch.queries(), batch.letters, batch.is_last));
        }
        assert_eq!(told, [(0, 0, 2, 2, false), (1, 2, 1, 2, false), (2, 3, 1, 1, true)]);
        assert_eq!(batches.queries(), 4);
    }

    #[test]
    fn queries_have_titles_and_letters() {
        let batch = batch(">a one\ttwo \r\nMK\r\nR*\n>b\nM");
        let told: Vec<_> = batch.details().map(|query| (query.name, query.title, query.letters)).collect();
        let expected: [(&[u8], &[u8], u64); 2] = [(b"a", b"a one\ttwo ", 4), (b"b", b"b", 1)];
        assert_eq!(told, expected);
    }

    #[test]
    fn gzip_is_read_and_what_is_cut_off_is_told() {
        let text = ">a\nMKV\n".repeat(1000);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let count = |bytes: &[u8]| -> Result<usize, SearchError> {
            let (mut reader, mut record) = (FastaReader::inflate(bytes, Path::new("q.fa.gz"))?, Record::default());
            let mut count = 0;
            while reader.next(&mut record)? {
                count += 1;
            }
            Ok(count)
        };
        assert_eq!(count(&packed).unwrap(), 1000);
        let told = count(&packed[..packed.len() - 3]).unwrap_err().to_string();
        assert!(told.starts_with("q.fa.gz cannot be read: "), "{told}");
    }

    proptest! {
        #[test]
        fn batches_are_the_queries_in_order(
            lengths in prop::collection::vec(1usize..30, 0..40),
            letters in 1u64..100,
            queries in 1u32..10,
        ) {
            let text: String = lengths.iter().enumerate().map(|(i, &n)| format!(">q{i} \
                x\n{}\n", "M".repeat(n))).collect();
            let mut batches = Batches::new(reader(text.as_bytes()).unwrap(), Limits { letters, queries });
            let (mut batch, mut again, mut names) = (Batch::default(), Vec::new(), 0);
            while batches.next(&mut batch).unwrap() {
                prop_assert!(batch.queries() == 1 || batch.letters <= letters);
                prop_assert!((1..=queries as usize).contains(&batch.queries()));
                again.extend_from_slice(&batch.text);
                for name in batch.names() {
                    prop_assert_eq!(String::from_utf8_lossy(name), format!("q{names}"));
                    names += 1;
                }
            }
            prop_assert!(!batches.next(&mut batch).unwrap());
            prop_assert_eq!(again, text.into_bytes());
        }
    }
}
