//! Counting the reads, by all ranks together: so each can begin with any chunk.

use super::{failed, gather};
use crate::job::AlignError;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_input::{OpenLane, SavedReads, Table};
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
                lane.saved().map_or(Ok(()), |saved| put_together(transport, &saved))?;
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

/// Has the first rank append what the others have saved of a lane to what it has saved itself.
fn put_together(transport: &dyn Transport, saved: &SavedReads) -> Result<(), AlignError> {
    let is_first = transport.rank() == 0;
    let own: Vec<(PathBuf, u64)> = match is_first {
        true => Vec::new(),
        false => {
            saved.files().map(|file| Ok((file.written_at(), file.take_length()?))).collect::<Result<_, AlignError>>()?
        }
    };
    let of_others = gather::values_at_first(transport, &own)?;
    for parts in of_others {
        for (file, (path, length)) in saved.files().zip(parts).filter(|(_, (_, length))| *length > 0) {
            let part = File::open(&path).map_err(|error| cannot_read(&path, &error))?;
            file.append(&part, length)?;
        }
    }
    transport.barrier().map_err(failed)
}

fn cannot_read(path: &Path, error: &std::io::Error) -> AlignError {
    let path = path.display();
    AlignError::Failed(format!("{path}: reads that another rank has saved cannot be read: {error}"))
}
