//! The lock pool: threads that take their reads from one reader, one at a time, under a lock.

use crate::arm::LockKind;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zerohop_lab_locks::{Blocking, Lock, Queueing, Spin, TestAndSet, TestThenSet};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::source::{Claim, Claimed, Emit, Emitted};

/// Nobody stops an emitter that waits for no one.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What the lock guards.
struct Reader {
    emitter: Box<dyn Emit>,
    chunks: u64,
    /// Known at the end.
    reads: u64,
    ended: bool,
}

/// Threads claim by taking the lock. (Unlike the runtime's own inputs they wait for one another: that is what is
/// measured.)
struct Pool<L>(L);

/// A claim on what `emitter` gives, under a lock of `kind`; threads are `crowded` if there are more of them than cores.
pub(crate) fn pool(emitter: Box<dyn Emit>, kind: LockKind, crowded: bool) -> Box<dyn Claim> {
    let reader = Reader { emitter, chunks: 0, reads: 0, ended: false };
    match kind {
        LockKind::Tas => Box::new(Pool(Spin::<_, TestAndSet>::new(reader, crowded))),
        LockKind::Ttas => Box::new(Pool(Spin::<_, TestThenSet>::new(reader, crowded))),
        LockKind::Futex => Box::new(Pool(Blocking::new(reader))),
        LockKind::Mcs => Box::new(Pool(Queueing::new(reader, crowded))),
    }
}

impl Reader {
    fn next(&mut self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        if !self.ended {
            // After a fault there is nothing more.
            self.ended = true;
            match self.emitter.emit(chunk, &NEVER)? {
                Emitted::Chunk => {
                    self.ended = false;
                    self.chunks += 1;
                    return Ok(Claimed::Chunk);
                }
                Emitted::End { reads, .. } => self.reads = reads,
            }
        }
        Ok(Claimed::End { chunks: self.chunks, reads: self.reads })
    }
}

impl<L: Lock<Reader>> Claim for Pool<L> {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        self.0.with(|reader| reader.next(chunk))
    }

    fn serial_time(&self) -> Duration {
        self.0.with(|reader| reader.emitter.serial_time())
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}
