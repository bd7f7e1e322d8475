//! All strategies for an index on a machine, best first by rule, with what speaks for and against each.
//!
//! The rule is what the published measurements of Lenis & Senar (2016, 2017) support: a copy per node with local pages when one copy is
//! at most half of a node's memory, else one copy, interleaved; never more copies than 40 % of free memory; never localalloc with
//! one copy. (crates/plan/tests/published.rs replays it over all of them.)

use crate::forecast::{Forecast, forecast};
use crate::strategy::Strategy;
use crate::{COPIES_OF_FREE, COPY_OF_NODE, cpu_nodes, free_memory, homes};
use serde::{Deserialize, Serialize};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::memory_map::MemoryMap;
use zerohop_model::plan::Pages;

/// What the rule makes of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The best by rule.
    Chosen,
    /// Worth a short run beside the best: the rule is not sure.
    Pilot,
    /// It can be done.
    Possible,
    /// It cannot, or never should.
    RuledOut,
}

/// A strategy and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranked {
    /// The strategy.
    pub strategy: Strategy,
    /// What the rule makes of it.
    pub verdict: Verdict,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
}

/// Every strategy of the two studies for an index of `index_bytes` on `machine`: the chosen one first, then those worth a pilot run,
/// those that are possible, and those that are ruled out. Within each of these, what should be fastest by the model comes first; `map`
/// is what was measured of the machine, if it was.
pub fn rank(machine: &Machine, index_bytes: u64, map: Option<&MemoryMap>) -> Vec<Ranked> {
    let nodes = homes(machine, &cpu_nodes(machine));
    let facts = Facts {
        nodes: nodes.len().max(1),
        smallest: nodes.iter().map(|node| node.memory.0).filter(|&bytes| bytes > 0).min().unwrap_or(0),
        free: free_memory(machine),
        index: index_bytes,
    };
    let threads = machine.allowed.worker_count();
    let forecast_of = |strategy| (strategy, forecast(machine, map, strategy, threads));
    let forecasts: Vec<(Strategy, Forecast)> = strategies(facts.nodes).into_iter().map(forecast_of).collect();
    let fastest = forecasts.iter().map(|(_, forecast)| forecast.speed).fold(0.0, f64::max);
    let judged = |(strategy, forecast): (Strategy, Forecast)| {
        let mut ranked = facts.judge(strategy);
        if facts.nodes > 1 {
            ranked.reasons.push(in_words(&forecast, fastest));
        }
        (ranked, forecast.speed)
    };
    let mut ranked: Vec<(Ranked, f64)> = forecasts.into_iter().map(judged).collect();
    ranked.sort_by(|(a, fast), (b, other)| (a.verdict as u8).cmp(&(b.verdict as u8)).then(other.total_cmp(fast)));
    ranked.into_iter().map(|(ranked, _)| ranked).collect()
}

fn in_words(forecast: &Forecast, fastest: f64) -> String {
    let Forecast { speed, remote, busiest, measured } = forecast;
    format!(
        "Model ({}): {:.0} % of accesses remote, the busiest bank {:.0} % busy, {:.2} of the best speed.",
        if *measured { "ways as measured" } else { "ways assumed from distances" },
        100.0 * remote,
        100.0 * busiest,
        speed / fastest
    )
}

/// One copy under each policy; then copies for every number of groups that the nodes can be split into evenly.
fn strategies(nodes: usize) -> Vec<Strategy> {
    let one = [Pages::FirstTouch, Pages::LocalAlloc, Pages::Interleave].map(|pages| Strategy { copies: 1, pages });
    let groups = (2..=nodes).filter(|copies| nodes.is_multiple_of(*copies));
    let of_groups = groups.flat_map(|copies| {
        let pages = [Pages::Local, Pages::LocalAlloc, Pages::Interleave];
        // On a single node there is nothing to interleave.
        let pages = pages.into_iter().filter(move |pages| *pages != Pages::Interleave || copies < nodes);
        pages.map(move |pages| Strategy { copies, pages })
    });
    one.into_iter().chain(of_groups).collect()
}

/// What the rule looks at.
struct Facts {
    nodes: usize,
    /// Memory of the smallest node, free memory of all, and the size of one copy, in bytes.
    smallest: u64,
    free: u64,
    index: u64,
}

impl Facts {
    fn fits_copies(&self, copies: usize) -> bool {
        (copies as u64).saturating_mul(self.index) as f64 <= COPIES_OF_FREE * self.free as f64
    }

    /// Whether a copy per node is the rule's choice.
    fn one_per_node(&self) -> bool {
        self.nodes > 1 && self.index as f64 <= COPY_OF_NODE * self.smallest as f64 && self.fits_copies(self.nodes)
    }

    fn judge(&self, strategy: Strategy) -> Ranked {
        let Strategy { copies, pages } = strategy;
        let (all, free) = (Bytes(self.index.saturating_mul(copies as u64)), Bytes(self.free));
        let (verdict, reason) = if self.nodes == 1 {
            match pages {
                Pages::Interleave => (Verdict::Chosen, "There is one node: all memory is near.".to_owned()),
                _ => (Verdict::Possible, "There is one node: the same as any other.".to_owned()),
            }
        } else if copies > 1 && !self.fits_copies(copies) {
            (Verdict::RuledOut, format!("{copies} copies ({all}) are more than 40 % of free memory ({free})."))
        } else if (copies, pages) == (1, Pages::LocalAlloc) {
            (Verdict::RuledOut, "With one copy, localalloc puts it where the loading thread runs: in the published cases with 64 threads it was up to 7.6x slower than interleaving, and never more than 1.1x faster.".to_owned())
        } else if copies == self.nodes {
            self.judge_one_per_node(strategy)
        } else if copies == 1 {
            match (pages, self.one_per_node()) {
                (Pages::Interleave, false) => (Verdict::Chosen, self.why_one_copy()),
                (Pages::Interleave, true) => (
                    Verdict::Possible,
                    "Seven of eight accesses would be remote, but no bank is flooded."
                        .replace("Seven of eight", &self.remote()),
                ),
                _ => (
                    Verdict::Possible,
                    format!(
                        "The program as it is: all accesses go to the bank of the loading thread, {} of them from afar.",
                        self.remote().to_lowercase()
                    ),
                ),
            }
        } else if pages == Pages::Interleave && !self.one_per_node() {
            (
                Verdict::Pilot,
                format!(
                    "{copies} copies ({all}) fit, and accesses would stay within {} nodes; whether that is worth the memory a trial must say.",
                    self.nodes / copies
                ),
            )
        } else {
            (
                Verdict::Possible,
                format!("{copies} copies ({all}) fit; each is shared by {} nodes.", self.nodes / copies),
            )
        };
        Ranked { strategy, verdict, reasons: vec![reason] }
    }

    fn judge_one_per_node(&self, strategy: Strategy) -> (Verdict, String) {
        let (each, smallest) = (Bytes(self.index), Bytes(self.smallest));
        if self.index > self.smallest {
            return (Verdict::RuledOut, format!("A copy ({each}) is more than a node's memory ({smallest})."));
        }
        match (self.one_per_node(), strategy.pages) {
            (true, Pages::Local) => (
                Verdict::Chosen,
                format!(
                    "A copy ({each}) is at most half of a node's memory ({smallest}), and all copies fit: every access is local."
                ),
            ),
            (true, _) => {
                (Verdict::Possible, "A copy per node, but its pages may leave the node when that is full.".to_owned())
            }
            (false, _) => (
                Verdict::RuledOut,
                format!(
                    "A copy ({each}) is more than half of a node's memory ({smallest}): it would crowd out the reads and the rest."
                ),
            ),
        }
    }

    fn why_one_copy(&self) -> String {
        let (each, smallest, free) = (Bytes(self.index), Bytes(self.smallest), Bytes(self.free));
        match self.fits_copies(self.nodes) {
            true => format!(
                "A copy ({each}) is more than half of a node's memory ({smallest}): one for all, spread over all banks."
            ),
            false => format!(
                "A copy ({each}) for each of {} nodes would be more than 40 % of free memory ({free}): one for all, spread over all banks.",
                self.nodes
            ),
        }
    }

    /// The part of accesses to an index anywhere that come from other nodes, in words.
    fn remote(&self) -> String {
        format!("{} of {}", self.nodes - 1, self.nodes)
    }
}
