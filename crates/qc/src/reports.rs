//! All reports of one output.

use crate::counts::add_all;
use crate::coverage::{self, Coverage};
use crate::depth::{Place, place};
use crate::flagstat::FlagStat;
use crate::idxstats::IdxStats;
use crate::mosdepth::{BedFiles, LineFiles, LinesSpec, Mosdepth, MosdepthSpec, add_edges, lines_of_part};
use crate::order::{Chain, KnownPart, Of, ReadPart, by_contig, end};
use crate::record::Record;
use crate::stats::{LARGEST_DEPTH, Stats};
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
    /// What mosdepth is asked for.
    pub mosdepth: MosdepthSpec,
    /// What goes before the lines of samtools stats: comments.
    pub heading: String,
}

/// The reports of one output, while its parts are made.
pub struct Reports {
    /// With all contigs.
    lines: LinesSpec,
    heading: String,
    chain: Mutex<Chain>,
    files: Mutex<LineFiles>,
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
    /// mosdepth's summary.txt and global.dist.txt.
    pub mosdepth: [String; 2],
    /// mosdepth's region.dist.txt, if there are regions.
    pub regions: Option<String>,
    /// Its files of lines.
    pub lines: Vec<BedFile>,
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
    places: Range<Place>,
}

impl Reports {
    /// Reports of no records yet, with the files that mosdepth's options ask for.
    ///
    /// # Errors
    /// [`Error::Output`]: a file cannot be written.
    pub fn new(spec: ReportSpec, files: BedFiles) -> Result<Self, Error> {
        let ReportSpec { contigs, mosdepth, heading } = spec;
        let lines = LinesSpec::new(mosdepth, contigs);
        let files = Mutex::new(LineFiles::new(&lines, files)?);
        Ok(Reports { lines, heading, chain: Mutex::default(), files, sums: Mutex::default() })
    }

    /// All that they say, when all parts are made and all visitors are gone.
    ///
    /// # Errors
    /// [`Error::Output`]: a file cannot be written.
    pub fn finish(self) -> Result<Finished, Error> {
        let Reports { lines, heading, chain, files, sums } = self;
        let Sums { flagstat, idxstats, stats, depths, coverage, mosdepth } = into_inner(sums);
        Ok(Finished {
            stats: stats.text(&heading, &depths, into_inner(chain).into_gc_bins()),
            flagstat: flagstat.text(),
            idxstats: idxstats.text(&lines.contigs),
            coverage: coverage.text(&lines.contigs),
            mosdepth: [mosdepth.summary(&lines), mosdepth.global_distribution(&lines)],
            regions: mosdepth.region_distribution(&lines),
            lines: into_inner(files).finish(&lines)?,
        })
    }
}

impl Visitors for Reports {
    fn visitor(&self) -> Box<dyn Visit + '_> {
        let (sums, part) = (Sums::default(), ReadPart::default());
        Box::new(Visitor { reports: self, sums, part, number: (0, 0), places: 0..0 })
    }
}

impl Visit for Visitor<'_> {
    fn begin(&mut self, number: usize, places: Range<(u32, u32)>) {
        let limit = |(contig, position)| place(contig, position).min(end(&self.reports.lines.contigs));
        self.number = (number, 0);
        self.places = limit(places.start)..limit(places.end);
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
        let ReadPart { edges, gc: gc_of_records, mates, .. } = &mut self.part;
        if let Some(gc) = gc {
            gc_of_records.push((place(contig, record.position.max(0) as u32), gc));
            record.aligned().for_each(|(positions, _)| edges[Of::Stats as usize].add(contig, positions));
        }
        if !record.flags.any(coverage::LEFT_OUT) {
            record.aligned().for_each(|(positions, _)| edges[Of::Coverage as usize].add(contig, positions));
        }
        let of_mosdepth = (&mut edges[Of::Mosdepth as usize], mates);
        add_edges(&record, &self.reports.lines.mosdepth, self.places.start, of_mosdepth);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        let mut part = std::mem::take(&mut self.part);
        part.places = self.places.clone();
        part.edges.iter_mut().for_each(|edges| edges.sort());
        let known = lock(&self.reports.chain).put(self.number.0, part);
        known.iter().try_for_each(|part| self.settle(part))
    }
}

impl Visitor<'_> {
    /// Counts the places of a part.
    fn settle(&mut self, part: &KnownPart) -> Result<(), Error> {
        let lines = &self.reports.lines;
        let contigs = &lines.contigs;
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
        let of_part = lines_of_part(lines, mosdepth, |each| runs(part, Of::Mosdepth, contigs, each));
        lock(&self.reports.files).put(part.number, of_part, lines, mosdepth)
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
