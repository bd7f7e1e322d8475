//! How the bytes of results reach the rank that writes them.

use super::flags::{About, Flags};
use super::rounds::CHANNELS;
use crate::back_off::receive;
use crate::transport::{Reach, Transport, TransportError, Window};
use std::cell::RefCell;

/// The tag of results that are sent.
const RESULT_TAG: u32 = 20;
/// The most bytes of one message.
const MOST_IN_MESSAGE: usize = 256 << 20;

/// A way for results. Every rank knows of every batch who gives how much to whom, and calls [`Carrier::agreed`] with it
/// before anything of it is carried.
pub(crate) trait Carrier {
    /// What all ranks have agreed on for a batch on `channel`: how many bytes each rank gives to `writer`, its own left
    /// out.
    fn agreed(&self, channel: usize, writer: usize, bytes: &[u64]);

    /// Gives our results to `writer`. Comes back when they can be fetched; if they do not fit at once, when the last of
    /// them can.
    fn offer(&self, channel: usize, writer: usize, bytes: Vec<u8>) -> Result<(), TransportError>;

    /// Fetches the results of `rank`, which are so many bytes.
    fn fetch(&self, channel: usize, rank: usize, bytes: usize) -> Result<Vec<u8>, TransportError>;

    /// Gives up what it holds, after all was fetched; all ranks come to it.
    fn close(self: Box<Self>) -> Result<(), TransportError>;
}

/// Results lie in a window of their rank, and are got from there.
pub(crate) struct Windows<'t> {
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
    pub(crate) fn new(transport: &'t dyn Transport, room: usize) -> Result<Self, TransportError> {
        let size = transport.size();
        let results = (0..CHANNELS).map(|_| transport.window(room, Reach::Passive)).collect::<Result<Vec<_>, _>>()?;
        let flags = Flags::new(transport, CHANNELS)?;
        Ok(Windows { transport, room, results, flags, pieces: RefCell::new(vec![vec![(0, 0); size]; CHANNELS]) })
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

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        self.results.into_iter().try_for_each(Window::close)?;
        self.flags.close()
    }
}

/// Results are sent.
pub(crate) struct Messages<'t>(pub(crate) &'t dyn Transport);

impl Carrier for Messages<'_> {
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

    fn close(self: Box<Self>) -> Result<(), TransportError> {
        // All that was offered was fetched.
        Ok(())
    }
}
