//! Mismatches by cycle and quality (MPC of samtools stats), with a reference.

use crate::counts::{add_all, count_at, count_of_pairs};
use crate::record::{NO_CALL, ReadOrder, Record};
use crate::reference::Window;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::{AddAssign, RangeInclusive};
use zerohop_model::error::Error;

/// By [`ReadOrder`], and by cycle with hard-clipped bases: how many are N, and, by quality, how many are another base
/// than the reference has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mismatches([Vec<Vec<u64>>; ReadOrder::ALL.len()]);

impl Mismatches {
    /// Adds a mapped record with these bases. As samtools, it takes what lies behind skipped bases of the reference (N)
    /// for what follows those before them.
    pub(super) fn add(&mut self, record: &Record<'_>, codes: &[u8], window: &mut Window<'_>) -> Result<(), Error> {
        let length = record.length();
        let (mut position, mut base, mut cycle) = (record.position.max(0) as u32, 0, 0);
        for op in record.cigar() {
            let bases = op.length() as usize;
            match op.letter() {
                b'D' => position += op.length(),
                b'H' => cycle += bases,
                b'I' | b'S' => (base, cycle) = (base + bases, cycle + bases),
                b'M' | b'=' | b'X' => {
                    let reference = window.codes(record.contig, position..position.saturating_add(op.length()))?;
                    let end = (base + bases).min(codes.len());
                    let read = codes.get(base..end).unwrap_or_default();
                    let differ = count_of_pairs(read, reference, |read, reference| read != reference) > 0;
                    if differ || read.contains(&NO_CALL) {
                        let at = |base: usize| match record.flags.is_reverse() {
                            false => cycle + base,
                            true => length - 1 - (cycle + base),
                        };
                        let qualities = record.qualities.get(base..end).unwrap_or_default();
                        let pairs = read.iter().zip(reference).zip(qualities).enumerate();
                        for (number, ((read, reference), quality)) in pairs {
                            self.add_base(record.flags.order(), at(number), (*read, *reference), *quality);
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

    fn add_base(&mut self, order: ReadOrder, cycle: usize, (read, reference): (u8, u8), quality: u8) {
        // samtools knows A, C, G and T of the reference, and any base of a read.
        let is_mismatch = reference.is_power_of_two() && read != 0 && read != reference;
        let column = match read {
            NO_CALL => 0,
            // In one byte, as samtools has it.
            _ if is_mismatch => quality.wrapping_add(1),
            _ => return,
        };
        let cycles = &mut self.0[order as usize];
        if cycles.len() <= cycle {
            cycles.resize(cycle + 1, Vec::new());
        }
        count_at(&mut cycles[cycle], column.into());
    }

    /// Of one cycle of some reads, what is counted in each column.
    fn of_cycle(&self, orders: &[ReadOrder], cycle: usize) -> Vec<u64> {
        let mut all = Vec::new();
        let of_order = |order: &ReadOrder| self.0[*order as usize].get(cycle);
        orders.iter().filter_map(of_order).for_each(|counts| add_all(&mut all, counts));
        all
    }

    /// How many bases of a cycle of some reads are others than those of the reference.
    pub(super) fn count(&self, orders: &[ReadOrder], cycle: usize) -> u64 {
        self.of_cycle(orders, cycle).iter().skip(1).sum()
    }

    pub(super) fn tell(&self, out: &mut String, cycles: usize, columns: RangeInclusive<usize>) {
        out.push_str(
            "# Mismatches per cycle and quality. Use `grep ^MPC | cut -f 2-` to extract this part.\n\
             # Columns correspond to qualities, rows to cycles. First column is the cycle number, second\n\
             # is the number of N's and the rest is the number of mismatches\n",
        );
        for cycle in 0..cycles {
            let counts = self.of_cycle(&ReadOrder::ALL, cycle);
            let _ = write!(out, "MPC\t{}", cycle + 1);
            for column in columns.clone() {
                let _ = write!(out, "\t{}", counts.get(column).copied().unwrap_or(0));
            }
            out.push('\n');
        }
    }
}

impl AddAssign<&Mismatches> for Mismatches {
    fn add_assign(&mut self, more: &Mismatches) {
        for (all, more) in self.0.iter_mut().zip(&more.0) {
            all.resize(all.len().max(more.len()), Vec::new());
            all.iter_mut().zip(more).for_each(|(all, more)| add_all(all, more));
        }
    }
}
