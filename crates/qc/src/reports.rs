//! All reports of one output.

use crate::depth::{Of, by_contig};
use crate::figures::figures;
use crate::kept::KeptParts;
use crate::methyldackel::{Calls, MethylDackel, PartOfSites, SiteFiles};
use crate::mosdepth::{BedFiles, LineFiles, LinesSpec, lines_of_part};
use crate::order::{Chain, KnownPart, ReadPart};
use crate::picard::{PartBases, PicardFiles};
use crate::spec::ReportSpec;
use crate::stats::LARGEST_DEPTH;
use crate::sums::Sums;
use crate::visitor::{Seen, TakesParts, into_inner, lock};
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::qc_figures::QcFigures;
use zerohop_output::{BedFile, LineFile, Visit, Visitors, bed_compressor};

/// The reports of one output, while its parts are made.
pub struct Reports {
    seen: Seen,
    spec: ReportSpec,
    chain: Mutex<Chain>,
    /// Shares of G and C of bins of GC-depth, by their number.
    shares: Mutex<Vec<(usize, f32)>>,
    files: Mutex<LineFiles>,
    sites: Option<Mutex<SiteFiles>>,
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
    /// Picard's metrics, if they are wanted.
    pub picard: Option<PicardFiles<String>>,
    /// mosdepth's files of lines, in the order of [`BedFiles`].
    pub lines: Vec<BedFile>,
    /// Cytosines as MethylDackel tells of them, if that is wanted: a file of each context.
    pub cytosines: Vec<LineFile>,
    /// What tables and pictures are made of.
    pub figures: QcFigures,
    /// The time that workers of all processes spent, about.
    pub time: Duration,
}

impl Reports {
    /// Reports of no records yet, with the files that mosdepth's options ask for, and those of cytosines.
    ///
    /// # Errors
    /// [`Error::Output`]: a file cannot be written.
    pub fn new(spec: ReportSpec, files: BedFiles, cytosines: Vec<LineFile>) -> Result<Self, Error> {
        let lines = LinesSpec::new(spec.mosdepth.clone(), spec.contigs.clone());
        let files = Mutex::new(LineFiles::new(&lines, files));
        let seen = Seen::new(lines, &spec);
        let sites = spec.methyldackel.as_ref().map(|what| SiteFiles::new(what, cytosines)).transpose()?.map(Mutex::new);
        Ok(Reports { seen, spec, chain: Mutex::default(), shares: Mutex::default(), files, sites })
    }

    /// Adds the sums of a process that has kept its parts ([`crate::RankReports`]).
    ///
    /// # Errors
    /// [`Error::Internal`]: they are none.
    pub fn add_sums(&self, sums: &[u8]) -> Result<(), Error> {
        let sums: Sums = serde_json::from_slice(sums).map_err(|error| Error::Internal(error.to_string()))?;
        self.seen.add(&sums);
        Ok(())
    }

    /// Takes up some parts that were kept. All are to be taken, in any order.
    ///
    /// # Errors
    /// [`Error::Kept`]: they cannot be read; [`Error::Output`]: lines cannot be written.
    pub fn take_up(&self, kept: &KeptParts, parts: Range<usize>) -> Result<(), Error> {
        let (begun, mut sums) = (Instant::now(), Sums::default());
        for number in parts {
            self.take(number, kept.read(number)?, &mut sums)?;
        }
        sums.cost.add_since(begun);
        self.seen.add(&sums);
        Ok(())
    }

    /// All that they say, when all parts are made and all visitors are gone.
    ///
    /// # Errors
    /// [`Error::Output`]: a file cannot be written; [`Error::Input`]: the reference cannot be read.
    pub fn finish(self) -> Result<Finished, Error> {
        let begun = Instant::now();
        let Reports { seen, spec, chain, shares, files, sites } = self;
        let ReportSpec { heading, picard: spec, stats_reference, methyldackel, .. } = spec;
        let (lines, windows, sums) = seen.into_sums();
        let Sums {
            flagstat,
            idxstats,
            cycles,
            mut stats,
            depths,
            coverage,
            mosdepth,
            picard,
            mut cost,
            windows: depths_of_windows,
        } = sums;
        if stats_reference.is_some() {
            stats.with_mismatches();
        }
        let mut bins = into_inner(chain).into_gc_bins();
        bins.take_shares(&into_inner(shares));
        let of_tools = (&stats, &cycles, &mosdepth);
        let figures = figures((&lines.contigs, &windows), &depths_of_windows, of_tools);
        let picard = spec.map(|spec| picard.files(&cycles, &spec)).transpose()?;
        let cytosines = match (sites, methyldackel) {
            (Some(sites), Some(what)) => into_inner(sites).finish(&lines.contigs, &what.spec)?,
            _ => Vec::new(),
        };
        cost.add_since(begun);
        Ok(Finished {
            cytosines,
            stats: stats.text(&heading, &cycles, &depths, bins),
            flagstat: flagstat.text(),
            idxstats: idxstats.text(&lines.contigs),
            coverage: coverage.text(&lines.contigs),
            mosdepth: [mosdepth.summary(&lines), mosdepth.global_distribution(&lines)],
            regions: mosdepth.region_distribution(&lines),
            picard,
            lines: into_inner(files).finish(&lines),
            time: cost.time(),
            figures,
        })
    }

    /// Counts the places of a part.
    fn settle(&self, part: &KnownPart, sums: &mut Sums) -> Result<(), Error> {
        let lines = &self.seen.lines;
        let contigs = &lines.contigs;
        let Sums { depths, coverage, mosdepth, picard, windows, .. } = sums;
        if let Some(reference) = &self.spec.stats_reference {
            let shares = part.bins.iter().map(|bin| bin.share(reference)).collect::<Result<Vec<_>, _>>()?;
            lock(&self.shares).extend(shares);
        }
        if let Some(spec) = &self.spec.picard {
            let places = part.read.places.clone();
            let bases = PartBases { before: &part.bases_before, own: &part.read.pileup, places };
            picard.settle(&bases, contigs, spec)?;
        }
        if let (Some(sites), Some(MethylDackel { spec, .. })) = (&self.sites, &self.spec.methyldackel) {
            let places = &part.read.places;
            let found = Calls::sites(&part.calls_before, &part.read.calls, places, spec.least_quality);
            let of_part = PartOfSites::new(&found, places, contigs, spec);
            lock(sites).put(part.number, of_part, contigs, spec)?;
        }
        depths.resize(LARGEST_DEPTH + 2, 0);
        let of_part = lines_of_part(lines, mosdepth, |each| {
            part.read.edges.runs(&part.reaching, part.read.places.clone(), |places, depths_of_all| {
                let depth = |of: Of| depths_of_all[of as usize].max(0) as u32;
                by_contig(places, contigs, |contig, positions| {
                    depths[(depth(Of::Stats) as usize).min(LARGEST_DEPTH + 1)] += positions.len() as u64;
                    if depth(Of::Coverage) > 0 {
                        coverage.cover(contig, positions.len() as u64);
                    }
                    windows.add(contig, &positions, depth(Of::Mosdepth), &self.seen.windows);
                    each(contig, positions, depth(Of::Mosdepth));
                });
            });
        });
        let full = lock(&self.files).put(part.number, of_part, lines, mosdepth);
        let mut compressor = bed_compressor();
        full.into_iter().try_for_each(|block| block.write(&mut compressor))
    }
}

impl Visitors for Reports {
    fn visitor(&self) -> Box<dyn Visit + '_> {
        Box::new(self.seen.visitor(self))
    }
}

impl TakesParts for Reports {
    /// Has it wait until all parts before it are known; counts the places of those that are known then.
    fn take(&self, number: usize, part: ReadPart, sums: &mut Sums) -> Result<(), Error> {
        let known = lock(&self.chain).put(number, part, &self.seen.lines.contigs);
        known.iter().try_for_each(|part| self.settle(part, sums))
    }
}
