//! Which values of several samples stand out.

/// With fewer samples nothing stands out: half of them may be wrong.
const FEWEST: usize = 4;
/// So many robust deviations from the median stand out.
const FAR: f64 = 3.0;
/// A median absolute deviation as a standard deviation of normally distributed values.
const AS_DEVIATION: f64 = 1.4826;
/// The least deviation, as a part of the median: samples that are nearly equal do not stand out.
const LEAST: f64 = 0.01;

/// What most values are like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usual {
    /// Their median.
    pub median: f64,
    /// How far they lie from it.
    pub deviation: f64,
}

impl Usual {
    /// Of these values; none of too few. `least` is a deviation that is none.
    pub fn of(values: &[f64], least: f64) -> Option<Self> {
        if values.len() < FEWEST {
            return None;
        }
        let middle = median(values.to_vec());
        let deviations = values.iter().map(|value| (value - middle).abs()).collect();
        let deviation = (AS_DEVIATION * median(deviations)).max(LEAST * middle.abs()).max(least);
        Some(Usual { median: middle, deviation })
    }

    /// How many deviations a value lies from the median, below it with a minus, if it stands out.
    pub fn far(&self, value: f64) -> Option<f64> {
        let far = (value - self.median) / self.deviation;
        (far.abs() > FAR).then_some(far)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    if values.len().is_multiple_of(2) { (values[upper - 1] + values[upper]) / 2.0 } else { values[upper] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_stands_out_and_equal_ones_do_not() {
        let usual = Usual::of(&[97.0, 98.0, 98.5, 97.5, 60.0], 0.1).unwrap();
        assert_eq!(usual.median, 97.5);
        assert!(usual.far(60.0).unwrap() < -3.0 && usual.far(98.5).is_none());
        let equal = Usual::of(&[98.0, 98.0, 98.0, 98.0], 0.1).unwrap();
        assert_eq!((equal.far(98.2), equal.far(100.0)), (None, None), "1 % of the median");
        assert!(Usual::of(&[0.0; 4], 0.1).unwrap().far(0.2).is_none());
        assert_eq!(Usual::of(&[1.0, 2.0, 90.0], 0.1), None);
    }
}
