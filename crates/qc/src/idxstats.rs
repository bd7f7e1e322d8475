//! `samtools idxstats` (bam_index.c of samtools 1.24): how many records lie on each contig, mapped and unmapped.

use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::AddAssign;
use zerohop_model::record::Contig;

/// Counts of records by contig.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdxStats {
    /// Those that are mapped, and those that are not, and lie beside their mate.
    contigs: Vec<[u64; 2]>,
    /// Those on no contig.
    elsewhere: u64,
}

impl IdxStats {
    /// Counts a record.
    #[inline]
    pub fn add(&mut self, record: &Record<'_>) {
        let Ok(contig) = usize::try_from(record.contig) else {
            self.elsewhere += 1;
            return;
        };
        if contig >= self.contigs.len() {
            self.contigs.resize(contig + 1, [0; 2]);
        }
        self.contigs[contig][usize::from(!record.flags.is_mapped())] += 1;
    }

    /// The report.
    pub fn text(&self, contigs: &[Contig]) -> String {
        let mut text = String::new();
        for (number, Contig { name, length, .. }) in contigs.iter().enumerate() {
            let [mapped, unmapped] = self.contigs.get(number).copied().unwrap_or_default();
            let _ = writeln!(text, "{name}\t{length}\t{mapped}\t{unmapped}");
        }
        let _ = writeln!(text, "*\t0\t0\t{}", self.elsewhere);
        text
    }
}

impl AddAssign<&IdxStats> for IdxStats {
    fn add_assign(&mut self, more: &IdxStats) {
        self.contigs.resize(self.contigs.len().max(more.contigs.len()), [0; 2]);
        let counts = self.contigs.iter_mut().flatten();
        counts.zip(more.contigs.iter().flatten()).for_each(|(all, more)| *all += more);
        self.elsewhere += more.elsewhere;
    }
}
