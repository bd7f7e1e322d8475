//! Numbers by which ranks tell one another how far they are, in the memory of the one that waits for them.

use zerohop_ranks::transport::Window;
use zerohop_ranks::{Reach, Transport, TransportError, wait_for};

/// Bytes of a number.
const BYTES: usize = 8;

/// What a flag is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum About {
    /// What the rank has given: its last round, or how many pieces.
    Given,
    /// What was taken of what was given: up to which round, or how many pieces.
    Taken,
}

/// Flags of all channels and ranks. They only grow.
pub(super) struct Flags<'t> {
    transport: &'t dyn Transport,
    channels: usize,
    window: Box<dyn Window + 't>,
}

impl<'t> Flags<'t> {
    /// Those of so many channels, all of them zero; all ranks come to it.
    pub(super) fn new(transport: &'t dyn Transport, channels: usize) -> Result<Self, TransportError> {
        let window = transport.window(2 * channels * transport.size() * BYTES, Reach::Passive)?;
        Ok(Flags { transport, channels, window })
    }

    fn place(&self, about: About, channel: usize, rank: usize) -> usize {
        ((about as usize * self.channels + channel) * self.transport.size() + rank) * BYTES
    }

    /// Tells rank `to` what is `about` rank `of`.
    pub(super) fn tell(
        &self,
        to: usize,
        (about, channel, of): (About, usize, usize),
        value: u64,
    ) -> Result<(), TransportError> {
        self.window.replace(to, self.place(about, channel, of), value)?;
        self.window.flush(to)
    }

    /// Waits until rank `from` has told us at least `value` about rank `of`.
    pub(super) fn until(
        &self,
        from: usize,
        (about, channel, of): (About, usize, usize),
        value: u64,
    ) -> Result<(), TransportError> {
        let place = self.place(about, channel, of);
        wait_for(self.transport, &|| format!("rank {from}"), || {
            self.transport.poll()?;
            Ok((self.window.fetch(place)? >= value).then_some(()))
        })
    }

    /// Gives them up; all ranks come to it.
    pub(super) fn close(self) -> Result<(), TransportError> {
        self.window.close()
    }
}
