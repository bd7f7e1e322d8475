//! One round: every rank gives some bytes to all others. Rounds of two channels may overlap: the bytes of one can be on
//! their way while those of the other are waited for.

use crate::transport::TransportError;

/// Channels whose rounds may overlap.
pub const CHANNELS: usize = 2;

/// A way of doing rounds. All ranks begin and end the rounds of each channel in the same order.
pub trait Rounds {
    /// Gives `bytes` (no more than [`Rounds::room`]) to the others; begins a round of `channel`.
    ///
    /// # Errors
    /// [`TransportError`].
    fn begin(&self, channel: usize, bytes: Vec<u8>) -> Result<(), TransportError>;

    /// Waits for the round that `channel` began last, and gives what all ranks gave, by rank. Our own is as it was
    /// given.
    ///
    /// # Errors
    /// [`TransportError`].
    fn end(&self, channel: usize) -> Result<Vec<Vec<u8>>, TransportError>;

    /// The most bytes of a round.
    fn room(&self) -> usize;
}
