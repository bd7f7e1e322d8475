//! Short runs that correct the rule where it is not sure: which strategies, one after the other, and what they say.
//!
//! `zerohop align --plan auto` runs each for a while and maps on meanwhile, so nothing is lost but speed. The same
//! functions choose, time and judge them in the replay of published times (crates/plan/tests/published.rs).

use crate::rank::{Ranked, Verdict};
use crate::strategy::{Engine, Strategy};
use std::time::Duration;

/// How long each strategy is watched: a hundredth of what is left of the run, but so long at least, and so long at
/// most.
const PART: f64 = 0.01;
const LEAST_WATCH: Duration = Duration::from_secs(2);
const MOST_WATCH: Duration = Duration::from_secs(60);
/// Another strategy must be so much faster than the favourite: less is noise.
const GAIN: f64 = 0.07;

/// How long a strategy is watched if so much of the run is left; if that is not known, as short as may be.
pub fn watch_for(left: Option<Duration>) -> Duration {
    left.map_or(LEAST_WATCH, |left| left.mul_f64(PART)).clamp(LEAST_WATCH, MOST_WATCH)
}

/// Strategies that are tried in turn.
///
/// ```
/// use zerohop_model::plan::Pages;
/// use zerohop_plan::{Engine, Pilots, Ranked, Strategy, Verdict};
/// let strategy = |copies| Strategy { copies, pages: Pages::Interleave };
/// let ranked = |copies, verdict| Ranked { strategy: strategy(copies), verdict, reasons: vec![] };
/// let all = [ranked(1, Verdict::Chosen), ranked(2, Verdict::Pilot), ranked(4, Verdict::Possible)];
/// let mut pilots = Pilots::new(&all, Engine::External { shares: false });
/// assert_eq!(pilots.next(), Some(0), "the run begins with what the rule chose");
/// pilots.ran(Some(100.0));
/// assert_eq!(pilots.next(), Some(1));
/// pilots.ran(Some(130.0));
/// assert_eq!((pilots.next(), pilots.best()), (None, 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pilots {
    /// What the run begins with is the first.
    strategies: Vec<Strategy>,
    /// That which is kept unless another one is clearly faster.
    favourite: usize,
    /// Reads per second of each that had its turn; none if it could not be tried.
    speeds: Vec<Option<f64>>,
}

impl Pilots {
    /// The pilots for strategies as they were ranked: nothing to compare if the rule is sure.
    ///
    /// With an embedded engine the run begins with one copy, which is there soonest, and others are made while it goes
    /// on; so the rule's copies are always compared with it.
    pub fn new(ranked: &[Ranked], engine: Engine) -> Self {
        let of = |verdict| ranked.iter().filter(move |ranked| ranked.verdict == verdict).map(|ranked| ranked.strategy);
        let mut strategies: Vec<Strategy> = of(Verdict::Chosen).chain(of(Verdict::Pilot)).collect();
        let chosen = strategies.first().copied();
        let one = ranked.iter().map(|ranked| ranked.strategy).find(|strategy| strategy.copies == 1);
        if let (Engine::Embedded, Some(one)) = (engine, one) {
            strategies.retain(|strategy| *strategy != one);
            strategies.insert(0, one);
        }
        let favourite = strategies.iter().position(|strategy| Some(*strategy) == chosen).unwrap_or(0);
        Pilots { strategies, favourite, speeds: Vec::new() }
    }

    /// One strategy against another one, which the user asked for.
    pub fn between(first: Strategy, other: Strategy, engine: Engine) -> Self {
        let favourite = usize::from(engine == Engine::Embedded);
        Pilots { strategies: vec![first, other], favourite, speeds: Vec::new() }
    }

    /// All of them; the run begins with the first.
    pub fn strategies(&self) -> &[Strategy] {
        &self.strategies
    }

    /// The number of the next strategy to run; none when there is nothing (more) to compare.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Option<usize> {
        let next = self.speeds.len();
        (self.strategies.len() > 1 && next < self.strategies.len()).then_some(next)
    }

    /// The reads per second of the strategy that was next; none if it could not be tried.
    pub fn ran(&mut self, speed: Option<f64>) {
        self.speeds.push(speed);
    }

    /// Reads per second of a strategy, if it ran.
    pub fn speed(&self, number: usize) -> Option<f64> {
        self.speeds.get(number).copied().flatten()
    }

    /// The strategy to stay with: the favourite, unless another one was clearly faster.
    pub fn best(&self) -> usize {
        let ran = (0..self.strategies.len()).filter_map(|number| Some((number, self.speed(number)?)));
        let Some((fastest, speed)) = ran.max_by(|(_, a), (_, b)| a.total_cmp(b)) else { return self.favourite };
        let of_favourite = self.speed(self.favourite);
        let clearly = of_favourite.is_none_or(|of_favourite| speed > of_favourite * (1.0 + GAIN));
        if clearly { fastest } else { self.favourite }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::plan::Pages;

    const EXTERNAL: Engine = Engine::External { shares: false };

    fn after(mut pilots: Pilots, speeds: &[Option<f64>]) -> usize {
        speeds.iter().for_each(|speed| pilots.ran(*speed));
        pilots.best()
    }

    #[test]
    fn only_a_clear_gain_overrules_the_favourite() {
        let [one, two] = [1, 2].map(|copies| Strategy { copies, pages: Pages::Interleave });
        let pilots = |engine| Pilots::between(one, two, engine);
        assert_eq!(after(pilots(EXTERNAL), &[Some(100.0), Some(106.0)]), 0);
        assert_eq!(after(pilots(EXTERNAL), &[Some(100.0), Some(108.0)]), 1);
        assert_eq!(after(pilots(Engine::Embedded), &[Some(106.0), Some(100.0)]), 1);
        assert_eq!(after(pilots(Engine::Embedded), &[Some(108.0), Some(100.0)]), 0);
        assert_eq!(after(pilots(Engine::Embedded), &[Some(100.0), None]), 0, "what cannot be made is not kept");
        assert_eq!(after(pilots(EXTERNAL), &[]), 0);
    }

    #[test]
    fn an_embedded_engine_begins_with_one_copy() {
        let ranked = |copies, verdict| Ranked {
            strategy: Strategy { copies, pages: Pages::Interleave },
            verdict,
            reasons: vec![],
        };
        let all = [ranked(4, Verdict::Chosen), ranked(2, Verdict::Pilot), ranked(1, Verdict::Possible)];
        let copies = |engine| -> Vec<usize> {
            Pilots::new(&all, engine).strategies().iter().map(|strategy| strategy.copies).collect()
        };
        assert_eq!((copies(Engine::Embedded), copies(EXTERNAL)), (vec![1, 4, 2], vec![4, 2]));
        assert_eq!(Pilots::new(&all[..1], EXTERNAL).next(), None, "the rule is sure");
    }

    #[test]
    fn a_watch_is_a_hundredth_of_what_is_left() {
        let watched = |left: Option<u64>| watch_for(left.map(Duration::from_secs)).as_secs();
        assert_eq!([watched(None), watched(Some(10)), watched(Some(1000)), watched(Some(100_000))], [2, 2, 10, 60]);
    }
}
