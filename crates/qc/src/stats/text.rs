//! How samtools stats tells what was counted.

use super::gc_depth::GcBins;
use super::gc_shares::GcShares;
use super::{GC_PLACES, LARGEST_INSERT, LONGEST_INDEL, OfMate, Stats, Sum};
use crate::cycles::{Bases, Cycles, MOST_CYCLES};
use crate::number::scientific;
use crate::record::ReadOrder;
use std::fmt::Write as _;
use zerohop_model::qc_figures::QcFigures;

/// Of so many reads all but some have an insert size in the main bulk.
const MAIN_BULK: f32 = 0.99;
/// Reads that are told of by cycle.
const MATES: [ReadOrder; 2] = [ReadOrder::First, ReadOrder::Last];
/// Larger depths are counted together.
pub(crate) const LARGEST_DEPTH: usize = 1000;

/// Insert sizes, as they are told.
struct Inserts {
    /// By size: inward, outward and other pairs. What is behind the main bulk is left out.
    told: Vec<[u64; 3]>,
    /// All.
    pairs: [u64; 3],
    mean: f64,
    deviation: f64,
}

impl Stats {
    /// The report. `depths` are places by their depth, up to [`LARGEST_DEPTH`], and those that are deeper; `bins` are
    /// those of GC-depth.
    pub(crate) fn text(&self, heading: &str, cycles: &Cycles, depths: &[u64], bins: GcBins) -> String {
        let mut out = String::from(heading);
        let inserts = self.inserts();
        let [names, bases, qualities] = self.checksums;
        line(&mut out, "# CHK, Checksum\t[2]Read Names\t[3]Sequences\t[4]Qualities");
        line(&mut out, "# CHK, CRC32 of reads which passed filtering followed by addition (32bit overflow)");
        let _ = writeln!(out, "CHK\t{names:08x}\t{bases:08x}\t{qualities:08x}");
        self.summary(&mut out, &inserts);
        self.qualities(cycles, &mut out);
        self.gc_of_reads(&mut out);
        bases_by_cycle(cycles, &mut out);
        self.barcodes.text(&mut out);
        section(
            &mut out,
            "Insert sizes",
            "IS",
            "insert size, pairs total, inward oriented pairs, outward oriented \
                 pairs, other pairs",
        );
        for (size, [inward, outward, other]) in inserts.told.iter().enumerate() {
            let _ = writeln!(out, "IS\t{size}\t{}\t{inward}\t{outward}\t{other}", inward + outward + other);
        }
        self.lengths(&mut out);
        section(&mut out, "Mapping qualities for reads !(UNMAP|SECOND|SUPPL|QCFAIL|DUP)", "MAPQ", "mapq, count");
        counts(&mut out, "MAPQ", &self.mapq);
        self.indels(&mut out);
        coverage(&mut out, depths);
        bins.tell(&mut out, self.mean_length());
        out
    }

    /// What tables and pictures are made of.
    pub(crate) fn figures(&self) -> QcFigures {
        let Inserts { told, pairs, .. } = self.inserts();
        // The largest size stands for larger ones, too.
        let told = told.iter().take(LARGEST_INSERT);
        let mut inserts: Vec<u64> = told.map(|counts| counts.iter().sum()).collect();
        let larger = pairs.iter().sum::<u64>() - inserts.iter().sum::<u64>();
        if !inserts.is_empty() {
            inserts.push(larger);
        }
        let mut gc = GcShares::default();
        self.mates.iter().for_each(|mate| gc += &mate.gc_shares);
        QcFigures {
            reads: self.reads(),
            bases: self.get(Sum::Bases),
            mapped_bases: self.get(Sum::CigarBases),
            edits: self.get(Sum::Mismatches),
            inserts,
            gc: gc.reads(),
            mapq: self.mapq.clone(),
            mismatches: MATES.map(|mate| self.mismatches.as_ref().map(|it| it.shares(mate)).unwrap_or_default()),
            ..QcFigures::default()
        }
    }

    fn reads(&self) -> u64 {
        self.get(Sum::FirstReads) + self.get(Sum::LastReads) + self.get(Sum::OtherReads)
    }

    /// Of all reads. samtools divides numbers of 32 bits.
    fn mean_length(&self) -> f32 {
        mean(self.get(Sum::Bases), self.reads())
    }

    fn inserts(&self) -> Inserts {
        // Each pair was counted twice.
        let halves: Vec<[u64; 3]> = self.inserts.iter().map(|counts| counts.map(|count| count / 2)).collect();
        let mut pairs = [0; 3];
        halves.iter().for_each(|counts| (0..3).for_each(|kind| pairs[kind] += counts[kind]));
        let all: u64 = pairs.iter().sum();
        let (mut bulk, mut mean, mut told, mut counted) = (0.0, 0.0, 0, all);
        for (size, counts) in halves.iter().enumerate() {
            let count: u64 = counts.iter().sum();
            if count > 0 {
                told = size + 1;
            }
            bulk += count as f64;
            mean += (size as u64 * count) as f64;
            if bulk / all as f64 > MAIN_BULK.into() {
                (told, counted) = (size + 1, bulk as u64);
                break;
            }
        }
        let counted = counted.max(1) as f64;
        mean /= counted;
        let of_size = |size: usize| {
            let (count, away) = (halves[size].iter().sum::<u64>() as f64, size as f64 - mean);
            count * away * away / counted
        };
        // (The sum of nothing is -0 in Rust.)
        let deviation = (1..told).map(of_size).fold(0.0, |all, more| all + more).sqrt();
        Inserts { told: halves[..told].to_vec(), pairs, mean, deviation }
    }

    fn summary(&self, out: &mut String, inserts: &Inserts) {
        let sum = |sum| self.get(sum);
        let (reads, bases) = (self.reads(), sum(Sum::Bases));
        let [inward, outward, other] = inserts.pairs;
        line(out, "# Summary Numbers. Use `grep ^SN | cut -f 2-` to extract this part.");
        let mut tell = |what: &str, value: String, comment: &str| {
            let _ = write!(out, "SN\t{what}:\t{value}");
            if !comment.is_empty() {
                let _ = write!(out, "\t# {comment}");
            }
            out.push('\n');
        };
        let number = |number: u64| number.to_string();
        let whole = |mean: f32| format!("{mean:.0}");
        tell("raw total sequences", number(reads), "excluding supplementary and secondary reads");
        tell("filtered sequences", number(0), "");
        tell("sequences", number(reads), "");
        tell("is sorted", number(1), "sorted by coordinate");
        tell("1st fragments", number(sum(Sum::FirstReads)), "");
        tell("last fragments", number(sum(Sum::LastReads)), "");
        tell("reads mapped", number(sum(Sum::BothMappedReads) + sum(Sum::SingleMappedReads)), "");
        let both = "paired-end technology bit set + both mates mapped";
        tell("reads mapped and paired", number(sum(Sum::BothMappedReads)), both);
        tell("reads unmapped", number(sum(Sum::UnmappedReads)), "");
        tell("reads properly paired", number(sum(Sum::ProperReads)), "proper-pair bit set");
        tell("reads paired", number(sum(Sum::PairedReads)), "paired-end technology bit set");
        tell("reads duplicated", number(sum(Sum::DuplicateReads)), "PCR or optical duplicate bit set");
        tell("reads MQ0", number(sum(Sum::MapqZeroReads)), "mapped and MQ=0");
        tell("reads QC failed", number(sum(Sum::FailedReads)), "");
        tell("non-primary alignments", number(sum(Sum::SecondaryRecords)), "");
        tell("supplementary alignments", number(sum(Sum::SupplementaryRecords)), "");
        tell("total length", number(bases), "ignores clipping");
        tell("total first fragment length", number(sum(Sum::FirstBases)), "ignores clipping");
        tell("total last fragment length", number(sum(Sum::LastBases)), "ignores clipping");
        tell("bases mapped", number(sum(Sum::MappedBases)), "ignores clipping");
        tell("bases mapped (cigar)", number(sum(Sum::CigarBases)), "more accurate");
        tell("bases trimmed", number(0), "");
        tell("bases duplicated", number(sum(Sum::DuplicateBases)), "");
        tell("mismatches", number(sum(Sum::Mismatches)), "from NM fields");
        let errors = mean(sum(Sum::Mismatches), sum(Sum::CigarBases));
        tell("error rate", scientific(errors.into()), "mismatches / bases mapped (cigar)");
        tell("average length", whole(self.mean_length()), "");
        tell("average first fragment length", whole(mean(sum(Sum::FirstBases), sum(Sum::FirstReads))), "");
        tell("average last fragment length", whole(mean(sum(Sum::LastBases), sum(Sum::LastReads))), "");
        tell("maximum length", number(self.longest as u64), "");
        tell("maximum first fragment length", number(self.mates[0].longest as u64), "");
        tell("maximum last fragment length", number(self.mates[1].longest as u64), "");
        let quality = if bases == 0 { 0.0 } else { sum(Sum::Qualities) as f64 / bases as f64 };
        tell("average quality", format!("{quality:.1}"), "");
        tell("insert size average", format!("{:.1}", inserts.mean), "");
        tell("insert size standard deviation", format!("{:.1}", inserts.deviation), "");
        tell("inward oriented pairs", number(inward), "");
        tell("outward oriented pairs", number(outward), "");
        tell("pairs with other orientation", number(other), "");
        tell("pairs on different chromosomes", number(sum(Sum::MateElsewhereReads) / 2), "");
        let proper = mean(100 * sum(Sum::ProperReads), reads);
        tell("percentage of properly paired reads (%)", format!("{proper:.1}"), "");
    }

    fn qualities(&self, cycles: &Cycles, out: &mut String) {
        let of_mates = MATES.map(|mate| cycles.qualities(&[mate]));
        let largest = of_mates.iter().map(|of_mate| of_mate.largest).max().unwrap_or(0);
        // One column more than there are qualities, but for reads that have none.
        let columns = 0..=usize::from(largest.saturating_add(1));
        let words = [("First", "FFQ"), ("Last", "LFQ")];
        for ((mate, qualities), (words, code)) in self.mates.iter().zip(of_mates).zip(words) {
            let _ = writeln!(out, "# {words} Fragment Qualities. Use `grep ^{code} | cut -f 2-` to extract this part.");
            line(out, "# Columns correspond to qualities and rows to cycles. First column is the cycle number.");
            for cycle in 0..mate.longest.min(MOST_CYCLES) {
                let _ = write!(out, "{code}\t{}", cycle + 1);
                for quality in columns.clone() {
                    let _ = write!(out, "\t{}", qualities.at(cycle, quality));
                }
                out.push('\n');
            }
        }
        if let Some(mismatches) = &self.mismatches {
            // One cycle more than the longest read has.
            mismatches.tell(out, (self.longest + 1).min(MOST_CYCLES), columns);
        }
    }

    fn gc_of_reads(&self, out: &mut String) {
        for (OfMate { gc, .. }, (words, code)) in self.mates.iter().zip([("first", "GCF"), ("last", "GCL")]) {
            let _ = writeln!(
                out,
                "# GC Content of {words} fragments. Use `grep ^{code} | cut -f 2-` to extract this part."
            );
            let mut before = 0;
            for place in 0..gc.len() {
                if gc[place] != gc[before] {
                    let percent = (place + before) as f64 * 0.5 * 100.0 / (GC_PLACES - 1) as f64;
                    let _ = writeln!(out, "{code}\t{percent:.2}\t{}", gc[before]);
                    before = place;
                }
            }
        }
    }

    fn lengths(&self, out: &mut String) {
        let [first, last] = &self.mates;
        let of_mates = [(" - first fragments", "FRL", &first.lengths), (" - last fragments", "LRL", &last.lengths)];
        for (words, code, lengths) in [("", "RL", &self.lengths)].into_iter().chain(of_mates) {
            section(out, &format!("Read lengths{words}"), code, "read length, count");
            for (length, count) in lengths.counts() {
                let _ = writeln!(out, "{code}\t{length}\t{count}");
            }
        }
    }

    fn indels(&self, out: &mut String) {
        let at = |counts: &[u64], at: usize| counts.get(at).copied().unwrap_or_default();
        section(out, "Indel distribution", "ID", "length, number of insertions, number of deletions");
        for length in 1..=LONGEST_INDEL {
            let (insertions, deletions) = (at(&self.insertions, length), at(&self.deletions, length));
            if insertions + deletions > 0 {
                let _ = writeln!(out, "ID\t{length}\t{insertions}\t{deletions}");
            }
        }
        let columns = "cycle, number of insertions (fwd), .. (rev) , number of deletions (fwd), .. (rev)";
        section(out, "Indels per cycle", "IC", columns);
        let [first, last] = &self.mates;
        let cycles = [&first.insertions, &last.insertions, &first.deletions, &last.deletions];
        for cycle in 0..cycles.iter().map(|counts| counts.len()).max().unwrap_or(0) {
            let [i1, i2, d1, d2] = cycles.map(|counts| at(counts, cycle));
            if i1 + i2 + d1 + d2 > 0 {
                let _ = writeln!(out, "IC\t{}\t{i1}\t{i2}\t{d1}\t{d2}", cycle + 1);
            }
        }
    }
}

fn bases_by_cycle(cycles: &Cycles, out: &mut String) {
    const ACGT: &str = "A,C,G,T base counts as a percentage of all A/C/G/T bases [%]";
    let others = format!("{ACGT}; and N and O counts as a percentage of all A/C/G/T bases [%]");
    let mates = MATES.map(|mate| cycles.bases_in_records(&[mate]));
    section(out, "ACGT content per cycle", "GCC", &format!("cycle; {others}"));
    shares(out, "GCC", &cycles.bases_in_records(&MATES), 6);
    section(out, "ACGT content per cycle, read oriented", "GCT", &format!("cycle; {ACGT}"));
    shares(out, "GCT", &cycles.bases_in_reads(&MATES), 4);
    for (bases, (words, code)) in mates.iter().zip([("first", 'F'), ("last", 'L')]) {
        let what = format!("ACGT content per cycle for {words} fragments");
        section(out, &what, &format!("{code}BC"), &format!("cycle; {others}"));
        shares(out, &format!("{code}BC"), bases, 6);
        let what = format!("ACGT raw counters for {words} fragments");
        section(out, &what, &format!("{code}TC"), "A,C,G,T,N base counters");
        let sum = |base: usize| bases.iter().map(|bases| bases[base]).sum::<u64>();
        let _ = writeln!(out, "{code}TC\t{}\t{}\t{}\t{}\t{}", sum(0), sum(1), sum(2), sum(3), sum(4));
    }
}

/// samtools divides numbers of 32 bits; of nothing the mean is 0.
fn mean(sum: u64, of: u64) -> f32 {
    if of == 0 { 0.0 } else { sum as f32 / of as f32 }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

pub(super) fn section(out: &mut String, what: &str, code: &str, columns: &str) {
    let _ = writeln!(out, "# {what}. Use `grep ^{code} | cut -f 2-` to extract this part. The columns are: {columns}");
}

fn counts(out: &mut String, code: &str, counts: &[u64]) {
    for (value, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let _ = writeln!(out, "{code}\t{value}\t{count}");
    }
}

/// So many kinds of bases of each cycle, in percent of A, C, G and T.
fn shares(out: &mut String, code: &str, cycles: &[Bases], kinds: usize) {
    for (cycle, bases) in cycles.iter().enumerate() {
        let all: u64 = bases[..4].iter().sum();
        if all == 0 {
            continue;
        }
        let _ = write!(out, "{code}\t{}", cycle + 1);
        for count in &bases[..kinds] {
            let _ = write!(out, "\t{:.2}", 100.0 * *count as f64 / all as f64);
        }
        out.push('\n');
    }
}

fn coverage(out: &mut String, depths: &[u64]) {
    line(out, "# Coverage distribution. Use `grep ^COV | cut -f 2-` to extract this part.");
    for (depth, places) in depths.iter().enumerate().filter(|(depth, places)| *depth > 0 && **places > 0) {
        let _ = match depth {
            deeper if deeper > LARGEST_DEPTH => writeln!(out, "COV\t[{LARGEST_DEPTH}<]\t{LARGEST_DEPTH}\t{places}"),
            depth => writeln!(out, "COV\t[{depth}-{depth}]\t{depth}\t{places}"),
        };
    }
}
