//! How likely a heterozygous site is found (picard.analysis.TheoreticalSensitivity): HET_SNP_SENSITIVITY and HET_SNP_Q.
//!
//! Picard draws qualities of bases from a random generator that always begins in the same way, so its figures can be
//! had again.

use super::roulette::Wheel;
use std::f64::consts::LOG10_2;

/// Larger depths are not drawn.
const MOST_DEPTHS: usize = 1001;
/// A site is called from these odds on, as a logarithm to the base of 10.
const LEAST_ODDS: f64 = 3.0;

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

#[cfg(test)]
mod tests {
    use super::*;

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
