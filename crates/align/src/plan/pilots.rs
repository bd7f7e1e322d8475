//! `--plan auto`: strategies on the first reads of the run itself, whose records are kept.
//!
//! Which strategies are tried, for how long each is watched, and which one stays, the planner says ([`Pilots`]). A
//! [`Switch`] has the run follow them in turn: an embedded engine's copies are made beside the first, and workers move
//! over as each is ready (replicas.rs); instances of an external aligner hand over to others (handover.rs). Nothing is
//! mapped twice.

use crate::job::{AlignError, Job};
use crate::plan::plan_cache;
use crate::plan::tuning_key::TuningKey;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::machine::Machine;
use zerohop_model::plan::{Pages, Plan};
use zerohop_model::thousands::grouped;
use zerohop_plan::{Need, Pilots, PlanError, Replicas as Count, Request, Strategy, kept_suffice, rank, watch_for};
use zerohop_runtime::AtEnd;
use zerohop_runtime::Progress;

/// How often the run is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Strategies that a run may follow, worked out for the machine.
#[derive(Debug, Clone)]
pub struct Alternatives {
    /// A plan for each; the run begins with the first.
    pub plans: Vec<Plan>,
    pilots: Pilots,
}

impl Alternatives {
    /// What there is to be tried; none if the rule is sure, or where copies are kept. With a number of copies that the
    /// user asked for, that is compared with one copy.
    ///
    /// # Errors
    /// Copies that do not fit into memory.
    pub fn of(job: &Job, machine: &Machine, key: &TuningKey) -> Result<Option<Self>, AlignError> {
        let (map, engine) = (plan_cache::memory_map(machine), key.kind);
        let request = super::request(&job.placement, key, map.as_ref());
        if job.external.farm || request.replicas == Count::Count(1) {
            return Ok(None);
        }
        if request.replicas != Count::Auto {
            let one = zerohop_plan::plan(machine, &Request { replicas: Count::Count(1), ..request })?;
            let plans = vec![one, zerohop_plan::plan(machine, &request)?];
            let [one, asked] = [0, 1].map(|number| strategy_of(&plans[number]));
            return Ok((one != asked).then(|| Alternatives { pilots: Pilots::between(one, asked, engine), plans }));
        }
        if request.pages.is_none() && kept_suffice(machine, request.kept) {
            return Ok(None);
        }
        let threads = request.workers.unwrap_or_else(|| machine.allowed.worker_count());
        let mut ranked = rank(machine, &Need { index_bytes: key.index.0, engine, threads }, map.as_ref());
        ranked.retain(|ranked| request.pages.is_none_or(|pages| ranked.strategy.pages == pages));
        let pilots = Pilots::new(&ranked, engine);
        if pilots.next().is_none() {
            return Ok(None);
        }
        let plan = |strategy: &Strategy| {
            let (replicas, pages) = (Count::Count(strategy.copies), Some(strategy.pages));
            zerohop_plan::plan(machine, &Request { replicas, pages, ..request })
        };
        let plans = pilots.strategies().iter().map(plan).collect::<Result<_, PlanError>>()?;
        Ok(Some(Alternatives { plans, pilots }))
    }

    /// Index copies of the plan that has most.
    pub fn most_copies(&self) -> usize {
        self.plans.iter().map(|plan| plan.replicas.len()).max().unwrap_or(0)
    }
}

fn strategy_of(plan: &Plan) -> Strategy {
    let pages = plan.replicas.first().map_or(Pages::Local, |replica| replica.pages);
    Strategy { copies: plan.replicas.len(), pages }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PilotsOutcome {
    /// Whether the run changed from one strategy to another.
    pub changed: bool,
    /// The number of the strategy that it stayed with.
    pub kept: usize,
    /// What was found, a sentence.
    pub said: String,
}

/// What has a run follow another strategy.
pub trait Switch: Send {
    /// Has the run follow the strategy of this number, and waits until it does, or until it ends.
    ///
    /// # Errors
    /// Why it cannot, in words; [`Switch::present`] then tells which one the run follows.
    fn follow(&mut self, number: usize, ended: &dyn Fn() -> bool) -> Result<(), String>;

    /// The strategy that the run follows; 0 in the beginning.
    fn present(&self) -> usize;
}

/// A run that is watched, and changed.
pub struct WatchedRun<'a> {
    /// The strategies.
    pub alternatives: &'a Alternatives,
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

impl WatchedRun<'_> {
    /// Watches the run under each strategy in turn, and has it follow the best of them.
    fn try_all(&self, switch: &mut dyn Switch) -> PilotsOutcome {
        let mut pilots = self.alternatives.pilots.clone();
        let (started, ended) = (Instant::now(), || self.over.load(Ordering::Acquire));
        let waited = self.wait_until(|| self.progress.reads() > 0).map(|()| started.elapsed());
        let making = self.making.or(waited).unwrap_or_default();
        let is_worth_it = || self.left(started).is_none_or(|left| left >= making.mul_f64(self.worth));
        let mut why = "The input was short".to_owned();
        while let Some(number) = pilots.next() {
            if number > 0 && !is_worth_it() {
                why = "What was left of the input was not worth further index copies".to_owned();
                break;
            }
            if number > 0
                && let Err(error) = switch.follow(number, &ended)
            {
                why = format!("Further index copies could not be made ({error})");
                pilots.ran(None);
                continue;
            }
            let Some(rate) = self.watch(started) else { break };
            pilots.ran(Some(rate));
        }
        let tried = (0..self.alternatives.plans.len()).filter(|number| pilots.speed(*number).is_some()).count();
        let present = switch.present();
        if tried < 2 {
            let said = match present {
                0 => format!("{why}, so nothing was tried."),
                other => {
                    format!("The input ended before {} could be compared with {}.", self.words(other), self.words(0))
                }
            };
            return PilotsOutcome { changed: present != 0, kept: present, said };
        }
        let best = pilots.best();
        // Going back to a first copy that is still there costs nothing.
        let is_free = best == present || best == 0 && self.making.is_some();
        let stays = !(is_free || is_worth_it()) || best != present && switch.follow(best, &ended).is_err();
        let kept = switch.present();
        let stays = if stays { ", for what was left was not worth going back" } else { "" };
        let said = format!("Tried on the first reads: {}: {} stays{stays}.", self.speeds(&pilots), self.words(kept));
        PilotsOutcome { changed: true, kept, said }
    }

    /// What each strategy reached, in words.
    fn speeds(&self, pilots: &Pilots) -> String {
        let first = pilots.speed(0).unwrap_or(1.0).max(1.0);
        let one = |number: usize| {
            let speed = pilots.speed(number)?;
            let times = if number > 0 { format!(" ({:.2}x)", speed / first) } else { String::new() };
            Some(format!("{} {} reads/s{times}", self.words(number), grouped(speed as u64)))
        };
        (0..self.alternatives.plans.len()).filter_map(one).collect::<Vec<_>>().join(", ")
    }

    fn words(&self, number: usize) -> String {
        words(&self.alternatives.plans[number])
    }

    /// Reads per second over a while; none if the run ends first.
    fn watch(&self, started: Instant) -> Option<f64> {
        // Chunks that were begun before the last change are not counted.
        let before = self.progress.reads();
        self.wait_until(|| self.progress.reads() > before)?;
        let (from, at) = (self.progress.reads(), Instant::now());
        let length = watch_for(self.left(started));
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
        Some(Pages::FirstTouch) => ", as it is",
        _ => "",
    };
    match plan.replicas.len() {
        1 => format!("one copy{pages}"),
        copies => format!("{copies} copies{pages}"),
    }
}

/// Runs `body` while the strategies of `watched` are tried.
pub fn beside<T, S: Switch>(
    watched: &WatchedRun<'_>,
    mut switch: S,
    body: impl FnOnce() -> T,
) -> (T, Option<(PilotsOutcome, S)>) {
    std::thread::scope(|scope| {
        let trial = std::thread::Builder::new().name("trial".into()).spawn_scoped(scope, move || {
            let outcome = watched.try_all(&mut switch);
            // Programs that this thread has started would end with it.
            while !watched.over.load(Ordering::Acquire) {
                std::thread::sleep(LOOK);
            }
            (outcome, switch)
        });
        let over = AtEnd(|| watched.over.store(true, Ordering::Release));
        let result = body();
        drop(over);
        // Without a thread for it nothing is tried; the run does not need one.
        (result, trial.ok().and_then(|trial| trial.join().ok()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use zerohop_plan::Engine;

    struct Stays;

    impl Switch for Stays {
        fn follow(&mut self, _: usize, _: &dyn Fn() -> bool) -> Result<(), String> {
            Err("nothing to follow".to_owned())
        }

        fn present(&self) -> usize {
            0
        }
    }

    #[test]
    fn the_trial_ends_with_the_run_and_with_a_panic_of_it() {
        let strategy = |copies| Strategy { copies, pages: Pages::Local };
        let pilots = Pilots::between(strategy(1), strategy(2), Engine::Embedded);
        let (alternatives, progress) = (Alternatives { plans: Vec::new(), pilots }, Progress::default());
        let watch = |body: fn()| {
            let over = AtomicBool::new(false);
            let (making, worth, least_reads) = (None, 1.0, 1);
            let watched = WatchedRun {
                alternatives: &alternatives,
                progress: &progress,
                over: &over,
                making,
                worth,
                least_reads,
            };
            catch_unwind(AssertUnwindSafe(|| beside(&watched, Stays, body).1.map(|(outcome, _)| outcome.kept)))
        };
        assert_eq!(watch(|| ()).unwrap(), Some(0));
        assert!(watch(|| panic!("made up")).is_err());
    }
}
