//! What pieces cost: made up, the same in every simulation and measurement.

use std::f64::consts::TAU;
use std::time::Duration;

/// What a piece costs in each phase, on average, and a cohort between them. The time of a piece is that average times
/// a random number with a log-normal distribution and an average of 1, the same in both phases: slow reads are slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Of the first phase.
    pub first: Duration,
    /// Of the second.
    pub second: Duration,
    /// Of the statistics of a cohort.
    pub combine: Duration,
    /// Standard deviation of the logarithm of the random number: 0 if all pieces are alike, 0.5 if one of 20 takes
    /// twice the average or more.
    pub spread: f64,
}

impl Costs {
    /// Of piece `number` in the input.
    pub fn first(&self, number: u64) -> Duration {
        self.first.mul_f64(self.times(number))
    }

    /// As [`Costs::first`].
    pub fn second(&self, number: u64) -> Duration {
        self.second.mul_f64(self.times(number))
    }

    fn times(&self, number: u64) -> f64 {
        // Box and Muller: a normal deviate of two uniform ones, here of (0, 1] and [0, 1).
        let [one, other] = [2 * number, 2 * number + 1].map(|seed| (mixed(seed) >> 11) as f64 / (1u64 << 53) as f64);
        let normal = (-2.0 * (1.0 - one).ln()).sqrt() * (TAU * other).cos();
        (self.spread * normal - self.spread * self.spread / 2.0).exp()
    }
}

/// A number that looks random (SplitMix64; Steele, Lea & Flood 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cost_what_they_should_on_average() {
        let second = Duration::from_secs(1);
        for spread in [0.0, 0.5, 1.0] {
            let costs = Costs { first: second, second, combine: Duration::ZERO, spread };
            let all: Vec<f64> = (0..100_000).map(|number| costs.first(number).as_secs_f64()).collect();
            let average = all.iter().sum::<f64>() / all.len() as f64;
            assert!((average - 1.0).abs() < 0.02, "{spread}: {average}");
            let slow = all.iter().filter(|time| **time >= 2.0).count() as f64 / all.len() as f64;
            // P(Z > (ln 2 + s^2 / 2) / s)
            let wanted = if spread == 0.0 {
                0.0
            } else if spread == 0.5 {
                0.0508
            } else {
                0.1164
            };
            assert!((slow - wanted).abs() < 0.005, "{spread}: {slow}");
        }
    }
}
