//! What all ranks did, gathered.

use crate::job::JobError;
use crate::local::Search;
use zerohop_model::exchange::RankReport;
use zerohop_model::thousands::grouped;
use zerohop_ranks::{Transport, values};

/// What all ranks did; they must have answered the same queries.
///
/// # Errors
/// Ranks that cannot go on together, or answered different queries.
pub fn reports(transport: &dyn Transport, own: &RankReport, queries: u64) -> Result<Vec<RankReport>, JobError> {
    let all = values(transport, &(own.clone(), queries))?;
    let differs = all.iter().map(|(_, queries)| *queries).enumerate().find(|(_, answered)| *answered != queries);
    if let Some((rank, wrong)) = differs {
        let own = transport.rank();
        let words = format!(
            "rank {own} has answered {} queries and rank {rank} {}: please report this",
            grouped(queries),
            grouped(wrong)
        );
        return Err(JobError::Failed(words));
    }
    Ok(all.into_iter().map(|(report, _)| report).collect())
}

/// What the programs of all ranks said although they ended well, each line once, for rank 0 to tell.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn warnings(transport: &dyn Transport, search: &Search) -> Result<Vec<String>, JobError> {
    let all = values(transport, &search.warnings())?;
    let mut told: Vec<String> = Vec::new();
    for lines in all.into_iter().filter(|_| transport.rank() == 0) {
        let new = lines.into_iter().filter(|line| !told.contains(line)).collect::<Vec<_>>();
        told.extend(new);
    }
    Ok(told)
}
