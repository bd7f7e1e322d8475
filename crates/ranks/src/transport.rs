//! What ranks can do with one another: collectives, messages, and windows of memory that others reach one-sided.
//!
//! Every call belongs to the one thread of a rank that talks to the others. Calls that wait give the core away between
//! looks, for ranks may outnumber cores, and they end with [`TransportError::Silent`] when nothing has come for the
//! time limit, nor a [sign of life](crate::Signs) of a rank at work.

use std::time::Duration;

/// Why ranks could not go on together.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The library said no.
    #[error("{call}: {said}")]
    Library {
        /// The call.
        call: &'static str,
        /// What the library said of it.
        said: String,
    },
    /// Another rank has failed, or is gone.
    #[error("another rank has failed")]
    PeerFailed,
    /// Nothing came.
    #[error("no word from {what} for {} s: it hangs, or the way to it is broken", limit.as_secs())]
    Silent {
        /// From whom or of what.
        what: String,
        /// How long it was waited.
        limit: Duration,
    },
    /// A call of the library does not come back.
    #[error(
        "MPI's {call} has not come back for {} s: another rank hangs, or the way to it is broken", limit.as_secs()
    )]
    Stuck {
        /// The call.
        call: &'static str,
        /// How long it was waited.
        limit: Duration,
    },
    /// A message that MPI cannot count.
    #[error("a message of {bytes} bytes is too long for MPI, which sends {most} at most: make batches smaller")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// The most that one may have.
        most: usize,
    },
    /// The thread that looks after calls cannot be started.
    #[error("a thread cannot be started: {0}")]
    NoThread(#[source] std::io::Error),
    /// The library cannot be used.
    #[error("{0}")]
    NoLibrary(String),
}

/// How others reach a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In epochs that both sides open and close: [`Window::fence`], or [`Window::post`] and [`Window::start`].
    Active,
    /// At any time, with [`Window::flush`] and [`Window::sync`], or as numbers ([`Window::replace`], [`Window::fetch`],
    /// [`Window::fetch_add`]).
    Passive,
}

/// Ranks that can reach one another.
pub trait Transport {
    /// Our number, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// What carries it, for people.
    fn name(&self) -> String;

    /// Waits until all ranks are here.
    ///
    /// # Errors
    /// [`TransportError`].
    fn barrier(&self) -> Result<(), TransportError>;

    /// What each rank gives, by rank; lengths may differ.
    ///
    /// # Errors
    /// [`TransportError`].
    fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, TransportError>;

    /// Sends without waiting; messages from one rank to another under one tag keep their order. At most 1 GiB.
    ///
    /// # Errors
    /// [`TransportError`].
    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError>;

    /// The next message of a rank under a tag, if one is here.
    ///
    /// # Errors
    /// [`TransportError`].
    fn try_receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError>;

    /// Memory of so many zeros on every rank; all ranks make the same windows in the same order.
    ///
    /// # Errors
    /// [`TransportError`].
    fn window(&self, bytes: usize, reach: Reach) -> Result<Box<dyn Window + '_>, TransportError>;

    /// Lets the library get on with what is under way.
    ///
    /// # Errors
    /// [`TransportError`].
    fn poll(&self) -> Result<(), TransportError>;

    /// How long a silence is borne.
    fn limit(&self) -> Duration;
}

/// Memory of this rank that others reach, and theirs that we reach.
///
/// What a call promises is what MPI promises in both of its memory models. What is put may not be read, written or got
/// by another before it is done and its rank has said so; and nothing may be put where another may still read.
pub trait Window {
    /// Writes into the memory of `rank`. Done after the next [`Window::fence`], [`Window::complete`] or
    /// [`Window::flush`]. That rank sees it after the fence, [`Window::wait`] or [`Window::sync`].
    ///
    /// # Errors
    /// [`TransportError`].
    fn put(&self, rank: usize, offset: usize, bytes: Vec<u8>) -> Result<(), TransportError>;

    /// Reads so many bytes from the memory of `rank`, and waits for them. What that rank has written itself is among
    /// them after its next [`Window::sync`].
    ///
    /// # Errors
    /// [`TransportError`].
    fn get(&self, rank: usize, offset: usize, bytes: usize) -> Result<Vec<u8>, TransportError>;

    /// Adds to a number (eight bytes, in the machine's order) in the memory of `rank`, and gives what it was.
    ///
    /// # Errors
    /// [`TransportError`].
    fn fetch_add(&self, rank: usize, offset: usize, value: u64) -> Result<u64, TransportError>;

    /// Replaces a number in the memory of `rank` as a whole (`MPI_REPLACE`). Done after the next [`Window::flush`]. The
    /// memory of such a number is for numbers alone: a load while it is put may give anything.
    ///
    /// # Errors
    /// [`TransportError`].
    fn replace(&self, rank: usize, offset: usize, value: u64) -> Result<(), TransportError>;

    /// A number in our own memory, as a whole (`MPI_NO_OP`).
    ///
    /// # Errors
    /// [`TransportError`].
    fn fetch(&self, offset: usize) -> Result<u64, TransportError>;

    /// Waits until what was put to `rank` is there, and numbers are replaced.
    ///
    /// # Errors
    /// [`TransportError`].
    fn flush(&self, rank: usize) -> Result<(), TransportError>;

    /// Shows us what others have put into our memory, and them what we have written there; for [`Reach::Passive`].
    ///
    /// # Errors
    /// [`TransportError`].
    fn sync(&self) -> Result<(), TransportError>;

    /// Ends an epoch of all ranks and begins the next: waits for all of them.
    ///
    /// # Errors
    /// [`TransportError`].
    fn fence(&self) -> Result<(), TransportError>;

    /// Lets these ranks write to our memory.
    ///
    /// # Errors
    /// [`TransportError`].
    fn post(&self, sources: &[usize]) -> Result<(), TransportError>;

    /// Begins to write to the memory of these ranks, once they let us.
    ///
    /// # Errors
    /// [`TransportError`].
    fn start(&self, targets: &[usize]) -> Result<(), TransportError>;

    /// Ends it.
    ///
    /// # Errors
    /// [`TransportError`].
    fn complete(&self) -> Result<(), TransportError>;

    /// Waits until all that were let in have ended it.
    ///
    /// # Errors
    /// [`TransportError`].
    fn wait(&self) -> Result<(), TransportError>;

    /// Gives the window up; all ranks must come to it. A window that is only dropped lasts until the end of the
    /// process, which is what a failure wants: the others would not come.
    ///
    /// # Errors
    /// [`TransportError`].
    fn close(self: Box<Self>) -> Result<(), TransportError>;

    /// Reads our own memory.
    ///
    /// # Errors
    /// [`TransportError`].
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), TransportError>;

    /// Writes our own memory.
    ///
    /// # Errors
    /// [`TransportError`].
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), TransportError>;
}
