//! Which reads are dropped, and why (Filter::passFilter of fastp).

use crate::options::{LengthFilter, Options, QualityFilter};
use crate::read::Read;
use serde::{Deserialize, Serialize};

/// Why a read is dropped. Of two mates the reason that comes last here counts for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// Too many N.
    TooManyN,
    /// Too short, or nothing is left.
    TooShort,
    /// Too long.
    TooLong,
    /// Too many bases of bad quality, or a bad mean.
    LowQuality,
    /// Too little change from base to base.
    LowComplexity,
    /// The adapters follow each other with nothing between them.
    AdapterDimer,
}

/// The byte of quality 0.
const QUALITY_ZERO: u8 = 33;
/// Bytes that are counted in one byte.
const COUNTED_AT_ONCE: usize = 128;

/// Why this is dropped.
pub(crate) fn failure(read: &Read<'_>, options: &Options) -> Option<Reason> {
    if read.is_empty() {
        return Some(Reason::TooShort);
    }
    let quality = options.quality.as_ref().and_then(|filter| quality_failure(read, filter));
    quality
        .or_else(|| options.length.as_ref().and_then(|filter| length_failure(read.len(), filter)))
        .or_else(|| options.complexity.filter(|least| !is_complex(read.bases(), *least)).map(|_| Reason::LowComplexity))
}

fn quality_failure(read: &Read<'_>, filter: &QualityFilter) -> Option<Reason> {
    let least = filter.qualified.saturating_add(QUALITY_ZERO);
    let unqualified = count(read.qualities(), |quality| quality < least);
    if 100 * unqualified > usize::from(filter.unqualified_percent) * read.len() {
        return Some(Reason::LowQuality);
    }
    if filter.mean > 0 && mean_quality(read.qualities()) < u64::from(filter.mean) {
        return Some(Reason::LowQuality);
    }
    (count(read.bases(), |base| base == b'N') > usize::from(filter.n_bases)).then_some(Reason::TooManyN)
}

/// The mean, rounded down.
fn mean_quality(qualities: &[u8]) -> u64 {
    let sum: u64 = qualities.iter().map(|&quality| u64::from(quality.saturating_sub(QUALITY_ZERO))).sum();
    sum / qualities.len().max(1) as u64
}

fn length_failure(length: usize, filter: &LengthFilter) -> Option<Reason> {
    if length < filter.required as usize {
        return Some(Reason::TooShort);
    }
    (filter.limit > 0 && length > filter.limit as usize).then_some(Reason::TooLong)
}

/// Whether so many of 100 bases differ from the next one. A read of one base does not.
fn is_complex(bases: &[u8], least_percent: u8) -> bool {
    let pairs = bases.len().saturating_sub(1);
    let changes = bases.iter().zip(bases.iter().skip(1)).filter(|(one, next)| one != next).count();
    // As fastp: a share is compared, not a product.
    pairs > 0 && changes as f64 / pairs as f64 >= f64::from(least_percent) / 100.0
}

/// How many bytes there are of which this is true. It is compiled to a comparison of many bytes at once.
pub(crate) fn count(bytes: &[u8], is_counted: impl Fn(u8) -> bool) -> usize {
    let counted = |bytes: &[u8]| usize::from(bytes.iter().map(|&byte| u8::from(is_counted(byte))).sum::<u8>());
    bytes.chunks(COUNTED_AT_ONCE).map(counted).sum()
}
