//! Random numbers that are the same everywhere and for ever: xoshiro256**, seeded by splitmix64 (Blackman, Vigna).

/// A generator; two with the same seed give the same numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator for `seed`.
    pub fn new(mut seed: u64) -> Self {
        let mut next = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        };
        Random { state: [next(), next(), next(), next()] }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number from 0 to `limit - 1`; 0 for a limit of 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `probability`.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// How many trials fail before the next success: a geometric number, at most 2^40. One draw instead of one per
    /// base.
    pub fn failures(&mut self, probability: f64) -> usize {
        const NEVER: f64 = (1u64 << 40) as f64;
        let failures = if probability <= 0.0 { NEVER } else { (-self.unit()).ln_1p() / (-probability).ln_1p() };
        if failures < NEVER { failures as usize } else { NEVER as usize }
    }

    /// A number from the normal distribution (Box, Muller).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        mean + deviation * radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A base, each equally likely.
    pub fn base(&mut self) -> u8 {
        b"ACGT"[(self.bits() >> 62) as usize]
    }

    /// A base that is not `base`.
    pub fn other_base(&mut self, base: u8) -> u8 {
        let others: &[u8; 3] = match base {
            b'A' => b"CGT",
            b'C' => b"AGT",
            b'G' => b"ACT",
            _ => b"ACG",
        };
        others[self.below(3)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_never_change() {
        let mut random = Random::new(1);
        assert_eq!([random.bits(), random.bits()], [12966619160104079557, 9600361134598540522]);
    }

    #[test]
    fn failures_have_the_right_mean() {
        let mut random = Random::new(7);
        let sum: usize = (0..100_000).map(|_| random.failures(0.01)).sum();
        assert!((sum as f64 / 100_000.0 - 99.0).abs() < 2.0);
        assert_eq!(random.failures(1.0), 0);
        assert!(random.failures(0.0) >= 1 << 40);
    }

    #[test]
    fn normal_has_the_right_mean_and_deviation() {
        let mut random = Random::new(3);
        let numbers: Vec<f64> = (0..50_000).map(|_| random.normal(400.0, 50.0)).collect();
        let mean = numbers.iter().sum::<f64>() / 50_000.0;
        let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / 50_000.0;
        assert!((mean - 400.0).abs() < 1.0 && (variance.sqrt() - 50.0).abs() < 1.0);
    }

    #[test]
    fn another_base_is_another() {
        let mut random = Random::new(5);
        for base in *b"ACGT" {
            assert!((0..50).all(|_| random.other_base(base) != base));
        }
    }
}
