//! Windows of threads, as late and as strict as MPI allows: what is put arrives only with the call that must bring it
//! (fence, flush or complete), and is seen only after the call that must show it (fence, wait or sync). So an exchange
//! that lacks one of these calls fails here in every run, and not only over some network, now and then.

use super::accesses::Access;
use super::clock::Clock;
use super::memory::Memory;
use super::{Twin, lock};
use crate::transport::{Reach, Transport, TransportError, Window};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// One window, on all ranks.
pub(super) struct SharedWindow {
    memory: Vec<Mutex<Memory>>,
    epochs: Mutex<Epochs>,
}

/// How often rank t has let rank s in, and s has been through, and what they knew then: `[t][s]`.
struct Epochs {
    posted: Vec<Vec<(u64, Clock)>>,
    through: Vec<Vec<(u64, Clock)>>,
}

impl SharedWindow {
    pub(super) fn new(ranks: usize, bytes: usize) -> Self {
        let none = || vec![vec![(0, Clock::default()); ranks]; ranks];
        let memory = (0..ranks).map(|_| Mutex::new(Memory::new(bytes))).collect();
        SharedWindow { memory, epochs: Mutex::new(Epochs { posted: none(), through: none() }) }
    }
}

/// What is under way to the memory of a rank.
enum Put {
    Bytes(Vec<u8>),
    /// With what its rank knew when it began.
    Number(u64, Clock),
}

/// One rank's end.
pub(super) struct TwinWindow<'t> {
    twin: &'t Twin,
    shared: Arc<SharedWindow>,
    reach: Reach,
    /// What is under way, whereto, and at which offset.
    under_way: RefCell<Vec<(usize, usize, Put)>>,
    /// Whether a fence has opened an epoch.
    is_fenced: Cell<bool>,
    /// Of the epochs that [`Window::start`] and [`Window::post`] have opened.
    targets: RefCell<Vec<usize>>,
    sources: RefCell<Vec<usize>>,
    /// How often each source was waited for.
    waited: RefCell<Vec<u64>>,
}

fn refused(call: &'static str, said: impl Into<String>) -> TransportError {
    TransportError::Library { call, said: said.into() }
}

impl<'t> TwinWindow<'t> {
    pub(super) fn new(twin: &'t Twin, shared: Arc<SharedWindow>, reach: Reach) -> Self {
        TwinWindow {
            twin,
            shared,
            reach,
            under_way: RefCell::default(),
            is_fenced: Cell::new(false),
            targets: RefCell::default(),
            sources: RefCell::default(),
            waited: RefCell::new(vec![0; twin.size()]),
        }
    }

    fn memory(&self, rank: usize) -> MutexGuard<'_, Memory> {
        lock(&self.shared.memory[rank])
    }

    /// Enters an access that is complete when it comes back, or not before a synchronisation.
    fn enter(
        &self,
        (rank, range): (usize, Range<usize>),
        call: &'static str,
        (writes, is_complete): (bool, bool),
    ) -> Result<(), TransportError> {
        let (by, mut clock) = (self.twin.rank, self.twin.clock.borrow_mut());
        let step = clock.step(by);
        let access = Access { by, call, range, writes, complete: is_complete.then_some(step) };
        self.memory(rank).enter(access, &clock).map_err(|said| refused(call, said))
    }

    /// Refuses what needs an epoch where none is open.
    fn check_epoch(&self, call: &'static str, rank: usize) -> Result<(), TransportError> {
        let is_open = match self.reach {
            Reach::Passive => true,
            Reach::Active => self.is_fenced.get() || self.targets.borrow().contains(&rank),
        };
        if is_open { Ok(()) } else { Err(refused(call, format!("no epoch is open to reach rank {rank}"))) }
    }

    /// Brings to their ranks what is under way to those that `to` names.
    fn bring(&self, to: impl Fn(usize) -> bool) {
        let (brought, left): (Vec<_>, Vec<_>) = self.under_way.borrow_mut().drain(..).partition(|(rank, ..)| to(*rank));
        *self.under_way.borrow_mut() = left;
        for (rank, offset, put) in brought {
            match put {
                Put::Bytes(bytes) => self.memory(rank).arrive(offset, &bytes),
                Put::Number(value, clock) => self.memory(rank).replace(offset, value, &clock),
            }
        }
        let step = self.twin.clock.borrow_mut().step(self.twin.rank);
        (0..self.twin.size())
            .filter(|&rank| to(rank))
            .for_each(|rank| self.memory(rank).complete(self.twin.rank, step));
    }
}

impl Window for TwinWindow<'_> {
    fn put(&self, rank: usize, offset: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        self.check_epoch("put", rank)?;
        self.enter((rank, offset..offset + bytes.len()), "put", (true, false))?;
        self.under_way.borrow_mut().push((rank, offset, Put::Bytes(bytes)));
        Ok(())
    }

    fn get(&self, rank: usize, offset: usize, bytes: usize) -> Result<Vec<u8>, TransportError> {
        self.check_epoch("get", rank)?;
        let range = offset..offset + bytes;
        self.enter((rank, range.clone()), "get", (false, true))?;
        Ok(self.memory(rank).public(range).to_vec())
    }

    fn fetch_add(&self, rank: usize, offset: usize, value: u64) -> Result<u64, TransportError> {
        self.check_epoch("fetch_add", rank)?;
        let clock = &mut self.twin.clock.borrow_mut();
        Ok(self.memory(rank).change(offset, clock, |before| before.wrapping_add(value)))
    }

    fn replace(&self, rank: usize, offset: usize, value: u64) -> Result<(), TransportError> {
        self.check_epoch("replace", rank)?;
        let number = Put::Number(value, self.twin.clock.borrow().clone());
        self.under_way.borrow_mut().push((rank, offset, number));
        Ok(())
    }

    fn fetch(&self, offset: usize) -> Result<u64, TransportError> {
        let clock = &mut self.twin.clock.borrow_mut();
        Ok(self.memory(self.twin.rank).change(offset, clock, |before| before))
    }

    fn flush(&self, rank: usize) -> Result<(), TransportError> {
        self.bring(|to| to == rank);
        Ok(())
    }

    fn sync(&self) -> Result<(), TransportError> {
        let mut own = self.memory(self.twin.rank);
        own.publish();
        own.renew();
        Ok(())
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.bring(|_| true);
        self.memory(self.twin.rank).publish();
        self.twin.barrier()?;
        self.memory(self.twin.rank).renew();
        self.is_fenced.set(true);
        Ok(())
    }

    fn post(&self, sources: &[usize]) -> Result<(), TransportError> {
        self.memory(self.twin.rank).publish();
        let (clock, mut epochs) = (self.twin.clock.borrow(), lock(&self.shared.epochs));
        for &source in sources {
            let (count, known) = &mut epochs.posted[self.twin.rank][source];
            (*count, *known) = (*count + 1, clock.clone());
        }
        *self.sources.borrow_mut() = sources.to_vec();
        Ok(())
    }

    fn start(&self, targets: &[usize]) -> Result<(), TransportError> {
        let me = self.twin.rank;
        for &target in targets {
            let let_in = || {
                let epochs = lock(&self.shared.epochs);
                let (posted, known) = &epochs.posted[target][me];
                (*posted > epochs.through[target][me].0).then(|| known.clone())
            };
            let known = self.twin.until(&|| format!("rank {target}"), let_in)?;
            self.twin.clock.borrow_mut().learn(&known);
        }
        *self.targets.borrow_mut() = targets.to_vec();
        Ok(())
    }

    fn complete(&self) -> Result<(), TransportError> {
        self.bring(|_| true);
        let (clock, mut epochs) = (self.twin.clock.borrow(), lock(&self.shared.epochs));
        for target in self.targets.borrow_mut().drain(..) {
            let (count, known) = &mut epochs.through[target][self.twin.rank];
            (*count, *known) = (*count + 1, clock.clone());
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), TransportError> {
        let me = self.twin.rank;
        for source in self.sources.borrow_mut().drain(..) {
            let waited = &mut self.waited.borrow_mut()[source];
            let is_through = || {
                let (through, known) = &lock(&self.shared.epochs).through[me][source];
                (*through > *waited).then(|| known.clone())
            };
            let known = self.twin.until(&|| format!("rank {source}"), is_through)?;
            self.twin.clock.borrow_mut().learn(&known);
            *waited += 1;
        }
        self.memory(me).renew();
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        match self.reach {
            Reach::Passive => self.bring(|_| true),
            Reach::Active if self.under_way.borrow().is_empty() => {}
            Reach::Active => return Err(refused("close", "what was put is still under way")),
        }
        self.twin.barrier()?;
        // Nobody reaches it any more; the list of windows lasts as long as the ranks do.
        self.shared.memory.iter().for_each(|memory| *lock(memory) = Memory::new(0));
        Ok(())
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), TransportError> {
        let (me, range) = (self.twin.rank, offset..offset + into.len());
        self.enter((me, range.clone()), "read", (false, true))?;
        into.copy_from_slice(self.memory(me).private(range));
        Ok(())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), TransportError> {
        let me = self.twin.rank;
        self.enter((me, offset..offset + bytes.len()), "write", (true, true))?;
        self.memory(me).write(offset, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// What both of two ranks come to.
    fn two<T: Send>(work: impl Fn(&Twin) -> T + Send + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let start = |twin: Twin| scope.spawn(|| work(&{ twin }));
            let threads: Vec<_> = Twin::ranks(2, Duration::from_secs(60)).into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    fn first_byte(window: &dyn Window) -> Result<u8, TransportError> {
        let mut byte = [0];
        window.read(0, &mut byte).map(|()| byte[0])
    }

    #[test]
    fn what_is_put_arrives_with_the_flush_and_is_seen_after_a_sync() {
        two(|twin| {
            let window = twin.window(64, Reach::Passive).unwrap();
            if twin.rank() == 0 {
                window.put(1, 0, vec![7]).unwrap();
            }
            twin.barrier().unwrap();
            if twin.rank() == 1 {
                let early = first_byte(&*window).unwrap_err().to_string();
                assert!(early.contains("nothing orders it after the put of rank 0"), "{early}");
                assert_eq!(lock(&twin.shared.windows)[0].memory[1].lock().unwrap().public(0..1), [0]);
            }
            twin.barrier().unwrap();
            window.flush(1).unwrap();
            twin.barrier().unwrap();
            if twin.rank() == 1 {
                assert_eq!(first_byte(&*window).unwrap(), 0, "it is in the public copy alone");
                window.sync().unwrap();
                assert_eq!(first_byte(&*window).unwrap(), 7);
            }
            window.close().unwrap();
        });
    }

    #[test]
    fn what_is_written_is_got_after_a_sync() {
        two(|twin| {
            let window = twin.window(64, Reach::Passive).unwrap();
            let get = |expected: u8| {
                twin.barrier().unwrap();
                if twin.rank() == 1 {
                    assert_eq!(window.get(0, 0, 1).unwrap(), [expected]);
                }
                twin.barrier().unwrap();
            };
            if twin.rank() == 0 {
                window.write(0, &[7]).unwrap();
            }
            get(0);
            if twin.rank() == 0 {
                window.sync().unwrap();
            }
            get(7);
            window.close().unwrap();
        });
    }

    #[test]
    fn a_put_needs_an_epoch_and_a_fence_ends_one() {
        two(|twin| {
            let window = twin.window(64, Reach::Active).unwrap();
            assert!(window.put(1, 0, vec![7]).unwrap_err().to_string().contains("no epoch is open"));
            window.fence().unwrap();
            if twin.rank() == 0 {
                window.put(1, 0, vec![7]).unwrap();
            }
            window.fence().unwrap();
            assert_eq!(first_byte(&*window).unwrap(), 7 * twin.rank() as u8);
            window.close().unwrap();
        });
    }

    #[test]
    fn a_number_is_replaced_with_the_flush_and_tells_what_came_before() {
        two(|twin| {
            let window = twin.window(64, Reach::Passive).unwrap();
            if twin.rank() == 0 {
                window.put(1, 8, vec![7]).unwrap();
                window.flush(1).unwrap();
                window.replace(1, 0, 5).unwrap();
                window.flush(1).unwrap();
            } else {
                let number =
                    twin.until(&|| "a number".to_owned(), || window.fetch(0).ok().filter(|number| *number > 0));
                assert_eq!(number.unwrap(), 5);
                window.sync().unwrap();
                let mut byte = [0];
                window.read(8, &mut byte).unwrap();
                assert_eq!(byte, [7]);
            }
            window.close().unwrap();
        });
    }
}
