//! Which records have MQ, MC and ms.

use zerohop_model::record::is_primary;

/// Which records tell of their mates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MateTags {
    None,
    /// Primary ones, as `samtools fixmate` has it.
    OfPrimary,
    /// Secondary and supplementary ones, too: `samtools sort --template-coordinate` needs MC of these.
    OfAll,
}

impl MateTags {
    /// Whether a record with these flags tells of its mate.
    pub(crate) fn are_for(self, flags: u16) -> bool {
        match self {
            MateTags::None => false,
            MateTags::OfPrimary => is_primary(flags),
            MateTags::OfAll => true,
        }
    }
}
