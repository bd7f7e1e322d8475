//! What looks at the records of parts, for one worker.

use crate::coverage;
use crate::depth::{Of, OfSome, Place, place};
use crate::figures::WindowSpec;
use crate::methyldackel::MethylDackel;
use crate::mosdepth::LinesSpec;
use crate::order::{ReadPart, end};
use crate::picard::Capture;
use crate::record::Record;
use crate::reference::Window;
use crate::spec::ReportSpec;
use crate::stats::{MUCH, PlacedRead};
use crate::sums::Sums;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use zerohop_cram::ContigBases;
use zerohop_model::error::Error;
use zerohop_model::record::{SECONDARY, SUPPLEMENTARY};
use zerohop_output::Visit;

/// What all visitors of one process have found.
pub(crate) struct Seen {
    /// With all contigs.
    pub(crate) lines: LinesSpec,
    /// The reference, if it is needed: for Picard's metrics, for `samtools stats`, for cytosines.
    reference: Option<Arc<ContigBases>>,
    has_picard: bool,
    has_mismatches: bool,
    capture: Option<Arc<Capture>>,
    pub(crate) methyldackel: Option<MethylDackel>,
    pub(crate) windows: WindowSpec,
    sums: Mutex<Sums>,
}

/// What becomes of a part whose records were looked at.
pub(crate) trait TakesParts {
    /// Takes part `number`; sums are those of the worker.
    fn take(&self, number: usize, part: ReadPart, sums: &mut Sums) -> Result<(), Error>;
}

/// Looks at the records of parts.
pub(crate) struct Visitor<'r> {
    seen: &'r Seen,
    parts: &'r dyn TakesParts,
    sums: Sums,
    part: ReadPart,
    /// The number of the part, and of its next record.
    number: (usize, u64),
    places: Range<Place>,
    window: Window<'r>,
    /// The bases of the record that is looked at, if they are compared with the reference.
    codes: Vec<u8>,
}

impl Seen {
    pub(crate) fn new(lines: LinesSpec, spec: &ReportSpec) -> Self {
        let (picard, of_stats) = (spec.picard.as_ref(), spec.stats_reference.as_ref());
        let of_cytosines = spec.methyldackel.as_ref().map(|methyldackel| &methyldackel.reference);
        Seen {
            windows: WindowSpec::new(&lines.contigs),
            lines,
            reference: picard.map(|picard| &picard.reference).or(of_stats).or(of_cytosines).map(Arc::clone),
            has_picard: picard.is_some(),
            has_mismatches: of_stats.is_some(),
            capture: picard.and_then(|picard| picard.capture.clone()),
            methyldackel: spec.methyldackel.clone(),
            sums: Mutex::default(),
        }
    }

    pub(crate) fn visitor<'r>(&'r self, parts: &'r dyn TakesParts) -> Visitor<'r> {
        Visitor {
            seen: self,
            parts,
            sums: Sums::default(),
            part: ReadPart::default(),
            number: (0, 0),
            places: 0..0,
            window: Window::new(self.reference.as_deref()),
            codes: Vec::new(),
        }
    }

    /// Adds what was summed up elsewhere.
    pub(crate) fn add(&self, sums: &Sums) {
        *lock(&self.sums) += sums;
    }

    /// All sums, when all visitors are gone.
    pub(crate) fn into_sums(self) -> (LinesSpec, WindowSpec, Sums) {
        (self.lines, self.windows, into_inner(self.sums))
    }
}

impl Visit for Visitor<'_> {
    fn begin(&mut self, number: usize, places: Range<(u32, u32)>) {
        let limit = |(contig, position)| place(contig, position).min(end(&self.seen.lines.contigs));
        self.number = (number, 0);
        self.places = limit(places.start)..limit(places.end);
    }

    #[inline]
    fn see(&mut self, record: &[u8], flags: u16) -> Result<(), Error> {
        let begun = self.sums.cost.begin_record();
        self.look_at(record, flags)?;
        self.sums.cost.end_record(begun);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        let mut part = std::mem::take(&mut self.part);
        part.places = self.places.clone();
        part.edges.sort();
        self.parts.take(self.number.0, part, &mut self.sums)?;
        self.sums.cost.add_since(begun);
        Ok(())
    }
}

impl Visitor<'_> {
    #[inline]
    fn look_at(&mut self, record: &[u8], flags: u16) -> Result<(), Error> {
        let record = Record::new(record, flags).ok_or_else(|| Error::Internal("a record is cut off".to_owned()))?;
        let number = (self.number.0 as u64) << 32 | self.number.1;
        self.number.1 += 1;
        let Sums { flagstat, idxstats, cycles, stats, coverage, mosdepth, picard, .. } = &mut self.sums;
        flagstat.add(&record);
        idxstats.add(&record);
        mosdepth.see(&record);
        let is_primary = !record.flags.any(SECONDARY | SUPPLEMENTARY);
        let read = is_primary.then(|| cycles.add(&record));
        coverage.add(&record, read);
        if self.seen.reference.is_some() {
            record.unpack(&mut self.codes);
        }
        if self.seen.has_picard {
            picard.add(
                &record,
                &self.codes,
                (&mut self.window, self.seen.capture.as_deref()),
                &mut self.part.pileup,
            )?;
        }
        if let Some(methyldackel) = &self.seen.methyldackel {
            self.part.calls.add(&record, &self.codes, &mut self.window, &methyldackel.spec)?;
        }
        let gc = stats.add(number, &record, read.unwrap_or_default());
        if self.seen.has_mismatches {
            if gc.is_some() {
                stats.add_mismatches(&record, &self.codes, &mut self.window)?;
            }
            self.part.reads.extend(placed_read(&record, gc.is_some()));
        }
        let Ok(contig) = u32::try_from(record.contig) else { return Ok(()) };
        if let Some(gc) = gc
            && !self.seen.has_mismatches
        {
            self.part.gc.push((place(contig, record.position.max(0) as u32), gc));
        }
        self.add_edges(contig, &record, gc.is_some());
        Ok(())
    }

    /// Adds where a record begins and ends, for all reports that count it.
    #[inline]
    fn add_edges(&mut self, contig: u32, record: &Record<'_>, counts_for_stats: bool) {
        let spec = &self.seen.lines.mosdepth;
        let ReadPart { edges, mates, .. } = &mut self.part;
        let of_stats = OfSome::only_if(Of::Stats, counts_for_stats);
        let of_coverage = OfSome::only_if(Of::Coverage, !record.flags.any(coverage::LEFT_OUT));
        let counts_for_mosdepth = spec.counts(record);
        let of_mosdepth = OfSome::only_if(Of::Mosdepth, counts_for_mosdepth);
        if spec.is_fast {
            return edges.add_record(contig, record, of_stats | of_coverage, of_mosdepth);
        }
        edges.add_record(contig, record, of_stats | of_coverage | of_mosdepth, OfSome::default());
        if counts_for_mosdepth {
            mates.add(contig, record, self.places.start, |both| edges.take_away(both, Of::Mosdepth));
        }
    }
}

impl Drop for Visitor<'_> {
    /// Hands over the sums. After a failure nobody asks for them.
    fn drop(&mut self) {
        self.sums.settle();
        self.seen.add(&self.sums);
    }
}

/// A record for GC-depth beside the reference; none if it makes no difference.
fn placed_read(record: &Record<'_>, counts: bool) -> Option<PlacedRead> {
    let length = record.length() as u32;
    if !counts && (length < MUCH || record.bases == 0 || record.flags.is_secondary()) {
        return None;
    }
    let contig = u32::try_from(record.contig).ok()?;
    let deleted = record.cigar().filter(|op| op.letter() == b'D').map(|op| op.length());
    let bases = if counts { deleted.fold(record.bases as u32, u32::saturating_add) } else { 0 };
    Some(PlacedRead { place: place(contig, record.position.max(0) as u32), bases, length })
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
