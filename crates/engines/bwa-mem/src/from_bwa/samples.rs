//! `.sa`: places of some rows.

use super::bwt::Bwt;
use super::{Places, beginning, damaged};
use crate::files::{BwaIndexError, unreadable};
use rayon::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes before the first place.
const HEADER: u64 = 56;
/// Rows of which one has its place in our index.
const OURS: u64 = 8;
/// Places that are read at once.
const RUN: u64 = 1 << 16;

/// The file.
pub(super) struct Samples {
    path: PathBuf,
    file: File,
    /// Rows from one place to the next one: a power of two.
    interval: u64,
    symbols: u64,
}

impl Samples {
    /// Looks at the header, which must be that of `bwt`, and the size.
    ///
    /// # Errors
    /// A file that cannot be read, or is not that of `bwt`.
    pub(super) fn open(path: &Path, bwt: &Bwt) -> Result<Self, BwaIndexError> {
        let file = File::open(path).map_err(unreadable(path))?;
        let ([whole, a, c, g, all, interval, symbols], bytes) = beginning(&file, path)?;
        if (whole, [0, a, c, g, all], symbols) != (bwt.whole, bwt.less, bwt.symbols) {
            return Err(damaged(path, "it is not of the text of .bwt"));
        }
        if !interval.is_power_of_two() {
            return Err(damaged(path, format!("it has a place for each {interval} rows")));
        }
        let wanted = HEADER + 8 * (symbols / interval);
        match bytes == wanted {
            true => Ok(Samples { path: path.to_owned(), file, interval, symbols }),
            false => Err(damaged(path, format!("it has {bytes} bytes, not {wanted}"))),
        }
    }

    /// Rows from one place that is taken to the next one.
    pub(super) fn step(&self) -> u64 {
        self.interval.max(OURS)
    }

    /// Sets the places of the rows that are taken.
    ///
    /// # Errors
    /// A file that cannot be read; a place behind the end.
    pub(super) fn fill(&self, places: Places<'_>) -> Result<(), BwaIndexError> {
        // The first row is the empty suffix.
        places.set(0, self.symbols);
        let count = self.symbols / self.interval;
        (0..count.div_ceil(RUN)).into_par_iter().try_for_each(|run| {
            let numbers = run * RUN..count.min((run + 1) * RUN);
            let mut bytes = vec![0; 8 * (numbers.end - numbers.start) as usize];
            self.file.read_exact_at(&mut bytes, HEADER + 8 * numbers.start).map_err(unreadable(&self.path))?;
            for (number, place) in numbers.zip(bytes.as_chunks::<8>().0) {
                let (row, place) = ((number + 1) * self.interval, u64::from_le_bytes(*place));
                if place >= self.symbols {
                    return Err(damaged(&self.path, format!("row {row} begins behind the end")));
                }
                if row.is_multiple_of(OURS) {
                    places.set(row, place);
                }
            }
            Ok(())
        })
    }
}
