//! One regular file of plain gzip, inflated by all workers ([`zerohop_gzip`] says how that can be).
//!
//! A file is a row of stretches of compressed bytes, and becomes a chain of pieces of text. A worker that wants text
//!
//! 1. takes the next stretch, looks for the first block in it, and inflates from there, without the 32 KiB of text
//!    before it ([`PieceChain::inflate_ahead`]);
//! 2. *links* such pieces, if nobody does it just now (a `try_lock`): in order, each gets its number and the window
//!    before it, from which the one behind it follows. That alone is serial;
//! 3. takes a job ([`PieceChain::do_next`]): puts text for the marks of a linked piece, computes CRCs and marks
//!    records.
//!
//! Where a stretch does not begin with the place that the chain has come to (it was no block, or there is none), the
//! job is to inflate from the right place, up to the next one that fits. So it is, too, where nobody has taken the
//! stretch yet: one worker, or one for each file of a pair, inflates everything that way.

use crate::content::StretchStart;
use crate::errors::gzip_fault;
use crate::regular::{Regular, Stretch, Tail};
use crate::segment::Segment;
use crate::sizes::GZIP_STRETCH;
use crossbeam_queue::SegQueue;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use zerohop_gzip::{Compressed, ENOUGH, End, Inflated, Member, PieceLimits, Place, Unresolved};
use zerohop_model::error::InputError;
use zerohop_model::machine::NodeId;
use zerohop_model::spare::{self, Spare};

/// Bytes behind a stretch in which its last block ends; with longer ones there is more to be inflated in order.
const BEHIND: u64 = 1 << 17;
/// About the most bytes of text of a piece: a stretch of text that shrinks more becomes several.
const PIECE_TEXT: usize = 1 << 22;

/// The members before a piece: the open one, and the bytes of text of all.
#[derive(Default)]
pub(crate) struct MembersBefore {
    open: Member,
    text: u64,
}

/// What is to be done with a piece whose place is known.
enum PieceJob {
    Resolve { number: u64, ahead: Ahead, window: Arc<[u8]> },
    Inflate { number: u64, place: Place, window: Arc<[u8]>, limit: u64 },
}

/// What a worker made of a stretch: nothing if there is no block in it, or if it is for the chain to inflate.
type SurveyedPiece = Option<Ahead>;

/// A piece that was inflated without its window, in memory of this node.
struct Ahead {
    piece: Box<Unresolved>,
    node: NodeId,
}

/// How far the chain has come.
struct Linking {
    place: Place,
    window: Arc<[u8]>,
    /// Stretches that were inflated and not linked; not those that a worker is at.
    found: BTreeMap<u64, SurveyedPiece>,
    /// The number of the next piece.
    number: u64,
    /// The piece before it is being inflated: where it ends is not known yet.
    waits: bool,
    ended: bool,
}

/// The pieces of one file.
pub(crate) struct PieceChain {
    file: Arc<Regular>,
    /// The next stretch to be inflated.
    next: AtomicU64,
    /// Pieces that are linked, less the stretches that they lie in.
    surplus: AtomicI64,
    found: SegQueue<(u64, SurveyedPiece)>,
    /// How the piece that the chain waits for ends, and the window behind it; none if it could not be read.
    inflated: SegQueue<Option<(End, Vec<u8>)>>,
    jobs: SegQueue<PieceJob>,
    linking: Mutex<Linking>,
    /// Memory of symbols, and of the text behind them, that are used up.
    spare: (Spare<u16>, Spare),
    serial_nanos: AtomicU64,
}

impl PieceChain {
    /// The chain of a file of plain gzip, of which about so many `pieces` are in work at a time.
    pub(crate) fn new(file: Arc<Regular>, pieces: usize) -> Self {
        let linking = Linking {
            place: Place::start(),
            window: Arc::default(),
            found: BTreeMap::new(),
            number: 0,
            waits: false,
            ended: false,
        };
        PieceChain {
            file,
            next: AtomicU64::new(0),
            surplus: AtomicI64::new(0),
            found: SegQueue::new(),
            inflated: SegQueue::new(),
            jobs: SegQueue::new(),
            linking: Mutex::new(linking),
            spare: (Spare::new(pieces), Spare::new(pieces)),
            serial_nanos: AtomicU64::new(0),
        }
    }

    /// Stretches that were taken so far, and how many there are.
    pub(crate) fn stretches(&self) -> (u64, u64) {
        (self.next.load(Ordering::Relaxed), self.file.stretches())
    }

    /// Links what can be linked, up to `limit` pieces, and does one job, if there is any: makes a piece with its
    /// number, in the memory that `text` gives.
    pub(crate) fn do_next(
        &self,
        limit: u64,
        text: impl FnOnce() -> Vec<u8>,
    ) -> Option<(u64, Result<Stretch, InputError>)> {
        if self.jobs.is_empty() {
            self.link(limit);
        }
        let job = self.jobs.pop()?;
        Some(self.do_job(job, text()))
    }

    /// Inflates the next stretch, if there may be one more piece.
    pub(crate) fn inflate_ahead(&self, limit: u64) -> bool {
        let allowed = limit.saturating_add_signed(-self.surplus.load(Ordering::Acquire)).min(self.file.stretches());
        let take = |next: u64| (next < allowed).then_some(next + 1);
        let Ok(index) = self.next.fetch_update(Ordering::AcqRel, Ordering::Relaxed, take) else { return false };
        self.found.push((index, self.find(index)));
        true
    }

    /// Inflates what begins in a stretch. What cannot be read is left to whoever comes to it in order.
    fn find(&self, index: u64) -> SurveyedPiece {
        let (start, end) = (index * GZIP_STRETCH, self.file.stretch_end(index));
        self.with_bytes(start, end + BEHIND, |data| {
            let start = zerohop_gzip::find_block(&data, start * 8, end * 8)?;
            let limits = PieceLimits { bit: end * 8, text: PIECE_TEXT };
            let symbols = self.spare.0.take().unwrap_or_default();
            let text = self.spare.1.take().unwrap_or_default();
            let piece = zerohop_gzip::inflate_unknown(&data, start, limits, symbols, text);
            Some(Ahead { piece: Box::new(piece), node: spare::node() })
        })
        .ok()?
    }

    /// Shows the bytes of the file from `start` to `end`, or to its end.
    fn with_bytes<T>(&self, start: u64, end: u64, show: impl FnOnce(Compressed<'_>) -> T) -> Result<T, InputError> {
        thread_local! {
            static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let end = end.min(self.file.length());
        BYTES.with_borrow_mut(|bytes| {
            self.file.read_at(bytes, start, end.saturating_sub(start))?;
            Ok(show(Compressed { bytes, offset: start, is_end: end == self.file.length() }))
        })
    }

    /// Goes on with the chain as far as it can be told, unless another worker is at it.
    fn link(&self, limit: u64) {
        let Ok(mut linking) = self.linking.try_lock() else { return };
        let started = Instant::now();
        while let Some((index, found)) = self.found.pop() {
            linking.found.insert(index, found);
        }
        while !linking.ended && linking.number < limit && self.link_one(&mut linking) {}
        self.serial_nanos.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// Nanoseconds that linking took.
    pub(crate) fn serial_nanos(&self) -> u64 {
        self.serial_nanos.load(Ordering::Relaxed)
    }

    /// Makes a job of the next piece; false if that cannot be done yet.
    fn link_one(&self, linking: &mut Linking) -> bool {
        if linking.waits {
            let Some(inflated) = self.inflated.pop() else { return false };
            linking.waits = false;
            self.go_on(linking, inflated);
            return true;
        }
        let index = (linking.place.byte() / GZIP_STRETCH).min(self.file.stretches() - 1);
        linking.found = linking.found.split_off(&index);
        // Whoever comes first takes it: another worker, to inflate it as it is, or the chain, for its place is known.
        if self.next.fetch_max(index + 1, Ordering::AcqRel) <= index {
            linking.found.insert(index, None);
        }
        self.surplus.store(linking.number as i64 - index as i64, Ordering::Release);
        let Some(found) = linking.found.get_mut(&index) else { return false };
        let (number, window) = (linking.number, Arc::clone(&linking.window));
        linking.number += 1;
        if let Some(ahead) = found.take_if(|ahead| linking.place.is_block_at(ahead.piece.start)) {
            let (end, behind) = (ahead.piece.end().clone(), ahead.piece.window(&window));
            self.go_on(linking, Some((end, behind)));
            self.jobs.push(PieceJob::Resolve { number, ahead, window });
            return true;
        }
        // What begins before the place was none.
        let ahead = found.as_ref().map(|ahead| ahead.piece.start).filter(|&start| start > linking.place.bit());
        if ahead.is_none() {
            *found = None;
        }
        let limit = ahead.unwrap_or(self.file.stretch_end(index) * 8);
        linking.waits = true;
        self.jobs.push(PieceJob::Inflate { number, place: linking.place.clone(), window, limit });
        true
    }

    /// Goes on behind a piece.
    fn go_on(&self, linking: &mut Linking, inflated: Option<(End, Vec<u8>)>) {
        match inflated {
            Some((End::At(place), window)) => (linking.place, linking.window) = (place, window.into()),
            _ => {
                linking.ended = true;
                linking.found.clear();
                self.next.fetch_max(self.file.stretches(), Ordering::AcqRel);
            }
        }
    }

    fn do_job(&self, job: PieceJob, text: Vec<u8>) -> (u64, Result<Stretch, InputError>) {
        match job {
            PieceJob::Resolve { number, ahead: Ahead { piece, node }, window } => {
                let (inflated, symbols, rest) = piece.resolve(&window, text);
                self.spare.0.give_back(node, symbols);
                self.spare.1.give_back(node, rest);
                (number, self.mark(number, inflated))
            }
            PieceJob::Inflate { number, place, window, limit } => {
                let start = place.byte();
                let end = (limit / 8).max(start) + ENOUGH as u64;
                let limits = PieceLimits { bit: limit, text: PIECE_TEXT };
                let inflated =
                    self.with_bytes(start, end, |data| zerohop_gzip::inflate(&data, place, &window, limits, text));
                let behind = inflated.as_ref().ok().map(|piece| (piece.end.clone(), piece.window(&window)));
                self.inflated.push(behind);
                (number, inflated.and_then(|inflated| self.mark(number, inflated)))
            }
        }
    }

    /// Marks the records of a piece, as if nothing were known of what lies before it.
    fn mark(&self, number: u64, inflated: Inflated) -> Result<Stretch, InputError> {
        let parts = inflated.parts();
        let is_last = match inflated.end {
            End::At(_) => Ok(false),
            End::NoMember(byte) => self.file.check_padding(byte).map(|()| true),
            End::Fault(fault) => Err(gzip_fault(&self.file.path, fault)),
        };
        let guess = if number == 0 { self.file.start().state } else { self.file.guess(&inflated.text) };
        let marked = self.file.mark(&inflated.text, guess, 0)?;
        let tail = Some(Tail { parts, is_last });
        Ok(Stretch { text: inflated.text, guess, marked, range: (0, 0), tail, node: spare::node() })
    }

    /// Checks the next piece against what lies before it: the `state` in which it begins, and the members. Moves both
    /// on behind it. Returns whether it is the last.
    ///
    /// # Errors
    /// A fault in it, with its place in the text.
    pub(crate) fn settle(
        &self,
        state: &mut StretchStart,
        members: &mut MembersBefore,
        piece: Result<Stretch, InputError>,
    ) -> Result<(Segment, bool), InputError> {
        let mut piece = piece?;
        let before = members.text;
        let at = |fault: InputError, byte: usize| InputError { byte: Some(before + byte as u64), ..fault };
        let (parts, is_last) = piece.tail.take().map_or((Vec::new(), Ok(false)), |tail| (tail.parts, tail.is_last));
        for part in &parts {
            members.open.add(part).map_err(|fault| at(gzip_fault(&self.file.path, fault), part.range.end))?;
        }
        let is_last = is_last.map_err(|fault| at(fault, piece.text.len()))?;
        if !piece.marked.correct(piece.guess, *state) {
            piece.marked = self.file.mark(&piece.text, *state, 0)?;
        }
        *state = piece.marked.after;
        members.text += piece.text.len() as u64;
        Ok((Segment { bytes: piece.text, marks: piece.marked.marks, node: piece.node }, is_last))
    }
}
