//! What `zerohop tune` may try: the two parts of the method of Lenis & Senar (2016, 2017).

use crate::known::cores;
use crate::rank::{Verdict, rank};
use crate::room::{CopiesFit, Room};
use crate::strategy::{Engine, Need, Strategy, copy_counts};
use crate::{cpu_nodes, homes};
use zerohop_model::machine::Machine;
use zerohop_model::plan::Pages;
use zerohop_model::tuning::{Choice, Finding};

/// A choice that may be tried, or the reason why it need not be.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The choice to try.
    pub choice: Choice,
    /// Why it is not tried.
    pub dropped: Option<String>,
}

impl Candidate {
    /// A line of the result for a choice that was not tried.
    pub fn not_tried(&self) -> Option<Finding> {
        let dropped = Some(self.dropped.clone()?);
        let (choice, seconds, relative_error, against_best) = (self.choice, None, None, None);
        Some(Finding { choice, trials: 0, seconds, relative_error, against_best, dropped })
    }
}

/// The choices for an index of `index_bytes`, the one that the rule prefers first. With `full`, also those that can be
/// no better than another (fewer threads, page policies on one node).
pub fn candidates(machine: &Machine, index_bytes: u64, engine: Engine, full: bool) -> Vec<Candidate> {
    let all = machine.allowed.worker_count();
    let nodes = homes(machine, &cpu_nodes(machine)).len().max(1);
    let (need, room) = (Need { index_bytes, engine, threads: all }, Room::of(machine, index_bytes));
    let mut choices = part_a(machine, all, nodes, full);
    choices.extend(part_b(nodes, &need));
    let judge = |choice: Choice| {
        let dropped =
            too_large(room, choice).or_else(|| (!full && nodes == 1).then(|| same_on_one_node(choice)).flatten());
        Candidate { choice, dropped }
    };
    let mut candidates: Vec<Candidate> = choices.into_iter().map(judge).collect();
    let by_rule = rank(machine, &need, None);
    let chosen = by_rule.iter().find(|ranked| ranked.verdict == Verdict::Chosen).map(|ranked| ranked.strategy);
    let is_chosen = |choice: &Choice| {
        let strategy = Strategy { copies: choice.copies, pages: choice.pages };
        choice.threads == all && !choice.farm && (Some(strategy) == chosen || nodes == 1 && choice.copies == 1)
    };
    candidates.sort_by_key(|candidate| (candidate.dropped.is_some(), !is_chosen(&candidate.choice)));
    candidates
}

/// One copy: numbers of threads against page policies.
fn part_a(machine: &Machine, all: usize, nodes: usize, full: bool) -> Vec<Choice> {
    let mut threads = vec![all];
    if full {
        threads.extend(std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < all));
        threads.push(all.div_ceil(nodes));
    }
    threads.push(cores(machine).min(all));
    threads.sort_unstable();
    threads.dedup();
    let pages = [Pages::FirstTouch, Pages::LocalAlloc, Pages::Interleave];
    let choice = |threads| pages.map(|pages| Choice { copies: 1, threads, pages, farm: false });
    threads.into_iter().rev().flat_map(choice).collect()
}

/// Several copies, as many as make sense, and processes that share copies.
fn part_b(nodes: usize, need: &Need) -> Vec<Choice> {
    let all = need.threads;
    let of_count = |copies: usize| {
        let pages = [Pages::Local, Pages::LocalAlloc, Pages::Interleave].into_iter();
        let pages = pages.filter(move |pages| *pages != Pages::Interleave || copies < nodes);
        pages.map(move |pages| Choice { copies, threads: all, pages, farm: false })
    };
    let farm = Choice { copies: nodes.min(all), threads: all, pages: Pages::Local, farm: true };
    let farm = (need.engine == Engine::External { shares: true } && all > 1).then_some(farm);
    let several = copy_counts(nodes, need).into_iter().filter(|copies| *copies > 1);
    several.flat_map(of_count).chain(farm).collect()
}

fn too_large(room: Room, choice: Choice) -> Option<String> {
    match room.fit(choice.copies) {
        CopiesFit::No(why) => Some(why.trim_end_matches('.').to_owned()),
        CopiesFit::Well | CopiesFit::Tight(_) => None,
    }
}

/// On one node all memory is the same memory.
fn same_on_one_node(choice: Choice) -> Option<String> {
    let first = if choice.copies == 1 { Pages::FirstTouch } else { Pages::Local };
    (choice.pages != first && !choice.farm).then(|| "there is one node: the same as any other page policy".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine;

    const GIB: u64 = 1 << 30;

    fn tried(nodes: u32, cpus: u32, index: u64, engine: Engine, full: bool) -> Vec<String> {
        let all = candidates(&machine(nodes, cpus, 16), index, engine, full);
        all.iter()
            .filter(|candidate| candidate.dropped.is_none())
            .map(|candidate| candidate.choice.to_string())
            .collect()
    }

    #[test]
    fn both_parts_are_there_and_the_rule_comes_first() {
        let all = tried(4, 2, 2 * GIB, Engine::External { shares: true }, false);
        assert_eq!(all[0], "4 x 2 threads, local");
        for wanted in [
            "1 x 8 threads, original",
            "1 x 8 threads, interleave",
            "2 x 4 threads, interleave",
            "8 x 1 thread, local",
            "4 x 2 threads, local, farm",
        ] {
            assert!(all.contains(&wanted.to_owned()), "{wanted} is not among {all:?}");
        }
        let large = tried(4, 2, 12 * GIB, Engine::External { shares: false }, false);
        assert_eq!(large[0], "1 x 8 threads, interleave");
        assert!(large.iter().all(|choice| choice.starts_with("1 x") || choice.starts_with("2 x")), "{large:?}");
    }

    #[test]
    fn on_one_node_policies_are_not_tried_unless_all_is() {
        assert_eq!(tried(1, 2, GIB, Engine::Embedded, false), ["1 x 2 threads, original"]);
        let external = tried(1, 2, GIB, Engine::External { shares: true }, false);
        assert_eq!(external, ["1 x 2 threads, original", "2 x 1 thread, local", "1 x 2 threads, local, farm"]);
        assert_eq!(tried(1, 2, GIB, Engine::Embedded, true).len(), 2 * 3);
    }
}
