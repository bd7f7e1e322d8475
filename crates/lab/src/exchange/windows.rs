//! Results lie in windows, and the rank that writes them gets them from there.

use super::flags::{About, Flags};
use std::cell::RefCell;
use zerohop_ranks::exchange::{CHANNELS, Carrier};
use zerohop_ranks::transport::Window;
use zerohop_ranks::{Reach, Transport, TransportError};

/// Results lie in a window of their rank, and are got from there.
pub(super) struct Windows<'t> {
    transport: &'t dyn Transport,
    room: usize,
    /// One for each channel.
    results: Vec<Box<dyn Window + 't>>,
    /// Pieces of a rank that are ready, and pieces of ours that were fetched.
    flags: Flags<'t>,
    /// Pieces that each rank has offered so far, by channel and rank: before the batch that was agreed on last, and
    /// with it.
    pieces: RefCell<Vec<Vec<(u64, u64)>>>,
}

impl<'t> Windows<'t> {
    /// With so much room on each channel; all ranks come to it.
    pub(super) fn new(transport: &'t dyn Transport, room: usize) -> Result<Self, TransportError> {
        let size = transport.size();
        let results = (0..CHANNELS).map(|_| transport.window(room, Reach::Passive)).collect::<Result<Vec<_>, _>>()?;
        let flags = Flags::new(transport, CHANNELS)?;
        Ok(Windows { transport, room, results, flags, pieces: RefCell::new(vec![vec![(0, 0); size]; CHANNELS]) })
    }

    /// Gives them up, after all was fetched; all ranks come to it.
    pub(super) fn close(self) -> Result<(), TransportError> {
        self.results.into_iter().try_for_each(Window::close)?;
        self.flags.close()
    }
}

impl Carrier for Windows<'_> {
    fn agreed(&self, channel: usize, writer: usize, bytes: &[u64]) {
        let mut pieces = self.pieces.borrow_mut();
        for (rank, (entry, bytes)) in pieces[channel].iter_mut().zip(bytes).enumerate() {
            let more = if rank == writer { 0 } else { bytes.div_ceil(self.room as u64) };
            *entry = (entry.1, entry.1 + more);
        }
    }

    fn offer(&self, channel: usize, writer: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        let me = self.transport.rank();
        let (before, _) = self.pieces.borrow()[channel][me];
        for (number, piece) in (before..).zip(bytes.chunks(self.room)) {
            // What was offered before must have been fetched, by whoever it was for.
            self.flags.until(writer, (About::Taken, channel, me), number)?;
            self.results[channel].write(0, piece)?;
            self.results[channel].sync()?;
            self.flags.tell(writer, (About::Given, channel, me), number + 1)?;
        }
        Ok(())
    }

    fn fetch(&self, channel: usize, rank: usize, bytes: usize) -> Result<Vec<u8>, TransportError> {
        let (before, _) = self.pieces.borrow()[channel][rank];
        let mut results = Vec::with_capacity(bytes);
        for (number, start) in (before..).zip((0..bytes).step_by(self.room)) {
            self.flags.until(rank, (About::Given, channel, rank), number + 1)?;
            results.extend(self.results[channel].get(rank, 0, self.room.min(bytes - start))?);
            self.flags.tell(rank, (About::Taken, channel, rank), number + 1)?;
        }
        Ok(results)
    }
}
