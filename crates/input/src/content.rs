//! What a file holds, and where its records start in a stretch of its text.

use crate::bam::First;
use crate::bam::mark::{self as bam_mark, BamState};
use crate::compact::{Reader, Writer};
use crate::parse::Format;
use crate::segment::{LineState, Marks, guess_state, mark_fastq};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text(Format),
    /// Records of BAM behind a header of so many bytes that names so many contigs.
    Bam {
        header: u64,
        contigs: i32,
        /// What the first read says of all, if there is any.
        first: Option<First>,
    },
}

/// Where a stretch of text starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum State {
    Lines(LineState),
    Records(BamState),
}

/// A number behind those of lines: two more follow.
const RECORDS: u64 = 8;

impl State {
    pub(crate) fn put(self, out: &mut Writer) {
        match self {
            State::Lines(state) => out.put(state.to_number()),
            State::Records(BamState { skip, open }) => [RECORDS, skip, open].into_iter().for_each(|n| out.put(n)),
        }
    }

    /// What is open before a stretch of BAM that starts in `state` and was marked as if it started in this one, with
    /// nothing open; `None` if it must be marked anew.
    pub(crate) fn goes_on_with(self, state: State) -> Option<u64> {
        match (self, state) {
            (State::Records(guess), State::Records(state)) if guess.skip == state.skip && guess.open == 0 => {
                Some(state.open)
            }
            _ => None,
        }
    }

    /// The same, with something else open.
    pub(crate) fn with_open(self, open: u64) -> Self {
        match self {
            State::Lines(_) => self,
            State::Records(state) => State::Records(BamState { open, ..state }),
        }
    }

    pub(crate) fn take(from: &mut Reader<'_>) -> Option<Self> {
        match from.take()? {
            RECORDS => Some(State::Records(BamState { skip: from.take()?, open: from.take()? })),
            number => LineState::from_number(number).map(State::Lines),
        }
    }
}

/// The marks of a stretch.
#[derive(Debug)]
pub(crate) struct Marked {
    pub(crate) marks: Marks,
    pub(crate) after: State,
    /// For BAM: what stands for the name of the first read, if a read before it may be its mate ([`BamState::open`]).
    pub(crate) opening: u64,
}

impl Content {
    /// Reads of each fragment.
    pub(crate) fn reads_per_fragment(self) -> u64 {
        if self.is_paired() { 2 } else { 1 }
    }

    /// Whether it is BAM of pairs.
    pub(crate) fn is_paired(self) -> bool {
        matches!(self, Content::Bam { first: Some(First { is_paired: true, .. }), .. })
    }

    /// The state of the first stretch of a file.
    pub(crate) fn start(self) -> State {
        match self {
            Content::Text(_) => State::Lines(LineState::RECORD_START),
            Content::Bam { header, .. } => State::Records(BamState { skip: header, open: 0 }),
        }
    }

    /// The state of another stretch, by its text.
    pub(crate) fn guess(self, text: &[u8]) -> State {
        match self {
            Content::Text(_) => State::Lines(guess_state(text).unwrap_or(LineState::RECORD_START)),
            Content::Bam { contigs, .. } => State::Records(BamState { skip: bam_mark::guess(text, contigs), open: 0 }),
        }
    }

    /// Marks a stretch that starts in `state`; `behind` gives up to so many bytes of what follows.
    pub(crate) fn mark(self, text: &[u8], state: State, behind: impl FnOnce(usize) -> Vec<u8>) -> Marked {
        match state {
            State::Lines(state) => {
                let (marks, after) = mark_fastq(text, state);
                Marked { marks, after: State::Lines(after), opening: 0 }
            }
            State::Records(state) => {
                let bam_mark::Marked { marks, after, opening, .. } =
                    bam_mark::mark(text, state, |bytes| Some(behind(bytes)));
                Marked { marks, after: State::Records(after), opening }
            }
        }
    }
}

impl Marked {
    /// Makes good that a stretch was marked as if it started in `guess`, if that can be done without its text; false
    /// otherwise.
    pub(crate) fn correct(&mut self, guess: State, state: State) -> bool {
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
