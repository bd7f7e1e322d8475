//! The index copies of a run, and which worker reads which: copies may come while the run goes on.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_model::engine::{Cut, Engine};

/// What each worker reads. A copy is freed when the last worker that read it has moved on.
pub struct ReplicaMap {
    readers: Vec<ReplicaReader>,
}

struct ReplicaReader {
    engine: Mutex<Arc<dyn Engine>>,
    /// Grows with every move: looked at before each chunk, so that the mutex need not be.
    moves: AtomicU64,
}

impl fmt::Debug for ReplicaMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaMap").field("readers", &self.readers.len()).finish_non_exhaustive()
    }
}

impl ReplicaMap {
    /// The copy that each worker reads at first.
    pub fn new(engines: impl IntoIterator<Item = Arc<dyn Engine>>) -> Self {
        let reader = |engine| ReplicaReader { engine: Mutex::new(engine), moves: AtomicU64::new(0) };
        ReplicaMap { readers: engines.into_iter().map(reader).collect() }
    }

    /// Has `worker` read another copy from its next chunk on. The copies must be of one index: records do not depend on
    /// which is read.
    pub fn move_to(&self, worker: usize, engine: Arc<dyn Engine>) {
        let reader = &self.readers[worker];
        *reader.engine.lock().unwrap_or_else(PoisonError::into_inner) = engine;
        reader.moves.fetch_add(1, Ordering::Release);
    }

    /// Where the copies want the input cut; none if nobody reads.
    pub(crate) fn cut(&self) -> Option<Cut> {
        let engine = self.readers.first()?.engine.lock().unwrap_or_else(PoisonError::into_inner);
        Some(engine.cut())
    }

    /// What `worker` reads, and how often it has moved by then.
    pub(crate) fn read_by(&self, worker: usize) -> (u64, Arc<dyn Engine>) {
        let reader = &self.readers[worker];
        // Counted first: if a move comes between, the worker looks again before its next chunk.
        let moves = reader.moves.load(Ordering::Acquire);
        (moves, Arc::clone(&reader.engine.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Whether `worker` has been moved since then.
    pub(crate) fn has_moved(&self, worker: usize, since: u64) -> bool {
        self.readers[worker].moves.load(Ordering::Relaxed) != since
    }
}
