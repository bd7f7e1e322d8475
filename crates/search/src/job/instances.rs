//! Programs that search at the same time: instances, each on CPUs and NUMA nodes of its own, with its memory there.
//! Their programs know nothing of nodes; instances per node are what aligners gained most from (Lenis & Senar 2017).
//!
//! Each instance searches the same parts of every batch first, so that their files stay in the memory of its nodes, and
//! then what others have not begun.

use super::SearchJob;
use super::error::JobError;
use crate::error::SearchError;
use crate::fasta::Batch;
use crate::local::{Found, Search};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, ScopedJoinHandle};
use zerohop_memory::Placed;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::{HugePages, InstancePlan};
use zerohop_plan::{Replicas, Request, free_memory, leaves_room, plan};
use zerohop_topology::Pinned;

/// The instances of a rank, and why they are not more, if memory is the reason.
pub struct Instances(Vec<SearchInstance>, Option<String>);

struct SearchInstance {
    plan: InstancePlan,
    placed: Placed,
    /// Why its programs are not kept to its CPUs, if they are not.
    unpinned: OnceLock<String>,
    search: Search,
}

impl Instances {
    /// Instances for a rank that has so many parts: as many as asked for, or one for each node that has CPUs for us if
    /// there is memory for them; not more than parts.
    ///
    /// # Errors
    /// A machine that cannot be looked at.
    pub fn new(job: &SearchJob, search: &Search, parts: usize) -> Result<Self, JobError> {
        let (plans, fewer) = plans(&zerohop_topology::detect()?, job, parts, search.memory_bytes())?;
        let instance = |plan: InstancePlan| SearchInstance {
            search: search.clone().with_threads(plan.threads),
            placed: Placed::new(&plan.placement),
            unpinned: OnceLock::new(),
            plan,
        };
        Ok(Instances(plans.into_iter().map(instance).collect(), fewer))
    }

    /// Where they are.
    pub fn plans(&self) -> Vec<InstancePlan> {
        self.0.iter().map(|instance| instance.plan.clone()).collect()
    }

    /// What the kernel refused of it, or memory did not allow, a sentence each.
    pub fn refused(&self) -> Vec<String> {
        self.0.iter().flat_map(SearchInstance::refused).chain(self.1.clone()).collect()
    }

    /// Reads the files of `parts` and compares their digests; each instance reads those that it will search first, so
    /// that they lie in the memory of its nodes.
    ///
    /// # Errors
    /// A file that has changed since the database was made.
    pub fn check_files(&self, parts: &[usize]) -> Result<(), SearchError> {
        let check = |number: usize| {
            let SearchInstance { plan, placed, search, .. } = &self.0[number];
            let own = parts.iter().copied().skip(number).step_by(self.0.len());
            let _pinned = Pinned::where_allowed(&plan.cpus);
            placed.run(|| search.database().check_digests(own, plan.threads))
        };
        std::thread::scope(|scope| {
            let start = |number| Builder::new().name("check".into()).spawn_scoped(scope, move || check(number));
            let threads: Vec<_> = (0..self.0.len()).map(start).collect();
            threads.into_iter().try_for_each(joined)
        })
    }

    /// Searches `parts` with a batch of queries; what was found is in the order of `parts`.
    ///
    /// # Errors
    /// That of a program which failed; then no more parts are begun.
    pub fn search(&self, parts: &[usize], batch: &Batch) -> Result<Vec<Found>, SearchError> {
        let begun: Vec<AtomicBool> = parts.iter().map(|_| AtomicBool::new(false)).collect();
        let work = |number: usize| self.work(number, parts, &begun, batch);
        let all: Vec<Result<Vec<(usize, Found)>, SearchError>> = std::thread::scope(|scope| {
            let start = |number| Builder::new().name("instance".into()).spawn_scoped(scope, move || work(number));
            let threads: Vec<_> = (0..self.0.len()).map(start).collect();
            threads.into_iter().map(joined).collect()
        });
        let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut found: Vec<(usize, Found)> = all.into_iter().flatten().collect();
        found.sort_by_key(|(place, _)| *place);
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }

    /// Instance `number` takes parts until all are begun; gives what was found and its place.
    fn work(
        &self,
        number: usize,
        parts: &[usize],
        begun: &[AtomicBool],
        batch: &Batch,
    ) -> Result<Vec<(usize, Found)>, SearchError> {
        let (SearchInstance { plan, placed, unpinned, search }, mut all) = (&self.0[number], Vec::new());
        let is_own = |place: &usize| place % self.0.len() == number;
        let others = (0..parts.len()).filter(|place| !is_own(place));
        for place in (0..parts.len()).filter(is_own).chain(others) {
            if begun[place].swap(true, Ordering::Relaxed) {
                continue;
            }
            // A child is born with the CPUs and the memory policy of the thread that starts it.
            let (_cpus, refused) = Pinned::where_allowed(&plan.cpus);
            if let Some(refused) = refused {
                unpinned.get_or_init(|| refused);
            }
            let found = placed.run(|| search.part(parts[place], batch));
            let stop = |_: &SearchError| begun.iter().for_each(|part| part.store(true, Ordering::Relaxed));
            all.push((place, found.inspect_err(stop)?));
        }
        Ok(all)
    }
}

impl SearchInstance {
    fn refused(&self) -> Vec<String> {
        self.placed.refused().into_iter().chain(self.unpinned.get().cloned()).collect()
    }
}

/// What a thread came to.
fn joined<T>(thread: std::io::Result<ScopedJoinHandle<'_, Result<T, SearchError>>>) -> Result<T, SearchError> {
    match thread.map(|thread| thread.join()) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(none("the thread of an instance died")),
        Err(source) => Err(SearchError::System { what: "a thread cannot be started".to_owned(), source }),
    }
}

fn none(what: &str) -> SearchError {
    SearchError::System { what: "a part was not searched".to_owned(), source: std::io::Error::other(what.to_owned()) }
}

/// The instances on a machine, each of which needs some `program_bytes` of memory, and why they are not more.
fn plans(
    machine: &Machine,
    job: &SearchJob,
    parts: usize,
    program_bytes: u64,
) -> Result<(Vec<InstancePlan>, Option<String>), JobError> {
    let has_cpus = |cpus: &[_]| cpus.iter().any(|cpu| machine.allowed.cpus.contains(cpu));
    let nodes = machine.nodes.iter().filter(|node| has_cpus(&node.cpus)).count();
    let (number, fewer) = match job.instances {
        Some(asked) => (asked.min(parts), None),
        None => usual(machine, nodes.min(parts), program_bytes),
    };
    let request = Request {
        workers: job.threads,
        replicas: Replicas::Count(number),
        pages: job.pages,
        huge_pages: HugePages::Off,
        // It is an estimate, and refuses nothing.
        index_bytes: program_bytes.min(free_memory(machine) / number.max(1) as u64),
        kept: &[],
        engine: zerohop_plan::Engine::External { shares: false },
        map: None,
    };
    Ok((plan(machine, &request)?.instances(false), fewer))
}

/// How many programs search at the same time if that is not asked for: `most`, or as many as leave room; and why they
/// are fewer.
fn usual(machine: &Machine, most: usize, program_bytes: u64) -> (usize, Option<String>) {
    let number = (1..=most).rev().find(|&number| leaves_room(machine, program_bytes, number)).unwrap_or(1);
    let fewer = (number < most).then(|| {
        format!(
            "{number} of {most} possible programs search at the same time: each takes some {} of memory, and more \
             would take more than half of what is free (--instances asks for a number)",
            Bytes(program_bytes)
        )
    });
    (number, fewer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::machine::{Allowed, CpuId, Node, NodeId};

    const GIB: u64 = 1 << 30;

    /// `nodes` nodes of 4 CPUs and 16 GiB each.
    fn machine(nodes: u32) -> Machine {
        let node = |number: u32| Node {
            id: NodeId(number),
            cpus: (4 * number..4 * number + 4).map(CpuId).collect(),
            memory: Bytes(16 * GIB),
            free: Bytes(16 * GIB),
        };
        Machine {
            name: "test".into(),
            cpu_model: String::new(),
            nodes: (0..nodes).map(node).collect(),
            distances: (0..nodes).map(|i| (0..nodes).map(|j| 10 + 6 * i.abs_diff(j)).collect()).collect(),
            caches: Vec::new(),
            cores: Vec::new(),
            page_size: Bytes(4096),
            huge_page_size: None,
            allowed: Allowed {
                cpus: (0..4 * nodes).map(CpuId).collect(),
                nodes: (0..nodes).map(NodeId).collect(),
                cpu_quota: None,
                memory_limit: None,
                memory_left: None,
            },
        }
    }

    #[test]
    fn there_is_a_program_for_each_node_if_there_is_memory() {
        let machine = machine(4);
        assert_eq!(usual(&machine, 4, GIB), (4, None));
        assert_eq!(usual(&machine, 3, GIB), (3, None));
        // A program of 12 GiB is more than half of a node: two, over two nodes each.
        let (number, fewer) = usual(&machine, 4, 12 * GIB);
        assert_eq!(number, 2);
        assert!(fewer.unwrap().starts_with("2 of 4 possible programs search at the same time: each takes some 12"));
        assert_eq!(usual(&machine, 4, 1000 * GIB).0, 1);
    }
}
