//! What a file holds, and where its records start in a stretch of its text.

use crate::bam::First;
use crate::bam::mark::{self as bam_mark, BamState};
use crate::compact::{CompactReader, Writer};
use crate::parse::TextFormat;
use crate::segment::{LineState, RecordMarks, guess_state, mark_fastq};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text(TextFormat),
    /// Records of BAM behind a header of so many bytes that names so many contigs.
    Bam {
        header: u64,
        contigs: i32,
        /// What the first read shows, if there is one.
        first: Option<First>,
    },
}

/// Where a stretch of text starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StretchStart {
    Lines(LineState),
    Records(BamState),
}

/// A number behind those of lines: two more follow.
const RECORDS: u64 = 8;

impl StretchStart {
    pub(crate) fn put(self, out: &mut Writer) {
        match self {
            StretchStart::Lines(state) => out.put(state.to_number()),
            StretchStart::Records(BamState { skip, open }) => {
                [RECORDS, skip, open].into_iter().for_each(|n| out.put(n))
            }
        }
    }

    /// What is open before a stretch of BAM that starts in `state` and was marked as if it started in this one, with
    /// nothing open; `None` if it must be marked anew.
    pub(crate) fn goes_on_with(self, state: StretchStart) -> Option<u64> {
        match (self, state) {
            (StretchStart::Records(guess), StretchStart::Records(state))
                if guess.skip == state.skip && guess.open == 0 =>
            {
                Some(state.open)
            }
            _ => None,
        }
    }

    /// The same, with something else open.
    pub(crate) fn with_open(self, open: u64) -> Self {
        match self {
            StretchStart::Lines(_) => self,
            StretchStart::Records(state) => StretchStart::Records(BamState { open, ..state }),
        }
    }

    pub(crate) fn take(from: &mut CompactReader<'_>) -> Option<Self> {
        match from.take()? {
            RECORDS => Some(StretchStart::Records(BamState { skip: from.take()?, open: from.take()? })),
            number => LineState::from_number(number).map(StretchStart::Lines),
        }
    }
}

/// The marks of a stretch.
#[derive(Debug)]
pub(crate) struct Marked {
    pub(crate) marks: RecordMarks,
    pub(crate) after: StretchStart,
    /// For BAM: what stands for the name of the first read, if a read before it may be its mate ([`BamState::open`]).
    pub(crate) opening: u64,
}

impl Content {
    /// Reads of each fragment, if all are as the first.
    pub(crate) fn reads_per_fragment(self) -> u64 {
        if self.is_paired() { 2 } else { 1 }
    }

    /// Whether it is BAM that begins with a read of a pair.
    pub(crate) fn is_paired(self) -> bool {
        matches!(self, Content::Bam { first: Some(First { is_paired: true, .. }), .. })
    }

    /// The state of the first stretch of a file.
    pub(crate) fn start(self) -> StretchStart {
        match self {
            Content::Text(_) => StretchStart::Lines(LineState::RECORD_START),
            Content::Bam { header, .. } => StretchStart::Records(BamState { skip: header, open: 0 }),
        }
    }

    /// The state of another stretch, by its text.
    pub(crate) fn guess(self, text: &[u8]) -> StretchStart {
        match self {
            Content::Text(_) => StretchStart::Lines(guess_state(text).unwrap_or(LineState::RECORD_START)),
            Content::Bam { contigs, .. } => {
                StretchStart::Records(BamState { skip: bam_mark::guess(text, contigs), open: 0 })
            }
        }
    }

    /// Marks a stretch that starts in `state`; `behind` gives up to so many bytes of what follows.
    pub(crate) fn mark(self, text: &[u8], state: StretchStart, behind: impl FnOnce(usize) -> Vec<u8>) -> Marked {
        match state {
            StretchStart::Lines(state) => {
                let (marks, after) = mark_fastq(text, state);
                Marked { marks, after: StretchStart::Lines(after), opening: 0 }
            }
            StretchStart::Records(state) => {
                let bam_mark::MarkedRecords { marks, after, opening, .. } =
                    bam_mark::mark(text, state, |bytes| Some(behind(bytes)));
                Marked { marks, after: StretchStart::Records(after), opening }
            }
        }
    }
}

impl Marked {
    /// Makes good that a stretch was marked as if it started in `guess`, if that can be done without its text; false
    /// otherwise.
    pub(crate) fn correct(&mut self, guess: StretchStart, state: StretchStart) -> bool {
        if guess == state {
            return true;
        }
        let Some(open) = guess.goes_on_with(state) else { return false };
        if self.marks.records == 0 {
            self.after = self.after.with_open(open);
        } else if open != 0 && open == self.opening {
            // Its first read goes on with the fragment before.
            self.marks.forget_first();
        }
        true
    }
}
