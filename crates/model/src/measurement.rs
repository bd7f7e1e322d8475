//! What happened: plain data that the runtime and the engines fill and `report` turns into words, tables and files.

use crate::aligned_bases::AlignedBases;
use crate::alignment::{Alignment, Alignments};
use crate::chunk::Chunk;
use crate::error::{Error, shown};
use crate::machine::{Bytes, CpuId, NodeId};
use crate::methylation::{Methylation, MethylationReport};
use crate::plan::InstancePlan;
use crate::qc_figures::QcFigures;
use crate::read_lengths::ReadLengths;
use crate::record;
use crate::sink::Elsewhere;
use crate::timeline::Timeline;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use std::time::Duration;

/// Counts of reads and records; adds up over chunks and workers.
///
/// `reads` is what came in, `primary_records` what went out: each read has exactly one primary record, or is counted
/// among those [without one](Tally::without_record). Both are looked at for each read; a run in which the sums do not
/// add up has failed, too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Fragments: single reads or pairs.
    pub fragments: u64,
    /// Reads (two per pair).
    pub reads: u64,
    /// Bases of these reads.
    pub bases: u64,
    /// How long they are.
    #[serde(default)]
    pub lengths: ReadLengths,
    /// What the alignments of an embedded engine cover.
    #[serde(default)]
    pub aligned: AlignedBases,
    /// Records that are neither secondary nor supplementary: one per read.
    pub primary_records: u64,
    /// Reads of which the aligner made no record: mates of no bases, of which an external one wrote none; unmapped
    /// reads, where its options leave them out.
    #[serde(default)]
    pub left_out: u64,
    /// Reads whose records are not written, for unaligned ones are not wanted.
    #[serde(default)]
    pub not_shown: u64,
    /// Reads that went to the files of unaligned reads, if there are any; these may have a record, too.
    #[serde(default)]
    pub unaligned: u64,
    /// Secondary and supplementary records.
    pub other_records: u64,
    /// Reads whose primary record is mapped.
    pub mapped: u64,
    /// Reads that are one of a pair.
    pub paired: u64,
    /// Reads in a pair that the engine flags as proper (flag 0x2).
    pub properly_paired: u64,
    /// Insert sizes of proper pairs.
    pub insert: InsertSizes,
    /// How the mates of pairs lie to each other.
    #[serde(default)]
    pub pairs: PairLayouts,
    /// Which cytosines of bisulfite reads are methylated, until contigs have their names (`RunReport::methylation`).
    #[serde(default, skip_serializing_if = "Methylation::is_empty")]
    pub methylation: Methylation,
}

impl Tally {
    /// Counts the reads of a chunk and their alignments.
    ///
    /// # Errors
    /// [`Error::Engine`]: a read with two primary alignments, or with none that was not left out.
    pub fn of(chunk: &Chunk, alignments: &Alignments) -> Result<Self, Error> {
        let (fragments, left_out) = (chunk.len() as u64, alignments.left_out());
        let mut tally = Tally { fragments, left_out, ..Tally::default() };
        let (mut without, mut first_without) = (0, None);
        // Neighbours are often alike.
        let mut alike = (0, 0);
        let fault = |index, name, what: &str| {
            let fragment = chunk.ticket.first_fragment + index as u64 + 1;
            Error::Engine { read: shown(name), fragment, what: what.to_owned() }
        };
        for index in 0..chunk.len() {
            let fragment = chunk.fragment(index);
            let mut has_primary = [false; 2];
            if index < alignments.fragments() {
                if alignments.has_methylation() {
                    tally.methylation.add(&fragment, alignments.fragment(index));
                }
                for aligned in alignments.fragment(index) {
                    if aligned.alignment.flags & (record::SECONDARY | record::UNMAPPED) == 0 {
                        tally.aligned.add(&aligned);
                    }
                    if tally.add(&aligned.alignment)
                        && std::mem::replace(&mut has_primary[usize::from(aligned.alignment.mate != 0)], true)
                    {
                        return Err(fault(index, fragment.first.name, "it made two primary records of it"));
                    }
                }
            }
            for (read, has_primary) in fragment.reads().zip(has_primary) {
                tally.reads += 1;
                let length = read.seq.len() as u64;
                tally.bases += length;
                if length != alike.0 {
                    let (length, reads) = std::mem::replace(&mut alike, (length, 0));
                    tally.lengths.add(length, reads);
                }
                alike.1 += 1;
                tally.paired += u64::from(fragment.mate.is_some());
                if !has_primary {
                    without += 1;
                    first_without.get_or_insert((index, read.name));
                }
            }
        }
        tally.lengths.add(alike.0, alike.1);
        match first_without {
            Some((index, name)) if without > left_out => Err(fault(index, name, "it made no record of it")),
            _ => Ok(tally),
        }
    }

    /// Takes over what an encoder did with reads of the chunk.
    pub fn correct(&mut self, Elsewhere { not_shown, unaligned }: Elsewhere) {
        self.primary_records -= not_shown;
        self.not_shown += not_shown;
        self.unaligned += unaligned;
    }

    /// Reads without a record.
    pub fn without_record(&self) -> u64 {
        self.left_out + self.not_shown
    }

    /// Counts an alignment; whether it is a primary one.
    fn add(&mut self, Alignment { flags, template_length, .. }: &Alignment) -> bool {
        if flags & (record::SECONDARY | record::SUPPLEMENTARY) != 0 {
            self.other_records += 1;
            return false;
        }
        self.primary_records += 1;
        self.mapped += u64::from(flags & record::UNMAPPED == 0);
        if flags & record::FIRST != 0 {
            self.pairs.add(*flags, (*template_length).into());
        }
        if flags & record::PROPER_PAIR != 0 {
            self.properly_paired += 1;
            if flags & record::FIRST != 0 {
                self.insert.add(template_length.unsigned_abs());
            }
        }
        true
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.fragments += other.fragments;
        self.reads += other.reads;
        self.bases += other.bases;
        self.lengths += &other.lengths;
        self.aligned += other.aligned;
        self.primary_records += other.primary_records;
        self.left_out += other.left_out;
        self.not_shown += other.not_shown;
        self.unaligned += other.unaligned;
        self.other_records += other.other_records;
        self.mapped += other.mapped;
        self.paired += other.paired;
        self.properly_paired += other.properly_paired;
        self.insert += &other.insert;
        self.pairs += &other.pairs;
        self.methylation += &other.methylation;
    }
}

/// How the mates of a pair lie to each other, of which both are mapped: counts of pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairLayouts {
    /// They point to each other (FR).
    pub inward: u64,
    /// They point away from each other (RF).
    pub outward: u64,
    /// They lie on the same strand (FF, RR).
    pub same_strand: u64,
    /// They lie on different contigs, or have a template of more than [`PairLayouts::FAR`] bases.
    pub far: u64,
}

impl PairLayouts {
    /// Mates are far from each other if their template has more bases.
    pub const FAR: u64 = 100_000;

    /// Adds the primary record of a first mate.
    pub fn add(&mut self, flags: u16, template_length: i64) {
        let is = |flag: u16| flags & flag != 0;
        if !is(record::PAIRED) || is(record::UNMAPPED | record::MATE_UNMAPPED) {
            return;
        }
        let (is_reverse, is_leftmost) = (is(record::REVERSE), template_length > 0);
        let count = match template_length {
            0 => &mut self.far,
            _ if template_length.unsigned_abs() > Self::FAR => &mut self.far,
            _ if is_reverse == is(record::MATE_REVERSE) => &mut self.same_strand,
            _ if is_reverse != is_leftmost => &mut self.inward,
            _ => &mut self.outward,
        };
        *count += 1;
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.inward + self.outward + self.same_strand + self.far
    }
}

impl AddAssign<&PairLayouts> for PairLayouts {
    fn add_assign(&mut self, other: &PairLayouts) {
        self.inward += other.inward;
        self.outward += other.outward;
        self.same_strand += other.same_strand;
        self.far += other.far;
    }
}

/// Template lengths of proper pairs (|TLEN| in bases), as a histogram of up to [`InsertSizes::LIMIT`] bases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InsertSizes {
    /// `counts[l]` pairs with template length `l`.
    counts: Vec<u64>,
    /// Pairs with a longer template.
    longer: u64,
}

impl InsertSizes {
    /// Template lengths from here on are counted together.
    pub const LIMIT: usize = 4096;

    /// Adds one pair whose template spans `length` bases.
    pub fn add(&mut self, length: u32) {
        let length = length as usize;
        if length >= Self::LIMIT {
            self.longer += 1;
            return;
        }
        self.reach(length + 1);
        self.counts[length] += 1;
    }

    /// Makes room for lengths below `end`: as much as is needed, for tallies of parts of a run are written down.
    fn reach(&mut self, end: usize) {
        if self.counts.len() < end {
            self.counts.resize(end, 0);
        }
    }

    /// Pairs by template length from 0, as far as there are any below [`InsertSizes::LIMIT`].
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of pairs that were counted.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.longer
    }

    /// The template length that the fraction `q` of the pairs does not exceed; `None` without pairs, or when it lies
    /// at [`InsertSizes::LIMIT`] or beyond.
    pub fn quantile(&self, q: f64) -> Option<u32> {
        let pairs = self.pairs();
        let wanted = ((pairs as f64 * q).ceil() as u64).max(1);
        let mut seen = 0;
        self.counts
            .iter()
            .position(|&n| {
                seen += n;
                pairs > 0 && seen >= wanted
            })
            .map(|length| length as u32)
    }
}

impl AddAssign<&InsertSizes> for InsertSizes {
    fn add_assign(&mut self, other: &InsertSizes) {
        self.reach(other.counts.len());
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.longer += other.longer;
    }
}

/// Where one worker's time went, and what it did. The stages are disjoint; what is missing to `wall` is scheduling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// The CPUs that it was pinned to, as the plan says.
    pub cpus: Vec<CpuId>,
    /// The number of the index copy that it read, from 0.
    pub replica: usize,
    /// Chunks that it mapped.
    pub chunks: u64,
    /// Reading, inflating and surveying input.
    pub claim: Duration,
    /// Waiting for input that was not there yet.
    pub wait_input: Duration,
    /// Parsing.
    pub parse: Duration,
    /// Mapping.
    pub map: Duration,
    /// Encoding, with the compression of BAM.
    pub encode: Duration,
    /// Writing.
    pub commit: Duration,
    /// Waiting for its turn to write, or for a slow output.
    pub wait_output: Duration,
    /// From its start to its end.
    pub wall: Duration,
    /// What it was doing, over time.
    #[serde(default)]
    pub timeline: Timeline,
}

/// One instance of an external aligner: where it ran, what went in and came out, and where its memory lay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceReport {
    /// Where it was to run, and on which memory.
    pub plan: InstancePlan,
    /// The number of its process (PID).
    pub pid: u32,
    /// Its command, word by word.
    pub command: Vec<String>,
    /// Chunks that it mapped.
    pub chunks: u64,
    /// Reads that it was given.
    pub reads_in: u64,
    /// Reads that came back, each with one record or more.
    pub reads_out: u64,
    /// Pages of its own (heap and large blocks), at the time when most were seen.
    pub private: PageCensus,
    /// Pages that it mapped of a shared index copy.
    pub shared: PageCensus,
    /// The largest resident set that was seen.
    pub peak_memory: Bytes,
    /// The file that holds what it wrote on standard error, if it was kept.
    pub log: Option<String>,
    /// What the kernel refused, a sentence each.
    pub refused: Vec<String>,
}

/// How the records of a run compare with those of the aligner by itself. Counts are of records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The command of the aligner by itself.
    pub command: Vec<String>,
    /// Single reads or pairs that were compared.
    pub fragments: u64,
    /// Records of the aligner by itself.
    pub records: u64,
    /// Records that are the same, byte for byte.
    pub same: u64,
    /// At another place of the same score: a choice between equals.
    pub ties: u64,
    /// At another place of another score (AS).
    pub other_score: u64,
    /// At the same place, but paired otherwise: FLAG, RNEXT, PNEXT or TLEN differ.
    pub other_pairing: u64,
    /// At the same place and paired the same, but MAPQ or optional fields differ.
    pub other_fields: u64,
    /// Records that are in one of the two alone.
    pub unmatched: u64,
}

impl Comparison {
    /// Whether all records are the same.
    pub fn is_same(&self) -> bool {
        self.same == self.records && self.unmatched == 0
    }
}

/// Time in which only one thread could make progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Serial {
    /// Cutting the input into chunks.
    pub cut: Duration,
    /// Putting outputs in order; for a pipe the writing itself.
    pub order: Duration,
}

/// Times and counts of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Counts over all chunks of all workers.
    pub tally: Tally,
    /// One report per worker.
    pub workers: Vec<WorkerReport>,
    /// Serial time of input and output.
    pub serial: Serial,
    /// One per instance of an external aligner; none for an embedded engine.
    #[serde(default)]
    pub instances: Vec<InstanceReport>,
    /// What the kernel refused (pinning), a sentence each.
    pub refused: Vec<String>,
    /// Bytes written, after compression; of all files, with headers and end markers once the output is finished.
    pub bytes_out: Bytes,
    /// From the first claim to the last byte written, or, of sorted records, to the last that was collected.
    pub wall: Duration,
    /// How records were merged, if they were sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sorted: Option<SortReport>,
    /// What came of trimming, if reads were trimmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimmed: Option<TrimReport>,
    /// Which cytosines are methylated, if the reads were converted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methylation: Option<MethylationReport>,
}

/// The second half of a run whose records are sorted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SortReport {
    /// Bytes that were written to temporary files, compressed.
    pub spilled: Bytes,
    /// From the first record that was merged to the last byte written.
    pub wall: Duration,
    /// Time that all workers spent merging and compressing.
    pub making: Duration,
    /// Time that all workers spent writing, or waiting for their turn.
    pub writing: Duration,
    /// What was found, if duplicates were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<DuplicateReport>,
    /// What was made of the records beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<QcReport>,
}

/// Reports of the records that were made while these were written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QcReport {
    /// Their files, with indexes.
    pub files: u64,
    /// Time that all workers spent on them, about: one record of many is timed.
    pub time: Duration,
    /// The options of mosdepth.
    pub mosdepth: String,
    /// Whether Picard's metrics are among them.
    #[serde(default)]
    pub picard: bool,
    /// The options of MethylDackel, if its lines are among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methyldackel: Option<String>,
    /// What they found; nothing in files of before.
    #[serde(default)]
    pub figures: QcFigures,
}

/// Duplicates among the primary records that are mapped; by the rules of samtools, also pass the filters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateReport {
    /// Records whose mate is mapped, too.
    pub paired: u64,
    /// Records without a mapped mate.
    pub single: u64,
    /// Primary records with the barcode of a molecule, if these are looked for.
    #[serde(default)]
    pub barcoded: u64,
    /// Pairs of which one mate has a barcode, and the other has none.
    #[serde(default)]
    pub barcoded_alone: u64,
    /// Duplicates among the first.
    pub paired_duplicates: u64,
    /// Duplicates among the others.
    pub single_duplicates: u64,
    /// The same counts for each library.
    #[serde(default)]
    pub libraries: Vec<LibraryReport>,
    /// What UMIs said, if they were looked at.
    #[serde(default)]
    pub umis: Option<UmiReport>,
    /// How long it took to find them, once all reads were aligned.
    pub wall: Duration,
}

/// Reads that were trimmed, or dropped, before they were aligned. Both mates of a pair are dropped for one reason.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrimReport {
    /// Reads, as they came.
    pub reads: u64,
    /// Their bases.
    pub bases: u64,
    /// Reads that stayed.
    pub kept_reads: u64,
    /// Bases that stayed.
    pub kept_bases: u64,
    /// Reads dropped for low qualities, ...
    pub low_quality: u64,
    /// ... for bases that were not called, ...
    pub too_many_n: u64,
    /// ... for too few bases, ...
    pub too_short: u64,
    /// ... for too many, ...
    pub too_long: u64,
    /// ... for little change from base to base, ...
    pub low_complexity: u64,
    /// ... or for adapters that follow each other.
    pub adapter_dimers: u64,
    /// Reads from which an adapter was cut.
    pub adapter_reads: u64,
    /// Bases of adapters.
    pub adapter_bases: u64,
    /// The adapters that were looked for in first reads and in second ones, given or found.
    pub adapters: [Option<String>; 2],
    /// First reads and second ones by cycle; nothing where that was not asked for.
    #[serde(default)]
    pub cycles: [TrimCycles; 2],
}

/// Reads of one mate by cycle, before and after trimming.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrimCycles {
    /// The mean quality, of reads as they came.
    pub quality_before: Vec<f64>,
    /// The same of what stayed.
    pub quality_after: Vec<f64>,
    /// The shares of A, C, G, T and N, of reads as they came.
    pub bases_before: Vec<[f64; 5]>,
}

/// Templates that were grouped by their UMIs. Reads are counted once, for the first reason that keeps them out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UmiReport {
    /// How UMIs were compared, as the option says it: `adjacency:1`.
    pub rules: String,
    /// Sizes of families, in templates, and how many families have each.
    pub families: Vec<(u64, u64)>,
    /// Reads whose templates were grouped.
    pub grouped: u64,
    /// Reads without a UMI.
    pub without_umi: u64,
    /// Reads that failed the filters of the sequencer, and their mates.
    pub not_passing_filter: u64,
    /// Reads of templates that are not mapped, or of which a read has a low mapping quality.
    pub poor_alignment: u64,
    /// Reads with a base of the UMI that was not called.
    pub no_calls: u64,
    /// Reads with too few bases in the UMI.
    #[serde(default)]
    pub too_short: u64,
}

/// The duplicates of a library.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LibraryReport {
    /// Its name (LB of its read groups).
    pub name: String,
    /// Pairs of which both mates are mapped.
    pub pairs: u64,
    /// Reads without a mapped mate.
    pub single: u64,
    /// Duplicates among the pairs.
    pub pair_duplicates: u64,
    /// Duplicates among the reads.
    pub single_duplicates: u64,
    /// Optical duplicates among the pairs, if they were looked for.
    pub optical_pairs: Option<u64>,
    /// How many different fragments it has, as far as can be told.
    pub estimated_size: Option<u64>,
}

/// Where the pages of some memory really lie, as the kernel says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageCensus {
    /// Bytes that were looked at (mapped and present).
    pub present: Bytes,
    /// Bytes per node, ascending by node.
    pub per_node: Vec<(NodeId, Bytes)>,
    /// Bytes of them on huge pages.
    pub huge: Bytes,
}

/// One index copy: what was asked for and what the kernel did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplicaReport {
    /// Where it was to lie.
    pub placement: crate::plan::Placement,
    /// Where its large blocks lie.
    pub census: PageCensus,
    /// What the kernel refused, a sentence each.
    pub refused: Vec<String>,
}

#[cfg(test)]
mod tests;
