//! `samtools stats` (stats.c of samtools 1.24), but for what depends on the order of records (crate::order).
//!
//! What is counted of which records:
//!
//! | of all records | the checksums CHK |
//! | not secondary, with bases | indels (ID, IC), NM, bases by CIGAR, longest lengths, duplicates |
//! | and mapped, passed, primary, no duplicates | MAPQ |
//! | of primary ones | all else |

mod barcodes;
mod gc_depth;
mod gc_shares;
mod mismatches;
mod text;

use crate::counts::{add_all, count_at};
use crate::cycles::{MOST_CYCLES, ReadSums};
use crate::record::{ReadOrder, Record};
use crate::reference::Window;
use crate::sizes::Sizes;
use barcodes::Barcodes;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use zerohop_model::error::Error;
use zerohop_model::record::{DUPLICATE, QC_FAIL, SECONDARY, SUPPLEMENTARY, UNMAPPED};

pub(crate) use gc_depth::{BinBases, GcBins, MUCH, PlacedRead};
use gc_shares::GcShares;
use mismatches::Mismatches;
pub(crate) use text::LARGEST_DEPTH;

/// Insert sizes from here on are counted as this one.
const LARGEST_INSERT: usize = 8000;
/// Places of the histograms of GC.
const GC_PLACES: usize = 200;
/// The longest indel that is told.
const LONGEST_INDEL: usize = 300;
/// How the reads of a pair lie.
const INWARD: usize = 0;
const OUTWARD: usize = 1;
const OTHER: usize = 2;

/// What is summed up of all records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sum {
    FirstReads,
    LastReads,
    OtherReads,
    PairedReads,
    UnmappedReads,
    BothMappedReads,
    SingleMappedReads,
    ProperReads,
    MateElsewhereReads,
    DuplicateReads,
    MapqZeroReads,
    FailedReads,
    SecondaryRecords,
    SupplementaryRecords,
    Bases,
    FirstBases,
    LastBases,
    MappedBases,
    CigarBases,
    DuplicateBases,
    Mismatches,
    Qualities,
}

/// How many there are.
const SUMS: usize = Sum::Qualities as usize + 1;

/// What is counted of the first reads of fragments, and of the last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfMate {
    /// By how many bases the reads have with what was hard-clipped.
    lengths: Sizes,
    /// The longest of all, supplementary records too.
    longest: usize,
    /// In [`GC_PLACES`] places from no G or C to nothing else.
    gc: Vec<u64>,
    gc_shares: GcShares,
    /// By the cycle: the first base that is inserted, the last one before those that are deleted.
    insertions: Vec<u64>,
    deletions: Vec<u64>,
}

/// All sums.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    sums: [u64; SUMS],
    /// Of names, bases and qualities: sums of CRC-32, modulo 2^32.
    checksums: [u32; 3],
    mates: [OfMate; 2],
    /// By length, as in [`OfMate`].
    lengths: Sizes,
    longest: usize,
    /// By length, from 1 on.
    insertions: Vec<u64>,
    deletions: Vec<u64>,
    /// By mapping quality.
    mapq: Vec<u64>,
    /// By insert size: reads of inward and outward pairs, and of others.
    inserts: Vec<[u64; 3]>,
    barcodes: Barcodes,
    /// With a reference.
    mismatches: Option<Mismatches>,
}

impl Stats {
    fn get(&self, sum: Sum) -> u64 {
        self.sums[sum as usize]
    }

    fn count(&mut self, sum: Sum, by: impl Into<u64>) {
        self.sums[sum as usize] += by.into();
    }

    /// Adds a record, the `number`th of all; of a primary one, `read` are the sums. Of one that counts for depth it
    /// gives which share of its bases is G or C: none of a supplementary record, or of a read that is neither the first
    /// nor the last of its fragment.
    #[inline]
    pub(crate) fn add(&mut self, number: u64, record: &Record<'_>, read: ReadSums) -> Option<f32> {
        let Record { flags, bases, .. } = *record;
        self.add_checksums(record);
        if flags.is_secondary() {
            self.count(Sum::SecondaryRecords, 1u64);
            return None;
        }
        self.count(Sum::SupplementaryRecords, flags.is_supplementary());
        if bases == 0 {
            return None;
        }
        if flags.is_duplicate() {
            self.count(Sum::DuplicateBases, bases as u64);
            self.count(Sum::DuplicateReads, 1u64);
        }
        let order = flags.order();
        let length = record.length();
        self.longest = self.longest.max(length);
        if let Some(mate) = self.of_mate(order) {
            mate.longest = mate.longest.max(length);
        }
        if !flags.any(UNMAPPED | SECONDARY | QC_FAIL | DUPLICATE | SUPPLEMENTARY) {
            count_at(&mut self.mapq, record.mapq.into());
        }
        let gc = if flags.is_supplementary() { 0 } else { self.add_read(number, record, read, length) };
        if !flags.is_mapped() {
            return None;
        }
        self.add_cigar(record, order);
        if flags.is_paired() && flags.is_mate_mapped() && !flags.is_supplementary() {
            self.add_insert(record);
        }
        // As bam_aux2i, a negative one is added to what is not.
        self.sums[Sum::Mismatches as usize] =
            self.get(Sum::Mismatches).wrapping_add_signed(record.edits().unwrap_or_default());
        Some(gc as f32 / bases as f32)
    }

    /// Has mismatches told, though there may be no read that has some.
    pub(crate) fn with_mismatches(&mut self) {
        self.mismatches.get_or_insert_default();
    }

    /// Adds the mismatches of a record that counts for depth.
    pub(crate) fn add_mismatches(
        &mut self,
        record: &Record<'_>,
        codes: &[u8],
        window: &mut Window<'_>,
    ) -> Result<(), Error> {
        self.mismatches.get_or_insert_default().add(record, codes, window)
    }

    fn of_mate(&mut self, order: ReadOrder) -> Option<&mut OfMate> {
        match order {
            ReadOrder::First => Some(&mut self.mates[0]),
            ReadOrder::Last => Some(&mut self.mates[1]),
            ReadOrder::Both | ReadOrder::Neither => None,
        }
    }

    fn add_checksums(&mut self, record: &Record<'_>) {
        let parts = [record.name, record.sequence, record.qualities];
        // Nothing is added for a record without bases; the CRC of nothing is 0.
        for (sum, bytes) in self.checksums.iter_mut().zip(parts) {
            *sum = sum.wrapping_add(libdeflater::crc32(bytes));
        }
    }

    /// Adds a primary record, whose read has `length` bases with those that were hard-clipped. Gives how many are G or
    /// C.
    fn add_read(&mut self, number: u64, record: &Record<'_>, read: ReadSums, length: usize) -> u32 {
        let Record { flags, bases, .. } = *record;
        let order = flags.order();
        self.lengths.count(length);
        self.count(Sum::Bases, bases as u64);
        self.count(Sum::FailedReads, flags.failed_filters());
        self.count(Sum::PairedReads, flags.is_paired());
        let (of_reads, of_bases) = match order {
            ReadOrder::First => (Sum::FirstReads, Some(Sum::FirstBases)),
            ReadOrder::Last => (Sum::LastReads, Some(Sum::LastBases)),
            ReadOrder::Both | ReadOrder::Neither => (Sum::OtherReads, None),
        };
        self.count(of_reads, 1u64);
        of_bases.into_iter().for_each(|sum| self.count(sum, bases as u64));
        let mut gc = 0;
        if let Some(mate) = self.of_mate(order) {
            gc = read.gc;
            mate.lengths.count(length);
            mate.add_gc(gc as usize, bases);
            self.count(Sum::Qualities, read.qualities);
        }
        if order == ReadOrder::First {
            self.barcodes.add(number, record);
        }
        if !flags.is_mapped() {
            self.count(Sum::UnmappedReads, 1u64);
            return gc;
        }
        self.count(Sum::MappedBases, bases as u64);
        self.count(Sum::MapqZeroReads, record.mapq == 0);
        if flags.is_paired() && flags.is_mate_mapped() {
            self.count(Sum::BothMappedReads, 1u64);
            self.count(Sum::ProperReads, flags.is_proper());
            self.count(Sum::MateElsewhereReads, record.contig != record.mate_contig);
        } else {
            self.count(Sum::SingleMappedReads, 1u64);
        }
        gc
    }

    /// Adds the indels of a record, and the bases that its CIGAR places.
    fn add_cigar(&mut self, record: &Record<'_>, order: ReadOrder) {
        let is_reverse = record.flags.is_reverse();
        let (mut cycle, mut placed) = (0, 0);
        for op in record.cigar() {
            let length = op.length() as usize;
            if length == 0 {
                continue;
            }
            match op.letter() {
                b'I' => {
                    let at = if is_reverse { record.bases.saturating_sub(cycle + length) } else { cycle };
                    if let Some(mate) = self.of_mate(order).filter(|_| at < MOST_CYCLES) {
                        count_at(&mut mate.insertions, at);
                    }
                    if length <= LONGEST_INDEL {
                        count_at(&mut self.insertions, length);
                    }
                    cycle += length;
                    placed += length;
                }
                b'D' => {
                    // One before all bases is not counted.
                    let before = if is_reverse { record.bases.checked_sub(cycle + 1) } else { cycle.checked_sub(1) };
                    let Some(at) = before else { continue };
                    if let Some(mate) = self.of_mate(order).filter(|_| at < MOST_CYCLES) {
                        count_at(&mut mate.deletions, at);
                    }
                    if length <= LONGEST_INDEL {
                        count_at(&mut self.deletions, length);
                    }
                }
                b'M' | b'=' | b'X' => {
                    cycle += length;
                    placed += length;
                }
                b'S' => cycle += length,
                _ => {}
            }
        }
        self.count(Sum::CigarBases, placed as u64);
    }

    /// Adds the insert size of a read whose mate is mapped, too.
    fn add_insert(&mut self, record: &Record<'_>) {
        let size = (record.template_length.unsigned_abs() as usize).min(LARGEST_INSERT);
        if size == 0 && record.contig != record.mate_contig {
            return;
        }
        let flags = record.flags;
        // A read and its mate that begin at the same place point inward.
        let points_to_mate = match flags.is_reverse() {
            false => record.mate_position >= record.position,
            true => record.mate_position <= record.position,
        };
        let kind = match (flags.is_reverse() == flags.is_mate_reverse(), points_to_mate) {
            (true, _) => OTHER,
            (false, true) => INWARD,
            (false, false) => OUTWARD,
        };
        if self.inserts.is_empty() {
            self.inserts.resize(LARGEST_INSERT + 1, [0; 3]);
        }
        self.inserts[size][kind] += 1;
    }
}

impl OfMate {
    /// Adds a read of which so many bases are G or C: to all places that its share of them comes next to. Of a long
    /// read that is none.
    fn add_gc(&mut self, gc: usize, bases: usize) {
        self.gc_shares.add(gc, bases);
        self.gc.resize(GC_PLACES, 0);
        let place = |gc: usize| (gc * (GC_PLACES - 1) / bases).min(GC_PLACES - 1);
        self.gc[place(gc)..place(gc + 1)].iter_mut().for_each(|count| *count += 1);
    }
}

impl AddAssign<&Stats> for Stats {
    fn add_assign(&mut self, more: &Stats) {
        self.sums.iter_mut().zip(more.sums).for_each(|(all, more)| *all = all.wrapping_add(more));
        self.checksums.iter_mut().zip(more.checksums).for_each(|(all, more)| *all = all.wrapping_add(more));
        self.mates.iter_mut().zip(&more.mates).for_each(|(all, more)| *all += more);
        self.lengths += &more.lengths;
        self.longest = self.longest.max(more.longest);
        add_all(&mut self.insertions, &more.insertions);
        add_all(&mut self.deletions, &more.deletions);
        add_all(&mut self.mapq, &more.mapq);
        self.inserts.resize(self.inserts.len().max(more.inserts.len()), [0; 3]);
        let inserts = self.inserts.iter_mut().flatten().zip(more.inserts.iter().flatten());
        inserts.for_each(|(all, more)| *all += more);
        self.barcodes += &more.barcodes;
        if let Some(more) = &more.mismatches {
            *self.mismatches.get_or_insert_default() += more;
        }
    }
}

impl AddAssign<&OfMate> for OfMate {
    fn add_assign(&mut self, more: &OfMate) {
        self.lengths += &more.lengths;
        self.longest = self.longest.max(more.longest);
        add_all(&mut self.gc, &more.gc);
        self.gc_shares += &more.gc_shares;
        add_all(&mut self.insertions, &more.insertions);
        add_all(&mut self.deletions, &more.deletions);
    }
}
