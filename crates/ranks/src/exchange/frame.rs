//! What stands between results: headers, and what is said of each query.

use super::{Batch, Record, Survivor};
use std::fmt::Debug;

/// Makes what stands between the results of a batch. All ranks make it alike, of what all of them know: so none of it
/// travels, and all know its size.
pub trait Frame: Debug + Send + Sync {
    /// What stands between the results that survived, of which query and key are given in order: pieces, in order, each
    /// with the number of the result that it stands before; how many results there are for what comes behind the last.
    fn pieces(&self, survivors: &[(u32, [u8; Record::KEY_BYTES])]) -> Vec<(usize, Vec<u8>)>;
}

/// The pieces of a batch of which these survived; `records[r]` are those of rank r.
pub fn framed(batch: &Batch, records: &[Vec<Record>], survivors: &[Survivor]) -> Vec<(usize, Vec<u8>)> {
    let Some(frame) = &batch.frame else { return Vec::new() };
    let kept = survivors.iter().map(|survivor| &records[survivor.list][survivor.number]);
    frame.pieces(&kept.map(|record| (record.query, record.key)).collect::<Vec<_>>())
}
