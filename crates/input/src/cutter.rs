//! Cuts one or two inputs into chunks at the engine's boundaries: the only serial step of dealing.
//!
//! Segments come in order. A chunk, a cohort or a piece of one, closes with the first fragment that takes its bases,
//! those of both mates counted, to the engine's limit. All that is looked at per chunk is a few entries of the
//! segments' marks, found by bisection, so a chunk of a million bases costs a few microseconds; the naive twin that
//! walks all records is in the tests.

use crate::bam;
use crate::barcodes::Barcodes;
use crate::errors::{DAMAGED_RECORD, endless, endless_records, no_record, record_text_limit};
use crate::segment::Segment;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::engine::Cut;
use zerohop_model::error::InputError;

/// Text that an input may hold for one chunk: far more than most engines ask for, far less than its spans can address.
const MAX_CHUNK_TEXT: u64 = 1 << 30;
/// The same for chunks of very many bases, which a user may want.
const MOST_CHUNK_TEXT: u64 = 7 << 29;
/// Bytes of text for each base of such a chunk: with short reads and long names.
const TEXT_PER_BASE: u64 = 8;
/// What the spans of a chunk can address.
const ADDRESSABLE: u64 = u32::MAX as u64;
/// Bytes of text for each base, where these are few.
const FEW_BASES: u64 = 64;

/// The most bytes of text without a base, at the end of what is known, for which the cutter waits to see whether a
/// record follows.
const MAX_BLANK_TEXT: u64 = if cfg!(test) { 1 << 8 } else { 1 << 26 };

/// Buffers of stretches that are worth keeping.
const MAX_SPARE: u64 = 128;

/// What a chunk takes from one input: parts of consecutive segments.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    parts: Vec<(Arc<Segment>, Range<usize>)>,
    first_record: u64,
    first_byte: u64,
}

/// A chunk before its text is copied together.
#[derive(Debug)]
pub(crate) struct CutChunk {
    pub(crate) ticket: Ticket,
    inputs: Vec<Pieces>,
}

impl CutChunk {
    /// Copies the text into `chunk`, whose memory belongs to the worker that will parse it, and hands segments of which
    /// this was the last user, with the number of their input, to `recycle`.
    pub(crate) fn fill(self, chunk: &mut Chunk, recycle: impl FnMut(usize, Segment)) {
        chunk.clear();
        chunk.ticket = self.ticket;
        for (text, pieces) in chunk.text.iter_mut().zip(&self.inputs) {
            (text.first_record, text.first_byte) = (pieces.first_record, pieces.first_byte);
            text.bytes.reserve(pieces.parts.iter().map(|(_, range)| range.len()).sum());
            for (segment, range) in &pieces.parts {
                text.bytes.extend_from_slice(&segment.bytes[range.clone()]);
            }
        }
        self.recycle(recycle);
    }

    /// Hands on the segments of which this was the last user, with the numbers of their inputs.
    pub(crate) fn recycle(self, mut recycle: impl FnMut(usize, Segment)) {
        for (input, pieces) in self.inputs.into_iter().enumerate() {
            let last = pieces.parts.into_iter().filter_map(|(segment, _)| Arc::into_inner(segment));
            last.for_each(|segment| recycle(input, segment));
        }
    }
}

/// A segment with its place in its input.
#[derive(Debug)]
struct HeldSegment {
    segment: Arc<Segment>,
    /// Units, records, bases and bytes of the input before this segment.
    units: u64,
    records: u64,
    bases: u64,
    bytes: u64,
}

/// A place between two units of an input, or its end: what lies before it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct UnitPlace {
    pub(crate) record: u64,
    pub(crate) byte: u64,
    pub(crate) bases: u64,
}

/// One input: the segments not yet dealt, and where the next one will start.
#[derive(Debug)]
struct CutterInput {
    path: PathBuf,
    held: VecDeque<HeldSegment>,
    /// Behind the last segment.
    units: u64,
    records: u64,
    bases: u64,
    bytes: u64,
    /// Bytes behind the start of the last unit that are of no read.
    passed_over: u64,
    ended: bool,
    fault: Option<InputError>,
}

impl CutterInput {
    fn push(&mut self, segment: Segment) {
        let (marks, length) = (&segment.marks, segment.bytes.len() as u64);
        let damaged_at = marks.damaged_at;
        let passed_over = if marks.starts.is_empty() { self.passed_over } else { 0 };
        self.passed_over = passed_over + u64::from(marks.passed_over[1]);
        let (units, records, bases) = (marks.starts.len() as u64, u64::from(marks.records), u64::from(marks.bases));
        self.held.push_back(HeldSegment {
            segment: Arc::new(segment),
            units: self.units,
            records: self.records,
            bases: self.bases,
            bytes: self.bytes,
        });
        self.units += units;
        self.records += records;
        self.bases += bases;
        if let Some(at) = damaged_at {
            let place = (self.records + 1, self.bytes + u64::from(at));
            self.fault = Some(InputError::new(&self.path, DAMAGED_RECORD).at(place.0, place.1));
        }
        self.bytes += length;
    }

    /// The last unit boundary that is known: the start of the last unit, or the end of the input.
    fn last_boundary(&self) -> u64 {
        if self.ended { self.units } else { self.units.saturating_sub(1) }
    }

    /// The place before `unit`, which must not be dealt yet nor lie behind [`CutterInput::last_boundary`].
    fn place(&self, unit: u64) -> UnitPlace {
        if unit >= self.units {
            return UnitPlace { record: self.records, byte: self.bytes, bases: self.bases };
        }
        let held = &self.held[self.held.partition_point(|h| h.units <= unit).saturating_sub(1)];
        let (marks, i) = (&held.segment.marks, (unit - held.units) as usize);
        UnitPlace {
            record: held.records + u64::from(marks.record_of(i)),
            byte: held.bytes + u64::from(marks.starts[i]),
            bases: held.bases + u64::from(marks.bases_before[i]),
        }
    }

    /// Whether there is a record at `unit`, or a fault to be found, and not the end of the input, maybe with empty
    /// lines before it; `None` if that is not known yet.
    fn goes_on_at(&self, unit: u64, is_text: bool) -> Option<bool> {
        if unit >= self.units || !is_text {
            return Some(unit < self.units);
        }
        let place = self.place(unit);
        let has_text = |held: &HeldSegment| {
            let from = place.byte.saturating_sub(held.bytes) as usize;
            held.segment.bytes.get(from..).unwrap_or_default().iter().any(|b| !matches!(b, b'\n' | b'\r'))
        };
        let is_known = self.ended || self.fault.is_some() || self.bytes - place.byte > MAX_BLANK_TEXT;
        (is_known || self.held.iter().any(has_text)).then_some(true)
    }

    /// Empty lines at the end of a file are no record: drops the last units that are made of such, but none before
    /// `first`, from which on nothing is dealt.
    fn drop_blank_units(&mut self, first: u64) {
        let is_of_record = |b: &u8| !matches!(b, b'\n' | b'\r');
        let behind_records =
            |held: &HeldSegment| Some(held.bytes + held.segment.bytes.iter().rposition(is_of_record)? as u64 + 1);
        let end = self.held.iter().rev().find_map(behind_records).unwrap_or(0);
        while self.units > first {
            let last = self.place(self.units - 1);
            if last.byte < end {
                break;
            }
            self.units -= 1;
            (self.records, self.bytes) = (last.record, last.byte);
        }
    }

    /// The text from `place` on, as far as one segment holds it.
    fn text_from(&self, place: UnitPlace) -> &[u8] {
        let held = self.held.iter().rev().find(|held| held.bytes <= place.byte);
        held.and_then(|held| held.segment.bytes.get((place.byte - held.bytes) as usize..)).unwrap_or_default()
    }

    /// Takes the bytes from `start` to `end`, and lets go of segments that lie before `end` as a whole.
    fn take(&mut self, start: UnitPlace, end: UnitPlace) -> Pieces {
        let mut pieces = Pieces { parts: Vec::with_capacity(3), first_record: start.record, first_byte: start.byte };
        while let Some(held) = self.held.front() {
            let length = held.segment.bytes.len() as u64;
            let from = start.byte.max(held.bytes) - held.bytes;
            let to = end.byte.min(held.bytes + length).saturating_sub(held.bytes);
            let range = from.min(length) as usize..to as usize;
            let whole = end.byte >= held.bytes + length;
            if !range.is_empty() {
                pieces.parts.push((Arc::clone(&held.segment), range));
            }
            if !whole {
                break;
            }
            self.held.pop_front();
        }
        pieces
    }
}

/// How the chunks of a lane are cut.
#[derive(Debug, Clone)]
pub(crate) struct Cutting {
    pub(crate) lane: u32,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) cut: Cut,
    /// Whether it is lines of text, of which empty ones at the end are no record.
    pub(crate) is_text: bool,
    /// The most bases of a record, or of a fragment where that is a unit: beyond them the cutter does not wait for its
    /// end.
    pub(crate) max_record_bases: u64,
    /// Reads of such a record or fragment.
    pub(crate) reads_per_record: u64,
    /// The fragment with which it counts as ended, whatever follows; none: where it ends. A cohort ends there too.
    pub(crate) end: Option<u64>,
    /// Where reads have bases that are not of the template: these do not count.
    pub(crate) barcodes: Barcodes,
}

impl Cutting {
    /// What cuts it; segments may end inside a record, or not.
    pub(crate) fn cutter(self, inside_records: bool) -> Cutter {
        let open_read_limit = inside_records.then_some(self.max_record_bases);
        let mut cutter = Cutter::new(self.lane, self.paths, self.cut, open_read_limit).end_at(self.end);
        (cutter.is_text, cutter.reads_per_record) = (self.is_text, self.reads_per_record);
        cutter.barcodes = self.barcodes;
        cutter
    }
}

/// Cuts one input, or two in step.
#[derive(Debug)]
pub(crate) struct Cutter {
    inputs: Vec<CutterInput>,
    cut: Cut,
    /// The longest read, where the last unit of a segment may be a part of one.
    open_read_limit: Option<u64>,
    reads_per_record: u64,
    /// Bytes of text that a chunk can have of one input.
    addressable: u64,
    /// Whether empty lines at the end are no record.
    is_text: bool,
    end: Option<u64>,
    ticket: Ticket,
    /// Bases of the open cohort that were dealt.
    cohort_bases: u64,
    barcodes: Barcodes,
    done: bool,
}

impl Cutter {
    /// A cutter for the inputs of `lane`, whose chunks close where `cut` says. Where segments may end inside a record,
    /// `open_read_limit` is the number of bases beyond which such a record is not waited for.
    pub(crate) fn new(lane: u32, paths: Vec<PathBuf>, cut: Cut, open_read_limit: Option<u64>) -> Self {
        let input = |path| CutterInput {
            path,
            held: VecDeque::new(),
            units: 0,
            records: 0,
            bases: 0,
            bytes: 0,
            passed_over: 0,
            ended: false,
            fault: None,
        };
        Cutter {
            inputs: paths.into_iter().map(input).collect(),
            cut,
            open_read_limit,
            reads_per_record: 1,
            addressable: ADDRESSABLE,
            is_text: true,
            end: None,
            ticket: Ticket { lane, ..Ticket::default() },
            cohort_bases: 0,
            barcodes: Barcodes::default(),
            done: false,
        }
    }

    /// Begins with the chunk of `ticket` instead of the first one, the first of its cohort; the first segment of each
    /// input will be the one in which that chunk begins, and `before` is what lies before that segment: in units, and
    /// the number of records.
    pub(crate) fn begin(mut self, ticket: Ticket, before: impl Iterator<Item = (UnitPlace, u64)>) -> Self {
        self.ticket = ticket;
        for (input, (UnitPlace { record: unit, byte, bases }, records)) in self.inputs.iter_mut().zip(before) {
            (input.units, input.records, input.bytes, input.bases) = (unit, records, byte, bases);
        }
        self
    }

    /// Ends there; what follows is not looked at.
    pub(crate) fn end_at(mut self, end: Option<u64>) -> Self {
        self.end = end;
        self
    }

    /// About how many stretches of so many bytes of text all inputs together give for one chunk: text is names and
    /// qualities, too.
    pub(crate) fn stretches_per_chunk(&self, stretch: u64) -> usize {
        self.cut.chunk_bases().saturating_mul(3).div_ceil(stretch).min(MAX_SPARE) as usize
    }

    /// Adds the next segment of `input`.
    pub(crate) fn push(&mut self, input: usize, segment: Segment) {
        self.inputs[input].push(segment);
    }

    /// Says that `input` has no more segments.
    pub(crate) fn end(&mut self, input: usize) {
        let first = self.ticket.first_fragment;
        let input = &mut self.inputs[input];
        if !input.ended {
            input.ended = true;
            if self.is_text {
                input.drop_blank_units(first);
            }
        }
    }

    /// Says that `input` cannot be read beyond its last segment.
    pub(crate) fn fault(&mut self, input: usize, fault: InputError) {
        self.inputs[input].fault.get_or_insert(fault);
    }

    /// Units of `input` that are here and not dealt: the input with fewer of them is the one to read on. None as long
    /// as the first chunk of a part does not begin yet.
    pub(crate) fn units_ahead(&self, input: usize) -> u64 {
        self.inputs[input].units.saturating_sub(self.ticket.first_fragment)
    }

    /// Bytes of text of `input` that are here and not dealt.
    pub(crate) fn text_held(&self, input: usize) -> u64 {
        self.inputs[input].held.iter().map(|held| held.segment.bytes.len() as u64).sum()
    }

    /// The ticket of the next chunk.
    pub(crate) fn next_ticket(&self) -> Ticket {
        self.ticket
    }

    /// Whether everything was cut, or a fault was reported.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Cuts the next chunk; `None` when more segments are needed first, or when it is done.
    ///
    /// # Errors
    /// A fault that lies in this chunk; it is reported once.
    pub(crate) fn cut(&mut self) -> Option<Result<CutChunk, InputError>> {
        if self.done {
            return None;
        }
        let start = self.ticket.first_fragment;
        let end = self.end.unwrap_or(u64::MAX);
        let known = self.inputs.iter().map(CutterInput::last_boundary).min().unwrap_or(0).min(end);
        let starts: Vec<UnitPlace> = self.inputs.iter().map(|input| input.place(start)).collect();
        let bases = |to: u64| -> u64 {
            let ends = self.inputs.iter().map(|input| input.place(to));
            starts
                .iter()
                .zip(ends)
                .enumerate()
                .map(|(input, (start, end))| self.bases_between(input, start, &end))
                .sum()
        };
        let closes_at = self.cut.next_chunk_closes_at(self.cohort_bases);
        if known > start && bases(known) >= closes_at {
            let (mut low, mut high) = (start, known);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if bases(middle) >= closes_at { high = middle } else { low = middle }
            }
            let closes_cohort = self.cohort_bases + bases(high) >= self.cut.closes_at_bases;
            let is_last = if closes_cohort { true } else { !self.goes_on_at(high)? };
            return Some(self.take(&starts, high, is_last));
        }
        if known == end {
            self.done = true;
            return (known > start).then(|| self.take(&starts, known, true));
        }
        // What the input that is known least far has to say comes first, whatever was read of the others by now. One
        // that is known as far is heard when nothing more comes of the first.
        let least = self.inputs.iter().map(CutterInput::last_boundary).min().unwrap_or(0);
        let tied: Vec<usize> = (0..self.inputs.len()).filter(|&i| self.inputs[i].last_boundary() == least).collect();
        for &limiting in &tied {
            let input = &self.inputs[limiting];
            let end = input.fault.clone().or_else(|| self.shorter(limiting));
            // What lies before the end of a file is looked at first: a line too many is there, if it is what makes one
            // file longer than the other.
            if end.is_some() && known > start {
                return Some(self.take(&starts, known, true));
            }
            if let Some(fault) = end.or_else(|| self.wrong(limiting, &starts)) {
                self.done = true;
                return Some(Err(fault));
            }
            if !self.inputs[limiting].ended {
                break;
            }
        }
        if !self.inputs.iter().all(|i| i.ended) {
            return None;
        }
        self.done = true;
        if known > start {
            return Some(self.take(&starts, known, true));
        }
        // It was not waited for what follows them, and the cohort stayed open.
        let blank = "there are more than 64 MiB of empty lines at the end: remove them";
        (self.ticket.piece > 0).then(|| Err(InputError::new(&self.inputs[tied[0]].path, blank)))
    }

    /// Whether the input goes on behind a chunk that does not close its cohort; `None` if that is not known yet. Of two
    /// inputs one may go on without the other: that is a fault, to be found with the next chunk.
    fn goes_on_at(&self, fragment: u64) -> Option<bool> {
        if self.end == Some(fragment) {
            return Some(false);
        }
        let each = || self.inputs.iter().map(|input| input.goes_on_at(fragment, self.is_text));
        if each().any(|goes_on| goes_on == Some(true)) { Some(true) } else { each().min().flatten() }
    }

    /// Takes the fragments before `end`.
    ///
    /// # Errors
    /// More text than a chunk can hold: its last record may be as long as it likes.
    fn take(&mut self, starts: &[UnitPlace], end: u64, is_last_piece: bool) -> Result<CutChunk, InputError> {
        let ends: Vec<UnitPlace> = self.inputs.iter().map(|input| input.place(end)).collect();
        if let Some(input) = starts.iter().zip(&ends).position(|(start, end)| end.byte - start.byte > self.addressable)
        {
            self.done = true;
            return Err(self.too_much_text(input, starts[input], self.addressable));
        }
        let inputs = self.inputs.iter_mut().zip(starts.iter().zip(&ends)).map(|(i, (s, e))| i.take(*s, *e)).collect();
        let taken = CutChunk { ticket: Ticket { is_last_piece, ..self.ticket }, inputs };
        let parts = || starts.iter().zip(&ends).enumerate();
        let reads: u64 = parts().map(|(_, (start, end))| end.record - start.record).sum();
        let bases: u64 = parts().map(|(input, (start, end))| self.bases_between(input, start, end)).sum();
        let ticket = &mut self.ticket;
        ticket.number += 1;
        ticket.first_fragment = end;
        ticket.first_read += reads;
        if is_last_piece {
            (ticket.cohort, ticket.piece, self.cohort_bases) = (ticket.cohort + 1, 0, 0);
        } else {
            (ticket.piece, self.cohort_bases) = (ticket.piece + 1, self.cohort_bases + bases);
        }
        Ok(taken)
    }

    /// Bases of an input between two places, as far as they are of the template.
    fn bases_between(&self, input: usize, start: &UnitPlace, end: &UnitPlace) -> u64 {
        self.barcodes.template_bases(input, end.bases - start.bases, end.record - start.record)
    }

    /// Text that an input may hold for one chunk.
    fn text_limit(&self) -> u64 {
        self.cut.chunk_bases().saturating_mul(TEXT_PER_BASE).clamp(MAX_CHUNK_TEXT, MOST_CHUNK_TEXT)
    }

    /// What is wrong with an input that has more text than `limit` behind `start`, where the open chunk begins.
    fn too_much_text(&self, input: usize, start: UnitPlace, limit: u64) -> InputError {
        let input = &self.inputs[input];
        let (bases, wanted) = (input.bases - start.bases, self.cut.chunk_bases());
        let mut what = match bases > limit / FEW_BASES {
            true => format!(
                "from here on {limit} bytes of text, the most that a batch may have, hold {bases} bases, and a batch \
                 is to have {wanted}: make batches smaller (-K)"
            ),
            false => {
                let gibibytes = limit as f64 / f64::from(1 << 30);
                format!("from here on there are hardly any bases in {gibibytes} GiB of text: that cannot be mapped")
            }
        };
        if !self.is_text {
            what += "; 'samtools view -b -F 0x900' leaves out records that are not reads";
        }
        InputError::new(&input.path, what).at(start.record + 1, start.byte)
    }

    /// What is wrong where input `limiting` has ended, and its mate file goes on.
    fn shorter(&self, limiting: usize) -> Option<InputError> {
        let input = &self.inputs[limiting];
        if !input.ended {
            return None;
        }
        // Its last unit may be an empty line.
        let longer = self.inputs.iter().find(|other| other.last_boundary() > input.units)?;
        let next = longer.place(input.units);
        if let Some(first) = longer.text_from(next).first().filter(|first| !matches!(first, b'@' | b'>')) {
            return Some(InputError::new(&longer.path, no_record(b'@', Some(*first))).at(next.record + 1, next.byte));
        }
        let what = format!(
            "the file has {} reads, but its mate file {} has more: they are not the two files of one run, or one of \
             them is truncated",
            input.records,
            longer.path.display()
        );
        Some(InputError::new(&input.path, what))
    }

    /// What can be seen to be wrong with `limiting`, the input that keeps the open chunk from being closed: its last
    /// record does not end, or there are next to no bases in it.
    fn wrong(&self, limiting: usize, starts: &[UnitPlace]) -> Option<InputError> {
        let input = &self.inputs[limiting];
        if input.ended {
            return None;
        }
        let start = starts[limiting];
        let text_limit = self.text_limit();
        if input.bytes - start.byte > text_limit {
            return Some(self.too_much_text(limiting, start, text_limit));
        }
        let limit = self.open_read_limit?;
        let open = input.place(input.last_boundary().max(self.ticket.first_fragment));
        let bases = input.bases - open.bases;
        let bytes = (input.bytes - open.byte).saturating_sub(input.passed_over);
        let too_long = bases > limit || bytes > record_text_limit(limit);
        too_long.then(|| {
            let fault = match self.is_text {
                true => endless(&input.path, input.text_from(open), bases, limit),
                false => {
                    let name = bam::name_of_first(input.text_from(open));
                    endless_records(&input.path, name, (bases, limit, self.reads_per_record))
                }
            };
            fault.at(open.record + 1, open.byte)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{LineState, mark_fastq};
    use proptest::prelude::*;

    #[test]
    fn places_in_the_longest_text_of_a_chunk_fit_in_32_bits() {
        assert!(MAX_CHUNK_TEXT + record_text_limit(1 << 30) + (1 << 21) < u64::from(u32::MAX));
        assert!(record_text_limit(1 << 30) > 2 << 30, "a read of 2^30 bases and its qualities");
        assert_eq!(record_text_limit(1000), 4000 + (1 << 20));
    }

    fn record(i: usize, length: usize) -> Vec<u8> {
        format!("@r{i}\n{}\n+\n{}\n", "A".repeat(length), "#".repeat(length)).into_bytes()
    }

    /// Walks all fragments: cohorts as the engine's own program closes them, then their pieces. The tickets of all
    /// chunks.
    fn naive(lengths: &[Vec<usize>], cut: Cut) -> Vec<Ticket> {
        let all: Vec<u64> = (0..lengths[0].len()).map(|i| lengths.iter().map(|l| l[i] as u64).sum()).collect();
        let closed = |fragments: &[u64], at: u64| {
            let mut bases = 0;
            let closes = |&n: &u64| {
                bases += n;
                bases >= at
            };
            fragments.iter().position(closes).map_or(fragments.len(), |last| last + 1)
        };
        let (mut tickets, mut fragment, mut cohort) = (vec![], 0, 0);
        while fragment < all.len() {
            let end = fragment + closed(&all[fragment..], cut.closes_at_bases);
            let mut piece = 0;
            while fragment < end {
                let next =
                    fragment + closed(&all[fragment..end], cut.piece_bases.map_or(u64::MAX, |piece| piece.max(1)));
                let (number, first_fragment) = (tickets.len() as u64, fragment as u64);
                let first_read = first_fragment * lengths.len() as u64;
                let is_last_piece = next == end;
                tickets.push(Ticket {
                    run: 0,
                    lane: 0,
                    number,
                    first_fragment,
                    first_read,
                    cohort,
                    piece,
                    is_last_piece,
                });
                (fragment, piece) = (next, piece + 1);
            }
            cohort += 1;
        }
        tickets
    }

    fn cut_all(cutter: &mut Cutter, chunks: &mut Vec<[Vec<u8>; 2]>) -> Vec<Ticket> {
        let mut tickets = vec![];
        while let Some(cut) = cutter.cut() {
            let mut chunk = Chunk::default();
            cut.unwrap().fill(&mut chunk, |_, _| {});
            let [a, b] = chunk.text;
            chunks.push([a.bytes, b.bytes]);
            tickets.push(chunk.ticket);
        }
        tickets
    }

    proptest! {
        #[test]
        fn chunks_are_those_of_the_naive_walk(
            pairs in proptest::collection::vec((0usize..60, 0usize..60), 0..80),
            two_files in any::<bool>(),
            closes_at in 1u64..400,
            pieces in proptest::option::of(0u64..150),
            blank in 0usize..3,
            sizes in proptest::collection::vec(1usize..200, 1..20),
            first in 1usize..100,
        ) {
            let lengths: Vec<Vec<usize>> = if two_files {
                vec![pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect()]
            } else {
                vec![pairs.iter().map(|p| p.0).collect()]
            };
            let paths = lengths.iter().map(|_| PathBuf::from("x")).collect();
            let cut = Cut { closes_at_bases: closes_at, piece_bases: pieces };
            let first = if blank > 0 { usize::MAX } else { first };
            let end = (blank == 0).then_some(first as u64);
            let text = |l: &Vec<usize>| -> Vec<u8> { l.iter().enumerate().flat_map(|(i, &n)| record(i, n)).collect() };
            let texts: Vec<Vec<u8>> = lengths.iter().map(|l| [text(l), b"\n".repeat(7 * blank)].concat()).collect();
            let mut cutter = Cutter::new(0, paths, cut, Some(1000)).end_at(end);
            let mut states = vec![(LineState::RECORD_START, 0); texts.len()];
            let (mut chunks, mut tickets, mut turn) = (vec![], vec![], 0);
            while states.iter().zip(&texts).any(|(s, t)| s.1 < t.len()) {
                for (f, text) in texts.iter().enumerate() {
                    let (state, at) = states[f];
                    let to = (at + sizes[(turn + f) % sizes.len()]).min(text.len());
                    if at < to {
                        let (marks, next) = mark_fastq(&text[at..to], state);
                        cutter.push(f, Segment::new(text[at..to].to_vec(), marks));
                        states[f] = (next, to);
                    }
                }
                turn += 1;
                tickets.extend(cut_all(&mut cutter, &mut chunks));
            }
            (0..texts.len()).for_each(|f| cutter.end(f));
            tickets.extend(cut_all(&mut cutter, &mut chunks));
            prop_assert!(cutter.is_done());
            for (f, text) in texts.iter().enumerate() {
                let before = lengths[f].iter().enumerate().take(first);
                let wanted: Vec<u8> = before.flat_map(|(i, &n)| record(i, n)).collect();
                prop_assert!(text.starts_with(&wanted));
                prop_assert_eq!(chunks.iter().flat_map(|c| c[f].clone()).collect::<Vec<u8>>(), wanted);
            }
            let lengths: Vec<Vec<usize>> = lengths.into_iter().map(|l| l.into_iter().take(first).collect()).collect();
            prop_assert_eq!(tickets, naive(&lengths, cut));
            prop_assert_eq!(cutter.next_ticket().first_read, (lengths[0].len() * lengths.len()) as u64);
        }
    }

    #[test]
    fn a_shorter_mate_file_is_an_error_after_the_chunks_before_it() {
        let mut cutter = Cutter::new(0, vec!["1.fq".into(), "2.fq".into()], Cut::at(10), Some(1000));
        for (file, n) in [(0, 5), (1, 3)] {
            let bytes: Vec<u8> = (0..n).flat_map(|i| record(i, 4)).collect();
            let (marks, _) = mark_fastq(&bytes, LineState::RECORD_START);
            cutter.push(file, Segment::new(bytes, marks));
            cutter.end(file);
        }
        for number in 0..2 {
            assert!(matches!(cutter.cut(), Some(Ok(cut)) if cut.ticket.number == number), "{number}");
        }
        let error = cutter.cut().unwrap().unwrap_err();
        assert_eq!(error.file, PathBuf::from("2.fq"));
        assert!(error.what.starts_with("the file has 3 reads, but its mate file 1.fq has more"));
        assert!(cutter.cut().is_none() && cutter.is_done());
    }

    #[test]
    fn empty_lines_at_the_end_are_no_records_however_they_are_cut() {
        let text = [record(0, 5), record(1, 5), b"\n\n\n\n\n\r\n".to_vec()].concat();
        for cut in 0..text.len() {
            let mut cutter = Cutter::new(0, vec!["x.fq".into()], Cut::at(8), Some(100));
            let (marks, state) = mark_fastq(&text[..cut], LineState::RECORD_START);
            cutter.push(0, Segment::new(text[..cut].to_vec(), marks));
            cutter.push(0, Segment::new(text[cut..].to_vec(), mark_fastq(&text[cut..], state).0));
            cutter.end(0);
            let mut chunks = vec![];
            cut_all(&mut cutter, &mut chunks);
            assert_eq!(chunks.iter().map(|c| c[0].clone()).collect::<Vec<_>>().concat(), text[..36], "{cut}");
        }
    }

    /// A piece was cut before it was known that nothing but empty lines follows: its cohort cannot be closed any more.
    #[test]
    fn empty_lines_without_end_are_a_fault_where_they_leave_a_cohort_open() {
        for (lines, is_fault) in [(200, false), (400, true)] {
            let text = [record(0, 5), record(1, 5), b"\n".repeat(lines)].concat();
            let cut = Cut { closes_at_bases: 100, piece_bases: Some(8) };
            let mut cutter = Cutter::new(0, vec!["x.fq".into()], cut, Some(1000));
            let (marks, _) = mark_fastq(&text, LineState::RECORD_START);
            cutter.push(0, Segment::new(text, marks));
            let first = cutter.cut();
            assert_eq!(first.is_some(), is_fault, "{lines}");
            cutter.end(0);
            match cutter.cut() {
                Some(Err(fault)) if is_fault => assert!(fault.what.contains("empty lines at the end"), "{fault}"),
                Some(Ok(cut)) if !is_fault => assert!(cut.ticket.is_last_piece),
                _ => panic!("{lines}"),
            }
            assert!(cutter.cut().is_none() && cutter.is_done());
        }
    }

    /// (Each of them was looked at once for each unit before it.)
    #[test]
    fn a_mebibyte_of_empty_lines_is_looked_at_once() {
        let text = [record(0, 5), b"\n".repeat(1 << 20)].concat();
        let mut cutter = Cutter::new(0, vec!["x.fq".into()], Cut::at(8), Some(1000));
        for text in text.chunks(1 << 16) {
            cutter.push(0, Segment::new(text.to_vec(), mark_fastq(text, LineState::RECORD_START).0));
        }
        cutter.end(0);
        let mut chunks = vec![];
        assert_eq!(cut_all(&mut cutter, &mut chunks).len(), 1);
        assert_eq!(chunks[0][0], record(0, 5));
    }

    #[test]
    fn a_batch_has_as_much_text_as_can_be_addressed() {
        let cutter = |bases| Cutter::new(0, vec!["x.fq".into()], Cut::at(bases), Some(1 << 30));
        for (bases, limit) in [(1, 1 << 30), (100_000_000, 1 << 30), (1_000_000_000, 7 << 29), (u64::MAX, 7 << 29)] {
            assert_eq!(cutter(bases).text_limit(), limit);
        }
        let bytes: Vec<u8> = (0..40).flat_map(|i| record(i, 100)).collect();
        let mut cutter = Cutter { addressable: 4096, ..cutter(10_000) };
        cutter.push(0, Segment::new(bytes.clone(), mark_fastq(&bytes, LineState::RECORD_START).0));
        cutter.end(0);
        let error = cutter.cut().unwrap().unwrap_err().to_string();
        let words = "x.fq: record 1 (byte 0): from here on 4096 bytes of text, the most that a batch may have, hold \
                     4000 bases, and a batch is to have 10000: make batches smaller (-K)";
        assert_eq!(error, words);
        assert!(cutter.cut().is_none() && cutter.is_done());
    }

    #[test]
    fn the_fault_of_the_file_ahead_waits() {
        let mut cutter = Cutter::new(0, vec!["1.fq".into(), "2.fq".into()], Cut::at(100), Some(1000));
        cutter.fault(1, InputError::new(std::path::Path::new("2.fq"), "damaged"));
        for (file, n) in [(0, 2), (1, 5)] {
            let bytes: Vec<u8> = (0..n).flat_map(|i| record(i, 5)).collect();
            let marks = mark_fastq(&bytes, LineState::RECORD_START).0;
            cutter.push(file, Segment::new(bytes, marks));
        }
        assert!(cutter.cut().is_none(), "the first file is not there yet: it may hold an earlier fault");
        let bytes: Vec<u8> = (2..9).flat_map(|i| record(i, 5)).collect();
        let marks = mark_fastq(&bytes, LineState::RECORD_START).0;
        cutter.push(0, Segment::new(bytes, marks));
        assert!(cutter.cut().unwrap().is_ok(), "what is before it");
        assert_eq!(cutter.cut().unwrap().unwrap_err().what, "damaged");
    }

    /// The count of the other file says nothing of the place.
    #[test]
    fn of_a_line_too_many_the_place_is_told() {
        let whole: Vec<u8> = (0..3).flat_map(|i| record(i, 5)).collect();
        for at in [0, 1, 2, 3] {
            let before = record(0, 5).len() * at;
            let stray = [&whole[..before], b"stray\n", &whole[before..]].concat();
            for files in [[&stray, &whole], [&whole, &stray]] {
                let mut cutter = Cutter::new(0, vec!["1.fq".into(), "2.fq".into()], Cut::at(1000), Some(1000));
                for (input, bytes) in files.into_iter().enumerate() {
                    let marks = mark_fastq(bytes, LineState::RECORD_START).0;
                    cutter.push(input, Segment::new(bytes.clone(), marks));
                    cutter.end(input);
                }
                // Who parses the first chunk finds it, but where it is the last line.
                let mut chunk = Chunk::default();
                cutter.cut().unwrap().unwrap().fill(&mut chunk, |_, _| {});
                let stray_in = usize::from(files[1] == &stray);
                let text = &chunk.text[stray_in].bytes;
                assert_eq!(text.windows(5).any(|line| line == b"stray"), at < 3);
                let error = cutter.cut().unwrap().unwrap_err().to_string();
                if at == 3 {
                    let place = format!("{}.fq: record 4 (byte {})", stray_in + 1, whole.len());
                    assert_eq!(error, format!("{place}: a record must start with '@', but here is 's'"));
                }
            }
        }
    }

    #[test]
    fn a_fault_behind_the_last_mate_is_found() {
        for more in [0, 1, 2] {
            let mut cutter = Cutter::new(0, vec!["1.fq".into(), "2.fq".into()], Cut::at(1000), None);
            let whole: Vec<u8> = (0..3).flat_map(|i| record(i, 5)).collect();
            // One record more begins, or two, before what cannot be read.
            let longer: Vec<u8> = (0..3 + more).flat_map(|i| record(i, 5)).collect();
            for (input, bytes) in [whole, longer].into_iter().enumerate() {
                let (marks, _) = mark_fastq(&bytes, LineState::RECORD_START);
                cutter.push(input, Segment::new(bytes, marks));
            }
            cutter.end(0);
            assert!(more > 0 || cutter.cut().is_none(), "more may come");
            cutter.fault(1, InputError::new("2.fq".as_ref(), "it is damaged"));
            assert!(cutter.cut().unwrap().is_ok(), "what is before it");
            let error = cutter.cut().unwrap().unwrap_err().to_string();
            let expected =
                if more < 2 { "2.fq: it is damaged" } else { "1.fq: the file has 3 reads, but its mate file" };
            assert!(error.starts_with(expected), "{more} more: {error}");
        }
    }

    #[test]
    fn a_read_over_the_limit_is_found_before_all_of_it_is_held() {
        let mut cutter = Cutter::new(0, vec!["x.fq".into()], Cut::at(100), Some(50));
        let bytes = [record(0, 5), b"@long\n".to_vec(), vec![b'A'; 51]].concat();
        let (marks, _) = mark_fastq(&bytes, LineState::RECORD_START);
        cutter.push(0, Segment::new(bytes, marks));
        let error = cutter.cut().unwrap().unwrap_err();
        assert_eq!(
            error.to_string(),
            "x.fq: record 2 (byte 18), read 'long': the read has more than 50 bases, the longest that the engine can \
             take: leave it out, or take another --engine"
        );
    }
}
