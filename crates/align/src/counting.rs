//! Counting the reads, by all ranks together: so each can begin with any chunk.

use crate::error::AlignError;
use std::sync::Arc;
use zerohop_input::{OpenLane, Table};
use zerohop_model::engine::Cut;
use zerohop_ranks::{Transport, TransportError, receive};

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
        let counts = gather_at_first(transport, lane.count(rank, ranks, threads)?)?;
        let table = match rank {
            0 => lane.table(&counts, cut)?.to_bytes(),
            _ => Vec::new(),
        };
        let all = transport.all_gather(&table).map_err(other)?;
        tables.push(Arc::new(all.first().and_then(|bytes| Table::from_bytes(bytes)).ok_or_else(nonsense)?));
    }
    Ok(tables)
}

/// What every rank gives, on the first rank; the others get nothing.
fn gather_at_first(transport: &dyn Transport, own: Vec<u8>) -> Result<Vec<Vec<u8>>, AlignError> {
    // A message may not be longer.
    const PIECE: usize = 1 << 28;
    const TAG: u32 = 0x636e;
    let sizes = transport.all_gather(&(own.len() as u64).to_le_bytes()).map_err(other)?;
    if transport.rank() > 0 {
        for piece in own.chunks(PIECE) {
            transport.send(0, TAG, piece.to_vec()).map_err(other)?;
        }
        transport.barrier().map_err(other)?;
        return Ok(Vec::new());
    }
    let mut all = vec![own];
    for (rank, size) in sizes.iter().enumerate().skip(1) {
        let size = size[..].try_into().map_or(0, u64::from_le_bytes);
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < size {
            bytes.extend(receive(transport, rank, TAG).map_err(other)?);
        }
        all.push(bytes);
    }
    transport.barrier().map_err(other)?;
    Ok(all)
}
