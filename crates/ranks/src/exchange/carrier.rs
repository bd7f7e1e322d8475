//! How the bytes of results reach the rank that writes them.

use crate::transport::TransportError;

/// A way for results. Every rank knows of every batch who gives how much to whom, and calls [`Carrier::agreed`] with it
/// before anything of it is carried.
pub trait Carrier {
    /// What all ranks have agreed on for a batch on `channel`: how many bytes each rank gives to `writer`, its own left
    /// out.
    fn agreed(&self, channel: usize, writer: usize, bytes: &[u64]);

    /// Gives our results to `writer`. Comes back when they can be fetched; if they do not fit at once, when the last of
    /// them can.
    ///
    /// # Errors
    /// [`TransportError`].
    fn offer(&self, channel: usize, writer: usize, bytes: Vec<u8>) -> Result<(), TransportError>;

    /// Fetches the results of `rank`, which are so many bytes.
    ///
    /// # Errors
    /// [`TransportError`].
    fn fetch(&self, channel: usize, rank: usize, bytes: usize) -> Result<Vec<u8>, TransportError>;
}
