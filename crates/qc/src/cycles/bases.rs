//! Bases by cycle.
//!
//! In most reads each base is A, C, G or T. BAM codes a base in four bits, of which these have one each: so 16 bases at
//! a time are added to counts of four bits, these to counts of eight bits before they are full, and these to those of
//! all reads. Other reads are counted base by base.

use super::{MOST_CYCLES, as_sequenced, of_first_cycles};
use crate::counts::{add_all, count_at};
use crate::record::{BASE_C, BASE_G, NO_CALL, Record};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The bases that are told apart, as BAM codes them: A, C, G, T and N.
const CODES: [u8; 5] = [1, BASE_C, BASE_G, 8, NO_CALL];
/// Bases that have a bit of their own: the first ones of [`CODES`].
const KNOWN: usize = 4;

/// Bases of one cycle: A, C, G, T, N and others.
pub(crate) type Bases = [u64; CODES.len() + 1];

/// Bases of the reads of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StrandBases {
    /// By cycle, for each of [`CODES`].
    counts: Vec<[u64; CODES.len()]>,
    /// Reads by their bases.
    lengths: Vec<u64>,
    /// Of reads with an even number of bases, and with an odd one: the bytes of reverse ones begin at other cycles.
    #[serde(skip)]
    held: [Held; 2],
}

/// The lowest bit of each base of 16.
const ONES: u64 = 0x1111_1111_1111_1111;
/// Every second base of 16.
const HALF: u64 = 0x0f0f_0f0f_0f0f_0f0f;
/// So many reads are counted in four bits, and in eight.
const FEW: u8 = 15;
const MANY: u8 = 17 * FEW;

/// What is not counted yet, by 16 bases, as they are read: for A, C, G and T, a count of each base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Held {
    few: u8,
    of_few: Vec<[u64; KNOWN]>,
    many: u8,
    /// Of every second base, and of the others.
    of_many: Vec<[[u64; 2]; KNOWN]>,
}

impl Held {
    /// Adds a read of known bases, 16 in each word.
    #[inline]
    fn add(&mut self, words: impl ExactSizeIterator<Item = u64>) {
        if self.of_few.len() < words.len() {
            self.of_few.resize(words.len(), [0; KNOWN]);
            self.of_many.resize(words.len(), [[0; 2]; KNOWN]);
        }
        for (counts, word) in self.of_few.iter_mut().zip(words) {
            counts.iter_mut().enumerate().for_each(|(bit, count)| *count += word >> bit & ONES);
        }
        self.few += 1;
        if self.few == FEW {
            self.fold();
        }
    }

    /// Brings all into the larger counts.
    fn fold(&mut self) {
        let few = self.of_few.iter_mut().flatten();
        for (few, [low, high]) in few.zip(self.of_many.iter_mut().flatten()) {
            let counts = std::mem::take(few);
            *low += counts & HALF;
            *high += counts >> 4 & HALF;
        }
        self.many += std::mem::take(&mut self.few);
    }

    /// Gives all counts to `each`: the byte that a base is in, whether it is the first one there, which of the known
    /// bases it is, and how often. Then nothing is held.
    fn settle(&mut self, mut each: impl FnMut(usize, bool, usize, u64)) {
        self.fold();
        self.many = 0;
        for (word, bases) in self.of_many.iter_mut().enumerate() {
            for (base, [low, high]) in bases.iter_mut().enumerate() {
                for (counts, is_first) in [(low, false), (high, true)] {
                    for (byte, count) in std::mem::take(counts).to_le_bytes().into_iter().enumerate() {
                        each(8 * word + byte, is_first, base, count.into());
                    }
                }
            }
        }
    }
}

impl StrandBases {
    /// Adds those of a read; gives how many are G or C. `codes` has room for them.
    #[inline]
    pub(super) fn add(&mut self, record: &Record<'_>, codes: &mut Vec<u8>) -> u32 {
        let is_reverse = record.flags.is_reverse();
        count_at(&mut self.lengths, record.bases.min(MOST_CYCLES));
        let Some(gc) = gc_of_known(record.sequence, record.bases) else {
            record.unpack(codes);
            return self.add_any(codes, is_reverse);
        };
        let held = &mut self.held[record.bases % 2];
        // Two bases in a byte; the last one of an odd number is in a byte of its own.
        let sequence = of_first_cycles(record.sequence, MOST_CYCLES / 2 + 1, is_reverse);
        match is_reverse {
            false => held.add(words(sequence)),
            true => held.add(words_from_end(sequence)),
        }
        if held.many == MANY {
            self.settle_parity(record.bases % 2, is_reverse);
        }
        gc
    }

    /// Adds bases of any kind, and how many are G or C.
    fn add_any(&mut self, codes: &[u8], is_reverse: bool) -> u32 {
        let told = of_first_cycles(codes, MOST_CYCLES, is_reverse);
        if self.counts.len() < told.len() {
            self.counts.resize(told.len(), [0; CODES.len()]);
        }
        for (counts, code) in self.counts.iter_mut().zip(as_sequenced(told, is_reverse)) {
            counts.iter_mut().zip(CODES).for_each(|(count, of)| *count += u64::from(code == of));
        }
        codes.iter().filter(|code| matches!(**code, BASE_C | BASE_G)).count() as u32
    }

    /// Counts all that is held; the reads are all reverse or all forward.
    pub(super) fn settle(&mut self, is_reverse: bool) {
        (0..self.held.len()).for_each(|parity| self.settle_parity(parity, is_reverse));
    }

    fn settle_parity(&mut self, parity: usize, is_reverse: bool) {
        let StrandBases { counts, lengths, held } = self;
        counts.resize(counts.len().max(lengths.len().saturating_sub(1)), [0; CODES.len()]);
        held[parity].settle(|byte, is_first, base, count| {
            // The last byte of an odd number of bases has only its first half.
            let cycle = match is_reverse {
                false => 2 * byte + usize::from(!is_first),
                true => (2 * byte + usize::from(is_first)).wrapping_sub(parity),
            };
            if let Some(counts) = counts.get_mut(cycle) {
                counts[base] += count;
            }
        });
    }

    /// They by cycle, up to the last one of the longest read.
    pub(super) fn by_cycle(&self) -> impl IntoIterator<Item = Bases> {
        let mut reads: u64 = self.lengths.iter().sum();
        // Of reads of `length` bases, the last cycle is `length - 1`.
        self.counts.iter().zip(&self.lengths).take(self.lengths.len().saturating_sub(1)).map(move |(counts, ended)| {
            reads -= ended;
            let [a, c, g, t, n] = *counts;
            [a, c, g, t, n, reads - counts.iter().sum::<u64>()]
        })
    }
}

impl AddAssign<&StrandBases> for StrandBases {
    fn add_assign(&mut self, more: &StrandBases) {
        self.counts.resize(self.counts.len().max(more.counts.len()), [0; CODES.len()]);
        let counts = self.counts.iter_mut().flatten().zip(more.counts.iter().flatten());
        counts.for_each(|(all, more)| *all += more);
        add_all(&mut self.lengths, &more.lengths);
    }
}

/// How many bases are G or C; none if one is not A, C, G or T.
#[inline]
fn gc_of_known(sequence: &[u8], bases: usize) -> Option<u32> {
    let (mut others, mut gc) = (0, 0);
    let mut see = |word: u64, wanted: u64| {
        let in_two = (word & 0x5555_5555_5555_5555) + (word >> 1 & 0x5555_5555_5555_5555);
        let in_four = (in_two & 0x3333_3333_3333_3333) + (in_two >> 2 & 0x3333_3333_3333_3333);
        others |= in_four ^ wanted;
        gc += (word & (ONES * u64::from(BASE_C | BASE_G))).count_ones();
    };
    let (many, rest) = sequence.as_chunks::<8>();
    let (last, many) = if rest.is_empty() { many.split_last()? } else { (&padded(rest), many) };
    many.iter().for_each(|word| see(u64::from_le_bytes(*word), ONES));
    let last_bases = bases.checked_sub(16 * many.len())?;
    // The first base of a byte is the higher half.
    let whole_bytes = ONES & u64::MAX.checked_shr(64 - 8 * (last_bases / 2) as u32).unwrap_or(0);
    let half_a_byte = if last_bases % 2 == 1 { 0x10 << (8 * (last_bases / 2)) } else { 0 };
    see(u64::from_le_bytes(*last), whole_bytes | half_a_byte);
    (others == 0).then_some(gc)
}

/// Eight bytes, with zeros behind those that there are.
#[inline]
fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut all = [0; 8];
    all.iter_mut().zip(bytes).for_each(|(all, byte)| *all = *byte);
    all
}

/// 16 bases in each word: the first byte is the lowest one.
#[inline]
fn words(sequence: &[u8]) -> impl ExactSizeIterator<Item = u64> {
    sequence.chunks(8).map(|bytes| match bytes.try_into() {
        Ok(bytes) => u64::from_le_bytes(bytes),
        Err(_) => u64::from_le_bytes(padded(bytes)),
    })
}

/// The same from the last byte on.
#[inline]
fn words_from_end(sequence: &[u8]) -> impl ExactSizeIterator<Item = u64> {
    sequence.rchunks(8).map(|bytes| match bytes.try_into() {
        Ok(bytes) => u64::from_be_bytes(bytes),
        Err(_) => u64::from_be_bytes(padded(bytes)) >> (64 - 8 * bytes.len()),
    })
}

/// Adds bases to those of the same cycles.
pub(super) fn add(all: &mut Vec<Bases>, more: impl IntoIterator<Item = Bases>) {
    for (cycle, more) in more.into_iter().enumerate() {
        if cycle == all.len() {
            all.push(Bases::default());
        }
        all[cycle].iter_mut().zip(more).for_each(|(all, more)| *all += more);
    }
}

/// Those of the other strand.
pub(super) fn complement([a, c, g, t, n, others]: Bases) -> Bases {
    [t, g, c, a, n, others]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A record of bases alone.
    fn record(codes: &[u8], flags: u16) -> Vec<u8> {
        let mut bytes = vec![0; 36];
        bytes[12] = 2;
        bytes[18..20].copy_from_slice(&flags.to_le_bytes());
        bytes[20..24].copy_from_slice(&(codes.len() as u32).to_le_bytes());
        bytes.extend(b"r\0");
        bytes.extend(codes.chunks(2).map(|two| two[0] << 4 | two.get(1).unwrap_or(&0)));
        bytes.resize(bytes.len() + codes.len(), 30);
        bytes
    }

    /// Each base by itself.
    fn naive(reads: &[Vec<u8>], is_reverse: bool) -> Vec<Bases> {
        let longest = reads.iter().map(Vec::len).max().unwrap_or(0);
        let mut all = vec![Bases::default(); longest.min(MOST_CYCLES)];
        for codes in reads {
            for (at, code) in codes.iter().enumerate() {
                let cycle = if is_reverse { codes.len() - 1 - at } else { at };
                if cycle >= MOST_CYCLES {
                    continue;
                }
                all[cycle][CODES.iter().position(|of| of == code).unwrap_or(CODES.len())] += 1;
            }
        }
        all
    }

    fn read() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(&CODES[..KNOWN]);
        prop_oneof![
            6 => prop::collection::vec(known, 0..70),
            1 => prop::collection::vec(0u8..16, 0..70),
        ]
    }

    proptest! {
        #[test]
        fn bases_are_those_that_are_counted_one_by_one(
            reads in prop::collection::vec(read(), 0..40),
            times in 1usize..30,
            is_reverse in any::<bool>(),
        ) {
            let (mut strand, mut room) = (StrandBases::default(), Vec::new());
            let reads: Vec<Vec<u8>> = std::iter::repeat_n(reads, times).flatten().collect();
            let flags = if is_reverse { zerohop_model::record::REVERSE } else { 0 };
            for codes in &reads {
                let bytes = record(codes, flags);
                let gc = strand.add(&Record::new(&bytes, flags).unwrap(), &mut room);
                prop_assert_eq!(gc as usize, codes.iter().filter(|code| [BASE_C, BASE_G].contains(code)).count());
            }
            strand.settle(is_reverse);
            prop_assert_eq!(strand.by_cycle().into_iter().collect::<Vec<_>>(), naive(&reads, is_reverse));
        }
    }
}
