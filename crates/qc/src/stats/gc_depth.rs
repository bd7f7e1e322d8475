//! GC-depth of samtools stats (GCD): bins of the reference, how many reads begin in each, and its share of G and C.
//!
//! Without a reference, a bin begins at the first read of a contig, and at the first that lies more than 20,000 bases
//! behind the first one of the bin before; its share is that of its reads. With one, where a bin begins depends on how
//! much of the reference samtools holds in memory, too, and the share is that of the reference.

use super::text::section;
use crate::depth::{Place, split};
use crate::record::{BASE_C, BASE_G};
use crate::reference::code_of;
use std::fmt::Write as _;
use std::ops::Range;
use zerohop_cram::ContigBases;
use zerohop_model::error::Error;
use zerohop_model::record::Contig;

/// Bases of the reference in a bin.
const BIN: u32 = 20_000;
/// Reads of so many bases make samtools' memory grow, and how many times as much of the reference it holds then.
pub(crate) const MUCH: u32 = 300;
const TIMES: u32 = 10;

/// A bin: its share of G and C, or those of its reads added up, and how many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bin {
    gc: f32,
    reads: u32,
}

/// A read beside the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlacedRead {
    pub(crate) place: Place,
    /// Its bases, with those that are deleted; 0 of one that is not counted.
    pub(crate) bases: u32,
    /// Its bases with those that were hard-clipped.
    pub(crate) length: u32,
}

/// The bases of a bin, whose share of G and C is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BinBases {
    number: usize,
    contig: u32,
    positions: Range<u32>,
}

/// All bins. The first one holds no reads.
#[derive(Debug, Default)]
pub(crate) struct GcBins {
    bins: Vec<Bin>,
    /// Where the last one begins.
    from: Option<Place>,
    /// What samtools holds of the reference.
    held: Held,
    has_reference: bool,
}

#[derive(Debug)]
struct Held {
    contig: u32,
    positions: Range<u32>,
    /// For so many bases, and reads of up to so many, it has memory.
    bases: u32,
    read: u32,
}

impl Default for Held {
    fn default() -> Self {
        Held { contig: u32::MAX, positions: 0..0, bases: BIN, read: MUCH }
    }
}

impl GcBins {
    /// Adds a read of which so large a share of the bases is G or C.
    pub(crate) fn add(&mut self, at: Place, gc: f32) {
        let is_new = self.from.is_none_or(|from| {
            let ((bin_contig, bin), (contig, position)) = (split(from), split(at));
            bin_contig != contig || i64::from(position) - i64::from(bin) > BIN.into()
        });
        if is_new {
            self.begin(at);
        }
        if let Some(bin) = self.bins.last_mut() {
            bin.reads += 1;
            bin.gc += gc;
        }
    }

    /// Adds a read beside the reference. Gives a bin that begins there, if one does.
    pub(crate) fn add_placed(&mut self, read: PlacedRead, contigs: &[Contig]) -> Option<BinBases> {
        let PlacedRead { place, bases, length } = read;
        let held = &mut self.held;
        self.has_reference = true;
        if length >= held.read {
            held.read = held.read.saturating_add((1 + length - held.read).saturating_mul(2));
            held.bases = held.bases.max(held.read.saturating_mul(TIMES));
        }
        if bases == 0 {
            return None;
        }
        let (contig, position) = split(place);
        let end = position.saturating_add(bases);
        let is_beyond = held.contig != contig || held.positions.end < end;
        let bin_end = self.from.map_or(0, |from| split(from).1.saturating_add(BIN));
        let mut begun = None;
        if is_beyond || bin_end < end {
            let wanted = if is_beyond { end } else { position.saturating_add(BIN) };
            if is_beyond || held.positions.end < wanted {
                held.bases = held.bases.max(wanted - position);
                let length = contigs.get(contig as usize).map_or(0, |contig| contig.length as u32);
                (held.contig, held.positions) = (contig, position..length.min(position.saturating_add(held.bases)));
            }
            let positions = position..held.positions.end.min(position.saturating_add(BIN));
            self.begin(place);
            begun = Some(BinBases { number: self.bins.len() - 1, contig, positions });
        }
        if let Some(bin) = self.bins.last_mut() {
            bin.reads += 1;
        }
        begun
    }

    fn begin(&mut self, at: Place) {
        if self.bins.is_empty() {
            self.bins.push(Bin::default());
        }
        self.from = Some(at);
        self.bins.push(Bin::default());
    }

    /// Takes up the shares of bins that begin beside the reference.
    pub(crate) fn take_shares(&mut self, shares: &[(usize, f32)]) {
        for (number, share) in shares {
            if let Some(bin) = self.bins.get_mut(*number) {
                bin.gc = *share;
            }
        }
    }

    /// Tells of bins by their share, and how deep they are. The share of the last one is not divided by its reads.
    pub(super) fn tell(mut self, out: &mut String, mean_length: f32) {
        let columns = "GC%, unique sequence percentiles, 10th, 25th, 50th, 75th and 90th depth percentile";
        section(out, "GC-depth", "GCD", columns);
        let last = self.bins.len().saturating_sub(1);
        let mut bins = std::mem::take(&mut self.bins);
        for bin in bins[..last].iter_mut().filter(|bin| bin.reads > 0) {
            let reads = if self.has_reference { 1.0 } else { f64::from(bin.reads) };
            bin.gc = (100.0 * f64::from(bin.gc) / reads).round_ties_even() as f32;
        }
        bins.sort_by(|a, b| a.gc.total_cmp(&b.gc).then(a.reads.cmp(&b.reads)));
        let mut start = 0;
        while start < last {
            let gc = bins[start].gc;
            let same = bins[start..last].iter().take_while(|bin| f64::from((bin.gc - gc).abs()) < 0.1).count();
            let of_all = (start + same + 1) as f64 * 100.0 / (last + 1) as f64;
            let _ = write!(out, "GCD\t{gc:.1}\t{of_all:.3}");
            for percent in [10, 25, 50, 75, 90] {
                let depth = percentile(&bins[start..start + same], percent) * mean_length / BIN as f32;
                let _ = write!(out, "\t{depth:.3}");
            }
            out.push('\n');
            start += same;
        }
    }
}

impl BinBases {
    /// Its number, and its share of G and C among the bases that are known.
    ///
    /// # Errors
    /// A reference that cannot be read.
    pub(crate) fn share(&self, reference: &ContigBases) -> Result<(usize, f32), Error> {
        let mut bases = Vec::new();
        reference.read(self.contig, self.positions.clone(), &mut bases)?;
        let (mut gc, mut known) = (0u32, 0u32);
        for base in bases {
            let code = code_of(base);
            gc += u32::from(code == BASE_C || code == BASE_G);
            known += u32::from(code.is_power_of_two());
        }
        Ok((self.number, if known == 0 { 0.0 } else { gc as f32 / known as f32 }))
    }
}

/// The reads of the bin below which so many percent are.
fn percentile(bins: &[Bin], percent: usize) -> f32 {
    let place = percent as f32 * (bins.len() + 1) as f32 / 100.0;
    let before = place as usize;
    let reads = |bin: usize| bins[bin].reads as f32;
    if before == 0 {
        return reads(0);
    }
    if before >= bins.len() {
        return reads(bins.len() - 1);
    }
    let (low, high) = (bins[before - 1].reads, bins[before].reads);
    reads(before - 1) + (place - before as f32) * high.wrapping_sub(low) as f32
}
