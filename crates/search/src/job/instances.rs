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
use zerohop_model::machine::Machine;
use zerohop_model::plan::{HugePages, InstancePlan};
use zerohop_plan::{Replicas, Request, plan};
use zerohop_topology::Pinned;

/// The instances of a rank.
pub struct Instances(Vec<Instance>);

struct Instance {
    plan: InstancePlan,
    placed: Placed,
    /// Why its programs are not kept to its CPUs, if they are not.
    unpinned: OnceLock<String>,
    search: Search,
}

impl Instances {
    /// Instances for a rank that has so many parts: as many as asked for, or one for each node that has CPUs for us;
    /// not more than parts.
    ///
    /// # Errors
    /// A machine that cannot be looked at.
    pub fn new(job: &SearchJob, search: &Search, parts: usize) -> Result<Self, JobError> {
        let plans = plans(&zerohop_topology::detect()?, job, parts)?;
        let instance = |plan: InstancePlan| Instance {
            search: search.clone().with_threads(plan.threads),
            placed: Placed::new(&plan.placement),
            unpinned: OnceLock::new(),
            plan,
        };
        Ok(Instances(plans.into_iter().map(instance).collect()))
    }

    /// Where they are.
    pub fn plans(&self) -> Vec<InstancePlan> {
        self.0.iter().map(|instance| instance.plan.clone()).collect()
    }

    /// What the kernel refused of it, a sentence each.
    pub fn refused(&self) -> Vec<String> {
        self.0.iter().flat_map(Instance::refused).collect()
    }

    /// Reads the files of `parts` and compares their digests; each instance reads those that it will search first, so
    /// that they lie in the memory of its nodes.
    ///
    /// # Errors
    /// A file that has changed since the database was made.
    pub fn check_files(&self, parts: &[usize]) -> Result<(), SearchError> {
        let check = |number: usize| {
            let Instance { plan, placed, search, .. } = &self.0[number];
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
        let (Instance { plan, placed, unpinned, search }, mut all) = (&self.0[number], Vec::new());
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

impl Instance {
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

fn plans(machine: &Machine, job: &SearchJob, parts: usize) -> Result<Vec<InstancePlan>, JobError> {
    let has_cpus = |cpus: &[_]| cpus.iter().any(|cpu| machine.allowed.cpus.contains(cpu));
    let nodes = machine.nodes.iter().filter(|node| has_cpus(&node.cpus)).count();
    let request = Request {
        workers: job.threads,
        replicas: Replicas::Count(job.instances.unwrap_or(nodes).min(parts)),
        pages: job.pages,
        huge_pages: HugePages::Off,
        index_bytes: 0,
        kept: &[],
        engine: zerohop_plan::Engine::External { shares: false },
        map: None,
    };
    Ok(plan(machine, &request)?.instances(false))
}
