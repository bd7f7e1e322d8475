//! Makes the index copies, each where the plan wants it.

use crate::auto::Switch;
use crate::failure::Failure;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use zerohop_engine_strobealign::file::{index_path, is_index, read_length};
use zerohop_engine_strobealign::{Reference, ReferenceBuilder, Strobealign, canonical_read_length};
use zerohop_memory::Placed;
use zerohop_model::engine::Engine;
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::ReplicaReport;
use zerohop_model::plan::Plan;
use zerohop_report::{IndexOrigin, IndexReport};
use zerohop_runtime::Shelf;
use zerohop_topology::MemoryBound;

/// Bytes of strobealign's index per base, with some to spare (measured: 4.0 to 4.1).
const INDEX_BYTES_PER_BASE: f64 = 4.2;
/// Bases per byte of gzip: FASTA shrinks about fourfold.
const BASES_PER_GZIP_BYTE: f64 = 4.0;
/// The part of an estimate that an index has at least: lines end, and some FASTA shrinks less.
const SURE_OF_ESTIMATE: f64 = 0.6;

/// Where the index will come from.
pub struct IndexSource {
    reference: PathBuf,
    mean_read_length: usize,
    file: Option<PathBuf>,
    /// Whether the FASTA is there.
    has_fasta: bool,
    /// Bytes of one copy; an estimate if it is still to be built.
    pub bytes: u64,
}

impl IndexSource {
    /// Finds the index for reads of about `mean_read_length` bases: the reference is an index itself, or one lies
    /// beside it, or it will be built. `no_file` ignores an index file.
    ///
    /// # Errors
    /// An index that is for other reads, or is not to be used.
    pub fn find(reference: &Path, mean_read_length: usize, no_file: bool) -> Result<Self, Failure> {
        let length = |path: &Path| std::fs::metadata(path).map(|m| m.len());
        let is_index = is_index(reference);
        if is_index {
            check_given(reference, mean_read_length, no_file)?;
        }
        let beside = index_path(reference, canonical_read_length(mean_read_length));
        let file = match is_index {
            true => Some(reference.to_owned()),
            false => Some(beside).filter(|path| !no_file && path.exists()),
        };
        let has_fasta = !is_index && reference.exists();
        let bytes = match &file {
            Some(path) => length(path).unwrap_or(0),
            None => {
                let bases_per_byte = if is_gzip(reference) { BASES_PER_GZIP_BYTE } else { 1.0 };
                (length(reference).unwrap_or(0) as f64 * bases_per_byte * INDEX_BYTES_PER_BASE) as u64
            }
        };
        Ok(IndexSource { reference: reference.to_owned(), mean_read_length, file, has_fasta, bytes })
    }

    /// What the user should know of it.
    pub fn note(&self) -> Option<String> {
        let file = self.file.as_deref().filter(|file| !self.has_fasta && *file != self.reference)?;
        Some(format!(
            "{} is not there: {} holds the reference, too, and was used without it.",
            self.reference.display(),
            file.display()
        ))
    }

    /// Looks whether so many copies fit under the limits of this process.
    ///
    /// # Errors
    /// When they surely do not.
    pub fn check_memory(&self, copies: usize) -> Result<(), Failure> {
        let least = if self.file.is_some() { 1.0 } else { SURE_OF_ESTIMATE };
        let need = Bytes((self.bytes as f64 * least) as u64 * copies as u64);
        let Some(bound) = zerohop_topology::memory_bound().filter(|bound| need > bound.left) else { return Ok(()) };
        let (reference, MemoryBound { left, limit, name }) = (self.reference.display(), bound);
        let (all, fewer) = match copies {
            1 => ("its index takes".to_owned(), ""),
            _ => (format!("{copies} copies of its index take"), ", or use fewer copies (--replicas)"),
        };
        Err(Failure::Other(format!(
            "{reference}: {all} {need} of memory, and this process may take {left} more ({name} is {limit}): raise the \
             limit{fewer}"
        )))
    }

    /// The index file, or the reference that the index is built from.
    pub fn file(&self) -> &Path {
        self.file.as_deref().unwrap_or(&self.reference)
    }

    /// Loads or builds the index, under the present thread's placement, which `placed` is.
    fn make(&self, placed: Placed, threads: usize) -> Result<Strobealign, Failure> {
        let read_length = canonical_read_length(self.mean_read_length);
        if let Some(path) = &self.file {
            let fasta = Some(&*self.reference).filter(|_| self.has_fasta);
            return Ok(Strobealign::load(path, fasta, read_length, threads)?);
        }
        let reference = read_reference(&self.reference)?;
        build(reference, read_length, threads, Some(placed))
    }
}

/// Looks whether an index that was given in place of the reference is one for reads of this mean length.
fn check_given(path: &Path, mean_read_length: usize, no_file: bool) -> Result<(), Failure> {
    let index = path.display();
    if no_file {
        return Err(Failure::Usage(format!("{index} is an index: --no-index needs the reference in FASTA")));
    }
    let (made_for, wanted) = (read_length(path)?, canonical_read_length(mean_read_length));
    if made_for == wanted {
        return Ok(());
    }
    Err(Failure::Other(format!(
        "{index}: it is an index for reads of about {made_for} bases, and these have {mean_read_length}: give the \
         reference in FASTA, or use the index all the same with -r {made_for}"
    )))
}

/// Whether a file starts as gzip does. One that cannot be read is reported when it is read in full.
fn is_gzip(path: &Path) -> bool {
    let mut first = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == [0x1f, 0x8b]
}

/// Reads a reference.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn read_reference(path: &Path) -> Result<Reference, Failure> {
    let mut builder = ReferenceBuilder::default();
    let contigs = zerohop_reads::reference::read(path, |bases| builder.push(bases))?;
    builder.build(contigs).map_err(|e| Failure::Other(format!("{}: {e}", path.display())))
}

/// Builds an index; its threads take on `placed`.
///
/// # Errors
/// When threads cannot be started.
pub fn build(
    reference: Reference,
    read_length: usize,
    threads: usize,
    placed: Option<Placed>,
) -> Result<Strobealign, Failure> {
    let take_on = move |_| {
        // It holds for the thread's whole life, which is that of the pool.
        std::mem::forget(placed.map(|placed| placed.enter()));
    };
    Ok(Strobealign::build(reference, read_length, threads, take_on)?)
}

/// Copies made from one that is there already, each under its placement.
pub struct Copies {
    engines: Vec<Arc<dyn Engine>>,
    placed: Vec<Placed>,
}

impl Copies {
    /// A copy for each replica of `plan`, all at once; `ready` is told of each as it comes.
    ///
    /// # Errors
    /// A copy that cannot be made.
    pub fn of(first: &dyn Engine, plan: &Plan, ready: impl Fn(usize, &Arc<dyn Engine>) + Sync) -> Result<Self, Error> {
        let placed: Vec<Placed> = plan.replicas.iter().map(Placed::new).collect();
        let engines = replicate(first, &placed, &ready)?;
        Ok(Copies { engines, placed })
    }
}

/// Has the workers of a run read other copies.
pub struct Move<'a> {
    /// Who reads what.
    pub shelf: &'a Shelf,
    /// The strategies; the run begins with the first.
    pub plans: &'a [Plan],
    /// The number of the one that is followed.
    pub followed: usize,
    /// The copy of the beginning.
    pub first: Arc<dyn Engine>,
    /// Those of the strategy that is followed, unless it is the first.
    pub copies: Option<Copies>,
}

impl Move<'_> {
    /// The first copy is there all the time; others make room before more are made.
    fn move_all_back(&mut self) {
        (0..self.plans[0].workers.len()).for_each(|number| self.shelf.move_to(number, Arc::clone(&self.first)));
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
            readers.for_each(|(number, _)| self.shelf.move_to(number, Arc::clone(copy)));
        };
        match Copies::of(&*self.first, plan, move_readers) {
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

/// Copies of `first` under each of these placements, all at once.
fn replicate(
    first: &dyn Engine,
    placed: &[Placed],
    ready: &(dyn Fn(usize, &Arc<dyn Engine>) + Sync),
) -> Result<Vec<Arc<dyn Engine>>, Error> {
    std::thread::scope(|scope| {
        let copy = |(number, placed): (usize, &Placed)| {
            let placed = *placed;
            let thread = std::thread::Builder::new().name("replicate".into());
            thread.spawn_scoped(scope, move || {
                let copy: Arc<dyn Engine> = placed.run(|| first.replicate())?.into();
                ready(number, &copy);
                Ok(copy)
            })
        };
        let copies: Vec<_> = placed.iter().enumerate().map(copy).collect();
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

/// The index copies of a run.
pub struct Replicas {
    /// One engine per replica of the plan.
    pub engines: Vec<Arc<dyn Engine>>,
    placed: Vec<Placed>,
    /// What is to be said of the index.
    pub report: IndexReport,
}

impl Replicas {
    /// Makes all copies: the first from `source`, the others from it, all at once.
    ///
    /// # Errors
    /// When the index cannot be made.
    pub fn make(source: &IndexSource, plan: &Plan) -> Result<Self, Failure> {
        let started = Instant::now();
        let placed: Vec<Placed> = plan.replicas.iter().map(Placed::new).collect();
        let first: Arc<dyn Engine> = Arc::new(placed[0].run(|| source.make(placed[0], plan.workers.len()))?);
        let others = replicate(&*first, &placed[1..], &|_, _| ())?;
        let engines: Vec<Arc<dyn Engine>> = std::iter::once(first).chain(others).collect();
        let origin = match &source.file {
            Some(path) => IndexOrigin::File(path.display().to_string()),
            None => IndexOrigin::Built,
        };
        let report = IndexReport {
            origin,
            bytes: Bytes(engines[0].index_bytes()),
            time: started.elapsed(),
            mean_read_length: source.mean_read_length,
        };
        Ok(Replicas { engines, placed, report })
    }

    /// Other copies in the place of these.
    pub fn with(self, copies: Copies) -> Self {
        Replicas { engines: copies.engines, placed: copies.placed, report: self.report }
    }

    /// Copies of an engine that has no index.
    pub fn of(engine: Box<dyn Engine>, plan: &Plan, mean_read_length: usize) -> Result<Self, Failure> {
        let mut engines: Vec<Arc<dyn Engine>> = vec![engine.into()];
        while engines.len() < plan.replicas.len() {
            engines.push(engines[0].replicate()?.into());
        }
        let (origin, bytes, time) = (IndexOrigin::Built, Bytes(0), std::time::Duration::ZERO);
        Ok(Replicas { engines, placed: Vec::new(), report: IndexReport { origin, bytes, time, mean_read_length } })
    }

    /// Each worker of `plan` with the copy that the plan gives it.
    pub fn shelf(&self, plan: &Plan) -> Shelf {
        Shelf::new(plan.workers.iter().map(|worker| Arc::clone(&self.engines[worker.replica])))
    }

    /// Asks the kernel where the copies really lie.
    pub fn census(&self, plan: &Plan) -> Vec<ReplicaReport> {
        let report = |(placed, placement): (&Placed, &zerohop_model::plan::Placement)| {
            let mut refused = placed.refused();
            let census = match placed.census() {
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
        self.placed.iter().zip(&plan.replicas).map(report).collect()
    }
}
