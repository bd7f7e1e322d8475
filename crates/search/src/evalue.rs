//! diamond's E-values, with the digits that it does not print.
//!
//! diamond sorts the subjects of a query by their E-values and prints three digits of them. Hits of two parts that
//! print alike could not be put in its order. Its E-value is that of Park, Sheetlin, Ma, Madden and Spouge, "New
//! finite-size correction for local alignment score distributions" (BMC Research Notes 2012, 5:286), with the whole
//! database's letters; the constants are published ([`crate::scoring`]). diamond computes it from the raw score that it
//! prints, under every `--comp-based-stats`. All 29,156 printed E-values of the *E. coli* proteome against 55,398
//! proteins came out as diamond 2.1.3 prints them.

use crate::scoring::Scoring;
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// Below so many natural units of score variances are taken as constant (`nat_cut_off_in_max` of ALP).
const LEAST_NATS: f64 = 2.0;

impl Scoring {
    /// The E-value of a raw score, for a query and a subject of so many letters in a database of so many letters in
    /// all.
    pub fn evalue(&self, score: u32, query: u64, subject: u64, database: u64) -> f64 {
        let (score, query, subject) = (f64::from(score), query as f64, subject as f64);
        let (reach_query, weight_query) = self.reach(score, query);
        let (reach_subject, weight_subject) = self.reach(score, subject);
        let covariance = self.variance(self.sigma, score);
        let area = reach_query * reach_subject + covariance * weight_query * weight_subject;
        (self.k * (-self.lambda * score).exp() * area * database as f64 / subject).max(0.0)
    }

    /// How many letters of a sequence an alignment can begin at, in the mean, and how likely it fits at all.
    fn reach(&self, score: f64, length: f64) -> (f64, f64) {
        let left = length - (self.alpha * score + 2.0 * self.gap * (self.ungapped_alpha - self.alpha));
        let deviation = self.variance(self.alpha_v, score).sqrt();
        let fits = normal(left / deviation);
        (left * fits + deviation * density(left / deviation), fits)
    }

    /// A variance that grows by `slope` with the score.
    fn variance(&self, slope: f64, score: f64) -> f64 {
        let at_score = slope * score + 2.0 * self.gap * (self.ungapped_alpha_v - slope);
        at_score.max(LEAST_NATS * slope / self.lambda)
    }
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (SQRT_2 * PI.sqrt())
}

/// The standard normal distribution. The tail of `erfc` keeps its digits down to 5e-324, where a sum around 0.5 has
/// none left below nine standard deviations; diamond computes it so too (`normal_probability` in its
/// lib/alp/sls_basic.hpp).
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-FRAC_1_SQRT_2 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Scoring {
        Scoring::of(None, None, None).unwrap()
    }

    #[test]
    fn it_is_what_diamond_prints() {
        // diamond 2.1.3, 19,581,084 letters: score, query, subject, E-value.
        let printed = [
            (455, 644, 791, "1.22e-47"),
            (457, 644, 904, "1.22e-47"),
            (175, 1197, 232, "1.46e-13"),
            (183, 1197, 477, "1.46e-13"),
            (248, 260, 289, "9.56e-25"),
            (250, 260, 330, "9.56e-25"),
        ];
        for (score, query, subject, expected) in printed {
            let mine = format!("{:.2e}", usual().evalue(score, query, subject, 19_581_084));
            assert_eq!(mine, expected);
        }
        assert_eq!(usual().evalue(3032, 644, 644, 19_581_084), 0.0);
    }

    #[test]
    fn it_is_what_diamond_prints_of_long_and_equal_sequences() {
        // diamond 2.1.3, 22,226,918 letters: score, query, subject, E-value. Sequences that are nearly equal are many
        // standard deviations shorter than their score tells; below 2.2e-308 numbers lose their digits one by one.
        let printed = [
            (1631, 581, 314, "4.36e-228"),
            (1660, 581, 593, "4.36e-228"),
            (2388, 1671, 775, "1.42e-319"),
            (2388, 1671, 771, "1.42e-319"),
            (2385, 1671, 771, "1.42e-319"),
            (2257, 559, 559, "1.96e-319"),
        ];
        let mine =
            |&(score, query, subject, _): &(u32, u64, u64, &str)| usual().evalue(score, query, subject, 22_226_918);
        for line in &printed {
            assert_eq!(format!("{:.2e}", mine(line)), line.3);
        }
        assert!(mine(&printed[0]) < mine(&printed[1]), "diamond puts the first before the second");
    }

    #[test]
    fn it_is_what_diamond_prints_of_short_hits() {
        // diamond 2.1.3, `--swipe --masking none --comp-based-stats 0 -e 1e9`, 936 letters: score, query, subject,
        // E-value. Below a score of 29 the variance of where an alignment begins is taken as constant.
        let printed = [
            (10, 5, 180, "4.56e1"),
            (11, 5, 84, "3.56e1"),
            (13, 14, 84, "2.54e1"),
            (14, 6, 672, "9.90e0"),
            (15, 12, 180, "1.01e1"),
            (17, 6, 672, "3.06e0"),
            (18, 12, 672, "3.05e0"),
            (19, 14, 672, "2.35e0"),
        ];
        for (score, query, subject, expected) in printed {
            assert_eq!(format!("{:.2e}", usual().evalue(score, query, subject, 936)), expected, "{score}");
        }
    }

    #[test]
    fn the_normal_distribution_is_normal() {
        // `mpmath.ncdf(x)` with 40 digits (Python, mpmath 1.3).
        let values = [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-2.5, 0.006_209_665_325_776_132),
            (40.0, 1.0),
            (-9.0, 1.128_588_405_953_840_6e-19),
            (-9.5, 1.049_451_507_536_260_7e-21),
            (-12.25, 8.399_796_063_633_418e-35),
            (-20.0, 2.753_624_118_606_233_7e-89),
            (-30.0, 4.906_713_927_148_187e-198),
            (-37.0, 5.725_571_222_524_577e-300),
        ];
        for (x, p) in values {
            // The argument itself is rounded, which the tail amplifies by its square.
            assert!((normal(x) / p - 1.0).abs() < 1e-12, "{x}: {:e}", normal(x));
        }
    }
}
