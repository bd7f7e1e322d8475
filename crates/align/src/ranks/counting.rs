//! Counting the reads, by all ranks together: so each can begin with any chunk.

use super::gather;
use crate::job::AlignError;
use std::sync::Arc;
use zerohop_input::{OpenLane, Table};
use zerohop_model::engine::Cut;
use zerohop_ranks::{Transport, TransportError};

fn other(error: TransportError) -> AlignError {
    AlignError::Failed(error.to_string())
}

/// Counts all lanes: each rank its share; the first adds up, and tells the others.
///
/// # Errors
/// An input that cannot be read; ranks that cannot go on together.
pub fn count(
    transport: &dyn Transport,
    open: &[OpenLane],
    cut: Cut,
    threads: usize,
) -> Result<Vec<Arc<Table>>, AlignError> {
    let (rank, ranks) = (transport.rank(), transport.size());
    let nonsense =
        || AlignError::Failed("what the first rank has counted cannot be read: please report this".to_owned());
    let mut tables = Vec::new();
    for lane in open {
        let counts = gather::at_first(transport, lane.count(rank, ranks, threads)?)?;
        let table = match rank {
            0 => lane.table(&counts, cut)?.to_bytes(),
            _ => Vec::new(),
        };
        let all = transport.all_gather(&table).map_err(other)?;
        tables.push(Arc::new(all.first().and_then(|bytes| Table::from_bytes(bytes)).ok_or_else(nonsense)?));
    }
    Ok(tables)
}
