//! Ranks that are threads of one process: the same transport without MPI, for tests and for one machine.

use crate::back_off::wait_for;
use crate::transport::{Reach, Transport, TransportError, Window};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One rank's end.
pub struct Twin {
    rank: usize,
    shared: Arc<Shared>,
    /// How many collectives this rank has come to: all come to the same ones in the same order.
    collectives: Cell<u64>,
    windows: Cell<usize>,
}

/// What all ranks see.
struct Shared {
    size: usize,
    limit: Duration,
    /// What each rank gave to a collective, and who has taken all of it.
    collectives: Mutex<BTreeMap<u64, Collective>>,
    messages: Mutex<BTreeMap<Way, VecDeque<Vec<u8>>>>,
    windows: Mutex<Vec<Arc<Memory>>>,
    failed: AtomicBool,
}

impl Shared {
    fn new(size: usize, limit: Duration) -> Self {
        Shared {
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
type Way = (usize, usize, u32);

struct Collective {
    given: Vec<Option<Vec<u8>>>,
    taken: usize,
}

/// The memory of one window, on all ranks, and its epochs.
struct Memory {
    of_rank: Vec<Mutex<Vec<u8>>>,
    /// How often rank t has let rank s in, and s has been through: `[t][s]`.
    posted: Mutex<Vec<Vec<u64>>>,
    through: Mutex<Vec<Vec<u64>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Twin {
    /// So many ranks; each is to be moved to a thread of its own.
    pub fn ranks(size: usize, limit: Duration) -> Vec<Twin> {
        let shared = Arc::new(Shared::new(size, limit));
        (0..size).map(|rank| Twin::of(rank, Arc::clone(&shared))).collect()
    }

    /// The one rank of a program that works alone.
    pub fn alone(limit: Duration) -> Twin {
        Twin::of(0, Arc::new(Shared::new(1, limit)))
    }

    fn of(rank: usize, shared: Arc<Shared>) -> Twin {
        Twin { rank, shared, collectives: Cell::new(0), windows: Cell::new(0) }
    }

    /// Tells the others that this rank has failed: they end as well.
    pub fn fail(&self) {
        self.shared.failed.store(true, Ordering::Release);
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
        lock(&shared.collectives).entry(number).or_insert_with(new).given[self.rank] = Some(mine.to_vec());
        self.until(&|| "the other ranks".to_owned(), || {
            let mut collectives = lock(&shared.collectives);
            let collective = collectives.get_mut(&number)?;
            let all: Vec<Vec<u8>> = collective.given.iter().cloned().collect::<Option<_>>()?;
            collective.taken += 1;
            if collective.taken == shared.size {
                collectives.remove(&number);
            }
            Some(all)
        })
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
        lock(&self.shared.messages).entry((self.rank, to, tag)).or_default().push_back(bytes);
        Ok(())
    }

    fn try_receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError> {
        if self.shared.failed.load(Ordering::Acquire) {
            return Err(TransportError::PeerFailed);
        }
        Ok(lock(&self.shared.messages).get_mut(&(from, self.rank, tag)).and_then(VecDeque::pop_front))
    }

    fn window(&self, bytes: usize, _: Reach) -> Result<Box<dyn Window + '_>, TransportError> {
        let number = self.windows.get();
        self.windows.set(number + 1);
        let memory = {
            let (mut windows, size) = (lock(&self.shared.windows), self.shared.size);
            while windows.len() <= number {
                let zeros = || Mutex::new(vec![vec![0; size]; size]);
                let of_rank = (0..size).map(|_| Mutex::new(vec![0; bytes])).collect();
                windows.push(Arc::new(Memory { of_rank, posted: zeros(), through: zeros() }));
            }
            Arc::clone(&windows[number])
        };
        self.barrier()?;
        let (targets, sources) = (RefCell::default(), RefCell::default());
        Ok(Box::new(TwinWindow { twin: self, memory, targets, sources, waited: RefCell::new(vec![0; self.size()]) }))
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

struct TwinWindow<'t> {
    twin: &'t Twin,
    memory: Arc<Memory>,
    /// Of the epoch that is open.
    targets: RefCell<Vec<usize>>,
    sources: RefCell<Vec<usize>>,
    /// How often each source was waited for.
    waited: RefCell<Vec<u64>>,
}

impl Window for TwinWindow<'_> {
    fn put(&self, rank: usize, offset: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        lock(&self.memory.of_rank[rank])[offset..offset + bytes.len()].copy_from_slice(&bytes);
        Ok(())
    }

    fn get(&self, rank: usize, offset: usize, bytes: usize) -> Result<Vec<u8>, TransportError> {
        Ok(lock(&self.memory.of_rank[rank])[offset..offset + bytes].to_vec())
    }

    fn fetch_add(&self, rank: usize, offset: usize, value: u64) -> Result<u64, TransportError> {
        let mut memory = lock(&self.memory.of_rank[rank]);
        let place = &mut memory[offset..offset + 8];
        let before = u64::from_ne_bytes(std::array::from_fn(|i| place[i]));
        place.copy_from_slice(&before.wrapping_add(value).to_ne_bytes());
        Ok(before)
    }

    fn flush(&self, _: usize) -> Result<(), TransportError> {
        Ok(())
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.twin.barrier()
    }

    fn post(&self, sources: &[usize]) -> Result<(), TransportError> {
        let mut posted = lock(&self.memory.posted);
        sources.iter().for_each(|&source| posted[self.twin.rank][source] += 1);
        *self.sources.borrow_mut() = sources.to_vec();
        Ok(())
    }

    fn start(&self, targets: &[usize]) -> Result<(), TransportError> {
        let me = self.twin.rank;
        for &target in targets {
            let before = lock(&self.memory.through)[target][me];
            let let_in = || (lock(&self.memory.posted)[target][me] > before).then_some(());
            self.twin.until(&|| format!("rank {target}"), let_in)?;
        }
        *self.targets.borrow_mut() = targets.to_vec();
        Ok(())
    }

    fn complete(&self) -> Result<(), TransportError> {
        let mut through = lock(&self.memory.through);
        self.targets.borrow_mut().drain(..).for_each(|target| through[target][self.twin.rank] += 1);
        Ok(())
    }

    fn wait(&self) -> Result<(), TransportError> {
        let me = self.twin.rank;
        for source in self.sources.borrow_mut().drain(..) {
            let waited = &mut self.waited.borrow_mut()[source];
            let is_through = || (lock(&self.memory.through)[me][source] > *waited).then_some(());
            self.twin.until(&|| format!("rank {source}"), is_through)?;
            *waited += 1;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        self.twin.barrier()?;
        // Nobody reaches it any more; the list of windows lasts as long as the ranks do.
        *lock(&self.memory.of_rank[self.twin.rank]) = Vec::new();
        Ok(())
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), TransportError> {
        into.copy_from_slice(&lock(&self.memory.of_rank[self.twin.rank])[offset..offset + into.len()]);
        Ok(())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), TransportError> {
        self.put(self.twin.rank, offset, bytes.to_vec())
    }
}
