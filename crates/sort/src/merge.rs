//! Several sorted runs, read as one.

use crate::key::KeyRef;
use crate::run::MemoryRun;
use crate::spill::SpillReader;
use zerohop_model::error::Error;

/// So many records ahead, those of a run in memory are asked for: they lie as they came, and each is a cache miss.
const AHEAD: usize = 8;

/// Where one run is read.
pub(crate) enum Cursor<'r> {
    /// In memory: the next record.
    Memory(&'r MemoryRun, usize),
    /// On disk.
    Disk(Box<SpillReader<'r>>),
}

impl Cursor<'_> {
    fn record(&self) -> Option<(KeyRef<'_>, &[u8])> {
        match self {
            Cursor::Memory(run, at) => (*at < run.records()).then(|| (run.key_at(*at), run.frame_at(*at).0.record)),
            Cursor::Disk(reader) => reader.record(),
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        match self {
            Cursor::Memory(run, at) => {
                *at += 1;
                run.prefetch(*at + AHEAD);
                Ok(())
            }
            Cursor::Disk(reader) => reader.advance(),
        }
    }
}

/// A heap of cursors: the one with the least key is on top.
pub(crate) struct MergeHeap<'r>(Vec<Cursor<'r>>);

impl<'r> MergeHeap<'r> {
    pub(crate) fn new(cursors: impl Iterator<Item = Result<Cursor<'r>, Error>>) -> Result<Self, Error> {
        let cursors: Result<Vec<_>, Error> = cursors.collect();
        let mut heap = MergeHeap(cursors?.into_iter().filter(|cursor| cursor.record().is_some()).collect());
        (0..heap.0.len() / 2).rev().for_each(|at| heap.sift_down(at));
        Ok(heap)
    }

    /// Gives all records that come before `end`, in order.
    ///
    /// # Errors
    /// What `each` says; a file that cannot be read.
    pub(crate) fn until(
        &mut self,
        end: Option<KeyRef<'_>>,
        mut each: impl FnMut(KeyRef<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while let Some(top) = self.0.first_mut() {
            match top.record() {
                Some((key, _)) if end.is_some_and(|end| key >= end) => return Ok(()),
                Some((key, record)) => {
                    each(key, record)?;
                    top.advance()?;
                }
                None => {
                    self.0.swap_remove(0);
                }
            }
            self.sift_down(0);
        }
        Ok(())
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let children = [2 * at + 1, 2 * at + 2].into_iter().filter(|&child| child < self.0.len());
            let Some(least) = children.reduce(|a, b| if self.is_before(b, a) { b } else { a }) else { return };
            if !self.is_before(least, at) {
                return;
            }
            self.0.swap(least, at);
            at = least;
        }
    }

    /// Whether the record of one cursor comes before that of the other; a cursor at its end comes first, for it is
    /// taken away then.
    fn is_before(&self, one: usize, other: usize) -> bool {
        let key = |at: usize| self.0[at].record().map(|(key, _)| key);
        key(one) < key(other)
    }
}
