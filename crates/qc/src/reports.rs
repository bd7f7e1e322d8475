//! All reports of one output.

use crate::counts::add_all;
use crate::coverage::{self, Coverage};
use crate::depth::{place, split};
use crate::flagstat::FlagStat;
use crate::idxstats::IdxStats;
use crate::mosdepth::{self, Mosdepth};
use crate::order::{Chain, KnownPart, Of, ReadPart, by_contig, end};
use crate::record::Record;
use crate::stats::{LARGEST_DEPTH, Stats};
use crate::windows::{WindowMaker, Windows};
use std::ops::{AddAssign, Range};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_output::{BedFile, Visit, Visitors};

/// How the reports are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportSpec {
    /// The contigs of the header.
    pub contigs: Vec<Contig>,
    /// Bases of the windows whose mean depth mosdepth tells.
    pub window: u32,
    /// What goes before the lines of samtools stats: comments.
    pub heading: String,
}

/// The reports of one output, while its parts are made.
pub struct Reports {
    spec: ReportSpec,
    chain: Mutex<Chain>,
    windows: Mutex<Windows>,
    sums: Mutex<Sums>,
}

/// What the reports say.
pub struct Finished {
    /// `samtools stats`.
    pub stats: String,
    /// `samtools flagstat`.
    pub flagstat: String,
    /// `samtools idxstats`.
    pub idxstats: String,
    /// `samtools coverage`.
    pub coverage: String,
    /// mosdepth's summary.txt, global.dist.txt and region.dist.txt.
    pub mosdepth: [String; 3],
    /// mosdepth's regions.bed.gz.
    pub windows: BedFile,
}

/// What is added up, in any order.
#[derive(Debug, Clone, Default)]
struct Sums {
    flagstat: FlagStat,
    idxstats: IdxStats,
    stats: Stats,
    /// Places by their depth, for samtools stats.
    depths: Vec<u64>,
    coverage: Coverage,
    mosdepth: Mosdepth,
}

/// Looks at the records of parts, for one worker.
struct Visitor<'r> {
    reports: &'r Reports,
    sums: Sums,
    part: ReadPart,
    /// The number of the part, and of its next record.
    number: (usize, u64),
}

impl Reports {
    /// Reports of no records yet; `windows` is the file of mean depths.
    pub fn new(spec: ReportSpec, windows: BedFile) -> Self {
        let windows = Mutex::new(Windows::new(windows));
        Reports { spec, chain: Mutex::default(), windows, sums: Mutex::default() }
    }

    /// All that they say, when all parts are made and all visitors are gone.
    pub fn finish(self) -> Finished {
        let Reports { spec: ReportSpec { contigs, heading, .. }, chain, windows, sums } = self;
        let Sums { flagstat, idxstats, stats, depths, coverage, mosdepth } = into_inner(sums);
        Finished {
            stats: stats.text(&heading, &depths, into_inner(chain).into_gc_bins()),
            flagstat: flagstat.text(),
            idxstats: idxstats.text(&contigs),
            coverage: coverage.text(&contigs),
            mosdepth: [
                mosdepth.summary(&contigs),
                mosdepth.global_distribution(&contigs),
                mosdepth.window_distribution(&contigs),
            ],
            windows: into_inner(windows).out,
        }
    }
}

impl Visitors for Reports {
    fn visitor(&self) -> Box<dyn Visit + '_> {
        Box::new(Visitor { reports: self, sums: Sums::default(), part: ReadPart::default(), number: (0, 0) })
    }
}

impl Visit for Visitor<'_> {
    fn begin(&mut self, number: usize) {
        self.number = (number, 0);
    }

    #[inline]
    fn see(&mut self, record: &[u8], flags: u16) -> Result<(), Error> {
        let record = Record::new(record, flags).ok_or_else(|| Error::Internal("a record is cut off".to_owned()))?;
        let number = (self.number.0 as u64) << 32 | self.number.1;
        self.number.1 += 1;
        let Sums { flagstat, idxstats, stats, coverage, mosdepth, .. } = &mut self.sums;
        flagstat.add(&record);
        idxstats.add(&record);
        coverage.add(&record);
        mosdepth.see(&record);
        let gc = stats.add(number, &record);
        let Ok(contig) = u32::try_from(record.contig) else { return Ok(()) };
        let ReadPart { edges, gc: gc_of_records, .. } = &mut self.part;
        if let Some(gc) = gc {
            gc_of_records.push((place(contig, record.position.max(0) as u32), gc));
            record.aligned().for_each(|(positions, _)| edges[Of::Stats as usize].add(contig, positions));
        }
        if !record.flags.any(coverage::LEFT_OUT) {
            record.aligned().for_each(|(positions, _)| edges[Of::Coverage as usize].add(contig, positions));
        }
        if !record.flags.any(mosdepth::LEFT_OUT) {
            edges[Of::Mosdepth as usize].add(contig, record.span());
        }
        Ok(())
    }

    fn end(&mut self, places: Range<(u32, u32)>) -> Result<(), Error> {
        let reports = self.reports;
        let limit = |(contig, position)| place(contig, position).min(end(&reports.spec.contigs));
        let mut part = std::mem::take(&mut self.part);
        part.places = limit(places.start)..limit(places.end);
        part.edges.iter_mut().for_each(|edges| edges.sort());
        let known = lock(&reports.chain).put(self.number.0, part);
        known.iter().try_for_each(|part| self.settle(part))
    }
}

impl Visitor<'_> {
    /// Counts the places of a part.
    fn settle(&mut self, part: &KnownPart) -> Result<(), Error> {
        let contigs = &self.reports.spec.contigs;
        let Sums { depths, coverage, mosdepth, .. } = &mut self.sums;
        depths.resize(LARGEST_DEPTH + 2, 0);
        runs(part, Of::Stats, contigs, |_, positions, depth| {
            depths[(depth as usize).min(LARGEST_DEPTH + 1)] += positions.len() as u64;
        });
        runs(part, Of::Coverage, contigs, |contig, positions, depth| {
            if depth > 0 {
                coverage.cover(contig, positions.len() as u64);
            }
        });
        let (_, position) = split(part.read.places.start);
        let mut windows = WindowMaker::new(contigs, self.reports.spec.window, position);
        runs(part, Of::Mosdepth, contigs, |contig, positions, depth| {
            mosdepth.add(contig, positions.len() as u32, depth);
            windows.add(contig, positions, depth, mosdepth);
        });
        lock(&self.reports.windows).put(part.number, windows.finish(), contigs, mosdepth)
    }
}

impl Drop for Visitor<'_> {
    /// Hands over the sums. After a failure nobody asks for them.
    fn drop(&mut self) {
        self.sums.stats.settle();
        *lock(&self.reports.sums) += &self.sums;
    }
}

/// Gives the depth of all places of a part to `each`: contig, positions, depth.
fn runs(part: &KnownPart, of: Of, contigs: &[Contig], mut each: impl FnMut(u32, Range<u32>, u32)) {
    let (edges, reaching) = (&part.read.edges[of as usize], &part.reaching[of as usize]);
    edges.runs(reaching, part.read.places.clone(), |places, depth| {
        by_contig(places, contigs, |contig, positions| each(contig, positions, depth.max(0) as u32));
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl AddAssign<&Sums> for Sums {
    fn add_assign(&mut self, more: &Sums) {
        self.flagstat += more.flagstat;
        self.idxstats += &more.idxstats;
        self.stats += &more.stats;
        add_all(&mut self.depths, &more.depths);
        self.coverage += &more.coverage;
        self.mosdepth += &more.mosdepth;
    }
}
