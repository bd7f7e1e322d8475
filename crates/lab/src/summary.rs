//! What points come to: medians over repetitions, and what a simulation makes of them.

use crate::arm::{Arm, OutputKind};
use crate::experiment::{Experiment, Point};
use crate::queueing::Round;
use std::collections::BTreeMap;

/// The repetitions of one arm.
#[derive(Debug, Clone)]
pub struct Group<'p> {
    /// The arm.
    pub arm: Arm,
    /// Its points, without the one that warmed up.
    pub points: Vec<&'p Point>,
}

impl Group<'_> {
    /// The median over the repetitions, of which there is at least one.
    pub fn median(&self, of: impl Fn(&Point) -> f64) -> f64 {
        median(self.points.iter().map(|point| of(point)).collect()).unwrap_or(f64::NAN)
    }

    /// The least and the greatest over the repetitions.
    pub fn range(&self, of: impl Fn(&Point) -> f64) -> (f64, f64) {
        let values = || self.points.iter().map(|point| of(point));
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    }

    /// What a thread does in one round, as the times of one thread say it.
    pub fn round(&self) -> Round {
        let chunks = |point: &Point| point.sum(|thread| thread.chunks as f64).max(1.0);
        let input_s = self.median(|point| point.input_hold_s() * point.fragments as f64 / chunks(point));
        let held_s = self.median(|point| point.output_hold_s() * point.fragments as f64 / chunks(point));
        // Nobody waits for a file that is another thread's own.
        let output_s = if self.arm.output == OutputKind::Files { 0.0 } else { held_s };
        let all_s = self.median(|point| point.sum(|thread| thread.wall_s) / chunks(point));
        let think_s = (all_s - input_s - output_s).max(0.0);
        let sleeps = self.points.first().is_some_and(|point| point.experiment.engine.only_sleeps());
        Round { think_s, think_takes_core: !sleeps, input_s, output_s }
    }

    /// Rounds of all threads.
    pub fn rounds(&self) -> f64 {
        self.median(|point| point.sum(|thread| thread.chunks as f64))
    }
}

/// The median; none of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[n / 2]),
        n => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
    }
}

/// The groups of one experiment, by arm.
pub fn groups<'p>(points: &'p [Point], experiment: &Experiment) -> Vec<Group<'p>> {
    let mut by_arm: BTreeMap<Arm, Vec<&Point>> = BTreeMap::new();
    for point in points.iter().filter(|point| point.experiment == *experiment && point.repetition > 0) {
        by_arm.entry(point.arm).or_default().push(point);
    }
    by_arm.into_iter().map(|(arm, points)| Group { arm, points }).collect()
}

/// All experiments, in the order in which they were made.
pub fn experiments(points: &[Point]) -> Vec<&Experiment> {
    let mut found: Vec<&Experiment> = Vec::new();
    for point in points {
        if !found.contains(&&point.experiment) {
            found.push(&point.experiment);
        }
    }
    found
}

/// The median over repetitions of the ratio of two arms within a repetition: a machine that is slow for a while slows
/// both. None if there is no repetition of both.
pub fn ratio(one: &Group<'_>, other: &Group<'_>, of: impl Fn(&Point) -> f64) -> Option<f64> {
    let same =
        |point: &&Point| other.points.iter().find(|o| o.repetition == point.repetition).map(|o| of(point) / of(o));
    median(one.points.iter().filter_map(same).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten chunks of two reads in a second; the reader is held for a tenth of it, the output for two.
    fn point(output: &str) -> Point {
        let text = r#"{"arm": {"input": "b", "lock": "mcs", "output": "OUTPUT", "threads": 1, "processes": 1},
            "experiment": {"engine": "null", "scaling": "weak", "fragments": 20, "batch": 2, "chunk_bases": 1,
                "queue": 2, "pinned": false, "interleaved": false, "mixed": false, "inputs": [], "machine": "",
                "cpus": 1},
            "repetition": 1, "fragments": 20, "slowest_s": 1, "load_s": 0, "processes": [{"input_hold_s": 0.1,
                "bytes_out": 0, "threads": [{"wall_s": 1, "ended_s": 1, "claim_s": 0.1, "parse_s": 0, "map_s": 0.7,
                    "commit_s": 0.2, "output_hold_s": 0.2, "cpu_s": 1, "task_bytes": [0, 0], "chunks": 10,
                    "reads": 20}]}]}"#;
        serde_json::from_str(&text.replace("OUTPUT", output)).unwrap()
    }

    #[test]
    fn others_wait_for_a_shared_output_and_not_for_a_file_of_ones_own() {
        for (output, held_s) in [("shared", 0.02), ("ordered", 0.02), ("files", 0.0)] {
            let point = point(output);
            let round = Group { arm: point.arm, points: vec![&point] }.round();
            assert!((round.output_s - held_s).abs() < 1e-9, "{output}: {round:?}");
            assert!((round.input_s - 0.01).abs() < 1e-9, "{output}: {round:?}");
            assert!((round.think_s + round.output_s - 0.09).abs() < 1e-9, "{output}: {round:?}");
        }
    }
}
