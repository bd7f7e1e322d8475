//! What MethylDackel 0.6.1 extracts: of each cytosine of the reference how many bases are methylated, and how many are
//! converted. Its rules are named where they are followed.

mod calls;
mod files;
mod spec;

pub(crate) use calls::Calls;
pub(crate) use files::{PartOfSites, SiteFiles};
pub use spec::{Bounds, MethylDackel, MethylDackelSpec, SiteColumns};
