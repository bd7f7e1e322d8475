//! Copies of the index that stay in memory for many processes.
//!
//! | what | of which index |
//! |---|---|
//! | a segment with FM-index and contigs, and with bases | any; for bisulfite reads without bases |
//! | from the next page on, a segment with contigs and bases of the reference itself | for bisulfite reads |
//! | the text of the file of digests | one that `zerohop index` made |
//!
//! A copy is one of the index as it is if the text is the same: nothing else of it is read when it is attached.

use crate::digests::Digests;
use crate::files::{BwaIndexError, ENDINGS, IndexKind, original_ending, text};
use crate::library::{LibraryIndex, be_quiet, c_path};
use crate::library_error::LibraryError;
use crate::load::{Files, LoadError};
use crate::outline::Outline;
use crate::own_names::OwnNames;
use crate::segment::{NewSegment, Segments};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerohop_memory::FileMapping;

/// What a copy of an index will hold.
pub(crate) struct NewCopy {
    first: NewSegment,
    second: Option<NewSegment>,
    digests: Vec<u8>,
    /// Until it is filled.
    _names: (OwnNames, Outline),
}

impl NewCopy {
    /// That of the index of `reference`. (Of the threads the library makes use where it adds samples, which it does not
    /// here.)
    ///
    /// # Errors
    /// Files that are not what the library expects; no folder for temporary files.
    pub(crate) fn of(reference: &Path, kind: IndexKind, threads: usize) -> Result<Self, LoadError> {
        be_quiet();
        let (outline, files) = (Outline::new()?, Files::unchecked(reference, kind, false));
        let mut named = files.named(&files.fm());
        if kind == IndexKind::Bisulfite {
            // The library wants an FM-index with the contigs of the reference itself, too.
            named.push((outline.fm(), original_ending(ENDINGS[0])));
        }
        let names = OwnNames::link(&named)?;
        let segment =
            |prefix: &Path, has_bases| Ok::<_, LoadError>(NewSegment::of(&c_path(prefix)?, has_bases, threads)?);
        let original = kind.original(names.prefix());
        let first = segment(names.prefix(), original.is_none())?;
        let second = original.map(|original| segment(&original, true)).transpose()?;
        Ok(NewCopy { first, second, digests: digests(reference, kind)?, _names: (names, outline) })
    }

    fn segments(&self) -> Segments {
        Segments::new(self.first.bytes(), self.second.as_ref().map(NewSegment::bytes))
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        (self.segments().end() + self.digests.len()) as u64
    }

    /// Fills it: the file has its length.
    ///
    /// # Errors
    /// What the library or the system says.
    pub(crate) fn fill(&self, copy: &File) -> Result<(), LoadError> {
        let unwritten = |error: io::Error| LibraryError::new(format!("a copy cannot be written: {error}"));
        let segments = self.segments();
        let map = FileMapping::write(copy, segments.end()).map_err(unwritten)?;
        self.first.fill(&map, 0)?;
        if let Some((second, (start, _))) = self.second.as_ref().zip(segments.second()) {
            second.fill(&map, start)?;
        }
        Ok(copy.write_all_at(&self.digests, segments.end() as u64).map_err(unwritten)?)
    }
}

/// Whether this is a copy of the index of `reference` as it is now.
pub(crate) fn is_copy(copy: &Path, reference: &Path, kind: IndexKind) -> bool {
    let is_one = || -> io::Result<bool> {
        let copy = File::open(copy)?;
        let Some(segments) = Segments::read(&copy, kind.original(reference).is_some())? else { return Ok(false) };
        let now = digests(reference, kind).map_err(io::Error::other)?;
        let mut then = vec![0; (copy.metadata()?.len() - segments.end() as u64) as usize];
        copy.read_exact_at(&mut then, segments.end() as u64)?;
        Ok(then == now)
    };
    is_one().unwrap_or(false)
}

/// The index in a copy, mapped with so many threads. Nobody may change the copy as long as there is the index.
///
/// # Errors
/// A copy that cannot be read, or is none.
pub(crate) fn attach(
    copy: &Path,
    kind: IndexKind,
    (ignore_alt, threads): (bool, usize),
) -> Result<LibraryIndex, LoadError> {
    let unread = |error: io::Error| LibraryError::new(format!("a copy cannot be read: {error}"));
    let file = File::open(copy).map_err(unread)?;
    let has_original = kind == IndexKind::Bisulfite;
    let segments = Segments::read(&file, has_original).map_err(unread)?;
    let segments = segments.ok_or_else(|| LibraryError::new("a copy is not one of an index"))?;
    let outline = Outline::new()?;
    let original = has_original.then(|| outline.load()).transpose()?;
    Ok(outline.load()?.attach(original, &file, &segments, (ignore_alt, threads))?)
}

/// The text of the file of digests; empty if another program made the index.
fn digests(reference: &Path, kind: IndexKind) -> Result<Vec<u8>, BwaIndexError> {
    let path = Digests::path(reference, kind);
    if path.exists() { text(&path) } else { Ok(Vec::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;
    use zerohop_model::index::{IndexProvider, Wanted};

    #[test]
    fn the_librarys_objects_were_compared_when_this_was_compiled() {
        let were_found = std::hint::black_box(cfg!(layout_is_asserted));
        assert!(were_found, "build.rs has not found the headers of bwa-mem3");
    }

    #[test]
    fn a_copy_is_read_in_place_of_the_index() {
        let dir = tempfile::tempdir().unwrap();
        let fasta = dir.path().join("x.fa");
        let mut random = fastrand::Rng::with_seed(1);
        let mut bases = |count: usize| (0..count).map(|_| ['A', 'C', 'G', 'T'][random.usize(..4)]).collect::<String>();
        std::fs::write(&fasta, format!(">a first\n{}N\n>b\n{}\n", bases(5000), bases(70))).unwrap();
        for (kind, arguments) in [(IndexKind::Plain, ""), (IndexKind::Bisulfite, "--meth")] {
            let wanted = Wanted { reference: &fasta, mean_read_length: 0, anew: true, arguments };
            Provider.save(&wanted, 2, &|_| ()).unwrap();
            let new = NewCopy::of(&fasta, kind, 2).unwrap();
            let path = dir.path().join("copy");
            let copy = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
            copy.set_len(new.bytes()).unwrap();
            assert!(!is_copy(&path, &fasta, kind), "{kind:?}: it is empty");
            new.fill(&copy).unwrap();
            assert!(is_copy(&path, &fasta, kind), "{kind:?}");
            for ignore_alt in [false, true] {
                let index = attach(&path, kind, (ignore_alt, 2)).unwrap();
                assert_eq!(index.contigs(), [("a".to_owned(), 5001), ("b".to_owned(), 70)], "{kind:?}");
                assert!(matches!(index.memory()[..], [(_, bytes)] if bytes as u64 <= new.bytes()));
            }
            // Of an index with other digests; not whole; no copy at all.
            let digests = Digests::path(&fasta, kind);
            let before = std::fs::read(&digests).unwrap();
            std::fs::write(&digests, "{}").unwrap();
            assert!(!is_copy(&path, &fasta, kind), "{kind:?}: other digests");
            std::fs::write(&digests, before).unwrap();
            copy.set_len(new.bytes() - 1).unwrap();
            assert!(!is_copy(&path, &fasta, kind), "{kind:?}: cut off");
            copy.set_len(1000).unwrap();
            assert!(attach(&path, kind, (false, 1)).is_err(), "{kind:?}: shorter than its segments");
            copy.write_all_at(b"x", 0).unwrap();
            assert!(attach(&path, kind, (false, 1)).is_err() && !is_copy(&fasta, &fasta, kind), "{kind:?}");
        }
    }
}
