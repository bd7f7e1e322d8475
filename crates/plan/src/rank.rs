//! All strategies for an index on a machine, best first by rule, with what speaks for and against each.
//!
//! The rule reasons from the machine's description and from nothing else:
//!
//! 1. what does not fit into memory is ruled out, what fits tightly is not chosen without a trial (room.rs);
//! 2. the model says what each strategy should come to, under its usual assumptions and with each of them half and
//!    twice as large (forecast.rs); twice the copies must bring some per cent to be worth their loading and their
//!    memory;
//! 3. chosen is the strategy that loses least where the assumptions are worst for it;
//! 4. worth a trial is the best of each other kind (one copy for all, one for several nodes each, one on each node,
//!    several on each), however far behind it should be; and those which in the mean of all assumptions are not far
//!    behind, or better.
//!
//! A copy for several nodes each is never chosen without a trial: most of its accesses remain remote, where a copy on
//! each node does not fit it fills memory, and what fewer threads on each save depends on the aligner's own locks. In
//! published times of large indexes two such copies took from 0.7 to 5 times as long as one. On one node all memory is
//! near: nothing but an aligner's own locks can speak for several copies there, so one is chosen.
//!
//! crates/plan/tests/published.rs replays it over the published times of Lenis & Senar (2016, 2017); tests/machines.rs
//! asks it about invented machines.

use crate::forecast::{Assumed, Forecast, forecast_on};
use crate::known::KnownMachine;
use crate::room::{CopiesFit, Room};
use crate::strategy::{Need, Strategy, StrategyKind, strategies};
use serde::{Deserialize, Serialize};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::memory_map::MemoryMap;
use zerohop_model::plan::Pages;

/// What twice as many copies must bring to be worth their loading and their memory: up to one for each node, which
/// brings its accesses home; and beyond that, where the gain depends on an aligner's own locks.
const DOUBLING: f64 = 1.02;
const DOUBLING_ON_A_NODE: f64 = 1.05;
/// A second strategy of a kind that comes to less than this part of the chosen one, in the mean of all assumptions, is
/// not worth a trial.
const WORTH_A_TRIAL: f64 = 0.8;
/// Trials at most, one more than there are other kinds: each costs at most a hundredth of the run, and loading.
const MOST_TRIALS: usize = 4;

/// What the rule makes of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The best by rule.
    Chosen,
    /// Worth a short run beside the best: the rule is not sure.
    Pilot,
    /// It can be used, but is not worth a trial.
    Possible,
    /// It cannot be used, or never should be.
    RuledOut,
}

/// A strategy and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranked {
    /// The strategy that is judged.
    pub strategy: Strategy,
    /// What the rule makes of it.
    pub verdict: Verdict,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
}

/// Every strategy for `need` on `machine`: the chosen one first, then those worth a pilot run, those that are possible,
/// and those that are ruled out. Within each of these, what should be fastest by the model comes first; `map` is what
/// was measured of the machine, if it was.
pub fn rank(machine: &Machine, need: &Need, map: Option<&MemoryMap>) -> Vec<Ranked> {
    rank_assuming(machine, need, map, Assumed::USUAL)
}

/// As [`rank`], from other assumptions: how much the order depends on them.
pub fn rank_assuming(machine: &Machine, need: &Need, map: Option<&MemoryMap>, usual: Assumed) -> Vec<Ranked> {
    let known = KnownMachine::of(machine, map, need.index_bytes);
    let nodes = known.homes.len().max(1);
    let (room, around) = (Room::of(machine, need.index_bytes), usual.around());
    let judged = |strategy: Strategy| {
        let forecasts: Vec<Forecast> =
            around.iter().map(|assumed| forecast_on(&known, need, strategy, assumed)).collect();
        let cost = cost(strategy.copies, nodes);
        let scores = forecasts.iter().map(|forecast| forecast.speed / cost).collect();
        let (fit, kind) = (room.fit(strategy.copies), strategy.kind(nodes, need.threads));
        Judged { strategy, kind, fit, scores, usual: forecasts.into_iter().next() }
    };
    let all: Vec<Judged> = strategies(nodes, need).into_iter().map(judged).collect();
    let Some(chosen) = chosen(&all, nodes) else { return Vec::new() };
    let trials = trials(&all, chosen, nodes);
    // A machine may not tell its memory.
    let banks = Some(known.banks_of_one.len()).filter(|banks| *banks > 0).unwrap_or(nodes);
    let words = Words { nodes, banks, need: *need, fastest: fastest(&all) };
    let ranked = |(number, judged): (usize, &Judged)| {
        let verdict = match &judged.fit {
            _ if number == chosen => Verdict::Chosen,
            CopiesFit::No(_) => Verdict::RuledOut,
            _ if trials.contains(&number) => Verdict::Pilot,
            _ => Verdict::Possible,
        };
        let why_not_more = all.iter().find(|other| other.strategy.copies == nodes).map(|other| &other.fit);
        Ranked { strategy: judged.strategy, verdict, reasons: words.reasons(judged, verdict, why_not_more) }
    };
    let mut in_order: Vec<(Ranked, f64)> =
        all.iter().enumerate().map(|each| (ranked(each), each.1.scores[0])).collect();
    in_order.sort_by(|(a, fast), (b, other)| (a.verdict as u8).cmp(&(b.verdict as u8)).then(other.total_cmp(fast)));
    in_order.into_iter().map(|(ranked, _)| ranked).collect()
}

/// A strategy, how it fits, and what it should come to.
struct Judged {
    strategy: Strategy,
    kind: StrategyKind,
    fit: CopiesFit,
    /// Speeds less what copies cost, under each of the assumptions; the usual ones first.
    scores: Vec<f64>,
    usual: Option<Forecast>,
}

impl Judged {
    fn speed(&self) -> f64 {
        self.usual.map_or(0.0, |usual| usual.speed)
    }
}

/// What so many copies cost, as times one copy's time.
fn cost(copies: usize, nodes: usize) -> f64 {
    let doublings = |times: usize| (times.max(1) as f64).log2();
    DOUBLING.powf(doublings(copies.min(nodes))) * DOUBLING_ON_A_NODE.powf(doublings(copies / nodes))
}

/// The best speed by the model of those that fit.
fn fastest(all: &[Judged]) -> f64 {
    let fit = all.iter().filter(|judged| !matches!(judged.fit, CopiesFit::No(_)));
    fit.map(Judged::speed).fold(f64::MIN_POSITIVE, f64::max)
}

/// The strategy that fits well, is of a kind that may be chosen without a trial, and loses least to the best one where
/// the assumptions are worst for it; of equals the first.
fn chosen(all: &[Judged], nodes: usize) -> Option<usize> {
    let may_be = |judged: &&Judged| {
        let is_untried = judged.kind == StrategyKind::OnePerGroup || nodes == 1 && judged.strategy.copies > 1;
        judged.fit == CopiesFit::Well && !is_untried
    };
    let best_at = |at: usize| all.iter().filter(may_be).map(|judged| judged.scores[at]).fold(0.0, f64::max);
    let best: Vec<f64> = (0..all.first()?.scores.len()).map(best_at).collect();
    let loss = |judged: &Judged| best.iter().zip(&judged.scores).map(|(best, own)| best / own).fold(0.0, f64::max);
    let candidates = all.iter().enumerate().filter(|(_, judged)| may_be(judged));
    candidates.min_by(|(_, a), (_, b)| loss(a).total_cmp(&loss(b))).map(|(number, _)| number)
}

/// Those worth a trial beside the chosen one, the most promising first: of each other kind that which promises most,
/// for the model may err about a kind, and others that promise much.
fn trials(all: &[Judged], chosen: usize, nodes: usize) -> Vec<usize> {
    let promise = |judged: &Judged| {
        let ratios = judged.scores.iter().zip(&all[chosen].scores).map(|(own, chosen)| own / chosen);
        ratios.sum::<f64>() / judged.scores.len() as f64
    };
    let differs = |judged: &Judged| {
        let Strategy { copies, pages } = judged.strategy;
        // Localalloc puts pages where local and first-touch do, and with one node all do the same.
        pages != Pages::LocalAlloc && (copies > 1 || nodes > 1)
    };
    let mut others: Vec<(usize, f64)> = (all.iter().enumerate())
        .filter(|(number, judged)| *number != chosen && !matches!(judged.fit, CopiesFit::No(_)) && differs(judged))
        .map(|(number, judged)| (number, promise(judged)))
        .collect();
    others.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut kinds = vec![all[chosen].kind];
    let (firsts, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|(number, _)| {
        let is_first = !kinds.contains(&all[*number].kind);
        kinds.extend(is_first.then_some(all[*number].kind));
        is_first
    });
    let others = others.into_iter().filter(|(_, promise)| *promise >= WORTH_A_TRIAL);
    let mut trials: Vec<(usize, f64)> = firsts.into_iter().chain(others).take(MOST_TRIALS).collect();
    trials.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    trials.into_iter().map(|(number, _)| number).collect()
}

/// What is needed to say why.
struct Words {
    nodes: usize,
    /// Over which one copy is spread.
    banks: usize,
    need: Need,
    /// The best speed by the model.
    fastest: f64,
}

impl Words {
    fn reasons(&self, judged: &Judged, verdict: Verdict, why_not_more: Option<&CopiesFit>) -> Vec<String> {
        let mut reasons = vec![match &judged.fit {
            CopiesFit::No(why) | CopiesFit::Tight(why) => why.clone(),
            CopiesFit::Well => self.what(judged.strategy),
        }];
        if let (Verdict::Chosen, Some(CopiesFit::No(why) | CopiesFit::Tight(why))) = (verdict, why_not_more) {
            reasons.push(why.clone());
        }
        if let Some(usual) = judged.usual.filter(|_| self.nodes > 1) {
            reasons.push(self.model(&usual));
        }
        reasons
    }

    /// What a strategy does, a sentence.
    fn what(&self, Strategy { copies, pages }: Strategy) -> String {
        let (nodes, each) = (self.nodes, Bytes(self.need.index_bytes));
        let threads = |copies: usize| self.need.threads.div_ceil(copies);
        match (copies, pages) {
            (1, Pages::Local) if nodes == 1 => "There is one node: all memory is near.".to_owned(),
            (1, _) if nodes == 1 => "There is one node: the same as local.".to_owned(),
            (1, Pages::Interleave) => {
                let banks = self.banks;
                format!(
                    "One for all ({each}), spread over {banks} banks: none is overloaded, {} of {banks} accesses are \
                     remote.",
                    banks - 1
                )
            }
            (1, _) => format!(
                "The program as it is: all accesses go to the bank of the loading thread, {} of {nodes} of them \
                 remote.",
                nodes - 1
            ),
            _ if copies > nodes => format!(
                "{} copies ({each}) on each node: every access is local, and {} threads instead of {} share the locks \
                 of a program.",
                copies / nodes,
                threads(copies),
                threads(nodes)
            ),
            _ if copies == nodes => format!("A copy ({each}) on each node: every access is local."),
            (_, Pages::Interleave) => {
                format!(
                    "{copies} copies ({each}), each spread over {} nodes, to which its accesses keep.",
                    nodes / copies
                )
            }
            _ => format!("{copies} copies ({each}), each on one of the {} nodes that share it.", nodes / copies),
        }
    }

    fn model(&self, Forecast { speed, remote, busiest, measured }: &Forecast) -> String {
        format!(
            "Model ({}): {:.0} % of accesses remote, the busiest bank {:.0} % busy, {:.2} of the best speed.",
            if *measured { "ways as measured" } else { "ways assumed from distances" },
            100.0 * remote,
            100.0 * busiest,
            speed / self.fastest
        )
    }
}
