//! Trials that are ended early: every candidate runs once; whoever is clearly behind is not run again; the rest run in
//! turn, so that a machine that gets slower gets slower for all of them.

use zerohop_model::tuning::{Choice, Finding};

/// A trial is broken off when it has taken so many times what the best took; in the first round, when nobody knows yet
/// how much trials of the same choice differ, only when it has taken many times as long.
const ABANDON: f64 = 1.3;
const ABANDON_FIRST: f64 = 2.0;
/// Who is so far behind the best in the median of the rounds, and behind it in each, is out.
const BEHIND: f64 = 1.03;
/// Rounds before anybody is out for being [`BEHIND`].
const ROUNDS_TO_JUDGE: u32 = 2;

/// How long it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Rounds at most.
    pub rounds: u32,
    /// Whether those who are behind are let go.
    pub early: bool,
}

/// The next trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heat {
    /// The choice to try.
    pub choice: Choice,
    /// The number of the round, from 1.
    pub round: u32,
    /// Seconds after which it is lost, if some limit holds.
    pub limit_s: Option<f64>,
}

/// One candidate's way through the rounds.
#[derive(Debug, Clone)]
struct Entrant {
    choice: Choice,
    /// Seconds of each round.
    took: Vec<f64>,
    out: Option<String>,
}

/// A race.
///
/// ```
/// use zerohop_model::{plan::Pages, tuning::Choice};
/// use zerohop_plan::{Race, Rules};
/// let choice = |copies| Choice { copies, threads: 4, pages: Pages::Local, farm: false };
/// let mut race = Race::new(vec![choice(1), choice(2), choice(4)], Rules { rounds: 3, early: true });
/// while let Some(heat) = race.next() {
///     let took = [0.0, 10.0, 8.0, 0.0, 30.0][heat.choice.copies];
///     race.ran(heat.limit_s.is_none_or(|limit| took < limit).then_some(took));
/// }
/// let findings = race.findings();
/// assert_eq!((findings[0].choice, findings[0].trials), (choice(2), 2));
/// assert!(findings[2].dropped.is_some());
/// ```
#[derive(Debug, Clone)]
pub struct Race {
    entrants: Vec<Entrant>,
    rules: Rules,
    round: u32,
    next: usize,
}

impl Race {
    /// A race between `choices`, of which the first should be the favourite: it sets the limit for the others.
    pub fn new(choices: Vec<Choice>, rules: Rules) -> Self {
        let entrants = choices.into_iter().map(|choice| Entrant { choice, took: Vec::new(), out: None }).collect();
        Race { entrants, rules, round: 1, next: 0 }
    }

    /// The next trial; none when it is over.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Heat> {
        loop {
            if self.round > self.rules.rounds {
                return None;
            }
            match self.entrants.get(self.next) {
                Some(entrant) if entrant.out.is_none() => {
                    let limit_s = self.best_so_far().filter(|_| self.rules.early).map(|best| best * self.abandon());
                    return Some(Heat { choice: entrant.choice, round: self.round, limit_s });
                }
                Some(_) => self.next += 1,
                None => self.end_round(),
            }
        }
    }

    /// What the trial took in seconds; none if it was broken off.
    pub fn ran(&mut self, took_s: Option<f64>) {
        let abandon = self.abandon();
        if let Some(entrant) = self.entrants.get_mut(self.next) {
            match took_s {
                Some(took) => entrant.took.push(took),
                None => entrant.out = Some(format!("it took more than {abandon} times as long as the best")),
            }
        }
        self.next += 1;
    }

    /// Notes that the trial failed, and why.
    pub fn failed(&mut self, why: String) {
        if let Some(entrant) = self.entrants.get_mut(self.next) {
            entrant.out = Some(why);
        }
        self.next += 1;
    }

    /// A line per candidate, the best first; those who are out last.
    pub fn findings(&self) -> Vec<Finding> {
        let best = self.leader();
        let finding = |entrant: &Entrant| Finding {
            choice: entrant.choice,
            trials: entrant.took.len(),
            seconds: Some(mean(&entrant.took)).filter(|seconds| seconds.is_finite()),
            relative_error: relative_error(&entrant.took),
            against_best: best.map(|best| against(entrant, best)).filter(|times| times.is_finite()),
            dropped: entrant.out.clone(),
        };
        let mut findings: Vec<Finding> = self.entrants.iter().map(finding).collect();
        // The median of ratios may put another before the one with the least median, by a hair.
        let is_other = |finding: &Finding| best.is_none_or(|best| best.choice != finding.choice);
        let key = |finding: &Finding| (finding.dropped.is_some(), is_other(finding));
        let times = |finding: &Finding| finding.against_best.unwrap_or(f64::INFINITY);
        findings.sort_by(|a, b| key(a).cmp(&key(b)).then(times(a).total_cmp(&times(b))));
        findings
    }

    /// How sure it is that the best is the best.
    pub fn sure(&self) -> String {
        let Some(best) = self.leader() else { return "No trial ran to its end.".to_owned() };
        let still: Vec<&Entrant> =
            self.entrants.iter().filter(|e| e.out.is_none() && e.choice != best.choice).collect();
        let ties: Vec<String> =
            still.iter().filter(|e| against(e, best) < BEHIND).map(|e| format!("'{}'", e.choice)).collect();
        let rounds = best.took.len();
        if !ties.is_empty() {
            let ties = ties.join(", ");
            return format!("Within 3 % of it, and not distinguishable in {rounds} rounds: {ties}.");
        }
        let others = self.entrants.iter().filter(|e| e.choice != best.choice && !e.took.is_empty());
        match others.min_by(|a, b| against(a, best).total_cmp(&against(b, best))) {
            None => "It is the only one that ran to its end.".to_owned(),
            Some(next) => {
                let won = next.took.iter().zip(&best.took).filter(|(next, best)| next > best).count();
                let (times, shared) = (against(next, best), next.took.len().min(rounds));
                format!(
                    "The next best, '{}', took {times:.2} times as long, and was slower in {won} of {shared} rounds.",
                    next.choice
                )
            }
        }
    }

    fn abandon(&self) -> f64 {
        if self.round == 1 { ABANDON_FIRST } else { ABANDON }
    }

    /// The best of this round. The machine may have become slower since the last, so that says nothing: who runs first
    /// in a round is not broken off, and somebody is always left.
    fn best_so_far(&self) -> Option<f64> {
        let of_round = self.entrants.iter().filter_map(|entrant| entrant.took.get(self.round as usize - 1).copied());
        of_round.min_by(f64::total_cmp)
    }

    /// The candidate with the least median of those that are still in.
    fn leader(&self) -> Option<&Entrant> {
        let still = self.entrants.iter().filter(|entrant| entrant.out.is_none() && !entrant.took.is_empty());
        still.min_by(|a, b| median(a.took.clone()).total_cmp(&median(b.took.clone())))
    }

    fn end_round(&mut self) {
        if self.rules.early {
            self.let_go();
        }
        let still = self.entrants.iter().filter(|entrant| entrant.out.is_none()).count();
        // One run of a single candidate may be a freak, but there is nothing to compare it with.
        let alone = self.rules.early && still <= 1;
        self.round = if alone { self.rules.rounds + 1 } else { self.round + 1 };
        self.next = 0;
    }

    fn let_go(&mut self) {
        let Some(best) = self.leader().cloned() else { return };
        let abandon = self.abandon();
        for entrant in self.entrants.iter_mut().filter(|e| e.out.is_none() && e.choice != best.choice) {
            let behind = against(entrant, &best);
            let always = entrant.took.iter().zip(&best.took).all(|(took, best)| took > best);
            if behind > abandon || self.round >= ROUNDS_TO_JUDGE && behind > BEHIND && always {
                entrant.out = Some(format!("it took {behind:.2} times as long as the best"));
            }
        }
    }
}

/// The median, over the rounds in which both ran, of how many times as long one took.
fn against(one: &Entrant, best: &Entrant) -> f64 {
    let ratios: Vec<f64> = one.took.iter().zip(&best.took).map(|(one, best)| one / best).collect();
    if ratios.is_empty() { f64::INFINITY } else { median(ratios) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::INFINITY,
        odd if odd % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::INFINITY } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The standard deviation of the sample over its mean.
fn relative_error(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::plan::Pages;

    fn choice(copies: usize) -> Choice {
        Choice { copies, threads: 8, pages: Pages::Local, farm: false }
    }

    fn noise(random: &mut u64) -> f64 {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*random >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// Runs a race whose candidate `i` truly takes `truth[i]`, on a machine that drifts and is noisy; gives it and what
    /// it cost.
    fn run(truth: &[f64], rules: Rules, drift: f64, spread: f64, seed: u64) -> (Race, f64) {
        let mut race = Race::new((0..truth.len()).map(|i| choice(i + 1)).collect(), rules);
        let (mut random, mut cost, mut speed) = (seed, 0.0, 1.0);
        while let Some(heat) = race.next() {
            speed *= 1.0 + drift * noise(&mut random);
            let took = truth[heat.choice.copies - 1] * speed * (1.0 + spread * noise(&mut random));
            let limit = heat.limit_s.unwrap_or(f64::INFINITY);
            cost += took.min(limit);
            race.ran((took < limit).then_some(took));
        }
        (race, cost)
    }

    #[test]
    fn it_finds_one_that_is_nearly_the_best_for_a_fraction_of_the_cost() {
        let truth = [10.0, 13.5, 9.0, 20.0, 9.9, 14.0, 9.1, 30.0, 11.0];
        for seed in 1..200 {
            let (race, cost) = run(&truth, Rules { rounds: 5, early: true }, 0.1, 0.02, seed);
            let found = truth[race.findings()[0].choice.copies - 1];
            assert!(found <= 9.0 * 1.03, "seed {seed}: {found}");
            let full: f64 = 10.0 * truth.iter().sum::<f64>();
            assert!(cost < 0.4 * full, "seed {seed}: {cost} of {full}");
        }
    }

    #[test]
    fn a_machine_that_gets_slower_leaves_somebody() {
        let mut race = Race::new(vec![choice(1), choice(2)], Rules { rounds: 4, early: true });
        while let Some(heat) = race.next() {
            let took = 10.0 * f64::from(heat.round * heat.round) * heat.choice.copies as f64 / 1.1;
            race.ran(heat.limit_s.is_none_or(|limit| took < limit).then_some(took));
        }
        assert!(race.findings()[0].dropped.is_none(), "{:?}", race.findings());
    }

    #[test]
    fn in_full_all_run_as_often_as_was_asked() {
        let (race, cost) = run(&[1.0, 2.0, 3.0], Rules { rounds: 10, early: false }, 0.0, 0.0, 1);
        assert!(race.findings().iter().all(|finding| finding.trials == 10 && finding.dropped.is_none()));
        assert!((cost - 60.0).abs() < 1e-9);
        assert!(race.sure().contains("took 2.00 times as long, and was slower in 10 of 10 rounds"), "{}", race.sure());
    }

    #[test]
    fn those_that_cannot_be_told_apart_are_named_and_failures_too() {
        let mut race = Race::new(vec![choice(1), choice(2), choice(3)], Rules { rounds: 3, early: true });
        while let Some(heat) = race.next() {
            match heat.choice.copies {
                3 => race.failed("no memory".into()),
                _ => race.ran(Some(10.0)),
            }
        }
        assert!(race.sure().contains("Within 3 %"), "{}", race.sure());
        assert_eq!(race.findings()[2].dropped.as_deref(), Some("no memory"));
        let mut none = Race::new(vec![choice(1)], Rules { rounds: 2, early: true });
        none.next();
        none.failed("x".into());
        assert!(none.next().is_none() && none.sure().starts_with("No trial"));
    }
}
