//! Counting the reads, by all ranks together: so each can begin with any chunk.

use super::{failed, gather};
use crate::job::AlignError;
use std::sync::Arc;
use zerohop_input::{OpenLane, Table};
use zerohop_model::engine::Cut;
use zerohop_ranks::Transport;

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
    // What the first rank has found, told to all.
    let of_first = |table: Option<Table>| -> Result<Arc<Table>, AlignError> {
        let all = transport.all_gather(&table.map_or(Vec::new(), |table| table.to_bytes())).map_err(failed)?;
        Ok(Arc::new(all.first().and_then(|bytes| Table::from_bytes(bytes)).ok_or_else(nonsense)?))
    };
    let mut tables = Vec::new();
    for lane in open {
        let counts = gather::at_first(transport, lane.count(rank, ranks, threads)?)?;
        let table = of_first(if rank == 0 { Some(lane.table(&counts, cut)?) } else { None })?;
        tables.push(match lane.is_dealt_again() {
            false => table,
            true => {
                let counts = gather::at_first(transport, lane.count_kept(&table, rank, ranks, threads)?)?;
                if let Some(trimmed) = lane.trimmed() {
                    let all = gather::at_first(transport, trimmed.to_bytes().map_err(failed)?)?;
                    if rank == 0 {
                        trimmed.take_all(&all).map_err(failed)?;
                    }
                }
                of_first((rank == 0).then(|| (*table).clone().with_kept(&counts, cut)))?
            }
        });
    }
    Ok(tables)
}
