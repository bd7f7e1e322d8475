//! Where fragments start in a stretch of records.

use super::record::{FoundRecord, HEAD, RecordHead};
use crate::segment::RecordMarks;

/// Records in a row that are looked at before one is taken for the first of a stretch.
const CHAIN: usize = 16;

/// Where a stretch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BamState {
    /// Bytes before the first record that begins in it.
    pub(crate) skip: u64,
    /// A number that stands for the name of the read before, if that is one of a pair; else 0.
    pub(crate) open: u64,
}

impl BamState {
    /// Behind a place where nothing more can be found.
    const LOST: BamState = BamState { skip: u64::MAX / 2, open: 0 };
}

/// What was found in a stretch.
#[derive(Debug)]
pub(crate) struct MarkedRecords {
    pub(crate) marks: RecordMarks,
    pub(crate) after: BamState,
    /// What stands for the name of its first read ([`BamState::open`]).
    pub(crate) opening: u64,
    /// Bytes up to the end of the stretch, or to a record that was left out.
    pub(crate) bytes: usize,
}

/// Marks the fragments of a stretch that starts in `state`. A fragment starts with a read; a read whose name is that
/// of the one before, both of pairs, goes on with its fragment, and so does whatever is no read. The name of the last
/// record may lie behind the stretch: `behind` gives up to so many bytes of what follows, or none if that is not known
/// yet; then that record is left out.
pub(crate) fn mark(text: &[u8], state: BamState, behind: impl FnOnce(usize) -> Option<Vec<u8>>) -> MarkedRecords {
    let mut marking = RecordMarking { open: state.open, marks: RecordMarks::default(), opening: 0 };
    let mut at = usize::try_from(state.skip).unwrap_or(usize::MAX);
    while let Some(here) = text.get(at..).filter(|here| !here.is_empty()) {
        match RecordHead::read(here) {
            FoundRecord::Head(head) => {
                marking.add(at, &head);
                at = at.saturating_add(head.size);
            }
            FoundRecord::Damaged => return marking.damaged(at, text.len()),
            FoundRecord::CutOff => {
                let Some(behind) = behind(HEAD.saturating_sub(here.len())) else { break };
                let whole = [here, &behind].concat();
                match RecordHead::read(&whole) {
                    FoundRecord::Head(head) => {
                        marking.add(at, &head);
                        at = at.saturating_add(head.size);
                    }
                    FoundRecord::Damaged => return marking.damaged(at, text.len()),
                    // The file ends here: who parses it will say so.
                    FoundRecord::CutOff => {
                        marking.begin_fragment(at);
                        return marking.end(BamState::LOST, text.len());
                    }
                }
                break;
            }
        }
    }
    let after = BamState { skip: at.saturating_sub(text.len()) as u64, open: marking.open };
    marking.end(after, at.min(text.len()))
}

/// Where fragments surely end in a text that begins with a record.
pub(crate) fn ends_of_fragments(text: &[u8]) -> impl Iterator<Item = usize> {
    let starts = mark(text, BamState::default(), |_| None).marks.starts;
    starts.into_iter().skip(1).map(|start| start as usize)
}

struct RecordMarking {
    open: u64,
    marks: RecordMarks,
    opening: u64,
}

impl RecordMarking {
    fn add(&mut self, at: usize, head: &RecordHead<'_>) {
        if !head.is_read() {
            let size = u32::try_from(head.size).unwrap_or(u32::MAX);
            self.marks.passed_over = self.marks.passed_over.map(|bytes| bytes.saturating_add(size));
            return;
        }
        let pair = head.pair();
        if pair == 0 || pair != self.open {
            self.begin_fragment(at);
        }
        if self.marks.records == 0 {
            self.opening = pair;
        }
        self.marks.records += 1;
        self.marks.bases = self.marks.bases.saturating_add(head.bases);
        self.open = pair;
    }

    fn begin_fragment(&mut self, at: usize) {
        self.marks.push(at, self.marks.bases);
        self.marks.passed_over[1] = 0;
        self.marks.records_before.push(self.marks.records);
    }

    fn damaged(mut self, at: usize, bytes: usize) -> MarkedRecords {
        self.marks.damaged_at = Some(at as u32);
        self.end(BamState::LOST, bytes)
    }

    fn end(self, after: BamState, bytes: usize) -> MarkedRecords {
        MarkedRecords { marks: self.marks, after, opening: self.opening, bytes }
    }
}

/// The bytes before the first record of a stretch, by its content: the first place from which on records follow one
/// another. All of it if there is none. `contigs` is how many the header names.
pub(crate) fn guess(text: &[u8], contigs: i32) -> u64 {
    (0..text.len()).find(|&at| is_chain(&text[at..], contigs)).unwrap_or(text.len()) as u64
}

fn is_chain(mut text: &[u8], contigs: i32) -> bool {
    for seen in 0..CHAIN {
        let FoundRecord::Head(head) = RecordHead::read(text) else {
            return seen > 0 && matches!(RecordHead::read(text), FoundRecord::CutOff);
        };
        if !head.is_likely(contigs) {
            return false;
        }
        text = text.get(head.size..).unwrap_or_default();
    }
    true
}
