//! Records and results travel as messages.

use super::carrier::Carrier;
use super::rounds::{CHANNELS, Rounds};
use crate::back_off::receive;
use crate::transport::{Transport, TransportError};
use std::cell::Cell;

/// The tag of a channel's rounds.
const ROUND_TAG: u32 = 10;
/// The tag of a channel's results.
const RESULT_TAG: u32 = 20;
/// The most bytes of one message.
const MOST_IN_MESSAGE: usize = 256 << 20;

/// Rounds in which bytes are sent.
pub(super) struct MessageRounds<'t> {
    transport: &'t dyn Transport,
    room: usize,
    /// What we gave to the round that each channel began last.
    given: [Cell<Vec<u8>>; CHANNELS],
}

impl<'t> MessageRounds<'t> {
    /// Rounds of `room` bytes at most.
    pub(super) fn new(transport: &'t dyn Transport, room: usize) -> Self {
        MessageRounds { transport, room, given: Default::default() }
    }
}

impl Rounds for MessageRounds<'_> {
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
}

/// Results are sent.
pub struct MessageCarrier<'t>(&'t dyn Transport);

impl<'t> MessageCarrier<'t> {
    /// Results go over `transport`.
    pub fn new(transport: &'t dyn Transport) -> Self {
        MessageCarrier(transport)
    }
}

impl Carrier for MessageCarrier<'_> {
    fn agreed(&self, _: usize, _: usize, _: &[u64]) {}

    fn offer(&self, channel: usize, writer: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        let tag = RESULT_TAG + channel as u32;
        bytes.chunks(MOST_IN_MESSAGE).try_for_each(|piece| self.0.send(writer, tag, piece.to_vec()))
    }

    fn fetch(&self, channel: usize, rank: usize, bytes: usize) -> Result<Vec<u8>, TransportError> {
        let mut results = Vec::with_capacity(bytes);
        while results.len() < bytes {
            results.extend(receive(self.0, rank, RESULT_TAG + channel as u32)?);
        }
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::Twin;
    use std::time::Duration;

    /// Each rank gives its number so many times, plus the round: what comes must be that, also with an empty round.
    #[test]
    fn all_ranks_get_what_all_gave() {
        for size in [1, 2, 3, 5] {
            let ranks = Twin::ranks(size, Duration::from_secs(20));
            std::thread::scope(|scope| {
                for twin in ranks {
                    scope.spawn(move || {
                        let rounds = MessageRounds::new(&twin, 64);
                        let bytes = |rank: usize, round: usize| vec![rank as u8; (rank * 7 + round) % 60];
                        rounds.begin(0, bytes(twin.rank(), 0)).unwrap();
                        for round in 1..40 {
                            rounds.begin(round % CHANNELS, bytes(twin.rank(), round)).unwrap();
                            let wanted: Vec<_> = (0..size).map(|rank| bytes(rank, round - 1)).collect();
                            assert_eq!(rounds.end((round - 1) % CHANNELS).unwrap(), wanted, "{round}");
                        }
                        rounds.end(39 % CHANNELS).unwrap();
                    });
                }
            });
        }
    }
}
