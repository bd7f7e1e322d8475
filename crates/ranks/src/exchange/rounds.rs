//! One round: every rank gives some bytes to all others. Rounds of two channels may overlap: the bytes of one can be on
//! their way while those of the other are waited for.

use super::variant::{Sync, Variant};
use crate::back_off::{receive, wait_for};
use crate::transport::{Reach, Transport, TransportError, Window, own_number};
use std::cell::Cell;

/// Channels whose rounds may overlap.
pub const CHANNELS: usize = 2;
/// What comes before the bytes of a region: their number.
const HEAD: usize = 8;

/// A way of doing rounds. All ranks begin and end the rounds of each channel in the same order.
pub(crate) trait Rounds {
    /// Gives `bytes` (no more than [`Rounds::room`]) to the others; begins a round of `channel`.
    fn begin(&self, channel: usize, bytes: Vec<u8>) -> Result<(), TransportError>;

    /// Waits for the round that `channel` began last, and gives what all ranks gave, by rank. Our own is as it was
    /// given.
    fn end(&self, channel: usize) -> Result<Vec<Vec<u8>>, TransportError>;

    /// The most bytes of a round.
    fn room(&self) -> usize;

    /// Gives up what it holds; all ranks come to it.
    fn close(self: Box<Self>) -> Result<(), TransportError>;
}

/// Rounds as `variant` does them, with so much room; a master is none of this.
pub(crate) fn rounds<'t>(
    transport: &'t dyn Transport,
    variant: Variant,
    room: usize,
) -> Result<Box<dyn Rounds + 't>, TransportError> {
    Ok(match variant {
        Variant::OneSided { sync, window_per_rank } => Box::new(OneSided::new(transport, sync, window_per_rank, room)?),
        Variant::TwoSided | Variant::Master => Box::new(TwoSided { transport, room, given: Default::default() }),
    })
}

/// The windows of one channel, and what is going on in them.
struct Channel<'t> {
    /// One, or one for each rank that puts.
    windows: Vec<Box<dyn Window + 't>>,
    given: Cell<Vec<u8>>,
    /// Rounds begun.
    rounds: Cell<u64>,
}

/// Rounds in which bytes are put into memory of the others.
struct OneSided<'t> {
    transport: &'t dyn Transport,
    sync: Sync,
    room: usize,
    channels: Vec<Channel<'t>>,
    /// For [`Sync::Flush`], by channel and then by rank: the round of it that has been put here, and the round of ours
    /// that it has read.
    flags: Option<Box<dyn Window + 't>>,
}

impl<'t> OneSided<'t> {
    fn new(
        transport: &'t dyn Transport,
        sync: Sync,
        window_per_rank: bool,
        room: usize,
    ) -> Result<Self, TransportError> {
        let reach = if sync == Sync::Flush { Reach::Passive } else { Reach::Active };
        let size = transport.size();
        // With a window per rank, each has the memory for what one rank puts; else one has a region for each.
        let (count, bytes) = if window_per_rank { (size, HEAD + room) } else { (1, size * (HEAD + room)) };
        let channel = |_| -> Result<Channel<'t>, TransportError> {
            let windows = (0..count).map(|_| transport.window(bytes, reach)).collect::<Result<Vec<_>, _>>()?;
            Ok(Channel { windows, given: Cell::default(), rounds: Cell::new(0) })
        };
        let channels = (0..CHANNELS).map(channel).collect::<Result<Vec<_>, _>>()?;
        let flags =
            (sync == Sync::Flush).then(|| transport.window(CHANNELS * size * 16, Reach::Passive)).transpose()?;
        if sync == Sync::Fence {
            channels.iter().flat_map(|channel| &channel.windows).try_for_each(|window| window.fence())?;
        }
        Ok(OneSided { transport, sync, room, channels, flags })
    }

    fn others(&self) -> Vec<usize> {
        (0..self.transport.size()).filter(|&rank| rank != self.transport.rank()).collect()
    }

    /// The window into which `source` puts, and where in it.
    fn region(&self, channel: usize, source: usize) -> (&dyn Window, usize) {
        let windows = &self.channels[channel].windows;
        match windows.len() {
            1 => (&*windows[0], source * (HEAD + self.room)),
            _ => (&*windows[source], 0),
        }
    }

    fn put_to_all(&self, channel: usize, bytes: &[u8]) -> Result<(), TransportError> {
        let (window, offset) = self.region(channel, self.transport.rank());
        for rank in self.others() {
            let mut all = (bytes.len() as u64).to_ne_bytes().to_vec();
            all.extend_from_slice(bytes);
            window.put(rank, offset, all)?;
        }
        Ok(())
    }

    /// What `source` has put.
    fn read(&self, channel: usize, source: usize) -> Result<Vec<u8>, TransportError> {
        let (window, offset) = self.region(channel, source);
        let mut bytes = vec![0; own_number(window, offset)? as usize];
        window.read(offset + HEAD, &mut bytes)?;
        Ok(bytes)
    }

    /// Where the flags about `rank` are: what it has put here, and behind it what it has read of ours.
    fn flag(&self, channel: usize, rank: usize) -> usize {
        (channel * self.transport.size() + rank) * 16
    }

    fn set_flag(&self, rank: usize, offset: usize, value: u64) -> Result<(), TransportError> {
        let Some(flags) = &self.flags else { return Ok(()) };
        flags.put(rank, offset, value.to_ne_bytes().to_vec())?;
        flags.flush(rank)
    }

    fn await_flag(&self, rank: usize, offset: usize, value: u64) -> Result<(), TransportError> {
        let Some(flags) = &self.flags else { return Ok(()) };
        wait_for(self.transport, &|| format!("rank {rank}"), || {
            self.transport.poll()?;
            Ok((own_number(&**flags, offset)? >= value).then_some(()))
        })
    }
}

impl Rounds for OneSided<'_> {
    fn begin(&self, channel: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        let (me, others) = (self.transport.rank(), self.others());
        let of = &self.channels[channel];
        let round = of.rounds.get() + 1;
        of.rounds.set(round);
        match self.sync {
            Sync::Fence => self.put_to_all(channel, &bytes)?,
            Sync::Pscw => {
                // Everyone lets everyone in first, so nobody waits in a circle.
                for (source, window) in of.windows.iter().enumerate() {
                    match of.windows.len() {
                        1 => window.post(&others)?,
                        _ if source == me => {}
                        _ => window.post(&[source])?,
                    }
                }
                let (window, _) = self.region(channel, me);
                window.start(&others)?;
                self.put_to_all(channel, &bytes)?;
                window.complete()?;
            }
            Sync::Flush => {
                // What was put in the round before must have been read.
                for &rank in &others {
                    self.await_flag(rank, self.flag(channel, rank) + 8, round - 1)?;
                }
                self.put_to_all(channel, &bytes)?;
                let (window, _) = self.region(channel, me);
                for &rank in &others {
                    window.flush(rank)?;
                    self.set_flag(rank, self.flag(channel, me), round)?;
                }
            }
        }
        of.given.set(bytes);
        Ok(())
    }

    fn end(&self, channel: usize) -> Result<Vec<Vec<u8>>, TransportError> {
        let (me, size) = (self.transport.rank(), self.transport.size());
        let of = &self.channels[channel];
        let round = of.rounds.get();
        let read = |source: usize| if source == me { Ok(of.given.take()) } else { self.read(channel, source) };
        match self.sync {
            Sync::Fence => {
                of.windows.iter().try_for_each(|window| window.fence())?;
                let all = (0..size).map(read).collect::<Result<Vec<_>, _>>()?;
                // Nobody puts the next before all have read this.
                of.windows.iter().try_for_each(|window| window.fence())?;
                Ok(all)
            }
            Sync::Pscw => {
                for (source, window) in of.windows.iter().enumerate() {
                    if of.windows.len() == 1 || source != me {
                        window.wait()?;
                    }
                }
                (0..size).map(read).collect()
            }
            Sync::Flush => {
                let arrived = |source: usize| {
                    if source != me {
                        self.await_flag(source, self.flag(channel, source), round)?;
                    }
                    let bytes = read(source)?;
                    if source != me {
                        self.set_flag(source, self.flag(channel, me) + 8, round)?;
                    }
                    Ok(bytes)
                };
                (0..size).map(arrived).collect()
            }
        }
    }

    fn room(&self) -> usize {
        self.room
    }

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        let windows = self.channels.into_iter().flat_map(|channel| channel.windows).chain(self.flags);
        self.transport.barrier()?;
        windows.into_iter().try_for_each(Window::close)
    }
}

/// Rounds in which bytes are sent.
struct TwoSided<'t> {
    transport: &'t dyn Transport,
    room: usize,
    given: [Cell<Vec<u8>>; CHANNELS],
}

/// The tag of a channel's rounds.
const ROUND_TAG: u32 = 10;

impl Rounds for TwoSided<'_> {
    fn begin(&self, channel: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        for rank in (0..self.transport.size()).filter(|&rank| rank != self.transport.rank()) {
            self.transport.send(rank, ROUND_TAG + channel as u32, bytes.clone())?;
        }
        self.given[channel].set(bytes);
        Ok(())
    }

    fn end(&self, channel: usize) -> Result<Vec<Vec<u8>>, TransportError> {
        let from = |rank: usize| {
            if rank == self.transport.rank() {
                return Ok(self.given[channel].take());
            }
            receive(self.transport, rank, ROUND_TAG + channel as u32)
        };
        (0..self.transport.size()).map(from).collect()
    }

    fn room(&self) -> usize {
        self.room
    }

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        self.transport.barrier()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::Twin;
    use std::time::Duration;

    /// Each rank gives its number so many times, plus the round: what comes must be that, in every variant, also with
    /// an empty round.
    #[test]
    fn all_ranks_get_what_all_gave_in_every_variant() {
        for variant in Variant::ALL.into_iter().filter(|variant| *variant != Variant::Master) {
            for size in [1, 2, 3, 5] {
                let ranks = Twin::ranks(size, Duration::from_secs(20));
                std::thread::scope(|scope| {
                    for twin in ranks {
                        scope.spawn(move || {
                            let rounds = rounds(&twin, variant, 64).unwrap();
                            let bytes = |rank: usize, round: usize| vec![rank as u8; (rank * 7 + round) % 60];
                            rounds.begin(0, bytes(twin.rank(), 0)).unwrap();
                            for round in 1..40 {
                                rounds.begin(round % CHANNELS, bytes(twin.rank(), round)).unwrap();
                                let wanted: Vec<_> = (0..size).map(|rank| bytes(rank, round - 1)).collect();
                                assert_eq!(rounds.end((round - 1) % CHANNELS).unwrap(), wanted, "{variant} {round}");
                            }
                            rounds.end(39 % CHANNELS).unwrap();
                            rounds.close().unwrap();
                        });
                    }
                });
            }
        }
    }
}
