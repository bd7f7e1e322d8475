//! Ranks that are threads of one process: the same transport without MPI, for tests and for one machine.

mod accesses;
mod clock;
mod memory;
mod window;

use crate::back_off::wait_for;
use crate::transport::{Reach, Transport, TransportError, Window};
use clock::Clock;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use window::{SharedWindow, TwinWindow};

/// One rank's end.
pub struct Twin {
    rank: usize,
    shared: Arc<TwinShared>,
    /// What this rank knows of the others.
    clock: RefCell<Clock>,
    /// How many collectives this rank has come to: all come to the same ones in the same order.
    collectives: Cell<u64>,
    windows: Cell<usize>,
}

/// What all ranks see.
struct TwinShared {
    size: usize,
    limit: Duration,
    /// What each rank gave to a collective, and who has taken all of it.
    collectives: Mutex<BTreeMap<u64, Collective>>,
    messages: Mutex<BTreeMap<TwinWay, VecDeque<TwinTold>>>,
    windows: Mutex<Vec<Arc<SharedWindow>>>,
    failed: AtomicBool,
}

impl TwinShared {
    fn new(size: usize, limit: Duration) -> Self {
        TwinShared {
            size,
            limit,
            collectives: Mutex::default(),
            messages: Mutex::default(),
            windows: Mutex::default(),
            failed: AtomicBool::new(false),
        }
    }
}

/// From whom, to whom, under which tag.
type TwinWay = (usize, usize, u32);

/// Bytes, and what their rank knew when it gave them.
type TwinTold = (Clock, Vec<u8>);

struct Collective {
    given: Vec<Option<TwinTold>>,
    taken: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Twin {
    /// So many ranks; each is to be moved to a thread of its own.
    pub fn ranks(size: usize, limit: Duration) -> Vec<Twin> {
        let shared = Arc::new(TwinShared::new(size, limit));
        (0..size).map(|rank| Twin::of(rank, Arc::clone(&shared))).collect()
    }

    /// The one rank of a program that works alone.
    pub fn alone(limit: Duration) -> Twin {
        Twin::of(0, Arc::new(TwinShared::new(1, limit)))
    }

    fn of(rank: usize, shared: Arc<TwinShared>) -> Twin {
        let clock = RefCell::new(Clock::new(shared.size));
        Twin { rank, shared, clock, collectives: Cell::new(0), windows: Cell::new(0) }
    }

    /// Tells the others that this rank has failed: they end as well.
    pub fn fail(&self) {
        self.shared.failed.store(true, Ordering::Release);
    }

    /// Bytes for others, and what we know.
    fn told(&self, bytes: Vec<u8>) -> TwinTold {
        (self.clock.borrow().clone(), bytes)
    }

    /// The bytes of another, whose knowledge is ours from now on.
    fn learn(&self, (known, bytes): TwinTold) -> Vec<u8> {
        self.clock.borrow_mut().learn(&known);
        bytes
    }

    fn until<T>(&self, what: &dyn Fn() -> String, mut look: impl FnMut() -> Option<T>) -> Result<T, TransportError> {
        wait_for(self, what, || match look() {
            Some(found) => Ok(Some(found)),
            None if self.shared.failed.load(Ordering::Acquire) => Err(TransportError::PeerFailed),
            None => Ok(None),
        })
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        // A rank whose thread panics must not leave the others waiting.
        if std::thread::panicking() {
            self.fail();
        }
    }
}

impl Transport for Twin {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn name(&self) -> String {
        "threads of one process".to_owned()
    }

    fn barrier(&self) -> Result<(), TransportError> {
        self.all_gather(&[]).map(drop)
    }

    fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, TransportError> {
        let (shared, number) = (&self.shared, self.collectives.get());
        self.collectives.set(number + 1);
        let new = || Collective { given: vec![None; shared.size], taken: 0 };
        lock(&shared.collectives).entry(number).or_insert_with(new).given[self.rank] = Some(self.told(mine.to_vec()));
        let all = self.until(&|| "the other ranks".to_owned(), || {
            let mut collectives = lock(&shared.collectives);
            let collective = collectives.get_mut(&number)?;
            let all: Vec<TwinTold> = collective.given.iter().cloned().collect::<Option<_>>()?;
            collective.taken += 1;
            if collective.taken == shared.size {
                collectives.remove(&number);
            }
            Some(all)
        })?;
        Ok(all.into_iter().map(|told| self.learn(told)).collect())
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
        lock(&self.shared.messages).entry((self.rank, to, tag)).or_default().push_back(self.told(bytes));
        Ok(())
    }

    fn try_receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError> {
        if self.shared.failed.load(Ordering::Acquire) {
            return Err(TransportError::PeerFailed);
        }
        let told = lock(&self.shared.messages).get_mut(&(from, self.rank, tag)).and_then(VecDeque::pop_front);
        Ok(told.map(|told| self.learn(told)))
    }

    fn window(&self, bytes: usize, reach: Reach) -> Result<Box<dyn Window + '_>, TransportError> {
        let number = self.windows.get();
        self.windows.set(number + 1);
        let shared = {
            let (mut windows, size) = (lock(&self.shared.windows), self.shared.size);
            while windows.len() <= number {
                windows.push(Arc::new(SharedWindow::new(size, bytes)));
            }
            Arc::clone(&windows[number])
        };
        self.barrier()?;
        Ok(Box::new(TwinWindow::new(self, shared, reach)))
    }

    fn poll(&self) -> Result<(), TransportError> {
        match self.shared.failed.load(Ordering::Acquire) {
            true => Err(TransportError::PeerFailed),
            false => Ok(()),
        }
    }

    fn limit(&self) -> Duration {
        self.shared.limit
    }
}
