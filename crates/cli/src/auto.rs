//! `--plan auto`: two strategies on the first reads of the run itself, whose records are kept.
//!
//! The run begins with one index copy. When it has gone on for a while, a [`Switch`] has it follow the other strategy: an embedded
//! engine's copies are made beside it, and workers move over as each is ready (replicas.rs); instances of an external aligner are
//! relieved by others (relief.rs). After as long again, what was slower goes. Nothing is mapped twice.

use crate::args::AlignArgs;
use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::machine::Machine;
use zerohop_model::plan::{Pages, Plan};
use zerohop_plan::{Engine, Ranked, Replicas as Count, Request, Verdict, overrules, rank};
use zerohop_runtime::Progress;

/// How long each strategy is watched: so long at least, a hundredth of the run if that is more, but so long at most.
const LEAST_WATCH: Duration = Duration::from_secs(2);
const MOST_WATCH: Duration = Duration::from_secs(60);
const PART: f64 = 0.01;
/// How often the run is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Two strategies: that of the beginning, with one copy, and one with several.
#[derive(Debug, Clone)]
pub struct Pair {
    /// One copy.
    pub first: Plan,
    /// Several.
    pub other: Plan,
    /// Whether the rule prefers the other.
    other_by_rule: bool,
}

impl Pair {
    /// What there is to be tried for an index of this size; none if the rule is sure. Copies of an embedded engine can come while the
    /// run goes on, so the rule's copies are always compared with the one that the run begins with.
    ///
    /// # Errors
    /// Copies that do not fit into memory.
    pub fn of(args: &AlignArgs, machine: &Machine, engine: Engine, index_bytes: u64) -> Result<Option<Self>, Failure> {
        let request = args.request(index_bytes);
        let by_rule = zerohop_plan::plan(machine, &request)?;
        if args.external.farm
            || engine != Engine::Embedded && by_rule.replicas.len() > 1 && request.replicas == Count::Auto
        {
            return Ok(None);
        }
        if by_rule.replicas.len() > 1 {
            let first = zerohop_plan::plan(machine, &Request { replicas: Count::Count(1), pages: None, ..request })?;
            return Ok(Some(Pair { first, other: by_rule, other_by_rule: engine == Engine::Embedded }));
        }
        let ranked = rank(machine, index_bytes, None);
        let doubtful = |ranked: &&Ranked| ranked.verdict == Verdict::Pilot;
        let Some(Ranked { strategy, .. }) = ranked.iter().find(doubtful).filter(|_| request.replicas == Count::Auto)
        else {
            return Ok(None);
        };
        let (replicas, pages) = (Count::Count(strategy.copies), Some(strategy.pages));
        let other = zerohop_plan::plan(machine, &Request { replicas, pages, ..request })?;
        Ok(Some(Pair { first: by_rule, other, other_by_rule: false }))
    }

    /// The strategy to stay with, by the reads per second of each.
    fn other_stays(&self, first: f64, other: f64) -> bool {
        let (first, other) = (1.0 / first, 1.0 / other);
        if self.other_by_rule { !overrules(first, other) } else { overrules(other, first) }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the run changed from one strategy to another, once or twice.
    pub changed: bool,
    /// Whether it stayed with the other strategy.
    pub other: bool,
    /// What was found, a sentence.
    pub said: String,
}

/// What has a run follow another strategy.
pub trait Switch: Send {
    /// Has the run follow the other strategy, and waits until it does, or until it ends.
    ///
    /// # Errors
    /// Why it cannot, in words; the run then goes on as before.
    fn over(&mut self, ended: &dyn Fn() -> bool) -> Result<(), String>;

    /// Has it follow the first one again.
    ///
    /// # Errors
    /// Why it cannot, in words; the run then goes on with the other.
    fn back(&mut self, ended: &dyn Fn() -> bool) -> Result<(), String>;
}

/// A run that is watched, and changed.
pub struct Watched<'a> {
    /// The two strategies.
    pub pair: &'a Pair,
    /// How far it is.
    pub progress: &'a Progress,
    /// Set when it is over.
    pub over: &'a AtomicBool,
    /// How long making the first copy took; none if the run itself has to wait for it.
    pub making: Option<Duration>,
    /// Copies are made only if what is left of the run takes so many times as long as making the first one took.
    pub worth: f64,
    /// Reads that each strategy must have mapped before it is judged.
    pub least_reads: u64,
}

impl Watched<'_> {
    /// Watches the run with the first copy, switches over, watches again, and lets the slower strategy go.
    fn try_both(&self, switch: &mut dyn Switch) -> Outcome {
        let nothing =
            |said: &str| Outcome { changed: false, other: false, said: format!("{said}, so nothing was tried.") };
        let (started, ended) = (Instant::now(), || self.over.load(Ordering::Acquire));
        let waited = self.wait_until(|| self.progress.reads() > 0).map(|()| started.elapsed());
        let making = self.making.or(waited).unwrap_or_default();
        let Some(rate_first) = self.watch(started) else { return nothing("The input was short") };
        if self.left(started).is_some_and(|left| left < making.mul_f64(self.worth)) {
            return nothing("What was left of the input was not worth further index copies");
        }
        if let Err(error) = switch.over(&ended) {
            return nothing(&format!("Further index copies could not be made ({error})"));
        }
        let rate_other = self.watch(started);
        let (one, several) = (words(&self.pair.first), words(&self.pair.other));
        let Some(rate_other) = rate_other else {
            let said = format!("The input ended before {several} could be compared with {one}.");
            return Outcome { changed: true, other: true, said };
        };
        let mut other = self.pair.other_stays(rate_first, rate_other);
        let slower = !other;
        // Going back costs nothing where the first copy is still there.
        let worth_it = self.making.is_some() || self.left(started).is_none_or(|left| left > making.mul_f64(self.worth));
        if slower {
            other = !worth_it || switch.back(&ended).is_err();
        }
        let said = format!(
            "Tried on the first reads: {one} {rate_first:.0} reads/s, {several} {rate_other:.0} ({:.2}x): {} kept{}.",
            rate_other / rate_first.max(1.0),
            if other { &several } else { &one },
            if other && slower { ", for what was left was not worth going back" } else { "" }
        );
        Outcome { changed: true, other, said }
    }

    /// Reads per second over a while; none if the run ends first.
    fn watch(&self, started: Instant) -> Option<f64> {
        // Chunks that were begun before the last change are not counted.
        let before = self.progress.reads();
        self.wait_until(|| self.progress.reads() > before)?;
        let (from, at) = (self.progress.reads(), Instant::now());
        let length = self.left(started).map_or(LEAST_WATCH, |left| left.mul_f64(PART)).clamp(LEAST_WATCH, MOST_WATCH);
        self.wait_until(|| at.elapsed() >= length && self.progress.reads() >= from + self.least_reads)?;
        Some((self.progress.reads() - from) as f64 / at.elapsed().as_secs_f64())
    }

    /// Waits; none if the run ends first.
    fn wait_until(&self, done: impl Fn() -> bool) -> Option<()> {
        wait_until(done, &|| self.over.load(Ordering::Acquire)).then_some(())
    }

    /// How long the rest of the run will take at this pace, if it is known how long the input is.
    fn left(&self, started: Instant) -> Option<Duration> {
        let share = self.progress.dealt()?.max(1e-6);
        Some(started.elapsed().mul_f64(1.0 / share - 1.0))
    }
}

/// Waits until it is done; false if it ended first.
pub fn wait_until(done: impl Fn() -> bool, ended: &dyn Fn() -> bool) -> bool {
    while !done() {
        if ended() {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}

fn words(plan: &Plan) -> String {
    let pages = match plan.replicas.first().map(|replica| replica.pages) {
        Some(Pages::Interleave) => ", interleaved",
        Some(Pages::Local) => ", local",
        _ => "",
    };
    match plan.replicas.len() {
        1 => format!("one copy{pages}"),
        copies => format!("{copies} copies{pages}"),
    }
}

/// Runs `body` while both strategies of `watched` are tried.
pub fn beside<T, S: Switch>(
    watched: &Watched<'_>,
    mut switch: S,
    body: impl FnOnce() -> T,
) -> (T, Option<(Outcome, S)>) {
    std::thread::scope(|scope| {
        let trial = std::thread::Builder::new().name("trial".into()).spawn_scoped(scope, move || {
            let outcome = watched.try_both(&mut switch);
            // Programs that this thread has started would end with it.
            while !watched.over.load(Ordering::Acquire) {
                std::thread::sleep(LOOK);
            }
            (outcome, switch)
        });
        let result = body();
        watched.over.store(true, Ordering::Release);
        // Without a thread for it nothing is tried; the run does not need one.
        (result, trial.ok().and_then(|trial| trial.join().ok()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_gain_overrules_the_rule() {
        let plan = Plan { replicas: vec![], workers: vec![], helper_cpus: vec![], reasons: vec![] };
        let pair = |other_by_rule| Pair { first: plan.clone(), other: plan.clone(), other_by_rule };
        assert!(pair(true).other_stays(100.0, 95.0) && !pair(true).other_stays(100.0, 80.0));
        assert!(!pair(false).other_stays(100.0, 105.0) && pair(false).other_stays(100.0, 120.0));
    }
}
