//! What samtools stats, flagstat, idxstats and coverage, mosdepth, MethylDackel and Picard say of a sorted file, out of
//! its records while they are written: no second pass.
//!
//! The path of a record through this crate:
//!
//! 1. Whoever makes a part of the output shows each of its records to a visitor ([`zerohop_output::Visit`]). That adds
//!    it to sums of its own (`flagstat`, `idxstats`, `stats`, `coverage`, `picard`): in which order makes no
//!    difference.
//! 2. At the end of the part the visitor hands over where its records begin and end (`depth`), and which of their bases
//!    may count as coverage (for Picard) or on cytosines (`methyldackel`). When all parts before it are known, what
//!    reaches into it is, too (`order`): then its places are counted, and the lines of mosdepth and MethylDackel are
//!    made of them, which are written in the order of the parts. Of several processes, each keeps its parts in a file,
//!    and one takes up all of them (`kept`).
//! 3. [`Reports::finish`] adds up the sums of all visitors, and makes the files, and the numbers of pictures
//!    (`figures`).
//!
//! The rules of each tool are in the file or folder that has its name. Sums are of integers, or are made in the order
//! of the records: so reports depend neither on threads nor on parts.
//!
//! What it refuses to do: read or write records, start threads, or say where files lie.
#![forbid(unsafe_code)]

mod codec;
mod cost;
mod counts;
mod coverage;
mod cycles;
mod depth;
mod figures;
mod flagstat;
mod idxstats;
mod kept;
mod methyldackel;
mod mosdepth;
mod number;
mod order;
mod picard;
mod record;
mod reference;
mod reports;
mod sizes;
mod spec;
mod stats;
mod sums;
mod visitor;

pub use kept::{KeptParts, RankReports};
pub use methyldackel::{Bounds, MethylDackel, MethylDackelSpec, SiteColumns};
pub use mosdepth::{Bed, BedFiles, By, LEFT_OUT, MosdepthSpec, NotBed, Quantizer};
pub use picard::{Capture, NotTargets, PicardFiles, PicardSpec, Targets};
pub use reports::{Finished, Reports};
pub use spec::ReportSpec;
// What reports are made with.
pub use zerohop_cram::ContigBases;
