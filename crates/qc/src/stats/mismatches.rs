//! Mismatches by cycle and quality (MPC of samtools stats), with a reference.

use crate::counts::{add_all, count_at, count_of_pairs};
use crate::cycles::MOST_CYCLES;
use crate::record::{NO_CALL, ReadOrder, Record};
use crate::reference::Window;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::{AddAssign, Range, RangeInclusive};
use zerohop_model::error::Error;

/// By [`ReadOrder`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mismatches([OfOrder; ReadOrder::ALL.len()]);

/// By cycle, with hard-clipped bases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfOrder {
    /// How many bases are N, and, by quality, how many are another base than the reference has.
    told: Vec<Vec<u64>>,
    /// Of primary records, up to the first intron: how many more bases lie on the reference than in the cycle before,
    /// and how many of all are another base.
    aligned: Vec<i64>,
    differ: Vec<u64>,
}

impl Mismatches {
    /// Adds a mapped record with these bases. As samtools, it takes what lies behind skipped bases of the reference (N)
    /// for what follows those before them.
    pub(super) fn add(&mut self, record: &Record<'_>, codes: &[u8], window: &mut Window<'_>) -> Result<(), Error> {
        let (length, of_order) = (record.length(), &mut self.0[record.flags.order() as usize]);
        let (mut position, mut base, mut cycle) = (record.position.max(0) as u32, 0, 0);
        let mut is_shown = !record.flags.is_supplementary();
        for op in record.cigar() {
            let bases = op.length() as usize;
            match op.letter() {
                b'D' => position = position.saturating_add(op.length()),
                b'N' => is_shown = false,
                b'H' => cycle += bases,
                b'I' | b'S' => (base, cycle) = (base + bases, cycle + bases),
                b'M' | b'=' | b'X' => {
                    let reference = window.codes(record.contig, position..position.saturating_add(op.length()))?;
                    let end = (base + bases).min(codes.len());
                    let read = codes.get(base..end).unwrap_or_default();
                    let cycles = match record.flags.is_reverse() {
                        false => cycle..cycle + read.len(),
                        true => length.saturating_sub(cycle + read.len())..length.saturating_sub(cycle),
                    };
                    if is_shown {
                        of_order.add_aligned(cycles.clone());
                    }
                    let differ = count_of_pairs(read, reference, |read, reference| read != reference) > 0;
                    if differ || read.contains(&NO_CALL) {
                        let at = |base: usize| match record.flags.is_reverse() {
                            false => cycles.start + base,
                            true => cycles.end - 1 - base,
                        };
                        let qualities = record.qualities.get(base..end).unwrap_or_default();
                        let pairs = read.iter().zip(reference).zip(qualities).enumerate();
                        for (number, ((read, reference), quality)) in pairs {
                            of_order.add_base(at(number), (*read, *reference), *quality, is_shown);
                        }
                    }
                    position = position.saturating_add(op.length());
                    (base, cycle) = (base + bases, cycle + bases);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Which share of the bases of each cycle of some reads that lie on the reference are other ones: of primary
    /// records, up to the first intron.
    pub(super) fn shares(&self, order: ReadOrder) -> Vec<f64> {
        let OfOrder { aligned, differ, .. } = &self.0[order as usize];
        let bases = aligned.iter().scan(0, |bases, change| {
            *bases += change;
            Some(*bases)
        });
        let differ = differ.iter().copied().chain(std::iter::repeat(0));
        let shares = bases.zip(differ).map(|(bases, differ)| differ as f64 / bases.max(1) as f64);
        // Behind the last cycle there is the change to none.
        shares.take(aligned.len().saturating_sub(1)).collect()
    }

    pub(super) fn tell(&self, out: &mut String, cycles: usize, columns: RangeInclusive<usize>) {
        out.push_str(
            "# Mismatches per cycle and quality. Use `grep ^MPC | cut -f 2-` to extract this part.\n\
             # Columns correspond to qualities, rows to cycles. First column is the cycle number, second\n\
             # is the number of N's and the rest is the number of mismatches\n",
        );
        for cycle in 0..cycles {
            let mut counts = Vec::new();
            self.0.iter().filter_map(|of_order| of_order.told.get(cycle)).for_each(|more| add_all(&mut counts, more));
            let _ = write!(out, "MPC\t{}", cycle + 1);
            for column in columns.clone() {
                let _ = write!(out, "\t{}", counts.get(column).copied().unwrap_or(0));
            }
            out.push('\n');
        }
    }
}

impl OfOrder {
    fn add_aligned(&mut self, cycles: Range<usize>) {
        let cycles = cycles.start.min(MOST_CYCLES)..cycles.end.min(MOST_CYCLES);
        if self.aligned.len() <= cycles.end {
            self.aligned.resize(cycles.end + 1, 0);
        }
        self.aligned[cycles.start] += 1;
        self.aligned[cycles.end] -= 1;
    }

    fn add_base(&mut self, cycle: usize, (read, reference): (u8, u8), quality: u8, is_shown: bool) {
        // samtools knows A, C, G and T of the reference, and any base of a read.
        let is_mismatch = reference.is_power_of_two() && read != 0 && read != reference;
        let column = match read {
            NO_CALL => 0,
            // In one byte, as samtools has it.
            _ if is_mismatch => quality.wrapping_add(1),
            _ => return,
        };
        if cycle >= MOST_CYCLES {
            return;
        }
        if self.told.len() <= cycle {
            self.told.resize(cycle + 1, Vec::new());
        }
        count_at(&mut self.told[cycle], column.into());
        if is_shown && read != NO_CALL {
            count_at(&mut self.differ, cycle);
        }
    }
}

impl AddAssign<&Mismatches> for Mismatches {
    fn add_assign(&mut self, more: &Mismatches) {
        for (all, more) in self.0.iter_mut().zip(&more.0) {
            all.told.resize(all.told.len().max(more.told.len()), Vec::new());
            all.told.iter_mut().zip(&more.told).for_each(|(all, more)| add_all(all, more));
            all.aligned.resize(all.aligned.len().max(more.aligned.len()), 0);
            all.aligned.iter_mut().zip(&more.aligned).for_each(|(all, more)| *all += more);
            add_all(&mut all.differ, &more.differ);
        }
    }
}
