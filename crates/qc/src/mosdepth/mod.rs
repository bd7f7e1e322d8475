//! mosdepth 0.3.14 (mosdepth.nim, depthstat.nim): which records count, how deep places are, and what is told of it.
//!
//! - [`MosdepthSpec`] has its options, and says which records count.
//! - In exact mode, what mates have both is counted once (`mates`).
//! - Depth by place (crate::depth) is told of contigs (here), of regions (`regions`), and of runs of places (`runs`).

mod bed;
mod files;
mod mates;
mod region_depth;
mod regions;
mod runs;
mod spec;

use crate::counts::{add_all, add_at, count_at};
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::AddAssign;

pub(crate) use bed::RegionTable;
pub use bed::{Bed, NotBed};
pub use files::BedFiles;
pub(crate) use files::{LineFiles, LinesSpec, lines_of_part};
pub(crate) use mates::Mates;
pub(crate) use regions::{PartOfRegions, RegionFiles, RegionMaker, RegionsSpec};
pub(crate) use runs::{PartOfRuns, RunFile, RunMaker, RunsOf};
pub use spec::{By, LEFT_OUT, MosdepthSpec, Quantizer};

/// Larger depths are counted as one that is a little less.
const LARGEST_DEPTH: usize = 400_000;
const COUNTED_AS: usize = LARGEST_DEPTH - 10;
/// Depths up to here are told although no place has them.
const ALWAYS_TOLD: usize = 300;
/// Smaller shares are not told.
const LEAST_SHARE: f64 = 8e-5;
/// Larger means of windows are counted as this one.
const LARGEST_MEAN: usize = 511;

/// What is summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mosdepth {
    contigs: BTreeMap<u32, OfContig>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfContig {
    /// Whether there are records on it, of any kind. Others are told of in lines of regions and of runs alone.
    has_records: bool,
    all: Depths,
    /// The places of the regions of a file; those that are in several count for each.
    regions: Depths,
    /// Windows by their mean or median depth, rounded.
    windows: Vec<u64>,
}

/// Depths of some places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Depths {
    /// How many places have each.
    places: Vec<u64>,
    /// The sum of all, larger ones as they are; and the largest.
    bases: u64,
    largest: u64,
}

impl Depths {
    fn add(&mut self, places: u32, depth: u32) {
        let counted = if depth as usize > LARGEST_DEPTH { COUNTED_AS } else { depth as usize };
        add_at(&mut self.places, counted, places.into());
        self.bases += u64::from(places) * u64::from(depth);
        self.largest = self.largest.max(depth.into());
    }

    /// Their line in the summary.
    fn summary(&self, name: &str) -> String {
        let Depths { places, bases, largest } = self;
        let length: u64 = places.iter().sum();
        let mean = if length == 0 { 0.0 } else { *bases as f64 / length as f64 };
        let least = places.iter().position(|count| *count > 0).unwrap_or(0);
        format!("{name}\t{length}\t{bases}\t{mean:.2}\t{least}\t{largest}\n")
    }
}

impl Mosdepth {
    /// Notes that there is a record on its contig.
    pub(crate) fn see(&mut self, record: &Record<'_>) {
        if let Ok(contig) = u32::try_from(record.contig) {
            self.contigs.entry(contig).or_default().has_records = true;
        }
    }

    /// Adds so many places of a contig with this depth.
    pub(crate) fn add(&mut self, contig: u32, places: u32, depth: u32) {
        self.contigs.entry(contig).or_default().all.add(places, depth);
    }

    /// Adds so many places of a region of a file.
    pub(crate) fn add_to_regions(&mut self, contig: u32, places: u32, depth: u32) {
        self.contigs.entry(contig).or_default().regions.add(places, depth);
    }

    /// Adds a window by its mean or median.
    pub(crate) fn add_window(&mut self, contig: u32, value: f64) {
        let of_contig = self.contigs.entry(contig).or_default();
        count_at(&mut of_contig.windows, (value.round() as usize).min(LARGEST_MEAN));
    }

    /// By depth: places of all contigs.
    pub(crate) fn places(&self) -> Vec<u64> {
        let mut places = Vec::new();
        self.contigs.values().for_each(|of_contig| add_all(&mut places, &of_contig.all.places));
        places
    }

    /// The contigs that are told of.
    fn told<'m>(&'m self, lines: &'m LinesSpec) -> impl Iterator<Item = (&'m str, &'m OfContig)> {
        let leaves_out = lines.mosdepth.leaves_out_contigs();
        let told = self.contigs.iter().filter(move |(number, of_contig)| {
            let has_regions = || lines.table.as_ref().is_some_and(|table| table.count(**number) > 0);
            of_contig.has_records && (!leaves_out || has_regions())
        });
        told.filter_map(|(number, of_contig)| Some((&*lines.contigs.get(*number as usize)?.name, of_contig)))
    }

    fn total(&self, lines: &LinesSpec) -> OfContig {
        let mut total = OfContig::default();
        self.told(lines).for_each(|(_, of_contig)| total += of_contig);
        total
    }

    /// PREFIX.mosdepth.summary.txt. Windows cover all places, so what is told of them is the same.
    pub(crate) fn summary(&self, lines: &LinesSpec) -> String {
        let mut text = String::from("chrom\tlength\tbases\tmean\tmin\tmax\n");
        let total = self.total(lines);
        for (name, of_contig) in self.told(lines).chain([("total", &total)]) {
            text += &of_contig.all.summary(name);
            let regions = match lines.mosdepth.by {
                None => continue,
                Some(By::Windows(_)) => &of_contig.all,
                Some(By::Bed(_)) => &of_contig.regions,
            };
            text += &regions.summary(&format!("{name}_region"));
        }
        text
    }

    /// PREFIX.mosdepth.global.dist.txt: which share of the places has a depth of so much at least.
    pub(crate) fn global_distribution(&self, lines: &LinesSpec) -> String {
        self.distribution(lines, |of_contig| &of_contig.all.places)
    }

    /// PREFIX.mosdepth.region.dist.txt: the same of windows, by their mean, or of the places of regions.
    pub(crate) fn region_distribution(&self, lines: &LinesSpec) -> Option<String> {
        Some(match lines.mosdepth.by.as_ref()? {
            By::Windows(_) => self.distribution(lines, |of_contig| &of_contig.windows),
            By::Bed(_) => self.distribution(lines, |of_contig| &of_contig.regions.places),
        })
    }

    fn distribution(&self, lines: &LinesSpec, of: fn(&OfContig) -> &Vec<u64>) -> String {
        let (mut text, total) = (String::new(), self.total(lines));
        for (name, of_contig) in self.told(lines).chain([("total", &total)]) {
            let counts = of(of_contig);
            let all: u64 = counts.iter().sum();
            let mut share = 0.0;
            for (depth, count) in counts.iter().enumerate().rev() {
                if depth > ALWAYS_TOLD && *count == 0 {
                    continue;
                }
                share += *count as f64 / all as f64;
                if share >= LEAST_SHARE {
                    let _ = writeln!(text, "{name}\t{depth}\t{share:.2}");
                }
            }
        }
        text
    }
}

impl AddAssign<&Depths> for Depths {
    fn add_assign(&mut self, more: &Depths) {
        add_all(&mut self.places, &more.places);
        self.bases += more.bases;
        self.largest = self.largest.max(more.largest);
    }
}

impl AddAssign<&OfContig> for OfContig {
    fn add_assign(&mut self, more: &OfContig) {
        self.has_records |= more.has_records;
        self.all += &more.all;
        self.regions += &more.regions;
        add_all(&mut self.windows, &more.windows);
    }
}

impl AddAssign<&Mosdepth> for Mosdepth {
    fn add_assign(&mut self, more: &Mosdepth) {
        for (contig, more) in &more.contigs {
            *self.contigs.entry(*contig).or_default() += more;
        }
    }
}
