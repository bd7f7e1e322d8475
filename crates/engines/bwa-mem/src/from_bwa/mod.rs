//! The index of bwa (`bwa index` of 0.6 and later), read as it is: ours comes of it without any sorting.
//!
//! | file | bytes | what |
//! |---|---|---|
//! | `.bwt` | 8 | the number of the suffix that is the whole text |
//! | | 4 x 8 | how many bases are A; A or C; A, C or G; all |
//! | | 64 each | of 128 rows: how many of each base stand before them (4 x 8 bytes); which base, in 2 bits |
//! | | 4 x 8 | the sums, behind the last base |
//! | `.sa` | 5 x 8 | as in `.bwt` |
//! | | 2 x 8 | rows from one place to the next one; bases |
//! | | 8 each | places, without that of the first row |
//!
//! Both indexes are of the same text, all bases and, behind them, their reverse complement, so they are the same BWT.
//! bwa leaves out the row of the whole text, and has a place for each 32nd row; ours has one for each eighth. From each
//! row with a place a walk leads to the suffixes that begin one base earlier, and one more, up to the next row with a
//! place (`walks`). Walks are independent of each other.
//!
//! Every byte that counts is checked on the way: that sums are those of the bases (`bwt`), and that all walks together
//! go through each row once, meet the places that bwa has and spell the bases of `.pac`.

mod bwt;
mod samples;
#[cfg(test)]
mod tests;
mod walks;

use crate::files::{ALT, BwaIndexError, path, text, unreadable};
use crate::fm::{OccurrenceBlock, array_bytes, index_bytes};
use crate::index_check;
use crate::sequences::Sequences;
use bwt::Bwt;
use rayon::prelude::*;
use samples::Samples;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use walks::Walks;

/// The endings of the files of bwa's index.
pub(crate) const ENDINGS: [&str; 5] = ["bwt", "sa", "pac", "ann", "amb"];

/// Where an index goes: arrays of the sizes that `fm` gives.
pub(crate) struct FmArrays<'a> {
    pub(crate) blocks: &'a mut [OccurrenceBlock],
    pub(crate) places: Places<'a>,
}

/// Places of every eighth row. Many threads set them, each one once.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) high: &'a [AtomicU8],
    pub(crate) low: &'a [AtomicU32],
}

impl Places<'_> {
    /// Of a row that is a multiple of 8.
    fn get(&self, row: u64) -> u64 {
        let number = (row / 8) as usize;
        let (high, low) = (self.high[number].load(Ordering::Relaxed), self.low[number].load(Ordering::Relaxed));
        u64::from(high) << 32 | u64::from(low)
    }

    fn set(&self, row: u64, place: u64) {
        let number = (row / 8) as usize;
        self.high[number].store((place >> 32) as u8, Ordering::Relaxed);
        self.low[number].store(place as u32, Ordering::Relaxed);
    }
}

/// What bwa's index shares with ours: the same bytes.
pub(crate) struct ContigFiles {
    pub(crate) pac: Vec<u8>,
    pub(crate) ann: Vec<u8>,
    pub(crate) amb: Vec<u8>,
}

/// An index of bwa, whose sizes fit one another.
pub(crate) struct BwaIndex {
    /// What the names of its files begin with.
    prefix: PathBuf,
    bwt: Bwt,
    samples: Samples,
}

/// What the names of the files of bwa's index of `reference` begin with, if there is one: `bwa mem` takes
/// `reference.64` first.
pub(crate) fn prefix(reference: &Path) -> Option<PathBuf> {
    [path(reference, "64"), reference.to_owned()].into_iter().find(|prefix| path(prefix, ENDINGS[0]).exists())
}

impl BwaIndex {
    /// Looks at the beginning and the size of each file.
    ///
    /// # Errors
    /// A file that is missing or not of that size; files that do not belong together.
    pub(crate) fn open(prefix: &Path) -> Result<Self, BwaIndexError> {
        let unfinished = |ending| unfinished(&path(prefix, ending), "it does not exist");
        if let Some(missing) = ENDINGS.into_iter().find(|ending| !path(prefix, ending).exists()) {
            return Err(unfinished(missing));
        }
        let bwt = Bwt::open(&path(prefix, ENDINGS[0]))?;
        let samples = Samples::open(&path(prefix, ENDINGS[1]), &bwt)?;
        Ok(BwaIndex { prefix: prefix.to_owned(), bwt, samples })
    }

    /// What the names of its files begin with.
    pub(crate) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Those of its files that are there.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let all = ENDINGS.into_iter().chain([ALT]).map(|ending| path(&self.prefix, ending));
        all.filter(|file| file.exists()).collect()
    }

    /// Bases of one strand.
    pub(crate) fn bases(&self) -> u64 {
        self.bwt.symbols / 2
    }

    /// Bytes of our index of it in memory.
    pub(crate) fn bytes(&self) -> u64 {
        index_bytes(self.bases()) + self.bases() / 4 + 1
    }

    /// Looks at the contigs, the bases and the list of ALT contigs, and compares them with those of `reference`, if
    /// that is there.
    ///
    /// # Errors
    /// A file that is not what it should be; another reference.
    pub(crate) fn check(&self, reference: &Path) -> Result<ContigFiles, BwaIndexError> {
        let [_, _, pac, ann, amb] = ENDINGS.map(|ending| path(&self.prefix, ending));
        // While bwa makes the index, only the first number tells.
        let both_strands = format!("{} ", self.bwt.symbols);
        if text(&ann)?.starts_with(both_strands.as_bytes()) {
            return Err(unfinished(&pac, "it holds both strands"));
        }
        let (bases, contigs) = index_check::check_ann(&ann).map_err(of_bwa)?;
        if bases != self.bases() {
            let what = format!("it is of {bases} bases, and .bwt of {}", self.bases());
            return Err(damaged(&ann, what));
        }
        index_check::check_amb(&amb, bases, contigs).map_err(of_bwa)?;
        index_check::check_pac(&pac, bases).map_err(of_bwa)?;
        index_check::check_alt(&self.prefix).map_err(of_bwa)?;
        index_check::check_lines(&self.prefix)?;
        let files = ContigFiles { pac: text(&pac)?, ann: text(&ann)?, amb: text(&amb)? };
        if reference.exists() && !Sequences::are_packed(reference, &files.pac, &files.ann, &files.amb)? {
            return Err(BwaIndexError::Stale { path: path(&self.prefix, ENDINGS[0]) });
        }
        Ok(files)
    }

    /// Writes our index into `arrays`, with the threads of this pool. `bases` are those of `.pac`.
    ///
    /// # Errors
    /// A file that cannot be read, or is not what it should be.
    pub(crate) fn fill(&self, arrays: FmArrays<'_>, bases: &[u8]) -> Result<(), BwaIndexError> {
        let FmArrays { blocks, places } = arrays;
        self.bwt.fill(blocks)?;
        self.samples.fill(places)?;
        let (bwt, step) = (&self.bwt, self.samples.step());
        let walks = Walks { blocks, places, less: bwt.less, whole: bwt.whole, rows: bwt.symbols + 1, step, bases };
        walks.walk().map_err(|row| {
            let what = format!("its bases, the places in .sa and the bases in .pac are not of one text: row {row}");
            damaged(&path(&self.prefix, ENDINGS[0]), what)
        })
    }

    /// Our index of it, with the threads of this pool. `bases` are those of `.pac`.
    ///
    /// # Errors
    /// As for [`BwaIndex::fill`].
    pub(crate) fn convert(&self, bases: &[u8]) -> Result<ConvertedIndex, BwaIndexError> {
        let [blocks, places, _] = array_bytes(self.bases()).map(|bytes| bytes as usize);
        let mut converted = ConvertedIndex {
            header: self.bwt.header(),
            whole: self.bwt.whole,
            blocks: vec![[0; 8]; blocks / size_of::<OccurrenceBlock>()],
            high: (0..places).into_par_iter().map(|_| AtomicU8::default()).collect(),
            low: (0..places).into_par_iter().map(|_| AtomicU32::default()).collect(),
        };
        let places = Places { high: &converted.high, low: &converted.low };
        self.fill(FmArrays { blocks: &mut converted.blocks, places }, bases)?;
        Ok(converted)
    }

    /// A file in memory of the size of our index with what the library looks at while it loads one: the header, and the
    /// row of the whole text. All else are holes, which take no memory.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn outline(&self) -> io::Result<File> {
        let file = File::from(rustix::fs::memfd_create(c"bwa-mem", rustix::fs::MemfdFlags::CLOEXEC)?);
        let bytes = index_bytes(self.bases());
        file.set_len(bytes)?;
        file.write_all_at(bytemuck::cast_slice(&self.bwt.header()), 0)?;
        file.write_all_at(&self.bwt.whole.to_le_bytes(), bytes - 8)?;
        Ok(file)
    }
}

/// Our index, made of bwa's.
pub(crate) struct ConvertedIndex {
    header: [u64; 6],
    whole: u64,
    blocks: Vec<OccurrenceBlock>,
    high: Vec<AtomicU8>,
    low: Vec<AtomicU32>,
}

impl ConvertedIndex {
    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        index_bytes(self.header[0] / 2)
    }

    /// Writes the file, as `fm` has it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn write(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        /// Places that are written at once.
        const RUN: usize = 1 << 16;
        out.write_all(bytemuck::cast_slice(&self.header))?;
        out.write_all(bytemuck::cast_slice(&self.blocks))?;
        for run in self.high.chunks(RUN) {
            let bytes: Vec<u8> = run.iter().map(|high| high.load(Ordering::Relaxed)).collect();
            out.write_all(&bytes)?;
        }
        for run in self.low.chunks(RUN) {
            let words: Vec<u32> = run.iter().map(|low| low.load(Ordering::Relaxed)).collect();
            out.write_all(bytemuck::cast_slice(&words))?;
        }
        out.write_all(&self.whole.to_le_bytes())
    }
}

/// A file of bwa that is not what it should be.
fn damaged(path: &Path, what: impl Into<String>) -> BwaIndexError {
    BwaIndexError::DamagedOfBwa { path: path.to_owned(), what: what.into() }
}

/// A file that bwa has not written yet, or not to the end.
fn unfinished(path: &Path, what: &str) -> BwaIndexError {
    BwaIndexError::Unfinished { path: path.to_owned(), what: what.to_owned() }
}

/// The same of a file of bwa.
fn of_bwa(error: BwaIndexError) -> BwaIndexError {
    match error {
        BwaIndexError::Damaged { path, what } => BwaIndexError::DamagedOfBwa { path, what },
        other => other,
    }
}

/// The numbers at the beginning of a file, and its size.
fn beginning<const N: usize>(file: &File, path: &Path) -> Result<([u64; N], u64), BwaIndexError> {
    let size = file.metadata().map_err(unreadable(path))?.len();
    let mut bytes = vec![0; 8 * N];
    if size < bytes.len() as u64 {
        return Err(damaged(path, format!("it has {size} bytes")));
    }
    file.read_exact_at(&mut bytes, 0).map_err(unreadable(path))?;
    let mut numbers = [0; N];
    numbers.iter_mut().zip(bytes.as_chunks::<8>().0).for_each(|(number, bytes)| *number = u64::from_le_bytes(*bytes));
    Ok((numbers, size))
}
