//! The files of an index: their names, and what can be wrong with them.

use crate::fm;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use zerohop_model::error::{InputError, shown};

/// The endings of the files of an index: FM-index, bases, contigs, replaced bases.
pub const ENDINGS: [&str; 4] = ["bwt.2bit.64", "pac", "ann", "amb"];
/// What is behind the name of the reference in the names of the files for bisulfite reads: of the index of its
/// converted bases, and of its own bases.
const CONVERTED: &str = "meth";
const ORIGINAL: &str = "meth.original";
/// The ending of the names of ALT contigs, if there is such a file.
pub const ALT: &str = "alt";
/// The ending of the file of digests.
pub(crate) const DIGESTS: &str = "bwa-mem.digests";

/// Bytes of the name of a contig that the library can read, and of its comment (`bns_restore_core`): longer ones are
/// cut off, or end the process.
pub(crate) const MOST_OF_LINE: usize = 8190;

/// What is wrong with an index.
#[derive(Debug, thiserror::Error)]
pub enum BwaIndexError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: it is damaged, or not an index of bwa-mem2 ({what}): make it again with 'zerohop index --engine \
             bwa-mem{}'",
        path.display(), option(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file of bwa's index is not what it should be.
    #[error("{}: it is damaged, or not of an index of bwa 0.6 or later ({what}): make it again with 'bwa index', or \
             make the index of zerohop with 'zerohop index --engine bwa-mem'",
        path.display())]
    DamagedOfBwa {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// bwa has not written all files of its index.
    #[error("{}: 'bwa index' has not finished ({what}): wait for it, run it again, or make the index of zerohop with \
             'zerohop index --engine bwa-mem'",
        path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The reference cannot be read.
    #[error(transparent)]
    Reference(#[from] InputError),
    /// A line of the reference that is longer than the library can read.
    #[error("{}: the {what} of contig '{contig}' has {bytes} bytes, and bwa-mem takes {MOST_OF_LINE}: shorten it in \
        the FASTA, and make the index again with 'zerohop index --engine bwa-mem'", path.display())]
    LongLine {
        /// The reference, or its list of contigs.
        path: PathBuf,
        /// Which part of the line: its name, or what is behind it.
        what: &'static str,
        /// The beginning of its name.
        contig: String,
        /// Its length in bytes.
        bytes: usize,
    },
    /// It is of another reference.
    #[error("{}: it was made from another reference, or the reference has changed since: make it anew with 'zerohop \
        index --engine bwa-mem{}'", path.display(), option(path))]
    Stale {
        /// The file of the FM-index.
        path: PathBuf,
    },
}

/// What an index is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexKind {
    /// Reads of DNA as it is.
    Plain,
    /// Reads of bisulfite or EM-seq libraries (`--meth`): seeds are found among converted bases, and aligned with those
    /// of the reference.
    Bisulfite,
}

impl IndexKind {
    /// What the names of the files that are searched begin with.
    pub(crate) fn prefix(self, reference: &Path) -> PathBuf {
        match self {
            IndexKind::Plain => reference.to_owned(),
            IndexKind::Bisulfite => path(reference, CONVERTED),
        }
    }

    /// Those of the files of the reference itself, where they are others.
    pub(crate) fn original(self, reference: &Path) -> Option<PathBuf> {
        (self == IndexKind::Bisulfite).then(|| path(reference, ORIGINAL))
    }

    /// The file of the FM-index.
    pub(crate) fn fm(self, reference: &Path) -> PathBuf {
        path(&self.prefix(reference), ENDINGS[0])
    }

    /// All files, but for those of digests and ALT contigs, that of the FM-index first.
    pub(crate) fn files(self, reference: &Path) -> Vec<PathBuf> {
        let prefix = self.prefix(reference);
        let searched = ENDINGS.into_iter().map(|ending| path(&prefix, ending));
        let original = self.original(reference);
        searched.chain(original.iter().flat_map(|own| ENDINGS[1..].iter().map(|ending| path(own, ending)))).collect()
    }

    /// Bytes in memory of an index of a reference of so many bases: those of the FM-index and of bases.
    pub(crate) fn estimated_bytes(self, bases: u64) -> u64 {
        match self {
            IndexKind::Plain => fm::index_bytes(bases) + bases / 4,
            IndexKind::Bisulfite => fm::index_bytes(2 * bases) + bases / 2 + bases / 4,
        }
    }

    /// Bytes of memory that making it takes, with the packed bases.
    pub(crate) fn building_bytes(self, bases: u64) -> u64 {
        match self {
            IndexKind::Plain => fm::building_bytes(bases),
            // Before, both are in memory: less than what sorting takes.
            IndexKind::Bisulfite => fm::building_bytes(2 * bases),
        }
    }

    /// Bytes in memory: those of the FM-index and of bases.
    pub(crate) fn bytes(self, reference: &Path) -> u64 {
        let is_loaded = |file: &&PathBuf| file.extension().is_none_or(|ending| ending != "ann" && ending != "amb");
        let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |file| file.len());
        self.files(reference).iter().filter(is_loaded).map(size).sum()
    }
}

/// What is behind the name of the reference in that of a file of its own bases, where the others are of converted ones.
pub(crate) fn original_ending(ending: &str) -> String {
    format!("{ORIGINAL}.{ending}")
}

/// What a user adds to the command that makes this file of an index.
pub(crate) fn option(file: &Path) -> &'static str {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_converted = name.rsplit_once(&format!(".{CONVERTED}.")).is_some_and(|(_, rest)| {
        let rest = rest.strip_prefix("original.").unwrap_or(rest);
        ENDINGS.contains(&rest) || rest == DIGESTS
    });
    if is_converted { " --meth" } else { "" }
}

/// A file of the index of `reference`.
pub fn path(reference: &Path, ending: &str) -> PathBuf {
    let mut name = reference.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Refuses a contig that the library cannot read, of the reference or the list of contigs at `path`.
///
/// # Errors
/// [`BwaIndexError::LongLine`].
pub(crate) fn check_line(path: &Path, name: &[u8], comment: &[u8]) -> Result<(), BwaIndexError> {
    let long = [("name", name), ("comment", comment)].into_iter().find(|(_, text)| text.len() > MOST_OF_LINE);
    let Some((what, text)) = long else { return Ok(()) };
    let contig = shown(name);
    Err(BwaIndexError::LongLine { path: path.to_owned(), what, contig, bytes: text.len() })
}

/// A file that is not what it should be.
pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> BwaIndexError {
    BwaIndexError::Damaged { path: path.to_owned(), what: what.into() }
}

/// A file that cannot be read, for `map_err`.
pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> BwaIndexError + use<> {
    let path = path.to_owned();
    move |source| BwaIndexError::Unreadable { path: path.clone(), source }
}

/// All of a file.
///
/// # Errors
/// What the system says.
pub(crate) fn text(path: &Path) -> Result<Vec<u8>, BwaIndexError> {
    let mut text = Vec::new();
    File::open(path).and_then(|mut file| file.read_to_end(&mut text)).map_err(unreadable(path))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_makes_a_file_is_told_by_its_name() {
        for kind in [IndexKind::Plain, IndexKind::Bisulfite] {
            for reference in ["folder.meth.d/ref.fa", "ref.meth.fa", "ref"].map(Path::new) {
                let wanted = if kind == IndexKind::Bisulfite { " --meth" } else { "" };
                kind.files(reference).iter().for_each(|file| assert_eq!(option(file), wanted, "{}", file.display()));
            }
        }
    }
}
