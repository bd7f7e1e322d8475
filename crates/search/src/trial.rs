//! Search times of parts, and what they tell.

use crate::error::SearchError;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How often each part is searched.
const ROUNDS: usize = 5;
/// Searches that take less tell more of the program's start than of the part.
const LEAST_SECONDS: f64 = 0.5;

/// What search times were, and what came of them. All times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// What came of it.
    pub outcome: Outcome,
    /// Of parts of equal letters.
    pub equal: Vec<Times>,
    /// Of the parts as they are, as they were expected; none if the cuts were not moved.
    pub predicted: Vec<f64>,
    /// The same as they then were.
    pub measured: Vec<Times>,
}

/// What a trial has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The parts have equal search times, as far as they were known.
    Moved,
    /// Searches were too short to tell anything; the parts have equal letters.
    TooShort,
    /// Parts differ no more than rounds of one part do; the parts have equal letters.
    WithinNoise,
}

/// How long the searches of a part took, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// The median of all rounds.
    pub median: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

impl Times {
    fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |place: usize| seconds.get(place).copied().unwrap_or_default();
        Times { median: at(seconds.len() / 2), least: at(0), most: at(seconds.len().saturating_sub(1)) }
    }
}

/// Measures all parts, in rounds: a machine that gets slower gets slower for all of them.
pub(crate) fn measure(
    parts: usize,
    time: &mut dyn FnMut(usize) -> Result<Duration, SearchError>,
) -> Result<Vec<Times>, SearchError> {
    let mut seconds = vec![Vec::with_capacity(ROUNDS); parts];
    for _ in 0..ROUNDS {
        for (part, seconds) in seconds.iter_mut().enumerate() {
            seconds.push(time(part)?.as_secs_f64());
        }
    }
    Ok(seconds.into_iter().map(Times::of).collect())
}

/// What times of parts of equal letters lead to.
pub(crate) fn outcome(equal: &[Times]) -> Outcome {
    let least = |value: fn(&Times) -> f64| equal.iter().map(value).fold(f64::INFINITY, f64::min);
    let most = |value: fn(&Times) -> f64| equal.iter().map(value).fold(0.0, f64::max);
    let noise = most(|times| times.most - times.least);
    match least(|times| times.median) {
        shortest if shortest < LEAST_SECONDS => Outcome::TooShort,
        shortest if most(|times| times.median) - shortest <= noise => Outcome::WithinNoise,
        _ => Outcome::Moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_go_through_all_parts_and_medians_count() {
        let mut order = Vec::new();
        let times = measure(2, &mut |part| {
            order.push(part);
            // One round in which the machine did something else.
            let late = if order.len() == 3 { 100 } else { 0 };
            Ok(Duration::from_secs(10 * (part as u64 + 1) + late))
        });
        assert_eq!(order, [0, 1].repeat(ROUNDS));
        let expected =
            [Times { median: 10.0, least: 10.0, most: 110.0 }, Times { median: 20.0, least: 20.0, most: 20.0 }];
        assert_eq!(times.unwrap(), expected);
        assert!(measure(2, &mut |_| Err(SearchError::Arguments("no".into()))).is_err());
    }

    #[test]
    fn what_does_not_tell_is_said() {
        let times = |median: f64, noise: f64| Times { median, least: median - noise / 2.0, most: median + noise / 2.0 };
        assert_eq!(outcome(&[times(0.1, 0.0), times(3.0, 0.0)]), Outcome::TooShort);
        assert_eq!(outcome(&[times(10.0, 0.2), times(11.0, 2.0)]), Outcome::WithinNoise);
        assert_eq!(outcome(&[times(10.0, 0.2), times(11.0, 0.2)]), Outcome::Moved);
        assert_eq!(outcome(&[times(10.0, 0.0)]), Outcome::WithinNoise, "one part alone");
    }
}
