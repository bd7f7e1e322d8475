//! When a thread did what: its time in each stage, in steps of equal length.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Length of a step at first, in microseconds; and how often it may double: to a hundred years for all.
const FIRST_STEP_US: u64 = 10_000;
const MOST_DOUBLINGS: u32 = 32;

/// One of so many things that a thread does, one at a time.
pub trait Stages<const COUNT: usize>: Copy {
    /// Its index in a step, from 0.
    fn place(self) -> usize;
}

/// What a worker does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Reading, inflating and surveying input.
    Claim,
    /// Waiting for input that is not there yet.
    WaitInput,
    /// Parsing.
    Parse,
    /// Mapping; of an external aligner: giving it reads, also while its pipe is full.
    Map,
    /// Encoding, with the compression of BAM; of an external aligner: checking its records, too.
    Encode,
    /// Writing.
    Commit,
    /// Waiting for its turn to write, or for a slow output.
    WaitOutput,
}

impl Stage {
    /// All stages, in the order of [`Timeline::steps`].
    pub const ALL: [Stage; 7] =
        [Stage::Claim, Stage::WaitInput, Stage::Parse, Stage::Map, Stage::Encode, Stage::Commit, Stage::WaitOutput];
}

impl Stages<{ Stage::ALL.len() }> for Stage {
    fn place(self) -> usize {
        self as usize
    }
}

/// What the two threads of a rank do that search and that exchange what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStage {
    /// The search of a batch.
    Search,
    /// Of the searching thread: waiting until what it found is taken.
    WaitExchange,
    /// Of the other: waiting for the search.
    WaitSearch,
    /// Giving records to the other ranks.
    Put,
    /// Waiting for theirs.
    WaitRecords,
    /// Putting the records of all ranks in order.
    Merge,
    /// Fetching results of other ranks, or laying ours ready.
    Get,
    /// Writing.
    Write,
}

impl SearchStage {
    /// All of them, in the order of [`Timeline::steps`].
    pub const ALL: [SearchStage; 8] = [
        SearchStage::Search,
        SearchStage::WaitExchange,
        SearchStage::WaitSearch,
        SearchStage::Put,
        SearchStage::WaitRecords,
        SearchStage::Merge,
        SearchStage::Get,
        SearchStage::Write,
    ];
}

impl Stages<{ SearchStage::ALL.len() }> for SearchStage {
    fn place(self) -> usize {
        self as usize
    }
}

/// The time line of a thread of a search.
pub type SearchTimeline = Timeline<{ SearchStage::ALL.len() }>;

/// A thread's time line: at most [`Timeline::MOST_STEPS`] steps, whose length doubles when the run outgrows them.
///
/// ```
/// use std::time::Duration;
/// use zerohop_model::timeline::{Stage, Timeline};
/// let mut line: Timeline = Timeline::default();
/// line.add(Stage::Map, Duration::ZERO, Duration::from_millis(15));
/// assert_eq!(line.steps.iter().map(|step| step[Stage::Map as usize]).sum::<u64>(), 15_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "[u64; COUNT]: Serialize", deserialize = "[u64; COUNT]: Deserialize<'de>"))]
#[serde(try_from = "WrittenTimeline<COUNT>")]
pub struct Timeline<const COUNT: usize = { Stage::ALL.len() }> {
    /// Length of a step, in microseconds.
    pub step_us: u64,
    /// Microseconds in each stage, per step; the first step begins with the thread.
    pub steps: Vec<[u64; COUNT]>,
}

/// A time line as it was written, by us or somebody else.
#[derive(Deserialize)]
#[serde(bound(deserialize = "[u64; COUNT]: Deserialize<'de>"))]
struct WrittenTimeline<const COUNT: usize> {
    step_us: u64,
    steps: Vec<[u64; COUNT]>,
}

impl<const COUNT: usize> TryFrom<WrittenTimeline<COUNT>> for Timeline<COUNT> {
    type Error = String;

    fn try_from(WrittenTimeline { step_us, steps }: WrittenTimeline<COUNT>) -> Result<Self, String> {
        // Some doublings of the first length: time lines are made alike by doubling.
        let doublings = step_us / FIRST_STEP_US;
        if step_us % FIRST_STEP_US != 0 || !doublings.is_power_of_two() || doublings > 1 << MOST_DOUBLINGS {
            return Err(format!("a time line has no steps of {step_us} us"));
        }
        if steps.len() > Self::MOST_STEPS {
            return Err(format!("a time line has {} steps, and {} is the most", steps.len(), Self::MOST_STEPS));
        }
        Ok(Timeline { step_us, steps })
    }
}

impl<const COUNT: usize> Default for Timeline<COUNT> {
    fn default() -> Self {
        Timeline { step_us: FIRST_STEP_US, steps: Vec::new() }
    }
}

impl<const COUNT: usize> Timeline<COUNT> {
    /// The most steps that are kept.
    pub const MOST_STEPS: usize = 128;

    /// Adds `length` in `stage`, from `start` after the thread's start on.
    pub fn add(&mut self, stage: impl Stages<COUNT>, start: Duration, length: Duration) {
        let (mut at, end) = (start.as_micros() as u64, (start + length).as_micros() as u64);
        if at == end {
            return;
        }
        while end > self.step_us * Self::MOST_STEPS as u64 {
            self.coarsen();
        }
        while at < end {
            let step = (at / self.step_us) as usize;
            let until = end.min((step as u64 + 1) * self.step_us);
            if self.steps.len() <= step {
                self.steps.resize(step + 1, [0; COUNT]);
            }
            self.steps[step][stage.place()] += until - at;
            at = until;
        }
    }

    /// Adds what another thread did at the same time.
    pub fn join(&mut self, mut other: Self) {
        while self.step_us < other.step_us {
            self.coarsen();
        }
        while other.step_us < self.step_us {
            other.coarsen();
        }
        self.steps.resize(self.steps.len().max(other.steps.len()), [0; COUNT]);
        let sum = |(mine, its): (&mut [u64; COUNT], &[u64; COUNT])| mine.iter_mut().zip(its).for_each(|(a, b)| *a += b);
        self.steps.iter_mut().zip(&other.steps).for_each(sum);
    }

    /// Makes one step of two.
    fn coarsen(&mut self) {
        let sum = |pair: &[[u64; COUNT]]| std::array::from_fn(|stage| pair.iter().map(|step| step[stage]).sum());
        self.steps = self.steps.chunks(2).map(sum).collect();
        self.step_us *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_time_line_is_is_refused() {
        let read = |step_us, steps| Timeline::try_from(WrittenTimeline { step_us, steps: vec![[1; 7]; steps] }).is_ok();
        assert!(read(10_000, 0) && read(40_000, 128));
        assert!(!read(0, 1) && !read(10_001, 1) && !read(30_000, 1) && !read(1 << 63, 1) && !read(10_000, 129));
    }

    #[test]
    fn no_time_is_lost_however_long_it_takes() {
        let mut line: Timeline = Timeline::default();
        let mut total = 0;
        for i in 0..5000u64 {
            let stage = Stage::ALL[i as usize % Stage::ALL.len()];
            line.add(stage, Duration::from_micros(total), Duration::from_micros(i));
            total += i;
        }
        assert_eq!(line.steps.iter().flatten().sum::<u64>(), total);
        assert!(line.steps.len() <= Timeline::<7>::MOST_STEPS);
        let mut both: Timeline = Timeline::default();
        both.add(Stage::Map, Duration::ZERO, Duration::from_micros(7));
        both.join(line.clone());
        assert_eq!(both.steps.iter().flatten().sum::<u64>(), total + 7);
        let fullest = line.steps.iter().map(|step| step.iter().sum::<u64>()).max();
        assert!(fullest.is_some_and(|us| us <= line.step_us));
        let year = Duration::from_secs(365 * 24 * 3600);
        let mut long: Timeline = Timeline::default();
        long.add(Stage::Map, Duration::ZERO, year);
        assert_eq!(long.steps.iter().flatten().sum::<u64>(), year.as_micros() as u64);
    }
}
