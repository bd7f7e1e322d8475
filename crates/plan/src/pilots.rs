//! Short runs that correct the rule where it is not sure.

use crate::rank::{Ranked, Verdict};
use crate::strategy::Strategy;
use std::time::Duration;

/// The part of the reads that a pilot run maps.
pub const PILOT_PART: f64 = 0.01;
/// A pilot is broken off when it has taken so many times what the best one took.
const ABANDON: f64 = 1.3;
/// Another strategy must be so much faster than the one chosen by rule: less could be noise.
const GAIN: f64 = 0.10;

/// Whether what took `time` overrules what the rule chose, which took `by_rule`; in any unit.
pub fn overrules(time: f64, by_rule: f64) -> bool {
    time < by_rule * (1.0 - GAIN)
}

/// A pilot run that is to be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pilot {
    /// What to try.
    pub strategy: Strategy,
    /// When to break it off, if some pilot has been made.
    pub limit: Option<Duration>,
}

/// Which pilots to make, one after the other, and what they say.
///
/// ```
/// use std::time::Duration;
/// use zerohop_model::plan::Pages;
/// use zerohop_plan::{Pilots, Ranked, Strategy, Verdict};
/// let ranked = |copies, verdict| Ranked { strategy: Strategy { copies, pages: Pages::Interleave }, verdict, reasons: vec![] };
/// let mut pilots = Pilots::new(&[ranked(1, Verdict::Chosen), ranked(2, Verdict::Pilot)]);
/// assert_eq!(pilots.next().map(|pilot| pilot.strategy.copies), Some(1));
/// pilots.took(Some(Duration::from_secs(10)));
/// let second = pilots.next();
/// assert_eq!(second.and_then(|pilot| pilot.limit), Some(Duration::from_secs(13)));
/// pilots.took(Some(Duration::from_secs(7)));
/// assert_eq!(pilots.best().map(|strategy| strategy.copies), Some(2));
/// ```
#[derive(Debug, Clone)]
pub struct Pilots {
    /// The chosen strategy first.
    candidates: Vec<Strategy>,
    /// What each pilot took; none if it was broken off or failed.
    took: Vec<Option<Duration>>,
}

impl Pilots {
    /// The pilots for strategies as they were ranked: none if the rule is sure.
    pub fn new(ranked: &[Ranked]) -> Self {
        let of = |verdict| ranked.iter().filter(move |ranked| ranked.verdict == verdict).map(|ranked| ranked.strategy);
        Pilots { candidates: of(Verdict::Chosen).chain(of(Verdict::Pilot)).collect(), took: Vec::new() }
    }

    /// The next pilot to make; none when there is nothing to compare.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Option<Pilot> {
        let strategy = *self.candidates.get(self.took.len()).filter(|_| self.candidates.len() > 1)?;
        let best = self.took.iter().flatten().min();
        Some(Pilot { strategy, limit: best.map(|best| best.mul_f64(ABANDON)) })
    }

    /// What the pilot made last took; none if it was broken off or failed.
    pub fn took(&mut self, time: Option<Duration>) {
        self.took.push(time);
    }

    /// The strategy to run: that chosen by rule, unless another one was clearly faster.
    pub fn best(&self) -> Option<Strategy> {
        let chosen = *self.candidates.first()?;
        let times =
            || self.candidates.iter().zip(&self.took).filter_map(|(strategy, took)| Some((*strategy, (*took)?)));
        let Some((fastest, time)) = times().min_by_key(|(_, time)| *time) else { return Some(chosen) };
        let by_rule = self.took.first().copied().flatten();
        let clearly = by_rule.is_none_or(|by_rule| overrules(time.as_secs_f64(), by_rule.as_secs_f64()));
        Some(if clearly { fastest } else { chosen })
    }
}
