//! Copies of a sequence that have diverged from it.

use crate::random::Random;

/// One mutation in ten is an insertion or a deletion, of 1 to 6 bases.
const INDELS: f64 = 0.1;
const LONGEST_INDEL: usize = 6;

/// Appends to `out` a copy of `source` in which each base was mutated with probability `divergence`.
pub fn append_diverged(out: &mut Vec<u8>, source: &[u8], divergence: f64, random: &mut Random) {
    let mut at = 0;
    while at < source.len() {
        let kept = random.failures(divergence).min(source.len() - at);
        out.extend_from_slice(&source[at..at + kept]);
        at += kept;
        if at < source.len() {
            at += append_mutation(out, source[at], random);
        }
    }
}

/// Appends what `base` became and returns how many bases of the source that used up.
fn append_mutation(out: &mut Vec<u8>, base: u8, random: &mut Random) -> usize {
    if !random.chance(INDELS) {
        out.push(random.other_base(base));
        return 1;
    }
    let length = random.between(1, LONGEST_INDEL);
    if random.chance(0.5) {
        return length;
    }
    out.push(base);
    out.extend((0..length).map(|_| random.base()));
    1
}

/// Replaces each base of `sequence` by another with probability `rate`; returns how many were. `N` stays.
pub fn substitute(sequence: &mut [u8], rate: f64, random: &mut Random) -> usize {
    let mut changed = 0;
    let mut at = random.failures(rate);
    while at < sequence.len() {
        if sequence[at] != b'N' {
            sequence[at] = random.other_base(sequence[at]);
            changed += 1;
        }
        at += 1 + random.failures(rate);
    }
    changed
}

/// Where the bases of a sequence with indels are in the one that it was made from.
#[derive(Debug, Default)]
pub struct Shifts {
    /// From this base on, the other sequence has so many bases more before it.
    from: Vec<(usize, isize)>,
}

impl Shifts {
    /// The position there of the base at `at`; for one that was inserted, of the base behind the insertion.
    pub fn position(&self, at: usize) -> usize {
        let before = self.from.partition_point(|&(from, _)| from <= at);
        let shift = before.checked_sub(1).map_or(0, |last| self.from[last].1);
        // What was inserted has no place of its own: it is at that of the base behind it.
        let next = self.from.get(before).map_or(usize::MAX, |&(from, shift)| from.saturating_add_signed(shift));
        at.saturating_add_signed(shift).min(next)
    }
}

/// Inserts and deletes 1 to 6 bases behind a share `rate` of the bases of `sequence`.
pub fn insert_and_delete(sequence: &mut Vec<u8>, rate: f64, random: &mut Random) -> Shifts {
    let (mut shifts, mut shift, mut at) = (Shifts::default(), 0, random.failures(rate));
    if at >= sequence.len() {
        return shifts;
    }
    let (mut changed, mut kept) = (Vec::with_capacity(sequence.len()), 0);
    while at < sequence.len() {
        changed.extend_from_slice(&sequence[kept..=at]);
        kept = at + 1;
        let length = random.between(1, LONGEST_INDEL);
        if random.chance(0.5) {
            kept = (kept + length).min(sequence.len());
            shift += length as isize;
        } else {
            changed.extend((0..length).map(|_| random.base()));
            shift -= length as isize;
        }
        shifts.from.push((changed.len(), shift));
        at = kept + random.failures(rate);
    }
    changed.extend_from_slice(&sequence[kept..]);
    *sequence = changed;
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_divergence_is_a_copy() {
        let mut out = b"AC".to_vec();
        append_diverged(&mut out, b"GATTACA", 0.0, &mut Random::new(1));
        assert_eq!(out, b"ACGATTACA");
    }

    #[test]
    fn substitutions_come_at_their_rate() {
        let mut sequence = vec![b'A'; 200_000];
        let changed = substitute(&mut sequence, 0.01, &mut Random::new(2));
        assert_eq!(sequence.iter().filter(|&&base| base != b'A').count(), changed);
        assert!((1_800..2_200).contains(&changed));
        assert_eq!(substitute(&mut [b'N'; 100], 1.0, &mut Random::new(2)), 0);
    }

    #[test]
    fn a_diverged_copy_keeps_about_its_length() {
        let source = vec![b'C'; 100_000];
        let mut out = Vec::new();
        append_diverged(&mut out, &source, 0.1, &mut Random::new(4));
        assert!((98_000..102_000).contains(&out.len()));
        let same = out.iter().filter(|&&base| base == b'C').count() as f64 / out.len() as f64;
        assert!((0.88..0.93).contains(&same), "{same}");
    }

    #[test]
    fn shifts_lead_back() {
        let source: Vec<u8> = (0..20_000).map(|i| b"ACGT"[(i * i / 7 + i) % 4]).collect();
        let mut changed = source.clone();
        let shifts = insert_and_delete(&mut changed, 0.002, &mut Random::new(5));
        assert!((25..60).contains(&shifts.from.len()));
        let equal = (0..changed.len()).filter(|&at| source.get(shifts.position(at)) == Some(&changed[at])).count();
        // But for what was inserted.
        assert!(equal > changed.len() - 120, "{equal} of {}", changed.len());
        assert!((1..changed.len()).all(|at| shifts.position(at) >= shifts.position(at - 1)));
    }
}
