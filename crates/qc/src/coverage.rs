//! `samtools coverage` (coverage.c of samtools 1.24), with its defaults: how much of each contig is covered, and how
//! well. Records that are unmapped, secondary, duplicates or failed the sequencer's filters are left out; deleted and
//! skipped bases are not covered. Its limit of a depth of 1,000,000 is not kept.

use crate::cycles::{ReadSums, quality_sum};
use crate::number::general;
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::AddAssign;
use zerohop_model::record::{Contig, DUPLICATE, QC_FAIL, SECONDARY, UNMAPPED};

/// What is left out.
pub(crate) const LEFT_OUT: u16 = UNMAPPED | SECONDARY | QC_FAIL | DUPLICATE;

/// What is told of each contig.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage(BTreeMap<u32, OfContig>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfContig {
    records: u64,
    mapq: u64,
    covered: u64,
    aligned_bases: u64,
    qualities: u64,
}

impl Coverage {
    /// Adds a record, and what is known of its read, if it is a primary one. Its bases are covered later
    /// ([`Self::cover`]).
    pub(crate) fn add(&mut self, record: &Record<'_>, read: Option<ReadSums>) {
        let Ok(contig) = u32::try_from(record.contig) else { return };
        if record.flags.any(LEFT_OUT) {
            return;
        }
        let of_contig = self.0.entry(contig).or_default();
        of_contig.records += 1;
        of_contig.mapq += u64::from(record.mapq);
        for (_, bases) in record.aligned() {
            of_contig.aligned_bases += bases.len() as u64;
            of_contig.qualities += match read {
                Some(sums) if bases == (0..record.bases) => sums.qualities,
                _ => quality_sum(record.qualities.get(bases).unwrap_or_default()),
            };
        }
    }

    /// So many further places of a contig are covered.
    pub(crate) fn cover(&mut self, contig: u32, places: u64) {
        self.0.entry(contig).or_default().covered += places;
    }

    /// The report. Contigs that are covered come first.
    pub fn text(&self, contigs: &[Contig]) -> String {
        let mut text =
            String::from("#rname\tstartpos\tendpos\tnumreads\tcovbases\tcoverage\tmeandepth\tmeanbaseq\tmeanmapq\n");
        let of = |number: usize| self.0.get(&(number as u32)).copied().unwrap_or_default();
        let (covered, others): (Vec<usize>, Vec<usize>) =
            (0..contigs.len()).partition(|number| of(*number).aligned_bases > 0);
        for number in covered.into_iter().chain(others) {
            let Contig { name, length, .. } = &contigs[number];
            let OfContig { records, mapq, covered, aligned_bases, qualities } = of(number);
            let mean = |sum: u64, of: u64| if of == 0 { 0.0 } else { sum as f64 / of as f64 };
            let _ = writeln!(
                text,
                "{name}\t1\t{length}\t{records}\t{covered}\t{}\t{}\t{}\t{}",
                general(100.0 * covered as f64 / *length as f64, 6),
                general(aligned_bases as f64 / *length as f64, 6),
                general(mean(qualities, aligned_bases), 3),
                general(mean(mapq, records), 3),
            );
        }
        text
    }
}

impl AddAssign<&Coverage> for Coverage {
    fn add_assign(&mut self, more: &Coverage) {
        for (contig, more) in &more.0 {
            let all = self.0.entry(*contig).or_default();
            all.records += more.records;
            all.mapq += more.mapq;
            all.covered += more.covered;
            all.aligned_bases += more.aligned_bases;
            all.qualities += more.qualities;
        }
    }
}
