//! CollectAlignmentSummaryMetrics (picard.analysis.AlignmentSummaryMetricsCollector), with its defaults: of primary
//! records, by first and second reads of pairs, both, and reads without mates.

use super::adapters::is_adapter;
use super::histogram::{deviation, mean, median, median_deviation, of_sizes};
use super::{Orientation, Table, file, orientation};
use crate::counts::{add_all, count_at, count_of_pairs, count_where};
use crate::cycles::MOST_CYCLES;
use crate::record::{NO_CALL, Record, integer};
use crate::reference::Window;
use crate::sizes::Sizes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::AddAssign;
use zerohop_model::error::Error;
use zerohop_model::htsjdk::decimal;

/// A mapping quality, and a quality of a base, from which on they are high.
const HIGH_MAPQ: u8 = 20;
const HIGH_QUALITY: u8 = 20;
/// A pair of a longer TLEN is chimeric.
const LONGEST_TEMPLATE: u32 = 100_000;
/// A cycle is bad if so large a share of the reads has no base or another one there.
const BAD: f64 = 0.8;

/// Categories of reads that are counted; pairs are both first and second ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AlignmentSummary {
    first: Category,
    second: Category,
    unpaired: Category,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Category {
    sums: [u64; SUMS],
    /// Reads that passed by their bases, and by those that are not clipped.
    lengths: Sizes,
    aligned_lengths: Sizes,
    /// Aligned reads by their mismatches; of those of a low mapping quality none are counted.
    high_mismatches: Sizes,
    /// By cycle, from 0, below [`MOST_CYCLES`].
    bad: Vec<u64>,
}

/// What is summed up of a category.
#[derive(Debug, Clone, Copy)]
enum Sum {
    Reads,
    Passed,
    Noise,
    Adapters,
    HardClipped,
    SoftClipped,
    EndClippedBases,
    EndClippedReads,
    Aligned,
    Improper,
    Forward,
    InPairs,
    PairsLookedAt,
    Chimeras,
    HighReads,
    AlignedBases,
    HighBases,
    HighBasesOfHighQuality,
    Mismatches,
    Indels,
}

const SUMS: usize = Sum::Indels as usize + 1;

/// What optional fields say.
#[derive(Debug, Default)]
struct Tags {
    is_noise: bool,
    has_more: bool,
    mate_mapq: Option<i64>,
}

impl AlignmentSummary {
    /// Adds a primary record with these bases.
    pub(super) fn add(&mut self, record: &Record<'_>, codes: &[u8], window: &mut Window<'_>) -> Result<(), Error> {
        let flags = record.flags;
        let category = match (flags.is_paired(), flags.is_first()) {
            (false, _) => &mut self.unpaired,
            (true, true) => &mut self.first,
            (true, false) => &mut self.second,
        };
        category.add_read(record, codes);
        category.add_bases(record, codes, window)
    }

    pub(super) fn text(&self, heading: &str) -> String {
        let AlignmentSummary { first, second, unpaired } = self;
        let mut pairs = first.clone();
        pairs += second;
        let mut rows = Vec::new();
        if first.get(Sum::Reads) > 0 {
            rows.push(first.row("FIRST_OF_PAIR", first.bad_cycles()));
            rows.push(second.row("SECOND_OF_PAIR", second.bad_cycles()));
            rows.push(pairs.row("PAIR", first.bad_cycles() + second.bad_cycles()));
        }
        if unpaired.get(Sum::Reads) > 0 || first.get(Sum::Reads) == 0 {
            rows.push(unpaired.row("UNPAIRED", unpaired.bad_cycles()));
        }
        let metrics = Table::new("METRICS CLASS\tpicard.analysis.AlignmentSummaryMetrics", TITLES, rows);
        let columns = [
            ("PAIRED_TOTAL_LENGTH_COUNT", &pairs.lengths),
            ("PAIRED_ALIGNED_LENGTH_COUNT", &pairs.aligned_lengths),
            ("UNPAIRED_TOTAL_LENGTH_COUNT", &unpaired.lengths),
            ("UNPAIRED_ALIGNED_LENGTH_COUNT", &unpaired.aligned_lengths),
        ];
        let columns: Vec<_> = columns.into_iter().filter(|(_, sizes)| sizes.counts().next().is_some()).collect();
        let lengths: BTreeSet<usize> =
            columns.iter().flat_map(|(_, sizes)| sizes.counts().map(|(length, _)| length)).collect();
        let row = |length: usize| {
            let counts = columns.iter().map(|(_, sizes)| sizes.get(length).to_string());
            [length.to_string()].into_iter().chain(counts).collect()
        };
        let titles = ["READ_LENGTH"].into_iter().chain(columns.iter().map(|(title, _)| *title));
        let histogram = Table::new("HISTOGRAM\tjava.lang.Integer", titles, lengths.into_iter().map(row).collect());
        file(heading, Some(metrics), Some(histogram))
    }
}

/// The columns of the metrics.
const TITLES: [&str; 36] = [
    "CATEGORY",
    "TOTAL_READS",
    "PF_READS",
    "PCT_PF_READS",
    "PF_NOISE_READS",
    "PF_READS_ALIGNED",
    "PCT_PF_READS_ALIGNED",
    "PF_ALIGNED_BASES",
    "PF_HQ_ALIGNED_READS",
    "PF_HQ_ALIGNED_BASES",
    "PF_HQ_ALIGNED_Q20_BASES",
    "PF_HQ_MEDIAN_MISMATCHES",
    "PF_MISMATCH_RATE",
    "PF_HQ_ERROR_RATE",
    "PF_INDEL_RATE",
    "MEAN_READ_LENGTH",
    "SD_READ_LENGTH",
    "MEDIAN_READ_LENGTH",
    "MAD_READ_LENGTH",
    "MIN_READ_LENGTH",
    "MAX_READ_LENGTH",
    "MEAN_ALIGNED_READ_LENGTH",
    "READS_ALIGNED_IN_PAIRS",
    "PCT_READS_ALIGNED_IN_PAIRS",
    "PF_READS_IMPROPER_PAIRS",
    "PCT_PF_READS_IMPROPER_PAIRS",
    "BAD_CYCLES",
    "STRAND_BALANCE",
    "PCT_CHIMERAS",
    "PCT_ADAPTER",
    "PCT_SOFTCLIP",
    "PCT_HARDCLIP",
    "AVG_POS_3PRIME_SOFTCLIP_LENGTH",
    "SAMPLE",
    "LIBRARY",
    "READ_GROUP",
];

impl Category {
    fn get(&self, sum: Sum) -> u64 {
        self.sums[sum as usize]
    }

    fn count(&mut self, sum: Sum, by: impl Into<u64>) {
        self.sums[sum as usize] += by.into();
    }

    fn add_read(&mut self, record: &Record<'_>, codes: &[u8]) {
        let flags = record.flags;
        self.count(Sum::Reads, 1u64);
        if flags.failed_filters() {
            return;
        }
        let tags = Tags::of(record);
        self.count(Sum::Passed, 1u64);
        self.count(Sum::Noise, tags.is_noise);
        self.lengths.count(record.bases);
        let of_read = |kinds: &[u8]| -> u64 {
            record.cigar().filter(|op| kinds.contains(&op.letter())).map(|op| u64::from(op.length())).sum()
        };
        self.aligned_lengths.count(of_read(b"M=XI") as usize);
        self.count(Sum::Adapters, is_adapter(record, codes));
        self.count(Sum::HardClipped, of_read(b"H"));
        if !flags.is_mapped() {
            return;
        }
        self.count(Sum::SoftClipped, of_read(b"S"));
        let clipped = clipped_at_end(record);
        self.count(Sum::EndClippedBases, clipped);
        self.count(Sum::EndClippedReads, clipped > 0);
        self.count(Sum::Aligned, 1u64);
        self.count(Sum::Improper, flags.is_paired() && !flags.is_proper());
        self.count(Sum::Forward, !flags.is_reverse());
        let is_high = record.mapq >= HIGH_MAPQ;
        if flags.is_paired() && flags.is_mate_mapped() {
            self.count(Sum::InPairs, 1u64);
            // A mate whose quality the record does not tell is taken for a good one.
            if tags.mate_mapq.is_none_or(|mapq| mapq >= HIGH_MAPQ.into() && is_high) {
                let is_chimeric = record.template_length.unsigned_abs() > LONGEST_TEMPLATE
                    || record.contig != record.mate_contig
                    || orientation(record) != Orientation::ForwardReverse
                    || tags.has_more;
                self.count(Sum::PairsLookedAt, 1u64);
                self.count(Sum::Chimeras, is_chimeric);
            }
        } else if is_high {
            self.count(Sum::PairsLookedAt, 1u64);
            self.count(Sum::Chimeras, tags.has_more);
        }
    }

    fn add_bases(&mut self, record: &Record<'_>, codes: &[u8], window: &mut Window<'_>) -> Result<(), Error> {
        let (flags, bases) = (record.flags, record.bases);
        let cycle = |at: usize| if flags.is_reverse() { bases - 1 - at } else { at };
        if !flags.is_mapped() || flags.failed_filters() {
            let not_called = codes.iter().enumerate().filter(|(_, code)| **code == NO_CALL);
            not_called.for_each(|(at, _)| self.count_bad(cycle(at)));
            return Ok(());
        }
        let is_high = record.mapq >= HIGH_MAPQ;
        self.count(Sum::HighReads, is_high);
        let (mut mismatches, mut aligned, mut good) = (0, 0, 0);
        for (positions, of_read) in record.aligned() {
            // What lies behind the end of the contig is not looked at.
            let reference = window.codes(record.contig, positions)?;
            let place = of_read.start..of_read.end.min(of_read.start + reference.len());
            let read = codes.get(place.clone()).unwrap_or_default();
            aligned += read.len() as u64;
            good += count_where(record.qualities.get(place).unwrap_or_default(), is_good);
            let in_block = count_of_pairs(read, reference, |read, reference| read != reference);
            mismatches += in_block as usize;
            if in_block > 0 || read.contains(&NO_CALL) {
                // As Picard, which takes the place in the block for that in the read.
                let pairs = read.iter().zip(reference).enumerate();
                let bad = pairs.filter(|(_, (read, reference))| read != reference || **read == NO_CALL);
                bad.for_each(|(at, _)| self.count_bad(cycle(at)));
            }
        }
        self.count(Sum::AlignedBases, aligned);
        self.count(Sum::Mismatches, mismatches as u64);
        if is_high {
            self.count(Sum::HighBases, aligned);
            self.count(Sum::HighBasesOfHighQuality, good);
        }
        self.high_mismatches.count(if is_high { mismatches } else { 0 });
        self.count(Sum::Indels, record.cigar().filter(|op| matches!(op.letter(), b'I' | b'D')).count() as u64);
        Ok(())
    }

    fn count_bad(&mut self, cycle: usize) {
        if cycle < MOST_CYCLES {
            count_at(&mut self.bad, cycle);
        }
    }

    fn bad_cycles(&self) -> u64 {
        let reads = self.get(Sum::Reads) as f64;
        match self.get(Sum::Passed) {
            0 => 0,
            _ => self.bad.iter().filter(|count| **count as f64 / reads >= BAD).count() as u64,
        }
    }

    fn row(&self, category: &str, bad_cycles: u64) -> Vec<String> {
        let get = |sum| self.get(sum);
        let share = |of: Sum, all: Sum| match get(all) {
            0 => 0.0,
            all => get(of) as f64 / all as f64,
        };
        let (lengths, aligned) = (of_sizes(&self.lengths), of_sizes(&self.aligned_lengths));
        let bases: f64 = lengths.iter().map(|(length, count)| length * *count as f64).sum();
        let of_bases = |sum| if bases == 0.0 { 0.0 } else { get(sum) as f64 / bases };
        let high: u64 = self.high_mismatches.counts().map(|(count, reads)| count as u64 * reads).sum();
        let high_error_rate = match get(Sum::HighBases) {
            0 => 0.0,
            all => high as f64 / all as f64,
        };
        // Of no reads Picard says 0.
        let of_lengths = |value: fn(&[(f64, u64)]) -> f64, of: &[(f64, u64)]| match get(Sum::Passed) {
            0 => 0.0,
            _ => value(of),
        };
        let ends = |lengths: &[(f64, u64)], end: Option<&(f64, u64)>| match lengths.is_empty() {
            true => 0.0,
            false => end.map_or(0.0, |end| end.0),
        };
        let count = |sum| get(sum).to_string();
        vec![
            category.to_owned(),
            count(Sum::Reads),
            count(Sum::Passed),
            decimal(share(Sum::Passed, Sum::Reads)),
            count(Sum::Noise),
            count(Sum::Aligned),
            decimal(share(Sum::Aligned, Sum::Passed)),
            count(Sum::AlignedBases),
            count(Sum::HighReads),
            count(Sum::HighBases),
            count(Sum::HighBasesOfHighQuality),
            decimal(median(&of_sizes(&self.high_mismatches))),
            decimal(share(Sum::Mismatches, Sum::AlignedBases)),
            decimal(high_error_rate),
            decimal(share(Sum::Indels, Sum::AlignedBases)),
            decimal(of_lengths(mean, &lengths)),
            decimal(of_lengths(deviation, &lengths)),
            decimal(of_lengths(median, &lengths)),
            decimal(of_lengths(median_deviation, &lengths)),
            decimal(ends(&lengths, lengths.first())),
            decimal(ends(&lengths, lengths.last())),
            decimal(of_lengths(mean, &aligned)),
            count(Sum::InPairs),
            decimal(share(Sum::InPairs, Sum::Aligned)),
            count(Sum::Improper),
            decimal(share(Sum::Improper, Sum::Aligned)),
            bad_cycles.to_string(),
            decimal(share(Sum::Forward, Sum::Aligned)),
            decimal(share(Sum::Chimeras, Sum::PairsLookedAt)),
            decimal(share(Sum::Adapters, Sum::Passed)),
            decimal(of_bases(Sum::SoftClipped)),
            decimal(of_bases(Sum::HardClipped)),
            decimal(share(Sum::EndClippedBases, Sum::EndClippedReads)),
            String::new(),
            String::new(),
            String::new(),
        ]
    }
}

fn is_good(quality: u8) -> bool {
    quality >= HIGH_QUALITY && quality != u8::MAX
}

impl Tags {
    fn of(record: &Record<'_>) -> Self {
        let mut tags = Tags::default();
        for field in record.fields() {
            match &field.key {
                b"XN" => tags.is_noise = integer(field) == Some(1),
                b"SA" => tags.has_more = true,
                b"MQ" => tags.mate_mapq = integer(field),
                _ => (),
            }
        }
        tags
    }
}

/// Soft-clipped bases at the end of a read as it was sequenced, behind what is not clipped.
fn clipped_at_end(record: &Record<'_>) -> u64 {
    let mut operations: Vec<(u8, u32)> = record.cigar().map(|op| (op.letter(), op.length())).collect();
    if record.flags.is_reverse() {
        operations.reverse();
    }
    let is_clip = |(letter, _): &&(u8, u32)| matches!(letter, b'S' | b'H');
    let behind = operations.iter().skip_while(is_clip).filter(|(letter, _)| *letter == b'S');
    behind.map(|(_, length)| u64::from(*length)).sum()
}

impl AddAssign<&AlignmentSummary> for AlignmentSummary {
    fn add_assign(&mut self, more: &AlignmentSummary) {
        self.first += &more.first;
        self.second += &more.second;
        self.unpaired += &more.unpaired;
    }
}

impl AddAssign<&Category> for Category {
    fn add_assign(&mut self, more: &Category) {
        self.sums.iter_mut().zip(more.sums).for_each(|(all, more)| *all += more);
        self.lengths += &more.lengths;
        self.aligned_lengths += &more.aligned_lengths;
        self.high_mismatches += &more.high_mismatches;
        add_all(&mut self.bad, &more.bad);
    }
}
