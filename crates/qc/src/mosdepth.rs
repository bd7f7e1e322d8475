//! mosdepth 0.3.14 (mosdepth.nim, depthstat.nim) with `--fast-mode --no-per-base --by WINDOW`: the depth of places,
//! from where a record begins to where it ends, and its means over windows.

use crate::counts::{add_all, add_at, count_at};
use crate::record::Record;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::{AddAssign, Range};
use zerohop_model::record::{Contig, DUPLICATE, QC_FAIL, SECONDARY, UNMAPPED};

/// Records that are left out.
pub(crate) const LEFT_OUT: u16 = UNMAPPED | SECONDARY | QC_FAIL | DUPLICATE;
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mosdepth {
    contigs: BTreeMap<u32, OfContig>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OfContig {
    /// Whether there are records on it, of any kind. Others are told of in windows alone.
    has_records: bool,
    /// Places by their depth.
    places: Vec<u64>,
    /// Windows by their mean depth, rounded.
    windows: Vec<u64>,
    /// The sum of all depths, larger ones as they are; and the largest.
    bases: u64,
    largest: u64,
}

/// A window that lies in several parts of the output: the runs of depth in it that are known, each so many places long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Window {
    places: u32,
    runs: Vec<(u32, u32)>,
}

impl Window {
    /// Adds so many places.
    pub(crate) fn add(&mut self, places: u32, depth: u32) {
        self.places += places;
        self.runs.push((places, depth));
    }

    /// Adds what another part has of it, which is behind this.
    pub(crate) fn append(&mut self, mut more: Window) {
        self.places += more.places;
        self.runs.append(&mut more.runs);
    }

    /// The mean. mosdepth adds up the depth of each place, divided by the length of the window: where that could be
    /// rounded in another way, so is this.
    fn mean(&self) -> f64 {
        let sum: u64 = self.runs.iter().map(|(places, depth)| u64::from(*places) * u64::from(*depth)).sum();
        let mean = sum as f64 / f64::from(self.places);
        let is_between = |scaled: f64| (scaled - scaled.floor() - 0.5).abs() < 1e-6;
        match is_between(mean) || is_between(100.0 * mean) {
            true => self.mean_place_by_place(),
            false => mean,
        }
    }

    fn mean_place_by_place(&self) -> f64 {
        let length = f64::from(self.places);
        let mut mean = 0.0;
        for (places, depth) in &self.runs {
            let share = f64::from(*depth) / length;
            (0..*places).for_each(|_| mean += share);
        }
        mean
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
        let of_contig = self.contigs.entry(contig).or_default();
        let counted = if depth as usize > LARGEST_DEPTH { COUNTED_AS } else { depth as usize };
        add_at(&mut of_contig.places, counted, places.into());
        of_contig.bases += u64::from(places) * u64::from(depth);
        of_contig.largest = of_contig.largest.max(depth.into());
    }

    /// Adds a whole window, and appends its line.
    pub(crate) fn add_window(&mut self, name: &str, at: (u32, Range<u32>), window: &Window, text: &mut Vec<u8>) {
        let ((contig, positions), mean) = (at, window.mean());
        let of_contig = self.contigs.entry(contig).or_default();
        count_at(&mut of_contig.windows, (mean.round() as usize).min(LARGEST_MEAN));
        // Writing to memory does not fail.
        let _ = writeln!(text, "{name}\t{}\t{}\t{mean:.2}", positions.start, positions.end);
    }

    fn told<'m>(&'m self, contigs: &'m [Contig]) -> impl Iterator<Item = (&'m str, &'m OfContig)> {
        let told = self.contigs.iter().filter(|(_, of_contig)| of_contig.has_records);
        told.filter_map(|(number, of_contig)| Some((&*contigs.get(*number as usize)?.name, of_contig)))
    }

    fn total(&self, contigs: &[Contig]) -> OfContig {
        let mut total = OfContig::default();
        self.told(contigs).for_each(|(_, of_contig)| total += of_contig);
        total
    }

    /// PREFIX.mosdepth.summary.txt. The windows cover all places, so what is told of them is the same.
    pub fn summary(&self, contigs: &[Contig]) -> String {
        let mut text = String::from("chrom\tlength\tbases\tmean\tmin\tmax\n");
        let total = self.total(contigs);
        for (name, of_contig) in self.told(contigs).chain([("total", &total)]) {
            let places: u64 = of_contig.places.iter().sum();
            let OfContig { bases, largest, .. } = of_contig;
            let mean = if places == 0 { 0.0 } else { *bases as f64 / places as f64 };
            let least = of_contig.places.iter().position(|count| *count > 0).unwrap_or(0);
            for of in ["", "_region"] {
                let _ = writeln!(text, "{name}{of}\t{places}\t{bases}\t{mean:.2}\t{least}\t{largest}");
            }
        }
        text
    }

    /// PREFIX.mosdepth.global.dist.txt: which share of the places has a depth of so much at least.
    pub fn global_distribution(&self, contigs: &[Contig]) -> String {
        self.distribution(contigs, |of_contig| &of_contig.places)
    }

    /// PREFIX.mosdepth.region.dist.txt: the same of windows, by their mean.
    pub fn window_distribution(&self, contigs: &[Contig]) -> String {
        self.distribution(contigs, |of_contig| &of_contig.windows)
    }

    fn distribution(&self, contigs: &[Contig], of: fn(&OfContig) -> &Vec<u64>) -> String {
        let (mut text, total) = (String::new(), self.total(contigs));
        for (name, of_contig) in self.told(contigs).chain([("total", &total)]) {
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

impl AddAssign<&OfContig> for OfContig {
    fn add_assign(&mut self, more: &OfContig) {
        self.has_records |= more.has_records;
        add_all(&mut self.places, &more.places);
        add_all(&mut self.windows, &more.windows);
        self.bases += more.bases;
        self.largest = self.largest.max(more.largest);
    }
}

impl AddAssign<&Mosdepth> for Mosdepth {
    fn add_assign(&mut self, more: &Mosdepth) {
        for (contig, more) in &more.contigs {
            *self.contigs.entry(*contig).or_default() += more;
        }
    }
}
