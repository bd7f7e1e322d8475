//! Actors that do steps one after the other, wait for one another at gates, and share cores: a simulation from event to
//! event, in nanoseconds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of a gate.
pub(super) type Gate = usize;

/// What an actor does next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Computes for so long, on a core.
    Work(u64),
    /// Lets so much time pass, without a core.
    Pause(u64),
    /// Opens a gate, or does its share of it; others see it so much later.
    Open(Gate, u64),
    /// Waits until a gate is open. Who had to wait sees it late, by so much at most: it naps between looks.
    Await(Gate, u64),
}

/// What all actors do.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// By gate: how many must open it.
    gates: Vec<usize>,
    actors: Vec<Vec<Step>>,
}

/// A gate as it is at a moment.
#[derive(Default)]
struct EngineState {
    missing: usize,
    /// When it is open, for those that have opened it so far.
    at: u64,
    /// Who waits, since when, and how late it looks.
    waiting: Vec<(usize, u64, u64)>,
}

impl EngineState {
    /// When somebody who waits since `since` sees that it is open.
    fn seen(&self, since: u64, late: u64) -> u64 {
        self.at.max(since) + late.min(self.at.saturating_sub(since))
    }
}

impl Script {
    /// A gate that is open once so many have opened it.
    pub(super) fn gate(&mut self, openers: usize) -> Gate {
        self.gates.push(openers);
        self.gates.len() - 1
    }

    /// An actor; all begin at the same time.
    pub(super) fn actor(&mut self, steps: Vec<Step>) {
        self.actors.push(steps);
    }

    /// When the last actor has ended, with so many cores for all of them, or with enough.
    pub(super) fn run(&self, cores: Option<usize>) -> u64 {
        let mut gates: Vec<EngineState> =
            self.gates.iter().map(|&missing| EngineState { missing, ..EngineState::default() }).collect();
        let mut cores: Option<BinaryHeap<Reverse<u64>>> =
            cores.map(|cores| (0..cores.max(1)).map(|_| Reverse(0)).collect());
        // Who goes on when: the earliest first, so that cores are given out in the order in which they are asked for.
        let mut going: BinaryHeap<Reverse<(u64, usize)>> = (0..self.actors.len()).map(|a| Reverse((0, a))).collect();
        let (mut next, mut end) = (vec![0; self.actors.len()], 0);
        while let Some(Reverse((now, actor))) = going.pop() {
            end = end.max(now);
            let Some(step) = self.actors[actor].get(next[actor]) else { continue };
            next[actor] += 1;
            let after = match *step {
                Step::Work(time) => now.max(core(&mut cores, now, time)) + time,
                Step::Pause(time) => now + time,
                Step::Open(gate, later) => {
                    let state = &mut gates[gate];
                    state.missing = state.missing.saturating_sub(1);
                    state.at = state.at.max(now + later);
                    if state.missing == 0 {
                        for (actor, since, late) in std::mem::take(&mut state.waiting) {
                            going.push(Reverse((state.seen(since, late), actor)));
                        }
                    }
                    now
                }
                Step::Await(gate, late) if gates[gate].missing > 0 => {
                    gates[gate].waiting.push((actor, now, late));
                    continue;
                }
                Step::Await(gate, late) => gates[gate].seen(now, late),
            };
            going.push(Reverse((after, actor)));
        }
        debug_assert!(gates.iter().all(|gate| gate.waiting.is_empty()), "somebody waits for what nobody does");
        end
    }
}

/// Takes the core that is free first, from `now` on, for `time`, and says when it is free.
fn core(cores: &mut Option<BinaryHeap<Reverse<u64>>>, now: u64, time: u64) -> u64 {
    let Some(Reverse(free)) = cores.as_mut().and_then(BinaryHeap::pop) else { return now };
    if let Some(cores) = cores {
        cores.push(Reverse(free.max(now) + time));
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn work_shares_cores_and_pauses_do_not() {
        let run = |step: Step, cores| {
            let mut script = Script::default();
            (0..6).for_each(|_| script.actor(vec![step]));
            script.run(cores)
        };
        assert_eq!(run(Step::Work(10), None), 10);
        assert_eq!(run(Step::Work(10), Some(2)), 30);
        assert_eq!(run(Step::Work(10), Some(4)), 20);
        assert_eq!(run(Step::Pause(10), Some(1)), 10);
    }

    #[test]
    fn a_gate_opens_with_the_last_and_who_waited_sees_it_late() {
        let mut script = Script::default();
        let gate = script.gate(2);
        script.actor(vec![Step::Pause(5), Step::Open(gate, 3)]);
        script.actor(vec![Step::Pause(20), Step::Open(gate, 3)]);
        script.actor(vec![Step::Await(gate, 7), Step::Work(100)]);
        assert_eq!(script.run(None), 20 + 3 + 7 + 100);
        let mut script = Script::default();
        let gate = script.gate(1);
        script.actor(vec![Step::Open(gate, 0)]);
        script.actor(vec![Step::Pause(1), Step::Await(gate, 7)]);
        assert_eq!(script.run(None), 1, "who did not wait looks at once");
    }

    proptest! {
        /// Rounds in which everybody waits for everybody: each lasts as long as its slowest, which the naive twin adds
        /// up.
        #[test]
        fn rounds_take_the_sum_of_their_slowest(
            times in proptest::collection::vec(proptest::collection::vec(0u64..1000, 4), 1..20),
        ) {
            let mut script = Script::default();
            let gates: Vec<Gate> = times.iter().map(|_| script.gate(4)).collect();
            for actor in 0..4 {
                let steps = times.iter().zip(&gates);
                let steps = steps.flat_map(|(t, &g)| [Step::Work(t[actor]), Step::Open(g, 2), Step::Await(g, 0)]);
                script.actor(steps.collect());
            }
            let naive: u64 = times.iter().map(|round| round.iter().max().unwrap_or(&0) + 2).sum();
            prop_assert_eq!(script.run(None), naive);
            prop_assert!(script.run(Some(2)) >= naive);
        }
    }
}
