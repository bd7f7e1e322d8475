//! Loading: the library is given names of its own for the files, so that it cannot take another index out of shared
//! memory, and nothing that it prints reaches the user.

use crate::digests::Digests;
use crate::files::{ALT, BwaIndexError, ENDINGS, IndexKind, damaged, original_ending, path, text};
use crate::from_bwa::BwaIndex;
use crate::index_check;
use crate::library::{LibraryIndex, be_quiet, c_path};
use crate::library_error::LibraryError;
use crate::own_names::{NamesError, OwnNames};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Why an index cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its files are wrong.
    #[error(transparent)]
    Files(#[from] BwaIndexError),
    /// The library cannot.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// There is no place for names.
    #[error(transparent)]
    Names(#[from] NamesError),
    /// The object that reads an index elsewhere cannot be loaded.
    #[error("bwa-mem3 cannot be prepared: a file in memory: {0}")]
    Outline(io::Error),
    /// The index of bwa cannot be turned into ours.
    #[error("{}: it cannot be converted here ({what}): make the index of zerohop with 'zerohop index --engine bwa-mem'",
        path.display())]
    Conversion {
        /// Its BWT.
        path: PathBuf,
        /// Why not.
        what: String,
    },
}

/// The files of an index, which were looked at.
pub(crate) struct Files {
    /// What their names begin with: that of the reference, or of bwa's index.
    prefix: PathBuf,
    kind: IndexKind,
    ignore_alt: bool,
    /// Where they are bwa's.
    bwa: Option<Arc<BwaIndex>>,
    /// Whether they are looked at before they are loaded.
    are_checked: bool,
}

impl Files {
    /// Files that are looked at if they are loaded.
    pub(crate) fn unchecked(reference: &Path, kind: IndexKind, ignore_alt: bool) -> Self {
        Files { prefix: absolute(reference), kind, ignore_alt, bwa: None, are_checked: false }
    }

    /// Looks at the files beside `reference`, with so many threads: at digests, if `zerohop index` made them.
    ///
    /// # Errors
    /// Files that are missing or wrong; a reference that has changed.
    pub(crate) fn check(
        reference: &Path,
        kind: IndexKind,
        ignore_alt: bool,
        threads: usize,
    ) -> Result<Self, BwaIndexError> {
        index_check::check_alt(reference)?;
        match (Digests::read(reference, kind)?, kind) {
            (Some(digests), _) => {
                digests.check_reference(reference, kind, threads)?;
                digests.check_files(reference, kind, threads)?;
            }
            (None, IndexKind::Plain) => index_check::check(reference, threads)?,
            (None, IndexKind::Bisulfite) => {
                let what = format!("{} is missing", Digests::path(reference, kind).display());
                return Err(damaged(&kind.fm(reference), what));
            }
        }
        index_check::check_lines(&kind.original(reference).unwrap_or_else(|| reference.to_owned()))?;
        Ok(Files { are_checked: true, ..Files::unchecked(reference, kind, ignore_alt) })
    }

    /// Looks at bwa's index of `reference`, as far as it is not looked at while it is loaded.
    ///
    /// # Errors
    /// Files that are wrong; a reference that has changed.
    pub(crate) fn check_bwa(index: &Arc<BwaIndex>, reference: &Path, ignore_alt: bool) -> Result<Self, BwaIndexError> {
        index.check(reference)?;
        let bwa = Some(Arc::clone(index));
        Ok(Files { bwa, are_checked: true, ..Files::unchecked(index.prefix(), IndexKind::Plain, ignore_alt) })
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        if let Some(bwa) = &self.bwa {
            return bwa.bytes();
        }
        self.kind.bytes(&self.prefix)
    }

    /// What the names of the files of the reference itself begin with.
    fn original(&self) -> PathBuf {
        self.kind.original(&self.prefix).unwrap_or_else(|| self.prefix.clone())
    }

    /// The text of the file of contigs.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn contigs(&self) -> Result<Vec<u8>, BwaIndexError> {
        text(&path(&self.original(), ENDINGS[2]))
    }

    /// The text of the file of ALT contigs, if there is one and it counts.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn alternates(&self) -> Result<Vec<u8>, BwaIndexError> {
        let path = path(&self.prefix, ALT);
        if self.ignore_alt || !path.exists() { Ok(Vec::new()) } else { text(&path) }
    }

    /// A copy in memory of this thread's policy, loaded with so many threads.
    ///
    /// # Errors
    /// No memory, no folder for temporary names; an index of bwa that is wrong.
    pub(crate) fn load(&self, threads: usize) -> Result<LibraryIndex, LoadError> {
        self.load_and(threads, |bwa, index| {
            let (arrays, bases) = index.writable().ok_or_else(|| unknown_place(bwa))?;
            Ok(bwa.fill(arrays, bases)?)
        })
    }

    /// One more, where `first` is loaded already.
    ///
    /// # Errors
    /// As for [`Files::load`].
    pub(crate) fn copy(&self, first: &LibraryIndex, threads: usize) -> Result<LibraryIndex, LoadError> {
        self.load_and(threads, |bwa, index| index.copy(first).then_some(()).ok_or_else(|| unknown_place(bwa)))
    }

    /// Loads the files. Of an index of bwa the library gets an outline in place of a file, so that it allocates its
    /// arrays; what these hold is put there by `fill`, in a pool of so many threads.
    fn load_and(
        &self,
        threads: usize,
        fill: impl FnOnce(&BwaIndex, &mut LibraryIndex) -> Result<(), LoadError> + Send,
    ) -> Result<LibraryIndex, LoadError> {
        let Some(bwa) = &self.bwa else {
            if !self.are_checked {
                Files::check(&self.prefix, self.kind, self.ignore_alt, threads)?;
            }
            return self.load_files(&self.fm(), threads);
        };
        let impossible = |what: String| LoadError::Conversion { path: path(&self.prefix, "bwt"), what };
        let outline = bwa.outline().map_err(|error| impossible(format!("a file in memory: {error}")))?;
        let mut index = self.load_files(&PathBuf::from(format!("/proc/self/fd/{}", outline.as_raw_fd())), threads)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| impossible(error.to_string()))?.install(|| fill(bwa, &mut index))?;
        Ok(index)
    }

    /// Loads the files, and this one as the FM-index.
    fn load_files(&self, fm: &Path, threads: usize) -> Result<LibraryIndex, LoadError> {
        let names = OwnNames::link(&self.named(fm))?;
        let original = self.kind.original(names.prefix());
        load_named(&names, original.as_deref(), threads)
    }

    /// The file of the FM-index.
    pub(crate) fn fm(&self) -> PathBuf {
        self.kind.fm(&self.prefix)
    }

    /// The files, with this one as that of the FM-index, and what their own names end in.
    pub(crate) fn named(&self, fm: &Path) -> Vec<(PathBuf, String)> {
        let [fm_ending, others @ ..] = ENDINGS;
        let of = |prefix: &Path, own: fn(&str) -> String| others.map(|end| (path(prefix, end), own(end))).to_vec();
        let mut files = of(&self.kind.prefix(&self.prefix), str::to_owned);
        files.push((fm.to_owned(), fm_ending.to_owned()));
        if let Some(original) = self.kind.original(&self.prefix) {
            files.extend(of(&original, original_ending));
        }
        let alt = path(&self.prefix, ALT);
        if !self.ignore_alt && alt.exists() {
            files.push((alt, if self.kind == IndexKind::Plain { ALT.to_owned() } else { original_ending(ALT) }));
        }
        files
    }
}

/// Loads the index whose files have these names, and, if it is one of converted bases, whose own bases are in files
/// that begin with `original`.
pub(crate) fn load_named(names: &OwnNames, original: Option<&Path>, threads: usize) -> Result<LibraryIndex, LoadError> {
    be_quiet();
    // One at a time: each with all threads.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let original = original.map(c_path).transpose()?;
    Ok(LibraryIndex::load(&c_path(names.prefix())?, original.as_deref(), threads)?)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn unknown_place(bwa: &BwaIndex) -> LoadError {
    let what = "bwa-mem3 has its arrays elsewhere".to_owned();
    LoadError::Conversion { path: path(bwa.prefix(), "bwt"), what }
}
