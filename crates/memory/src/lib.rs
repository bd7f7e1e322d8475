//! Puts large blocks of memory on the wanted NUMA nodes, and counts where they really lie.
//!
//! An engine builds its index with ordinary `Vec`s and knows nothing of nodes. Its blocks are placed all the same:
//!
//! 1. The program makes [`PlacedAlloc`] its global allocator. Requests of [`LARGE`] bytes and more become mappings of
//!    their own; smaller ones go to mimalloc.
//! 2. [`Placed::new`] takes a [`Placement`](zerohop_model::plan::Placement) (nodes, policy, page size) and gives it an
//!    id.
//! 3. [`Placed::run`] or [`with_placement`] builds the index. Large blocks of this thread are bound (`mbind`) and
//!    advised (`madvise`) before anyone writes to them. The task's memory policy (`set_mempolicy`) takes care of small
//!    blocks, and of threads and pools that are spawned meanwhile, which inherit it.
//! 4. Each mapping is entered in a table with the placement's id.
//! 5. [`census_of`] asks the kernel on which node each page of these blocks lies, and how much of it on huge pages.
//!
//! [`process_census`] counts where the mappings of another process lie, which places its memory under the policy that
//! it inherited. [`FileMapping`] maps a file in memory and moves it to huge pages; [`mapped`] gives a vector that
//! is such a mapping.
//!
//! When an allocation fails, the program ends with one line, after what [`on_exhausted`] names was done. Inside
//! [`fallible`] it is an error.
//!
//! Each kind of refusal of the kernel is kept once, and [`Placed::refused`] returns it. It is never fatal and never
//! dropped.
//!
//! On macOS memory is one node and nothing is asked of the kernel (`system`); blocks and their table are the same.
//!
//! What it refuses to do: choose nodes (the plan does), move pages that are already written, reserve hugetlb pages, or
//! check whether a node has room. What a node has no room for lies on others, as the census shows, so the planner must
//! count before.

mod alloc;
mod blocks;
mod census;
mod exhausted;
mod id;
mod mapped;
mod mask;
mod numa_maps;
mod placement;
pub mod policy;
mod prefetch;
mod process;
mod refusals;
mod region;
mod system;
mod vmas;

pub use alloc::{LARGE, PlacedAlloc};
pub use census::{Census, CensusError, census, census_of, census_with, on_huge_pages};
pub use exhausted::{fallible, on_exhausted};
pub use id::PlacementId;
pub use mapped::{FileMapping, mapped, populate};
pub use mask::NodeMask;
pub use numa_maps::MappedPages;
pub use placement::{EnteredPlacement, Placed, set_default_huge_pages, unplaced_refused, with_placement};
pub use prefetch::prefetch;
pub use process::{ProcessCensus, process_census};
