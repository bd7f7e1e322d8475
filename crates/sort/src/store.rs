//! All runs of a sort, and who fills them.

use crate::key::Key;
use crate::parts::Parts;
use crate::run::Run;
use crate::spill::{SpillFile, SpilledRun};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use zerohop_model::error::Error;
use zerohop_model::sink::Collect;

/// Where the runs of all workers go.
#[derive(Debug)]
pub struct Store {
    /// Bytes that all runs in memory may take together.
    memory: u64,
    /// Where the others go.
    folder: PathBuf,
    collectors: AtomicUsize,
    spilled_bytes: AtomicU64,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    memory: Vec<Run>,
    spilled: Vec<SpilledRun>,
    /// The keys at which parts may begin.
    samples: Vec<Key>,
}

impl Store {
    /// A store of so many bytes of memory; what does not fit goes to unnamed files in `folder`.
    pub fn new(memory: u64, folder: PathBuf) -> Self {
        let (collectors, spilled_bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
        Store { memory, folder, collectors, spilled_bytes, runs: Mutex::default() }
    }

    /// What one more thread adds its chunks to.
    pub fn collector(&self) -> Collector<'_> {
        self.collectors.fetch_add(1, Ordering::Relaxed);
        Collector { store: self, run: Run::default(), file: None }
    }

    /// Bytes written to temporary files so far, compressed.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes.load(Ordering::Relaxed)
    }

    /// All that was added, once all collectors have finished, in parts of about so many bytes.
    pub fn parts(&self, part_bytes: usize) -> Parts {
        let runs = std::mem::take(&mut *self.runs());
        Parts::new((runs.memory, runs.spilled), runs.samples, part_bytes, self.memory)
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// One thread's run.
pub struct Collector<'s> {
    store: &'s Store,
    run: Run,
    /// Where its runs go, once there is one that does not fit.
    file: Option<SpillFile>,
}

impl Collector<'_> {
    /// Sorts the run, writes it to the disk, and begins another.
    fn spill(&mut self) -> Result<(), Error> {
        self.run.sort();
        let samples = self.run.take_samples();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(SpillFile::create(&self.store.folder)?),
        };
        let (spilled, bytes) = file.write(&self.run)?;
        self.store.spilled_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut runs = self.store.runs();
        runs.spilled.push(spilled);
        runs.samples.extend(samples);
        self.run.clear();
        Ok(())
    }
}

impl Collect for Collector<'_> {
    fn add(&mut self, number: u64, frames: &[u8]) -> Result<(), Error> {
        let share = self.store.memory / self.store.collectors.load(Ordering::Relaxed).max(1) as u64;
        if !self.run.is_empty() && self.run.filled_with(frames.len()) > share {
            self.spill()?;
        }
        self.run.add(number, frames)
    }

    fn finish(&mut self) -> Result<(), Error> {
        if self.run.is_empty() {
            return Ok(());
        }
        // Who merges needs memory for what lies on disk.
        if self.file.is_some() {
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
}
