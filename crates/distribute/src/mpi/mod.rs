//! MPI, through a small library that is compiled by the MPI's own compiler (shim.c) and loaded at run time: so one zerohop runs on any MPI,
//! and without one. The only module that touches MPI.

mod library;
mod watch;

use crate::patience::until;
use crate::transport::{Reach, Transport, TransportError, Window};
use library::{Library, Pointer};
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

/// Source of the library.
pub const SHIM: &str = include_str!("shim.c");
/// Bytes of one put, get or message: their counts are of 31 bits.
const MOST_AT_ONCE: usize = 1 << 30;
/// Sizes of windows are multiples of this.
const LINE: usize = 64;

/// Ranks that MPI connects.
pub struct Mpi {
    library: Library,
    rank: usize,
    size: usize,
    limit: Duration,
    /// Messages that are under way, with their bytes.
    sending: RefCell<Vec<(Pointer, Vec<u8>)>>,
}

impl Mpi {
    /// Loads the library at `path` and joins the other ranks. To be called once, by the thread that will make all other calls.
    ///
    /// A call of MPI that takes longer than `limit` can only be ended with its process: `tell` is told of it, in another thread, and the
    /// process ends with status 1. The launcher then ends the other ranks.
    ///
    /// # Errors
    /// A library that cannot be loaded, or is another version; what MPI says.
    pub fn join(
        path: &Path,
        limit: Duration,
        tell: impl FnOnce(&TransportError) + Send + 'static,
    ) -> Result<Self, TransportError> {
        let library = Library::load(path, limit, tell)?;
        let (rank, size) = library.init()?;
        Ok(Mpi { library, rank, size, limit, sending: RefCell::default() })
    }

    /// Leaves the other ranks; all must come to it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn leave(self) -> Result<(), TransportError> {
        until(self.limit, &|| "messages under way".to_owned(), || {
            self.poll()?;
            Ok(self.sending.borrow().is_empty().then_some(()))
        })?;
        // They come to the end at the same time (zh_finalize).
        self.barrier()?;
        self.library.finalize()
    }

    /// Ends all ranks at once.
    pub fn abort(&self, status: i32) {
        self.library.abort(status);
    }

    fn until_done(&self, request: Pointer, what: &dyn Fn() -> String) -> Result<(), TransportError> {
        until(self.limit, what, || Ok(self.library.test(request)?.then_some(())))
    }
}

fn others() -> String {
    "the other ranks".to_owned()
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn name(&self) -> String {
        self.library.name()
    }

    fn barrier(&self) -> Result<(), TransportError> {
        self.until_done(self.library.barrier()?, &others)
    }

    fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, TransportError> {
        let mut lengths = vec![0u8; 8 * self.size];
        let own = (mine.len() as u64).to_ne_bytes();
        self.until_done(self.library.all_gather(&own, &mut lengths)?, &others)?;
        let length = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|i| bytes[i])) as usize;
        let counts: Vec<i32> = lengths.chunks_exact(8).map(|bytes| length(bytes) as i32).collect();
        let starts: Vec<i32> = counts
            .iter()
            .scan(0, |at, count| {
                let start = *at;
                *at += count;
                Some(start)
            })
            .collect();
        // OpenMPI takes it for an error if nobody gives anything; all know it, so none calls.
        if counts.iter().all(|&count| count == 0) {
            return Ok(vec![Vec::new(); self.size]);
        }
        let mut all = vec![0u8; counts.iter().map(|&count| count as usize).sum()];
        self.until_done(self.library.all_gather_varying(mine, &mut all, &counts, &starts)?, &others)?;
        let part = |(start, count): (&i32, &i32)| all[*start as usize..(*start + *count) as usize].to_vec();
        Ok(starts.iter().zip(&counts).map(part).collect())
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
        self.poll()?;
        let request = self.library.send(to, tag, &bytes)?;
        self.sending.borrow_mut().push((request, bytes));
        Ok(())
    }

    fn try_receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError> {
        self.library.receive(from, tag)
    }

    fn window(&self, bytes: usize, reach: Reach) -> Result<Box<dyn Window + '_>, TransportError> {
        // MPICH 4.0.2 reads beside the memory of a rank on the same machine if its size is no multiple of a word.
        let bytes = bytes.max(1).next_multiple_of(LINE);
        let (window, base) = self.library.window(bytes, reach == Reach::Passive)?;
        let passive = reach == Reach::Passive;
        Ok(Box::new(MpiWindow { mpi: self, window, base, bytes, passive, putting: RefCell::default() }))
    }

    fn poll(&self) -> Result<(), TransportError> {
        self.library.progress()?;
        let mut failed = None;
        self.sending.borrow_mut().retain(|(request, _)| match self.library.test(*request) {
            Ok(done) => !done,
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn limit(&self) -> Duration {
        self.limit
    }
}

struct MpiWindow<'m> {
    mpi: &'m Mpi,
    window: Pointer,
    /// Our own memory in it.
    base: Pointer,
    bytes: usize,
    passive: bool,
    /// What is being put, and where to: it must stay where it is until the epoch ends or is flushed.
    putting: RefCell<Vec<(usize, Vec<u8>)>>,
}

impl MpiWindow<'_> {
    fn settle(&self, outcome: Result<(), TransportError>) -> Result<(), TransportError> {
        self.putting.borrow_mut().clear();
        outcome
    }
}

impl Window for MpiWindow<'_> {
    fn put(&self, rank: usize, offset: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        for (number, piece) in bytes.chunks(MOST_AT_ONCE).enumerate() {
            self.mpi.library.put(self.window, rank, offset + number * MOST_AT_ONCE, piece)?;
        }
        self.putting.borrow_mut().push((rank, bytes));
        Ok(())
    }

    fn get(&self, rank: usize, offset: usize, into: &mut [u8]) -> Result<(), TransportError> {
        for (number, piece) in into.chunks_mut(MOST_AT_ONCE).enumerate() {
            let request = self.mpi.library.get(self.window, rank, offset + number * MOST_AT_ONCE, piece)?;
            self.mpi.until_done(request, &|| format!("rank {rank}"))?;
        }
        Ok(())
    }

    fn fetch_add(&self, rank: usize, offset: usize, value: u64) -> Result<u64, TransportError> {
        self.mpi.library.fetch_add(self.window, rank, offset, value)
    }

    fn flush(&self, rank: usize) -> Result<(), TransportError> {
        let outcome = self.mpi.library.flush(self.window, rank);
        self.putting.borrow_mut().retain(|(to, _)| *to != rank);
        outcome
    }

    fn fence(&self) -> Result<(), TransportError> {
        // A fence blocks without a limit: all are here when it begins.
        self.mpi.barrier()?;
        self.settle(self.mpi.library.fence(self.window))
    }

    fn post(&self, sources: &[usize]) -> Result<(), TransportError> {
        self.mpi.library.post(self.window, sources)
    }

    fn start(&self, targets: &[usize]) -> Result<(), TransportError> {
        // It blocks until they let us in: all have come so far when it begins, for all ranks begin their epochs together.
        self.mpi.barrier()?;
        self.mpi.library.start(self.window, targets)
    }

    fn complete(&self) -> Result<(), TransportError> {
        self.settle(self.mpi.library.complete(self.window))
    }

    fn wait(&self) -> Result<(), TransportError> {
        until(self.mpi.limit, &others, || Ok(self.mpi.library.exposed(self.window)?.then_some(())))
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), TransportError> {
        self.mpi.library.sync(self.window, self.passive)?;
        self.mpi.library.read(self.base, self.bytes, offset, into);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        self.mpi.library.free(self.window, self.passive)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), TransportError> {
        self.mpi.library.write(self.base, self.bytes, offset, bytes);
        self.mpi.library.sync(self.window, self.passive)
    }
}
