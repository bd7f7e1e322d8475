//! O, D and B: fragments found by their lines.

use super::text::SerialText;
use super::timed::Take;
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::error::Error;
use zerohop_model::source::Parse;

/// Takes a number of fragments at a time.
pub(crate) struct RecordTaker {
    /// One text, or two in step.
    texts: Vec<SerialText>,
    fragments: usize,
    /// For O: parses what was taken.
    parser: Option<Box<dyn Parse>>,
    next: Ticket,
}

impl RecordTaker {
    pub(crate) fn new(texts: Vec<SerialText>, fragments: usize, parser: Option<Box<dyn Parse>>) -> Self {
        RecordTaker { texts, fragments, parser, next: Ticket::first_of(0) }
    }
}

impl Take for RecordTaker {
    fn take(&mut self, chunk: &mut Chunk) -> Result<bool, Error> {
        chunk.clear();
        chunk.ticket = self.next;
        let (mut taken, mut reads) = (0, 0);
        for (text, out) in self.texts.iter_mut().zip(&mut chunk.text) {
            let records = text.take_records(self.fragments, out)?;
            (taken, reads) = (records.max(taken), reads + records as u64);
        }
        if taken == 0 {
            return Ok(false);
        }
        self.next = self.next.next_cohort(taken as u64, reads);
        // Files that are not in step are found by the parser.
        self.parser.as_ref().map_or(Ok(()), |parser| parser.parse(chunk))?;
        Ok(true)
    }
}

/// For O: the reads are found already.
pub(crate) struct ParsedAlready;

impl Parse for ParsedAlready {
    fn parse(&self, _chunk: &mut Chunk) -> Result<(), Error> {
        Ok(())
    }
}
