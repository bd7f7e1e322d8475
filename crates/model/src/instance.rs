//! What an aligner that runs as a program of its own is to the runtime: reads go in at one end, lines of SAM come out
//! at the other, and the two ends are served by different threads, for neither may wait for the other.

use crate::chunk::{Chunk, Span};
use crate::error::Error;
use crate::measurement::{InstanceReport, Tally};
use crate::plan::InstancePlan;
use crate::sink::OfRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One running copy of an aligner, taken apart into its two ends.
pub struct Instance {
    /// Where it runs.
    pub plan: InstancePlan,
    /// The end that takes reads.
    pub feed: Box<dyn Feed>,
    /// The end that gives records.
    pub drain: Box<dyn Drain>,
    /// An error of this program, for what was found wrong with its records later: it names the program and what it said
    /// last.
    pub blame: Blame,
    /// Whether it is to leave before the input ends.
    pub leave: Arc<Leave>,
}

/// What makes an error of what was found wrong.
pub type Blame = Arc<dyn Fn(&str) -> Error + Send + Sync>;

/// How an instance hands over to others while the run goes on: it gives records for all reads that it has, and takes
/// no more.
#[derive(Debug, Default)]
pub struct Leave {
    asked: AtomicBool,
    gone: AtomicBool,
}

impl Leave {
    /// Asks it to take no more reads.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Release);
    }

    /// Whether it was asked to take no more reads.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Says that its last record has come.
    pub fn go(&self) {
        self.gone.store(true, Ordering::Release);
    }

    /// Whether its last record has come.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }
}

/// The end where reads go in.
pub trait Feed: Send {
    /// Gives the program the reads of `chunk`, which was parsed and is number `number` of the run. Blocks while the
    /// program is busy, until `stop` is set. False when the program takes no more reads: why, its [`Drain`] will say.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Input`] for reads that this program cannot take; [`Error::Instance`] when it hangs.
    fn feed(&mut self, chunk: &Chunk, number: u64, stop: &AtomicBool) -> Result<bool, Error>;

    /// Says that there are no more reads.
    fn end(&mut self, stop: &AtomicBool);
}

/// The end where records come out.
pub trait Drain: Send {
    /// Waits for the header and returns its text: lines that start with `@`.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Instance`] when the program ended badly, hangs, or writes something else.
    fn header(&mut self, stop: &AtomicBool) -> Result<Vec<u8>, Error>;

    /// Waits for all records of a chunk; chunks come in ascending order of their numbers. False when the program has
    /// ended well and every read that it was given is accounted for.
    ///
    /// # Errors
    /// As for [`Drain::header`]; also when records are damaged, or belong to no read that the program was given.
    fn drain(&mut self, answer: &mut Answer, stop: &AtomicBool) -> Result<bool, Error>;

    /// The report on the program, once it has ended.
    fn report(&self) -> InstanceReport;
}

/// One record of an [`Answer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLine {
    /// The line, without its end, in [`Answer::text`].
    pub text: Span,
    /// The comment of its read, in [`Answer::comments`]; may be empty.
    pub comment: Span,
    /// Whether its read failed the sequencer's filters (0x200).
    pub failed_filters: bool,
    /// Whether its read has qualities.
    pub has_qualities: bool,
    /// Which mate its read is, as [`OfRead::pair_flags`] says it.
    pub pair_flags: u16,
    /// Which fragment of the chunk it is of.
    pub fragment: u32,
}

/// The records of one chunk, in the order of its reads. It is reused.
#[derive(Debug, Default)]
pub struct Answer {
    /// Number of the chunk in the run.
    pub number: u64,
    /// The number of its lane, from 0.
    pub lane: u32,
    /// Lines of SAM.
    pub text: Vec<u8>,
    /// The comments of the reads, if they were asked for.
    pub comments: Vec<u8>,
    /// The records, in order.
    pub lines: Vec<AnswerLine>,
    /// Counts of its reads and records.
    pub tally: Tally,
}

impl Answer {
    /// Each line with what it takes from its read, and whether it is the first of its fragment.
    pub fn records(&self) -> impl Iterator<Item = (&[u8], OfRead<'_>, bool)> {
        let range = |span: Span| span.start as usize..span.end as usize;
        let mut before = None;
        self.lines.iter().map(move |line| {
            let is_first = before.replace(line.fragment) != Some(line.fragment);
            let AnswerLine { failed_filters, has_qualities, pair_flags, .. } = *line;
            let comment = &self.comments[range(line.comment)];
            let of_read = OfRead { comment, failed_filters, has_qualities, pair_flags };
            (&self.text[range(line.text)], of_read, is_first)
        })
    }
}
