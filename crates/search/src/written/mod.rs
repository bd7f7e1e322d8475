//! What programs write, taken apart: alignments, each with what the merge needs of it, and what stands around them.

pub(crate) mod commented;
pub(crate) mod pairwise;
pub(crate) mod sam;
pub(crate) mod tabular;

use crate::error::SearchError;
use crate::program::Program;

/// One alignment as a program wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Alignment<'a> {
    /// What the user gets, without the last newline.
    pub(crate) text: &'a [u8],
    /// The query, by its index in the batch.
    pub(crate) query: u32,
    /// The subject's name.
    pub(crate) subject: &'a [u8],
    /// As it is printed.
    pub(crate) evalue: f64,
    /// Raw score.
    pub(crate) score: u32,
    /// Letters of query and subject, where they are told.
    pub(crate) lengths: Option<(u64, u64)>,
    /// Where it stands, from 1.
    pub(crate) line: u64,
}

/// Why some output cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, from 1.
    pub(crate) line: u64,
    /// What is wrong with it.
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn new(line: u64, what: impl Into<String>) -> Self {
        Fault { line, what: what.into() }
    }

    /// As an error about what `program` wrote.
    pub(crate) fn of(self, program: Program) -> SearchError {
        SearchError::Output { program: program.name().to_owned(), line: self.line, what: self.what }
    }
}

/// Lines of an output, each with its number from 1 and without its newline.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    /// The lines of `text`, of which the last must be complete.
    pub(crate) fn new(text: &'a [u8]) -> Result<Self, Fault> {
        match text.last() {
            None | Some(b'\n') => Ok(Lines { rest: text, number: 0 }),
            Some(_) => Err(Fault::new(memchr::memchr_iter(b'\n', text).count() as u64 + 1, "it is cut off")),
        }
    }

    /// How many lines were given out.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// What was not given out yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on behind so many bytes, which end with a line.
    pub(crate) fn skip_bytes(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.number += memchr::memchr_iter(b'\n', skipped).count() as u64;
        self.rest = rest;
    }

    /// The next line, which must begin with `begin`.
    pub(crate) fn expect(&mut self, begin: &str) -> Result<&'a [u8], Fault> {
        let line = self.next().map(|(_, line)| line).filter(|line| line.starts_with(begin.as_bytes()));
        line.ok_or_else(|| Fault::new(self.number, format!("it does not begin with '{begin}'")))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.number += 1;
        let end = memchr::memchr(b'\n', self.rest)?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        Some((self.number, line))
    }
}

/// A number of 0 or more, in text.
pub(crate) fn number(text: &[u8], what: &str) -> Result<f64, String> {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    text.parse::<f64>().ok().filter(|number| *number >= 0.0).ok_or_else(|| format!("'{text}' is no {what}"))
}
