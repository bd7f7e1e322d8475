//! One input dealt to all ranks, and one output that all of them write: who does which chunks, and where their records
//! go.
//!
//! - A rank takes the next chunks by adding to a counter (`MPI_Fetch_and_op`): many while there is much left, few
//!   towards the end, so that all end together. Nobody deals, and nobody waits for a lock.
//! - When the records of such a *grain* are made, its rank tells all others how long they are in each output file. So
//!   everybody knows by adding up where each grain goes as soon as all before it are made, and writes its own there.
//! - Every rank gives a sign of life to the next; who hears nothing for too long says so and ends.
//!
//! All of it is done by the one thread of a rank that talks; reading, mapping and writing are done by others, behind
//! [`Local`].

use crate::transport::{Reach, Transport, TransportError, Window};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};
use zerohop_model::source::Complete;
use zerohop_process::running_time;

/// How often the others are looked after: often enough for work that is asked for ahead, seldom enough to cost nothing.
const LOOK: Duration = Duration::from_millis(5);
/// How often a sign of life is given.
const SIGN: Duration = Duration::from_millis(500);
/// The tag of all messages: below 32,768, as MPI allows at least.
const TAG: u32 = 0x6461;
/// Grains that each rank takes of what is left: more of them are smaller, and ranks end closer together.
const SHARES: u64 = 2;

/// How the work of a rank is going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Going {
    /// It goes on.
    On,
    /// All that it was given is written.
    Done,
    /// It has failed.
    Failed,
}

/// This rank's own work.
pub trait Local {
    /// Chunks that were given and are not begun.
    fn ahead(&self) -> u64;

    /// Gives chunks, behind all that were given before.
    fn give(&self, chunks: Range<u64>);

    /// No more will be given.
    fn end(&self);

    /// The grains whose records were made since the last call.
    fn take_complete(&self) -> Vec<Complete>;

    /// Where in each output file the records of the grain that begins with `chunk` go.
    fn place(&self, chunk: u64, offsets: &[u64]);

    /// The first chunk that the input does not have, if that was found out while it was read.
    fn input_end(&self) -> Option<u64>;

    /// How it is going.
    fn going(&self) -> Going;
}

/// What is dealt. The same on all ranks, but for `most` and `ahead`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dealing {
    /// Output files.
    pub files: usize,
    /// The first chunk to be done, and where in each file records go from there on: behind the header, if that is not
    /// known.
    pub first: u64,
    /// See `first`.
    pub offsets: Option<Vec<u64>>,
    /// How many chunks there are in all, if it is known.
    pub chunks: Option<u64>,
    /// The most chunks that this rank takes at once.
    pub most: u64,
    /// It takes more when fewer than so many are ahead.
    pub ahead: u64,
}

/// Why it ended early.
#[derive(Debug, thiserror::Error)]
pub enum DealError {
    /// The ranks could not go on together.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// This rank's own work has failed, and says why.
    #[error("the work of this rank has failed")]
    Local,
    /// Nobody will ever say what goes before the records.
    #[error(
        "there are no reads where the input begins, and no header was written for them: leave out files without reads"
    )]
    NoHeader,
    /// A message that is none.
    #[error("rank {0} has sent a message that cannot be read: are all ranks the same zerohop?")]
    Message(usize),
}

/// What a rank did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dealt {
    /// Where each output file ends; none if there was nothing to be written.
    pub ends: Option<Vec<u64>>,
    /// Chunks of all ranks, those that were done before too.
    pub chunks: u64,
    /// Grains that this rank has taken.
    pub grains: u64,
    /// Time from taking part in it to the end.
    pub wall: Duration,
}

/// Takes part until all chunks are done by somebody and ours are written. All ranks come to it.
///
/// # Errors
/// [`DealError`]. The others are not told: end the rank so that they learn of it.
pub fn deal(transport: &dyn Transport, dealing: &Dealing, local: &dyn Local) -> Result<Dealt, DealError> {
    let started = Instant::now();
    let counter = transport.window(64, Reach::Passive)?;
    let mut talk = Talk::new(transport, &*counter, dealing, local);
    let chunks = loop {
        transport.poll()?;
        talk.hear()?;
        talk.tell()?;
        talk.place()?;
        talk.take()?;
        match (local.going(), talk.all_if_placed()) {
            (Going::Failed, _) => return Err(DealError::Local),
            (Going::Done, Some(chunks)) => break chunks,
            _ => {}
        }
        talk.sign()?;
        std::thread::sleep(LOOK);
    };
    let dealt = Dealt { chunks, ends: talk.offsets, grains: talk.grains, wall: started.elapsed() };
    // The last signs of life come when nobody listens any more: MPICH over UCX warns of messages that nobody has taken.
    transport.barrier()?;
    for rank in (0..transport.size()).filter(|&rank| rank != transport.rank()) {
        while transport.try_receive(rank, TAG)?.is_some() {}
    }
    counter.close()?;
    Ok(dealt)
}

/// What a rank knows of the whole.
struct Talk<'t> {
    transport: &'t dyn Transport,
    counter: &'t dyn Window,
    dealing: &'t Dealing,
    local: &'t dyn Local,
    /// What the counter was when it was last seen, as a chunk.
    seen: u64,
    ended: bool,
    grains: u64,
    /// Grains that are made and cannot be placed yet, by their first chunk.
    made: BTreeMap<u64, Complete>,
    /// The first chunk that is not placed, and where in each file records go from there on, once the header is known.
    next: u64,
    offsets: Option<Vec<u64>>,
    last_sign: Instant,
    /// In [`running_time`].
    last_heard: Duration,
}

impl<'t> Talk<'t> {
    fn new(transport: &'t dyn Transport, counter: &'t dyn Window, dealing: &'t Dealing, local: &'t dyn Local) -> Self {
        let (now, first) = (Instant::now(), dealing.first);
        Talk {
            transport,
            counter,
            dealing,
            local,
            seen: first,
            ended: false,
            grains: 0,
            made: BTreeMap::new(),
            next: first,
            offsets: dealing.offsets.clone(),
            last_sign: now,
            last_heard: running_time(),
        }
    }

    /// Where the input ends, if it is known.
    fn chunks(&self) -> Option<u64> {
        self.dealing.chunks.or_else(|| self.local.input_end())
    }

    /// How many chunks there are, if all are placed. (The last grain may have been given beyond the end of the input.)
    fn all_if_placed(&self) -> Option<u64> {
        self.chunks().filter(|chunks| self.next >= *chunks)
    }

    /// Takes more chunks, if there are any and few are ahead.
    fn take(&mut self) -> Result<(), DealError> {
        while !self.ended && self.local.ahead() < self.dealing.ahead {
            let share =
                self.chunks().map(|chunks| chunks.saturating_sub(self.seen) / (SHARES * self.transport.size() as u64));
            let wanted = share.unwrap_or(u64::MAX).clamp(1, self.dealing.most.max(1));
            let first = self.dealing.first + self.counter.fetch_add(0, 0, wanted)?;
            self.seen = first + wanted;
            let end = self.chunks().map_or(self.seen, |chunks| self.seen.min(chunks));
            if first < end {
                self.grains += 1;
                self.local.give(first..end);
            } else {
                self.ended = true;
                self.local.end();
            }
        }
        Ok(())
    }

    /// Tells all others of grains whose records are made.
    fn tell(&mut self) -> Result<(), DealError> {
        for grain in self.local.take_complete() {
            let (message, own) = (message(&grain), self.transport.rank());
            self.enter(grain);
            for rank in (0..self.transport.size()).filter(|&rank| rank != own) {
                self.transport.send(rank, TAG, message.clone())?;
            }
        }
        Ok(())
    }

    /// Hears what others have made, and their signs of life.
    fn hear(&mut self) -> Result<(), DealError> {
        let (own, size) = (self.transport.rank(), self.transport.size());
        for rank in (0..size).filter(|&rank| rank != own) {
            while let Some(message) = self.transport.try_receive(rank, TAG)? {
                if rank == (own + size - 1) % size {
                    self.last_heard = running_time();
                }
                if !message.is_empty() {
                    self.enter(grain(&message, self.dealing.files).ok_or(DealError::Message(rank))?);
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, grain: Complete) {
        if let Some(header) = &grain.header {
            self.offsets.get_or_insert_with(|| header.clone());
        }
        self.made.insert(grain.chunks.start, grain);
    }

    /// Places what can be placed, ours and that of others.
    fn place(&mut self) -> Result<(), DealError> {
        let is_headless = self.offsets.is_none() && self.made.contains_key(&0);
        if is_headless && self.chunks().is_some_and(|chunks| chunks > 0) {
            return Err(DealError::NoHeader);
        }
        while let Some(offsets) = &mut self.offsets
            && let Some(grain) = self.made.remove(&self.next)
        {
            self.local.place(self.next, offsets);
            offsets.iter_mut().zip(&grain.bytes).for_each(|(offset, bytes)| *offset += bytes);
            self.next = grain.chunks.end;
        }
        Ok(())
    }

    /// Gives a sign of life to the next rank, and looks for that of the one before.
    fn sign(&mut self) -> Result<(), DealError> {
        let (own, size) = (self.transport.rank(), self.transport.size());
        if size == 1 {
            return Ok(());
        }
        if self.last_sign.elapsed() >= SIGN {
            self.last_sign = Instant::now();
            self.transport.send((own + 1) % size, TAG, Vec::new())?;
        }
        let limit = self.transport.limit();
        match running_time().saturating_sub(self.last_heard) > limit {
            true => Err(TransportError::Silent { what: format!("rank {}", (own + size - 1) % size), limit }.into()),
            false => Ok(()),
        }
    }
}

/// What is told of a grain: numbers of 8 bytes.
fn message(grain: &Complete) -> Vec<u8> {
    let chunks = [grain.chunks.start, grain.chunks.end];
    let numbers = chunks.iter().chain(&grain.bytes).chain(grain.header.iter().flatten());
    numbers.flat_map(|number| number.to_le_bytes()).collect()
}

/// The grain that a message tells of.
fn grain(message: &[u8], files: usize) -> Option<Complete> {
    let (numbers, rest) = message.as_chunks::<8>();
    let numbers: Vec<u64> = numbers.iter().map(|number| u64::from_le_bytes(*number)).collect();
    let (&[start, end], numbers) = numbers.split_first_chunk()?;
    let (bytes, header) = numbers.split_at_checked(files)?;
    let is_one = rest.is_empty() && [0, files].contains(&header.len()) && start < end;
    let header = Some(header.to_vec()).filter(|header| !header.is_empty());
    is_one.then(|| Complete { chunks: start..end, bytes: bytes.to_vec(), header })
}
