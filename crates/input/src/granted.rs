//! Dealing where several processes align the same reads: only the chunks that this one was granted.
//!
//! - Of files that can be read at any place, what was granted is surveyed by itself ([`GrantedClaim`]), from what is
//!   known of the place where it begins ([`Table`]).
//! - Of other files every process reads all, and passes over the chunks of the others ([`GrantedEmit`]): nothing can be
//!   known of a stream before it is read.
//!
//! A cohort in pieces belongs to whoever was granted its first piece.

use crate::cutter::{CutChunk, Cutting, UnitPlace};
use crate::regular::Regular;
use crate::seen::ClosedFile;
use crate::stream::CutEmit;
use crate::survey::{FilePart, Survey};
use crate::table::{ChunkStart, Table};
use crate::trimmed::{Reducer, TrimmedClaim};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed, Emit, Emitted, Grant, Granted};

/// How long an emitter waits before it asks again what it was granted.
const ASK_AGAIN: Duration = Duration::from_millis(1);

/// What the lanes of a run have in common when chunks are granted.
#[derive(Clone)]
pub struct Shared {
    /// Who grants them.
    pub grant: Arc<dyn Grant>,
    /// Chunks of the lanes that were emitted so far.
    emitted: Arc<AtomicU64>,
}

impl Shared {
    /// For one run, whose chunks `grant` grants.
    pub fn new(grant: Arc<dyn Grant>) -> Self {
        Shared { grant, emitted: Arc::default() }
    }
}

/// A lane of regular files that workers deal by themselves.
pub(crate) struct GrantedClaim {
    files: Vec<ClosedFile>,
    cutting: Cutting,
    table: Arc<Table>,
    /// Its chunks, by their numbers over all lanes.
    chunks: Range<u64>,
    workers: usize,
    /// What is made of raw chunks, and how these are cut, if what stays of the reads is dealt.
    again: Option<(Arc<Reducer>, Cutting)>,
    grant: Arc<dyn Grant>,
    current: RwLock<Current>,
    /// The serial time of the surveys that are over.
    serial_nanos: AtomicU64,
}

/// What is being dealt.
#[derive(Clone)]
struct Current {
    /// The files, from when the first of its chunks was granted until its end.
    open: Option<Arc<[Arc<Regular>]>>,
    survey: Option<Arc<dyn Claim>>,
    /// The chunks behind it are the next to be asked for.
    end: u64,
}

impl GrantedClaim {
    /// A lane whose first chunk has number `first` over all lanes.
    pub(crate) fn new(
        files: Vec<ClosedFile>,
        cutting: Cutting,
        (table, first): (Arc<Table>, u64),
        workers: usize,
        again: Option<(Arc<Reducer>, Cutting)>,
        grant: Arc<dyn Grant>,
    ) -> Self {
        GrantedClaim {
            files,
            cutting,
            chunks: first..first + table.chunks(),
            table,
            workers,
            again,
            grant,
            current: RwLock::new(Current { open: None, survey: None, end: first }),
            serial_nanos: AtomicU64::new(0),
        }
    }

    /// What deals some of the lane's chunks, by their numbers in the lane: whole cohorts.
    fn deal(&self, files: &[Arc<Regular>], chunks: &Range<u64>) -> Arc<dyn Claim> {
        let (Some((reducer, of_raw)), Some(raw)) = (&self.again, &self.table.raw) else {
            return Arc::new(survey(files, &self.cutting, (&self.table, &self.table.chunks), chunks, self.workers));
        };
        let first = self.table.start(chunks.start).unwrap_or_default();
        let behind = self.table.start(chunks.end).map(|start| start.fragment);
        let raw_chunks = raw.of(first.fragment, behind);
        let before = raw.kept_before(raw_chunks.start);
        let place = (UnitPlace { record: before, ..UnitPlace::default() }, before);
        let cutting = Cutting { end: behind, ..self.cutting.clone() };
        let cutter = cutting.cutter(false).begin(
            ticket(self.cutting.lane, &self.table, (chunks.start, first)),
            std::iter::repeat_n(place, files.len()),
        );
        let survey = survey(files, of_raw, (&self.table, &raw.starts), &raw_chunks, self.workers);
        let (first, reducer) = (raw_chunks.start, Arc::clone(reducer));
        Arc::new(TrimmedClaim::new(Box::new(survey), first, reducer, cutter, self.workers))
    }

    /// The cohorts that begin with one of these chunks.
    fn whole_cohorts(&self, chunks: Range<u64>) -> Range<u64> {
        let of_run = |chunks: Range<u64>| self.chunks.start + chunks.start..self.chunks.start + chunks.end;
        let first = self.table.cohort_from(chunks.start).min(chunks.end);
        if first > chunks.start {
            self.grant.begun_before(of_run(chunks.start..first));
        }
        let end = if first < chunks.end { self.table.cohort_from(chunks.end) } else { chunks.end };
        if end > chunks.end {
            self.grant.goes_on(of_run(chunks.end..end));
        }
        first..end
    }

    /// What is said of its end.
    fn end(&self) -> Claimed {
        Claimed::End { chunks: self.table.chunks(), reads: self.table.reads() }
    }

    /// Begins with what was granted next, unless another worker does; or says that there is nothing.
    fn go_on(&self, dealt: &Current) -> Result<Option<Claimed>, InputError> {
        let Ok(mut current) = self.current.try_write() else { return Ok(Some(Claimed::NotYet)) };
        if current.end != dealt.end {
            return Ok(None);
        }
        let granted = match self.grant.granted(current.end) {
            Granted::NotYet => return Ok(Some(Claimed::NotYet)),
            Granted::Chunks(chunks) if chunks.start < self.chunks.end => Some(chunks),
            Granted::Chunks(_) | Granted::End | Granted::Closed => None,
        };
        let serial = current.survey.take().map_or(Duration::ZERO, |survey| survey.serial_time());
        self.serial_nanos.fetch_add(serial.as_nanos() as u64, Ordering::Relaxed);
        let Some(chunks) = granted else {
            current.open = None;
            return Ok(Some(self.end()));
        };
        let open = match current.open.take() {
            Some(open) => open,
            None => self.files.iter().map(|file| file.open().map(Arc::new)).collect::<Result<_, _>>()?,
        };
        let (start, end) = (chunks.start - self.chunks.start, chunks.end.min(self.chunks.end) - self.chunks.start);
        let own = self.whole_cohorts(start..end);
        let survey = (!own.is_empty()).then(|| self.deal(&open, &own));
        *current = Current { open: Some(open), survey, end: self.chunks.start + own.end };
        Ok(None)
    }
}

/// The ticket of a chunk with which a cohort begins.
fn ticket(lane: u32, table: &Table, (number, ChunkStart { fragment, cohort, .. }): (u64, ChunkStart)) -> Ticket {
    let first_read = fragment * table.reads_per_fragment;
    Ticket { run: 0, lane, number, first_fragment: fragment, first_read, cohort, piece: 0, is_last_piece: false }
}

/// What deals the chunks of `range`, whole cohorts, of those that begin at `starts`.
pub(crate) fn survey(
    files: &[Arc<Regular>],
    cutting: &Cutting,
    (table, starts): (&Arc<Table>, &[ChunkStart]),
    range: &Range<u64>,
    workers: usize,
) -> Survey {
    let start = |chunk: u64| starts.get(chunk as usize).copied();
    let (first, end) = (start(range.start).unwrap_or_default(), start(range.end));
    let begins: Vec<_> = (0..files.len()).map(|file| table.begin(file, first.fragment)).collect();
    let part = |(file, regular): (usize, &Arc<Regular>)| {
        let stop = end.map_or(regular.stretches(), |end| table.begin(file, end.fragment).0 + 1);
        FilePart {
            regular: Arc::clone(regular),
            stretches: begins[file].0..stop,
            known: Some((Arc::clone(table), file)),
        }
    };
    let parts = files.iter().enumerate().map(part).collect();
    let before = begins.iter().map(|(_, before)| *before);
    let cutting = Cutting { end: end.map(|end| end.fragment).or(cutting.end), ..cutting.clone() };
    let ticket = ticket(cutting.lane, table, (range.start, first));
    Survey::new(parts, cutting.cutter(true).begin(ticket, before), workers)
}

impl Claim for GrantedClaim {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        loop {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(survey) = &current.survey {
                match survey.claim(chunk)? {
                    Claimed::End { chunks, .. } => {
                        // The table may have a chunk that turns out to be none: empty lines at the end of a file.
                        let (found, end) = (self.chunks.start + chunks, current.end);
                        if found < end {
                            self.grant.absent(found..end);
                        }
                    }
                    claimed => return Ok(claimed),
                }
            }
            let first = || Ticket { lane: self.cutting.lane, ..Ticket::default() };
            if let Some(claimed) = self.go_on(&current).inspect_err(|_| chunk.ticket = first())? {
                return Ok(claimed);
            }
        }
    }

    fn serial_time(&self) -> Duration {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let now = current.survey.as_ref().map_or(Duration::ZERO, |survey| survey.serial_time());
        now + Duration::from_nanos(self.serial_nanos.load(Ordering::Relaxed))
    }

    fn share_dealt(&self) -> Option<f64> {
        let end = self.current.read().unwrap_or_else(PoisonError::into_inner).end;
        let all = self.table.chunks().max(1);
        Some((end - self.chunks.start) as f64 / all as f64)
    }
}

/// A lane that one emitter reads from front to back.
pub(crate) struct GrantedEmit {
    all: Box<dyn CutEmit>,
    shared: Shared,
    /// What was granted last, by numbers over all lanes; what of a cohort lies behind it too.
    granted: Range<u64>,
    /// Whether the current cohort is ours.
    has_cohort: bool,
    is_last_lane: bool,
    ended: bool,
}

impl GrantedEmit {
    /// Of `all` chunks of a lane those that are granted.
    pub(crate) fn new(all: Box<dyn CutEmit>, shared: Shared, is_last_lane: bool) -> Self {
        GrantedEmit { all, shared, granted: 0..0, has_cohort: false, is_last_lane, ended: false }
    }

    /// Whether chunk `number`, with this ticket, is ours; waits until that is known.
    fn is_ours(&mut self, number: u64, ticket: &Ticket, stop: &AtomicBool) -> Result<bool, Error> {
        if ticket.piece == 0 {
            self.has_cohort = self.is_granted(number, stop)?;
        } else if !self.has_cohort {
            if self.is_granted(number, stop)? {
                self.shared.grant.begun_before(number..number + 1);
            }
        } else if self.granted.end <= number {
            self.shared.grant.goes_on(number..number + 1);
            self.granted.end = number + 1;
        }
        Ok(self.has_cohort)
    }

    /// Whether a chunk was granted; waits until that is known.
    fn is_granted(&mut self, number: u64, stop: &AtomicBool) -> Result<bool, Error> {
        while self.granted.end <= number {
            match self.shared.grant.granted(number) {
                Granted::Chunks(chunks) => self.granted = chunks,
                Granted::End => return Ok(false),
                Granted::Closed => return Err(Error::Stopped),
                Granted::NotYet if stop.load(Ordering::Acquire) => return Err(Error::Stopped),
                Granted::NotYet => std::thread::sleep(ASK_AGAIN),
            }
        }
        Ok(self.granted.contains(&number))
    }

    /// The next chunk that is ours.
    fn next(&mut self, stop: &AtomicBool) -> Result<Option<CutChunk>, Error> {
        let before = self.shared.emitted.load(Ordering::Acquire);
        while let Some(cut) = self.all.next(stop)? {
            // Who passes over all that is left of a stream would see it only at its end.
            if stop.load(Ordering::Acquire) {
                return Err(Error::Stopped);
            }
            if self.is_ours(before + cut.ticket.number, &cut.ticket, stop)? {
                return Ok(Some(cut));
            }
            self.all.pass_over(cut);
        }
        Ok(None)
    }
}

impl Emit for GrantedEmit {
    fn emit(&mut self, chunk: &mut Chunk, stop: &AtomicBool) -> Result<Emitted, Error> {
        let cut = self.next(stop).inspect_err(|_| chunk.ticket = self.all.ticket())?;
        if let Some(cut) = cut {
            self.all.fill(cut, chunk);
            return Ok(Emitted::Chunk);
        }
        let Ticket { number: chunks, first_read: reads, .. } = self.all.ticket();
        if !std::mem::replace(&mut self.ended, true) {
            let all = self.shared.emitted.fetch_add(chunks, Ordering::AcqRel) + chunks;
            if self.is_last_lane {
                self.shared.grant.absent(all..u64::MAX);
            }
        }
        Ok(Emitted::End { chunks, reads })
    }

    fn serial_time(&self) -> Duration {
        self.all.serial_time()
    }

    fn share_dealt(&self) -> Option<f64> {
        self.all.share_dealt()
    }
}
