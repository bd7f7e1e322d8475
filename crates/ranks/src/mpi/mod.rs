//! MPI, through a small library that is compiled by the MPI's own compiler (shim.c) and loaded at run time: so one
//! zerohop runs on any MPI, and without one. The only module that touches MPI.

mod library;
mod loan;
mod pieces;
mod watch;

use crate::back_off::{until, wait_for};
use crate::signs;
use crate::transport::{Reach, Transport, TransportError, Window};
use library::{Gathered, Library, MOST_AT_ONCE, Pointer};
use loan::{Loan, LoanRequest};
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

/// Source of the library.
pub const SHIM: &str = include_str!("shim.c");
/// Sizes of windows are multiples of this.
const LINE: usize = 64;

/// Ranks that MPI connects.
pub struct Mpi {
    library: Library,
    rank: usize,
    size: usize,
    limit: Duration,
    /// Messages that are under way, with their bytes.
    sending: RefCell<Vec<LoanRequest<Vec<u8>>>>,
}

impl Mpi {
    /// Loads the library at `path` and joins the other ranks. To be called once, by the thread that will make all other
    /// calls.
    ///
    /// A call of MPI that takes longer than `limit` can only be ended with its process: `tell` is told of it, in
    /// another thread, and the process ends with status 1. The launcher then ends the other ranks.
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
        // MPICH over UCX warns of messages that nobody has taken.
        signs::taken(&self)?;
        self.library.finalize()
    }

    /// Ends all ranks at once.
    pub fn abort(&self, status: i32) {
        self.library.abort(status);
    }

    /// Waits until a request is done, and gives its memory back. What is given up on the way stays lent.
    fn until_done<M>(&self, mut request: LoanRequest<M>, what: &dyn Fn() -> String) -> Result<M, TransportError> {
        wait_for(self, what, || request.try_end(&self.library))
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
        let own = (mine.len() as u64).to_ne_bytes().to_vec();
        let lengths = self.until_done(self.library.all_gather(own, vec![0; 8 * self.size])?, &others)?.all;
        let length = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|i| bytes[i])) as usize;
        let lengths: Vec<usize> = lengths.chunks_exact(8).map(length).collect();
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        // OpenMPI takes it for an error if nobody gives anything; all know it, so none calls.
        for ranges in pieces::calls(&lengths, MOST_AT_ONCE) {
            let piece = mine[ranges[self.rank].clone()].to_vec();
            let gathered = self.library.all_gather_varying(Gathered::of(piece, &ranges))?;
            let gathered = self.until_done(gathered, &others)?;
            all.iter_mut().zip(gathered.parts()).for_each(|(all, part)| all.extend_from_slice(part));
        }
        Ok(all)
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
        self.poll()?;
        self.sending.borrow_mut().push(self.library.send(to, tag, bytes)?);
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
        let (putting, replacing) = (RefCell::default(), RefCell::default());
        Ok(Box::new(MpiWindow { mpi: self, window, base, bytes, passive, putting, replacing }))
    }

    fn poll(&self) -> Result<(), TransportError> {
        self.library.progress()?;
        let mut failed = None;
        self.sending.borrow_mut().retain_mut(|request| match request.try_end(&self.library) {
            Ok(bytes) => bytes.is_none(),
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
    putting: RefCell<Lent<Vec<u8>>>,
    replacing: RefCell<Lent<u64>>,
}

/// What is lent for calls to ranks.
type Lent<M> = Vec<(usize, Loan<M>)>;

/// Frees what was lent for calls to a rank, or to all.
fn take_back<M>(lent: &RefCell<Lent<M>>, to: Option<usize>) {
    lent.borrow_mut().retain_mut(|(rank, loan)| {
        let is_there = to.is_none_or(|to| to == *rank);
        if is_there {
            drop(loan.take_back());
        }
        !is_there
    });
}

impl MpiWindow<'_> {
    /// Frees what was put to a rank, or to all, if what was to bring it there came to its end; else it stays lent.
    fn settle(&self, to: Option<usize>, outcome: Result<(), TransportError>) -> Result<(), TransportError> {
        if outcome.is_ok() {
            take_back(&self.putting, to);
            take_back(&self.replacing, to);
        }
        outcome
    }
}

impl Window for MpiWindow<'_> {
    fn put(&self, rank: usize, offset: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        let mut loan = Loan::new(bytes);
        let outcome = self.mpi.library.put(self.window, rank, offset, &mut loan);
        self.putting.borrow_mut().push((rank, loan));
        outcome
    }

    fn get(&self, rank: usize, offset: usize, bytes: usize) -> Result<Vec<u8>, TransportError> {
        let mut all = Vec::new();
        for start in (0..bytes).step_by(MOST_AT_ONCE) {
            let piece = MOST_AT_ONCE.min(bytes - start);
            let request = self.mpi.library.get(self.window, rank, offset + start, piece)?;
            let piece = self.mpi.until_done(request, &|| format!("rank {rank}"))?;
            // Nearly always there is only one.
            if all.is_empty() { all = piece } else { all.extend(piece) }
        }
        Ok(all)
    }

    fn fetch_add(&self, rank: usize, offset: usize, value: u64) -> Result<u64, TransportError> {
        self.mpi.library.fetch_add(self.window, rank, offset, value)
    }

    fn replace(&self, rank: usize, offset: usize, value: u64) -> Result<(), TransportError> {
        let mut loan = Loan::new(value);
        let outcome = self.mpi.library.replace(self.window, rank, offset, &mut loan);
        self.replacing.borrow_mut().push((rank, loan));
        outcome
    }

    fn fetch(&self, offset: usize) -> Result<u64, TransportError> {
        self.mpi.library.fetch(self.window, self.mpi.rank, offset)
    }

    fn flush(&self, rank: usize) -> Result<(), TransportError> {
        self.settle(Some(rank), self.mpi.library.flush(self.window, rank))
    }

    fn sync(&self) -> Result<(), TransportError> {
        self.mpi.library.sync(self.window)
    }

    fn fence(&self) -> Result<(), TransportError> {
        // A fence blocks without a limit: all are here when it begins.
        self.mpi.barrier()?;
        self.settle(None, self.mpi.library.fence(self.window))
    }

    fn post(&self, sources: &[usize]) -> Result<(), TransportError> {
        self.mpi.library.post(self.window, sources)
    }

    fn start(&self, targets: &[usize]) -> Result<(), TransportError> {
        // It blocks until they let us in: all have come so far when it begins, for all ranks begin their epochs
        // together.
        self.mpi.barrier()?;
        self.mpi.library.start(self.window, targets)
    }

    fn complete(&self) -> Result<(), TransportError> {
        self.settle(None, self.mpi.library.complete(self.window))
    }

    fn wait(&self) -> Result<(), TransportError> {
        wait_for(self.mpi, &others, || Ok(self.mpi.library.exposed(self.window)?.then_some(())))
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), TransportError> {
        self.mpi.library.read(self.base, self.bytes, offset, into);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        // It blocks without a limit until all free it: all are here when it begins.
        self.mpi.barrier()?;
        self.settle(None, self.mpi.library.free(self.window, self.passive))
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), TransportError> {
        self.mpi.library.write(self.base, self.bytes, offset, bytes);
        Ok(())
    }
}
