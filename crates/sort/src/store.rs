//! All runs of a sort, and who fills them.

use crate::kept::{List, Loaded, Noted, RunFolder};
use crate::key::KeptKey;
use crate::parts::RecordParts;
use crate::run::MemoryRun;
use crate::spill::{SpillFile, SpilledRun};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::sink::Collect;

/// The most bytes of a run that is kept: what a crash may cost each thread.
const LARGEST_KEPT: u64 = 256 << 20;
/// Records are not older than this when they are kept, if their thread adds more: nothing counts as finished before
/// all reads before it are.
const OLDEST_KEPT: Duration = Duration::from_secs(600);

/// Where the runs of all workers go.
#[derive(Debug)]
pub struct RunStore {
    /// Bytes that all runs in memory may take together.
    memory: u64,
    /// Where the others go.
    place: RunPlace,
    collectors: AtomicUsize,
    spilled_bytes: AtomicU64,
    runs: Mutex<StoredRuns>,
}

/// Where runs go.
#[derive(Debug)]
enum RunPlace {
    /// Those that do not fit into memory, to files without a name in this folder, one for each thread.
    Unnamed(PathBuf),
    /// All, to one file, to be merged by other processes as well.
    Kept(RunFolder, Mutex<Option<Spills>>),
}

/// The file that the runs of a thread go to, and the list of runs, where they are kept.
#[derive(Debug, Clone)]
struct Spills {
    blocks: SpillFile,
    list: Option<Arc<List>>,
}

#[derive(Debug, Default)]
struct StoredRuns {
    memory: Vec<MemoryRun>,
    spilled: Vec<SpilledRun>,
    /// The keys at which parts may begin.
    samples: Vec<KeptKey>,
}

impl RunStore {
    /// A store of so many bytes of memory; what does not fit goes to unnamed files in `folder`.
    pub fn new(memory: u64, folder: PathBuf) -> Self {
        RunStore::at(memory, RunPlace::Unnamed(folder))
    }

    /// A store of so many bytes of memory whose runs are kept for every process that sorts the same.
    pub fn kept(memory: u64, kept: RunFolder) -> Self {
        RunStore::at(memory, RunPlace::Kept(kept, Mutex::default()))
    }

    fn at(memory: u64, place: RunPlace) -> Self {
        let (collectors, spilled_bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
        RunStore { memory, place, collectors, spilled_bytes, runs: Mutex::default() }
    }

    /// What one more thread adds its chunks to.
    pub fn collector(&self) -> Collector<'_> {
        self.collectors.fetch_add(1, Ordering::Relaxed);
        Collector {
            store: self,
            run: MemoryRun::default(),
            chunks: Vec::new(),
            oldest: None,
            kept: Vec::new(),
            file: None,
        }
    }

    /// Whether all runs are kept.
    pub fn keeps(&self) -> bool {
        matches!(self.place, RunPlace::Kept(..))
    }

    /// Takes all runs that any process has kept, to be merged here, once all have finished. Of attempts before this one
    /// the chunks from `limits[attempt]` on were given up. There must be each of the `wanted` chunks once; they come in
    /// ascending order. Gives what was noted of each.
    ///
    /// # Errors
    /// [`Error::Kept`]: what cannot be read, or is not what was finished.
    pub fn take_up(&self, limits: &[u64], wanted: impl Iterator<Item = u64>) -> Result<BTreeMap<u64, Vec<u8>>, Error> {
        let RunPlace::Kept(kept, _) = &self.place else { return Ok(BTreeMap::new()) };
        let Loaded { runs, samples, noted } = kept.read(limits, wanted)?;
        let stored = |run: &SpilledRun| run.blocks.iter().map(|block| u64::from(block.stored)).sum::<u64>();
        self.spilled_bytes.store(runs.iter().map(stored).sum(), Ordering::Relaxed);
        *self.runs() = StoredRuns { memory: Vec::new(), spilled: runs, samples };
        Ok(noted)
    }

    /// Bytes written to temporary files so far, compressed; of all processes, once they were taken up.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes.load(Ordering::Relaxed)
    }

    /// All that was added, once all collectors have finished, in parts of about so many bytes.
    pub fn parts(&self, part_bytes: usize) -> RecordParts {
        let runs = std::mem::take(&mut *self.runs());
        RecordParts::new((runs.memory, runs.spilled), runs.samples, part_bytes, self.memory)
    }

    /// What one more thread writes its runs to.
    fn spills(&self) -> Result<Spills, Error> {
        match &self.place {
            RunPlace::Unnamed(folder) => Ok(Spills { blocks: SpillFile::unnamed(folder)?, list: None }),
            RunPlace::Kept(kept, file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(spills) = &*file {
                    return Ok(spills.clone());
                }
                let (blocks, list) = kept.create()?;
                Ok(file.insert(Spills { blocks, list: Some(Arc::new(list)) }).clone())
            }
        }
    }

    fn runs(&self) -> MutexGuard<'_, StoredRuns> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One thread's run.
pub struct Collector<'s> {
    store: &'s RunStore,
    run: MemoryRun,
    /// The chunks in it, where runs are kept, and when the first came.
    chunks: Vec<Noted>,
    oldest: Option<Instant>,
    /// Those of runs that are kept by now.
    kept: Vec<u64>,
    /// Where its runs go, once there is one that does not fit.
    file: Option<Spills>,
}

impl Collector<'_> {
    /// Whether so many bytes more should go to the run: they fit, and where runs are kept, it is not too old. A run
    /// without records takes any number.
    pub fn has_room(&self, bytes: usize) -> bool {
        if self.oldest.is_some_and(|oldest| oldest.elapsed() > OLDEST_KEPT) {
            return false;
        }
        let share = self.store.memory / self.store.collectors.load(Ordering::Relaxed).max(1) as u64;
        let most = if self.store.keeps() { share.min(LARGEST_KEPT) } else { share };
        self.run.is_empty() || self.run.filled_with(bytes) <= most
    }

    /// Adds the frames of chunk `number` to the run, and `note` where runs are kept.
    ///
    /// # Errors
    /// [`Error::Internal`]: what are no frames.
    pub fn put(&mut self, number: u64, frames: &[u8], note: &[u8]) -> Result<(), Error> {
        if self.store.keeps() {
            self.chunks.push((number, note.to_vec()));
            self.oldest.get_or_insert_with(Instant::now);
        }
        self.run.add(number, frames)
    }

    /// Sorts the run, writes it to the disk, and begins another.
    ///
    /// # Errors
    /// [`Error::Spill`], [`Error::Kept`].
    pub fn spill(&mut self) -> Result<(), Error> {
        self.run.sort();
        let (samples, chunks) = (self.run.take_samples(), std::mem::take(&mut self.chunks));
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.store.spills()?),
        };
        let written = file.blocks.write(&self.run).inspect_err(|_| {
            if let Some(list) = &file.list {
                list.end();
            }
        });
        let (spilled, bytes) = written?;
        self.store.spilled_bytes.fetch_add(bytes, Ordering::Relaxed);
        match &file.list {
            // It is read together with those of others.
            Some(list) => {
                list.enter(&file.blocks, &spilled, &samples, &chunks)?;
                self.oldest = None;
                self.kept.extend(chunks.iter().map(|(number, _)| number));
            }
            None => {
                let mut runs = self.store.runs();
                runs.spilled.push(spilled);
                runs.samples.extend(samples);
            }
        }
        self.run.clear();
        Ok(())
    }
}

impl Collect for Collector<'_> {
    fn add(&mut self, number: u64, frames: &[u8]) -> Result<(), Error> {
        if !self.has_room(frames.len()) {
            self.spill()?;
        }
        self.put(number, frames, &[])
    }

    fn finish(&mut self) -> Result<(), Error> {
        if self.run.is_empty() && self.chunks.is_empty() {
            return Ok(());
        }
        // Who merges needs memory for what lies on disk.
        if self.file.is_some() || self.store.keeps() {
            return self.spill();
        }
        let mut run = std::mem::take(&mut self.run);
        run.sort();
        let samples = run.take_samples();
        let mut runs = self.store.runs();
        runs.memory.push(run);
        runs.samples.extend(samples);
        Ok(())
    }

    fn take_kept(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.kept)
    }
}
