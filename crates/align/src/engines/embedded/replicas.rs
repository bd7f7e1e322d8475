//! Makes the index copies, each where the plan wants it.

use crate::engines::embedded::resident::{self, KeptFile};
use crate::job::AlignError;
use crate::plan::pilots::Switch;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_memory::Placed;
use zerohop_model::engine::Engine;
use zerohop_model::error::Error;
use zerohop_model::index::{FilePages, IndexSource, OnStart};
use zerohop_model::machine::{Bytes, CpuId};
use zerohop_model::measurement::ReplicaReport;
use zerohop_model::plan::{Placement, Plan};
use zerohop_report::{IndexOrigin, IndexReport};
use zerohop_runtime::ReplicaMap;
use zerohop_topology::{MemoryBound, pin_current_thread};

/// Looks whether so many copies fit under the limits of this process, each of which takes `least` bytes at least.
///
/// # Errors
/// When they surely do not.
pub fn check_memory(least: Bytes, reference: &Path, copies: usize) -> Result<(), AlignError> {
    let need = Bytes(least.0 * copies as u64);
    let Some(bound) = zerohop_topology::memory_bound().filter(|bound| need > bound.left) else { return Ok(()) };
    let (reference, MemoryBound { left, limit, name }) = (reference.display(), bound);
    let (all, fewer) = match copies {
        1 => ("its index takes".to_owned(), ""),
        _ => (format!("{copies} copies of its index take"), ", or use fewer copies (--replicas)"),
    };
    Err(AlignError::Failed(format!(
        "{reference}: {all} {need} of memory, and this process may take {left} more ({name} is {limit}): raise the \
         limit{fewer}"
    )))
}

/// Where a copy was made, for the kernel to be asked as long as there is the copy.
#[derive(Clone)]
struct Where {
    placed: Placed,
    /// Addresses and bytes of what our allocator does not know of.
    foreign: Vec<(usize, usize)>,
}

/// Where these copies were made.
fn whereabouts(engines: &[Arc<dyn Engine>], placed: &[Placed]) -> Vec<Where> {
    let of =
        |(engine, placed): (&Arc<dyn Engine>, &Placed)| Where { placed: *placed, foreign: engine.foreign_memory() };
    engines.iter().zip(placed).map(of).collect()
}

/// Copies made from one that is there already, each under its placement.
pub struct CopiesOnTheWay {
    engines: Vec<Arc<dyn Engine>>,
    places: Vec<Where>,
}

impl CopiesOnTheWay {
    /// A copy for each replica of `plan`, all at once; `ready` is told of each as it comes.
    ///
    /// # Errors
    /// A copy that cannot be made.
    pub fn of(first: &dyn Engine, plan: &Plan, ready: impl Fn(usize, &Arc<dyn Engine>) + Sync) -> Result<Self, Error> {
        let placed: Vec<Placed> = plan.replicas.iter().map(Placed::new).collect();
        let copies = replicate(first, None, &wanted(plan, &placed), &ready)?;
        let engines: Vec<_> = copies.into_iter().map(|copy| copy.engine).collect();
        Ok(CopiesOnTheWay { places: whereabouts(&engines, &placed), engines })
    }
}

/// Has the workers of a run read other copies.
pub struct Move<'a> {
    /// Who reads what.
    pub replicas: &'a ReplicaMap,
    /// The strategies; the run begins with the first.
    pub plans: &'a [Plan],
    /// The number of the one that is followed.
    pub followed: usize,
    /// The copy of the beginning.
    pub first: Arc<dyn Engine>,
    /// Those of the strategy that is followed, unless it is the first.
    pub copies: Option<CopiesOnTheWay>,
}

impl Move<'_> {
    /// The first copy is there all the time; others make room before more are made.
    fn move_all_back(&mut self) {
        (0..self.plans[0].workers.len()).for_each(|number| self.replicas.move_to(number, Arc::clone(&self.first)));
        (self.copies, self.followed) = (None, 0);
    }
}

impl Switch for Move<'_> {
    fn follow(&mut self, number: usize, _: &dyn Fn() -> bool) -> Result<(), String> {
        self.move_all_back();
        if number == 0 {
            return Ok(());
        }
        let plan = &self.plans[number];
        let move_readers = |replica: usize, copy: &Arc<dyn Engine>| {
            let readers = plan.workers.iter().enumerate().filter(|(_, worker)| worker.replica == replica);
            readers.for_each(|(number, _)| self.replicas.move_to(number, Arc::clone(copy)));
        };
        match CopiesOnTheWay::of(&*self.first, plan, move_readers) {
            Ok(copies) => (self.copies, self.followed) = (Some(copies), number),
            Err(error) => {
                self.move_all_back();
                return Err(error.to_string());
            }
        }
        Ok(())
    }

    fn present(&self) -> usize {
        self.followed
    }
}

/// A copy that was made, or attached.
struct MadeCopy {
    engine: Arc<dyn Engine>,
    /// What it lies in, if it was kept by an earlier command.
    kept: Option<KeptFile>,
    /// Why one that was kept was not used.
    note: Option<String>,
}

impl MadeCopy {
    /// The copy of `source` that was kept for this placement, else one made by `make`. The calling thread is under the
    /// placement.
    fn attached_or<E>(
        source: &dyn IndexSource,
        placement: &Placement,
        threads: usize,
        make: impl FnOnce() -> Result<Box<dyn Engine>, E>,
    ) -> Result<Self, E> {
        Ok(match resident::attach(source, placement, threads) {
            Ok(Some((engine, kept))) => MadeCopy { engine: engine.into(), kept: Some(kept), note: None },
            other => MadeCopy { engine: make()?.into(), kept: None, note: other.err() },
        })
    }
}

/// A copy that is to be made.
struct WantedCopy<'p> {
    placed: Placed,
    placement: &'p Placement,
    /// How many will read it: so many threads make it.
    readers: usize,
    /// The CPUs of those who will read it: who makes it runs there, near what is written.
    cpus: Vec<CpuId>,
}

impl WantedCopy<'_> {
    fn make(&self, first: &dyn Engine, source: Option<&dyn IndexSource>) -> Result<MadeCopy, Error> {
        // Workers are pinned to the same CPUs, and say so if they cannot be.
        let _ = (!self.cpus.is_empty()).then(|| pin_current_thread(&self.cpus));
        let copy = || first.replicate(self.readers);
        self.placed.run(|| match source {
            Some(source) => MadeCopy::attached_or(source, self.placement, self.readers, copy),
            None => Ok(MadeCopy { engine: copy()?.into(), kept: None, note: None }),
        })
    }
}

/// The copies that `plan` wants, under these placements.
fn wanted<'p>(plan: &'p Plan, placed: &[Placed]) -> Vec<WantedCopy<'p>> {
    let copy = |(number, (placed, placement)): (usize, (&Placed, &'p Placement))| {
        let readers = || plan.workers.iter().filter(move |worker| worker.replica == number);
        let cpus = readers().flat_map(|worker| worker.cpus.iter().copied()).collect();
        WantedCopy { placed: *placed, placement, readers: readers().count().max(1), cpus }
    };
    placed.iter().zip(&plan.replicas).enumerate().map(copy).collect()
}

/// Copies of `first`, all at once. Of `source`, if it is given, those that were kept are used.
fn replicate<'w>(
    first: &dyn Engine,
    source: Option<&dyn IndexSource>,
    wanted: &'w [WantedCopy<'w>],
    ready: &(dyn Fn(usize, &Arc<dyn Engine>) + Sync),
) -> Result<Vec<MadeCopy>, Error> {
    std::thread::scope(|scope| {
        let copy = |(number, wanted): (usize, &'w WantedCopy<'w>)| {
            let thread = std::thread::Builder::new().name("replicate".into());
            thread.spawn_scoped(scope, move || {
                let copy = wanted.make(first, source)?;
                ready(number, &copy.engine);
                Ok(copy)
            })
        };
        let copies: Vec<_> = wanted.iter().enumerate().map(copy).collect();
        let lost = || Err(Error::Internal("an index copy could not be made".to_owned()));
        let join = |copy: std::io::Result<std::thread::ScopedJoinHandle<'_, Result<_, Error>>>| match copy {
            Ok(copy) => copy.join().unwrap_or_else(|_| lost()),
            Err(error) => Err(Error::Thread(error)),
        };
        // All are waited for before the first failure is told.
        let copies: Vec<Result<_, Error>> = copies.into_iter().map(join).collect();
        copies.into_iter().collect()
    })
}

/// The index copies of a run. A clone has the same ones.
#[derive(Clone)]
pub struct IndexCopies {
    /// One engine per replica of the plan.
    pub engines: Vec<Arc<dyn Engine>>,
    places: Vec<Where>,
    /// Held so that nobody removes what copies lie in.
    _kept: Arc<Vec<KeptFile>>,
    /// What is to be said of the index.
    pub report: IndexReport,
    /// What else the user should know of it.
    pub notes: Vec<String>,
}

impl IndexCopies {
    /// Makes all copies: the first from `source`, the others from it, all at once. Of an index that is kept in memory,
    /// that is used. An index file that lies on the `mapped` pages of the file cache is mapped.
    ///
    /// # Errors
    /// When the index cannot be made.
    pub fn make(
        source: &dyn IndexSource,
        plan: &Plan,
        mean_read_length: usize,
        has_index: bool,
        mapped: Option<FilePages>,
    ) -> Result<Self, AlignError> {
        let started = Instant::now();
        let placed: Vec<Placed> = plan.replicas.iter().map(Placed::new).collect();
        let own = placed[0];
        // A thread is under it for the whole of its life, which is that of the pool.
        let on_start: OnStart = Box::new(move || std::mem::forget(own.enter()));
        let threads = plan.workers.len();
        let mut is_mapped = false;
        let make = || match mapped.map_or(Ok(None), |pages| source.map(threads, pages))? {
            Some(engine) => {
                is_mapped = true;
                Ok(engine)
            }
            None => source.make(threads, on_start),
        };
        let first = own.run(|| MadeCopy::attached_or(source, &plan.replicas[0], threads, make))?;
        let origin = match (&first.kept, source.is_built()) {
            (Some(kept), _) => IndexOrigin::File(kept.file.display().to_string()),
            (None, true) => IndexOrigin::Built,
            (None, false) => IndexOrigin::File(source.file().display().to_string()),
        };
        let others = replicate(&*first.engine, Some(source), &wanted(plan, &placed)[1..], &|_, _| ())?;
        let (mut engines, mut kept, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for made in std::iter::once(first).chain(others) {
            engines.push(made.engine);
            kept.extend(made.kept);
            notes.extend(made.note);
        }
        let bytes = Bytes(engines[0].index_bytes());
        let reference_bases = engines[0].contigs().iter().map(|contig| contig.length).sum();
        let (places, time) = match has_index {
            true => (whereabouts(&engines, &placed), started.elapsed()),
            false => (Vec::new(), Duration::ZERO),
        };
        let report = IndexReport { origin, is_mapped, bytes, reference_bases, time, mean_read_length, read_length: 0 };
        Ok(IndexCopies { engines, places, _kept: Arc::new(kept), report, notes })
    }

    /// The same ones for a further run, which has not made them: where they lie was told already.
    pub fn again(&self) -> Self {
        let report = IndexReport { time: Duration::ZERO, ..self.report.clone() };
        IndexCopies { places: Vec::new(), report, notes: Vec::new(), ..self.clone() }
    }

    /// Other copies in the place of these.
    pub fn with(self, copies: CopiesOnTheWay) -> Self {
        IndexCopies { engines: copies.engines, places: copies.places, ..self }
    }

    /// Each worker of `plan` with the copy that the plan gives it.
    pub fn replicas(&self, plan: &Plan) -> ReplicaMap {
        ReplicaMap::new(plan.workers.iter().map(|worker| Arc::clone(&self.engines[worker.replica])))
    }

    /// Asks the kernel where the copies really lie.
    pub fn census(&self, plan: &Plan) -> Vec<ReplicaReport> {
        let report = |(Where { placed, foreign }, placement): (&Where, &Placement)| {
            let mut refused = placed.refused();
            let census = match placed.census_with(foreign) {
                Ok(census) => {
                    refused.extend(census.notes);
                    census.pages
                }
                Err(error) => {
                    refused.push(format!("where its pages lie cannot be found out: {error}"));
                    Default::default()
                }
            };
            ReplicaReport { placement: placement.clone(), census, refused }
        };
        self.places.iter().zip(&plan.replicas).map(report).collect()
    }
}
