//! Names of placements: what a block carries, and what a count is asked for by. On its own, because the table of blocks
//! and the census need the name and nothing else of a placement.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Names a placement of this process; blocks allocated under it carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlacementId(pub u32);

impl PlacementId {
    /// What blocks carry that were allocated outside any placement.
    pub const UNPLACED: Self = Self(0);

    /// A name that no placement of this process has had before.
    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(PlacementId::UNPLACED.0 + 1);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}
