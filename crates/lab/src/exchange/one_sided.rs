//! Rounds in which bytes are put into memory of the others (H. Wang's design), in six variants.

use super::flags::{About, Flags};
use super::variant::Sync;
use std::cell::Cell;
use zerohop_ranks::exchange::{CHANNELS, Rounds};
use zerohop_ranks::transport::Window;
use zerohop_ranks::{Reach, Transport, TransportError};

/// What comes before the bytes of a region: their number.
const HEAD: usize = 8;

/// The windows of one channel, and what is going on in them.
struct Channel<'t> {
    /// One, or one for each rank that puts.
    windows: Vec<Box<dyn Window + 't>>,
    given: Cell<Vec<u8>>,
    /// Rounds begun.
    rounds: Cell<u64>,
}

/// How ranks know that what was put is there.
enum HowSynchronised<'t> {
    Fence,
    Pscw,
    /// By the round of a rank that has been put here, and the round of ours that it has read.
    Flush(Flags<'t>),
}

/// The rounds.
pub(super) struct OneSided<'t> {
    transport: &'t dyn Transport,
    how: HowSynchronised<'t>,
    room: usize,
    channels: Vec<Channel<'t>>,
}

impl<'t> OneSided<'t> {
    /// With `room` for what a rank puts; all ranks come to it.
    pub(super) fn new(
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
        let how = match sync {
            Sync::Fence => {
                channels.iter().flat_map(|channel| &channel.windows).try_for_each(|window| window.fence())?;
                HowSynchronised::Fence
            }
            Sync::Pscw => HowSynchronised::Pscw,
            Sync::Flush => HowSynchronised::Flush(Flags::new(transport, CHANNELS)?),
        };
        Ok(OneSided { transport, how, room, channels })
    }

    /// Gives up the windows; all ranks come to it.
    pub(super) fn close(self) -> Result<(), TransportError> {
        self.channels.into_iter().flat_map(|channel| channel.windows).try_for_each(Window::close)?;
        match self.how {
            HowSynchronised::Flush(flags) => flags.close(),
            HowSynchronised::Fence | HowSynchronised::Pscw => Ok(()),
        }
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
        let mut head = [0; HEAD];
        window.read(offset, &mut head)?;
        let mut bytes = vec![0; u64::from_ne_bytes(head) as usize];
        window.read(offset + HEAD, &mut bytes)?;
        Ok(bytes)
    }

    /// Puts to all, once they have read what was put in the round before, and tells them.
    fn put_and_tell(&self, flags: &Flags<'t>, channel: usize, round: u64, bytes: &[u8]) -> Result<(), TransportError> {
        let (me, others) = (self.transport.rank(), self.others());
        others.iter().try_for_each(|&rank| flags.until(rank, (About::Taken, channel, rank), round - 1))?;
        self.put_to_all(channel, bytes)?;
        let (window, _) = self.region(channel, me);
        others.iter().try_for_each(|&rank| {
            window.flush(rank)?;
            flags.tell(rank, (About::Given, channel, me), round)
        })
    }

    /// What `source` has put, once it has told so; tells it that this was read.
    fn read_and_tell(
        &self,
        flags: &Flags<'t>,
        channel: usize,
        round: u64,
        source: usize,
    ) -> Result<Vec<u8>, TransportError> {
        flags.until(source, (About::Given, channel, source), round)?;
        self.region(channel, source).0.sync()?;
        let bytes = self.read(channel, source)?;
        flags.tell(source, (About::Taken, channel, self.transport.rank()), round)?;
        Ok(bytes)
    }
}

impl Rounds for OneSided<'_> {
    fn begin(&self, channel: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        let (me, others) = (self.transport.rank(), self.others());
        let of = &self.channels[channel];
        let round = of.rounds.get() + 1;
        of.rounds.set(round);
        match &self.how {
            HowSynchronised::Fence => self.put_to_all(channel, &bytes)?,
            HowSynchronised::Pscw => {
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
            HowSynchronised::Flush(flags) => self.put_and_tell(flags, channel, round, &bytes)?,
        }
        of.given.set(bytes);
        Ok(())
    }

    fn end(&self, channel: usize) -> Result<Vec<Vec<u8>>, TransportError> {
        let (me, size) = (self.transport.rank(), self.transport.size());
        let of = &self.channels[channel];
        let round = of.rounds.get();
        let read = |source: usize| if source == me { Ok(of.given.take()) } else { self.read(channel, source) };
        match &self.how {
            HowSynchronised::Fence => {
                of.windows.iter().try_for_each(|window| window.fence())?;
                let all = (0..size).map(read).collect::<Result<Vec<_>, _>>()?;
                // Nobody puts the next before all have read this.
                of.windows.iter().try_for_each(|window| window.fence())?;
                Ok(all)
            }
            HowSynchronised::Pscw => {
                for (source, window) in of.windows.iter().enumerate() {
                    if of.windows.len() == 1 || source != me {
                        window.wait()?;
                    }
                }
                (0..size).map(read).collect()
            }
            HowSynchronised::Flush(flags) => (0..size)
                .map(|source| match source == me {
                    true => read(source),
                    false => self.read_and_tell(flags, channel, round, source),
                })
                .collect(),
        }
    }

    fn room(&self) -> usize {
        self.room
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant::Variant;
    use super::*;
    use std::time::Duration;
    use zerohop_ranks::Twin;

    /// Each rank gives its number so many times, plus the round: what comes must be that, in every variant, also with
    /// an empty round.
    #[test]
    fn all_ranks_get_what_all_gave_in_every_variant() {
        for variant in Variant::ALL {
            let Variant::OneSided { sync, window_per_rank } = variant else { continue };
            for size in [1, 2, 3, 5] {
                let ranks = Twin::ranks(size, Duration::from_secs(20));
                std::thread::scope(|scope| {
                    for twin in ranks {
                        scope.spawn(move || {
                            let rounds = OneSided::new(&twin, sync, window_per_rank, 64).unwrap();
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
