//! How likely a heterozygous site is found (picard.analysis.TheoreticalSensitivity): HET_SNP_SENSITIVITY and HET_SNP_Q.
//!
//! Picard draws qualities of bases from a random generator that always begins in the same way, so its figures can be
//! had again: java.util.Random is a linear congruential generator, of which an attempt takes four steps.

use std::f64::consts::LOG10_2;

/// Larger depths are not drawn.
const MOST_DEPTHS: usize = 1001;
/// A site is called from these odds on, as a logarithm to the base of 10.
const LEAST_ODDS: f64 = 3.0;
/// After so many attempts a quality of 0 is taken.
const MOST_ATTEMPTS: u32 = 600;
const SEED: u64 = 51;

/// The sensitivity, with how many places have each depth, and how many bases have each quality; these are drawn so
/// often.
pub(super) fn sensitivity(depths: &[u64], qualities: &[u64], rounds: u32) -> f64 {
    let share = |counts: &[u64]| -> Vec<f64> {
        let all: u64 = counts.iter().sum();
        counts.iter().map(|count| *count as f64 / all as f64).collect()
    };
    let most = depths.len().min(MOST_DEPTHS);
    let reached = reached(&share(qualities), most, rounds);
    let mut sum = 0.0;
    let mut chances: Vec<f64> = Vec::new();
    for (depth, share) in share(depths).iter().enumerate().take(most) {
        // Binomial: of so many bases, each number of other ones.
        let none = 0.5f64.powi(depth as i32);
        let of_depth = |alternate: usize| match alternate {
            0 => none,
            _ if alternate == depth => none,
            _ => depth as f64 * 0.5 / alternate as f64 * chances[alternate - 1],
        };
        chances = (0..=depth).map(of_depth).collect();
        for (alternate, chance) in chances.iter().enumerate() {
            sum += share * chance * (f64::from(reached[alternate][depth]) / f64::from(rounds));
        }
    }
    sum
}

/// The sensitivity as a quality.
pub(super) fn phred(sensitivity: f64) -> i64 {
    let missed = 1.0 - sensitivity;
    match missed {
        0.0 => -1,
        _ if missed < 0.0 || missed.is_nan() => 0,
        _ => (-10.0 * missed.log10() + 0.5).floor() as i64,
    }
}

/// How often the qualities of so many bases are enough to call a site of each depth.
fn reached(shares: &[f64], most: usize, rounds: u32) -> Vec<Vec<u32>> {
    let largest = shares.iter().fold(0.0, |largest: f64, share| largest.max(*share));
    let thresholds: Vec<f64> = (0..most).map(|depth| 10.0 * (depth as f64 * LOG10_2 + LEAST_ODDS)).collect();
    // The depths that a sum of qualities is enough for.
    let most_of_sum = shares.len() * most;
    let mut depths = 0;
    let enough = |sum: usize| {
        while depths < most && thresholds[depths] <= sum as f64 {
            depths += 1;
        }
        depths
    };
    let enough: Vec<usize> = (0..most_of_sum).map(enough).collect();
    let mut reached = vec![vec![0u32; most + 1]; most];
    match largest > 0.0 {
        true => {
            let mut wheel = Wheel::new(shares.iter().map(|share| share / largest).collect());
            for _ in 0..rounds {
                let mut sum = 0;
                for of_bases in &mut reached {
                    of_bases[enough[sum]] += 1;
                    sum += wheel.draw();
                }
            }
        }
        // Without a base nothing is drawn but 0.
        false => reached.iter_mut().for_each(|of_bases| of_bases[0] = rounds),
    }
    for of_bases in &mut reached {
        // Those that are enough for more depths than this one.
        let mut more = 0;
        for count in of_bases.iter_mut().rev() {
            more += std::mem::replace(count, more);
        }
    }
    reached
}

/// Draws qualities (picard.analysis.TheoreticalSensitivity.RouletteWheel).
struct Wheel {
    /// Of each quality, how likely it is taken once it is met.
    taken: Vec<f64>,
    random: u64,
}

/// java.util.Random.
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;
/// What a first step gives.
const FIRST_BITS: u32 = 26;
const FIRST_MASK: u64 = (1 << FIRST_BITS) - 1;
/// What four steps are.
const FOUR: (u64, u64) = {
    let (mut multiplier, mut increment, mut step) = (1u64, 0u64, 0);
    while step < 4 {
        multiplier = multiplier.wrapping_mul(MULTIPLIER);
        increment = increment.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        step += 1;
    }
    (multiplier, increment)
};

impl Wheel {
    fn new(taken: Vec<f64>) -> Self {
        Wheel { taken, random: (SEED ^ MULTIPLIER) & MASK }
    }

    fn draw(&mut self) -> usize {
        for _ in 0..MOST_ATTEMPTS {
            let begin = self.random;
            let (multiplier, increment) = FOUR;
            self.random = begin.wrapping_mul(multiplier).wrapping_add(increment) & MASK;
            let quality = self.met(begin);
            let taken = self.taken[quality];
            // Most qualities never occur: then the other two steps do not matter.
            if taken > 0.0 && double(step(step(begin))) < taken {
                return quality;
            }
        }
        0
    }

    /// The quality that two steps meet: that many of the number that they give.
    #[inline]
    fn met(&self, state: u64) -> usize {
        let qualities = self.taken.len() as u64;
        // The first step decides, but next to the bound of the next quality.
        let product = (step(state) >> 22) * qualities;
        match product & FIRST_MASK < FIRST_MASK - qualities {
            true => (product >> FIRST_BITS) as usize,
            false => (qualities as f64 * double(state)) as usize,
        }
    }
}

fn step(state: u64) -> u64 {
    state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK
}

/// The number that two steps give (java.util.Random.nextDouble).
fn double(state: u64) -> f64 {
    let (high, low) = (step(state), step(step(state)));
    (((high >> 22) << 27) + (low >> 21)) as f64 * (0.5f64).powi(53)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_java() {
        let mut state = (SEED ^ MULTIPLIER) & MASK;
        for wanted in [0.7296240607935824, 0.7837023678833833, 0.19187875415120714] {
            assert_eq!(double(state), wanted);
            state = step(step(state));
        }
        let wheel = Wheel::new(vec![0.0; 127]);
        for _ in 0..100_000 {
            assert_eq!(wheel.met(state), (127.0 * double(state)) as usize);
            state = step(state);
        }
        let four = (0..4).fold(77, |state, _| step(state));
        assert_eq!(four, 77u64.wrapping_mul(FOUR.0).wrapping_add(FOUR.1) & MASK);
    }

    #[test]
    fn deep_places_are_found_and_empty_ones_are_not() {
        let mut qualities = vec![0; 127];
        qualities[37] = 1000;
        let at = |depth: usize| {
            let mut depths = vec![0; 61];
            depths[depth] = 1;
            sensitivity(&depths, &qualities, 1000)
        };
        assert_eq!(at(0), 0.0);
        assert!(at(60) > 0.999 && at(5) < at(20), "{} {} {}", at(5), at(20), at(60));
        assert_eq!(phred(0.0), 0);
        assert_eq!((phred(1.0), phred(0.9), phred(1.1)), (-1, 10, 0));
    }
}
