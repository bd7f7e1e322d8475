//! What else a user should know of a machine and an aligner before choosing a strategy.

use crate::known::cores;
use crate::rank::Verdict;
use crate::strategy::Engine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use zerohop_model::machine::{CpuId, Machine};

/// Something that can be done, or cannot, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// What it is about, in a word or two.
    pub about: String,
    /// What the rule makes of it.
    pub verdict: Verdict,
    /// Why, a sentence.
    pub reason: String,
}

/// What is to be said of the CPUs and nodes that are out of reach, of hardware threads, and of processes that share an
/// index.
pub fn remarks(machine: &Machine, engine: Option<Engine>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut say = |about: &str, verdict, reason| remarks.push(Remark { about: about.to_owned(), verdict, reason });
    let (cpus, cores) = (machine.allowed.cpus.len(), cores(machine));
    if cores < cpus {
        let threads = match (cpus / cores, cpus % cores) {
            (per_core, 0) => format!("with {per_core} hardware threads each"),
            _ => "some of them with several hardware threads".to_owned(),
        };
        say(
            "SMT",
            Verdict::Possible,
            format!(
                "{cpus} CPUs are {cores} cores, {threads}. All are used, for while one thread waits for memory the \
                 other can go on; 'zerohop tune' also tries {cores} threads."
            ),
        );
    }
    let all: usize = machine.nodes.iter().map(|node| node.cpus.len()).sum();
    if cpus < all {
        say(
            "cpuset",
            Verdict::RuledOut,
            format!("Only {cpus} of {all} CPUs may be used: the cpuset or the affinity mask forbids the others."),
        );
    }
    if machine.allowed.worker_count() < cpus {
        let (workers, quota) = (machine.allowed.worker_count(), machine.allowed.cpu_quota.unwrap_or_default());
        say(
            "quota",
            Verdict::RuledOut,
            format!("More than {workers} threads: the control group grants the time of {quota:.1} CPUs."),
        );
    }
    let ours: BTreeSet<CpuId> = machine.allowed.cpus.iter().copied().collect();
    for node in &machine.nodes {
        let (may, has) = (machine.allowed.nodes.contains(&node.id), node.memory.0 > 0);
        let usable = node.cpus.iter().any(|cpu| ours.contains(cpu));
        let what = match (usable, has && may) {
            (true, true) => continue,
            (true, false) => "has no memory that zerohop may use: its threads read the nearest copy",
            (false, true) if node.cpus.is_empty() => {
                "has memory, but no CPUs: it gets no copy of its own, and one for all is spread over it only if the \
                 memory of the other nodes is too small"
            }
            (false, true) => {
                "has no CPUs that zerohop may use: it gets no copy of its own, but its memory serves for interleaving"
            }
            (false, false) => "is out of reach",
        };
        say(&format!("node {}", node.id), Verdict::RuledOut, format!("Node {} {what}.", node.id));
    }
    match engine {
        Some(Engine::External { shares: true }) => say(
            "--farm",
            Verdict::Possible,
            "Single-threaded processes can \
            share a copy of the index: worth it for aligners whose threads queue at a lock."
                .to_owned(),
        ),
        Some(Engine::External { shares: false }) => say(
            "--farm",
            Verdict::RuledOut,
            "The aligner cannot share its \
            index between processes: each would load a copy of its own."
                .to_owned(),
        ),
        Some(Engine::Embedded) | None => {}
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine;
    use zerohop_model::machine::{Bytes, Cache};

    #[test]
    fn what_is_out_of_reach_is_said() {
        assert!(remarks(&machine(2, 2, 16), None).is_empty());
        let mut odd = machine(2, 4, 16);
        odd.caches = vec![Cache { level: 1, kind: "Data".into(), size: Bytes(1 << 15), shared_by: 2, count: 4 }];
        assert_eq!(
            remarks(&odd, None)[0].reason.split_once('.').unwrap().0,
            "8 CPUs are 4 cores, with 2 hardware threads each"
        );
        odd.allowed.cpus = (0..6).map(CpuId).collect();
        odd.allowed.cpu_quota = Some(3.5);
        odd.nodes[1].memory = Bytes(0);
        let said = remarks(&odd, Some(Engine::External { shares: false }));
        let about: Vec<&str> = said.iter().map(|remark| &*remark.about).collect();
        assert_eq!(about, ["cpuset", "quota", "node 1", "--farm"], "which CPUs share a core is not known");
        odd.cores = (0..4).map(|core| vec![CpuId(2 * core), CpuId(2 * core + 1)]).collect();
        assert!(remarks(&odd, None)[0].reason.starts_with("6 CPUs are 3 cores, with 2 hardware threads each."));
    }
}
