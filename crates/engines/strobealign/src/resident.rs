//! Index files that are copied to memory, whole, so that many processes map one copy.

use crate::file::{FileSection, IndexFileError};
use crate::loader::Loader;
use crate::pieces::{PIECE, share};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Refuses an index that cannot be used, or was made from another FASTA than this one, if one is given.
///
/// # Errors
/// As for loading it.
pub(crate) fn check(path: &Path, reference: Option<&Path>, threads: usize) -> Result<(), IndexFileError> {
    Loader::open(path)?.check_reference(reference, threads)
}

/// Copies the index at `path` to `copy`, which is as long already, with so many threads. Every byte that means anything
/// is checked on the way.
///
/// # Errors
/// As for loading it; a copy that cannot be written.
pub(crate) fn fill(path: &Path, copy: &File, threads: usize) -> Result<(), IndexFileError> {
    let loader = Loader::open(path)?;
    let unwritten = |source| IndexFileError::Io { path: path.to_owned(), what: "cannot copy the index", source };
    let pieces = |section| (0..pieces_of(section)).map(move |i| (section, i));
    let all = loader.sections().into_iter().flat_map(pieces).collect();
    copy.write_all_at(&loader.head, 0).map_err(unwritten)?;
    share(all, threads, |(section, i)| {
        let start = i * PIECE;
        let mut piece = vec![0; (section.bytes as usize - start).min(PIECE)];
        loader.read_piece(section, i, &mut piece)?;
        copy.write_all_at(&piece, section.offset + start as u64).map_err(unwritten)
    })
}

fn pieces_of(section: &FileSection) -> usize {
    (section.bytes as usize).div_ceil(PIECE)
}

/// Whether both index files have the same length and description, with the same digests of all their pieces.
pub(crate) fn same_description(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| path.metadata().map(|file| file.len()).ok();
    let is_same_length = length(one) == length(other);
    let [one, other] = [one, other].map(Loader::open);
    is_same_length && one.is_ok_and(|one| other.is_ok_and(|other| one.head == other.head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IndexParameters;
    use crate::file::identify;
    use crate::{ReferenceBuilder, Strobealign};
    use zerohop_model::record::Contig;

    #[test]
    fn a_copy_is_the_index_that_was_copied() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let (fasta, path, copied) = (at("x.fa"), at("x.zhi"), at("copy"));
        std::fs::write(&fasta, "x").unwrap();
        let mut random = fastrand::Rng::with_seed(4);
        let mut builder = ReferenceBuilder::default();
        builder.push(&(0..3_000_001).map(|_| b"ACGT"[random.usize(..4)]).collect::<Vec<u8>>());
        let reference = builder.build(vec![Contig::new("a", 3_000_001)]).unwrap();
        let ours = Strobealign::build(reference, &IndexParameters::of_reads(150), 2, |_| {}).unwrap();
        let bytes = ours.save(&path, &identify(&fasta, 1).unwrap(), 2).unwrap();
        let copy = || {
            let copy = File::create(&copied).unwrap();
            copy.set_len(bytes).unwrap();
            copy
        };
        for threads in [1, 2, 7] {
            fill(&path, &copy(), threads).unwrap();
            assert!(std::fs::read(&copied).unwrap() == std::fs::read(&path).unwrap(), "{threads} threads");
        }
        assert!(same_description(&path, &copied) && !same_description(&path, &fasta));
        // In this program vectors are another allocator's: the tables are read.
        let attached = Strobealign::attach(&copied, Some(&fasta), &IndexParameters::of_reads(150), 3).unwrap();
        assert!(attached.tables.randstrobes == ours.tables.randstrobes);
        assert!(attached.tables.bucket_starts == ours.tables.bucket_starts);
        assert!(attached.reference.sequence == ours.reference.sequence);
        assert!(Strobealign::attach(&copied, Some(&fasta), &IndexParameters::of_reads(250), 1).is_err());
        // Another reference, another index, a wrong byte.
        std::fs::write(at("y.fa"), "yy").unwrap();
        assert!(check(&path, Some(&at("y.fa")), 2).is_err() && check(&path, Some(&fasta), 2).is_ok());
        assert!(check(&path, None, 1).is_ok() && check(&fasta, None, 1).is_err());
        ours.save(&at("y.zhi"), &identify(&at("y.fa"), 1).unwrap(), 2).unwrap();
        assert!(!same_description(&path, &at("y.zhi")));
        for section in Loader::open(&path).unwrap().sections() {
            let file = File::options().read(true).write(true).open(&path).unwrap();
            let (place, mut byte) = (section.offset + section.bytes - 1, [0]);
            file.read_exact_at(&mut byte, place).unwrap();
            file.write_all_at(&[byte[0] ^ 1], place).unwrap();
            let error = fill(&path, &copy(), 2).unwrap_err().to_string();
            assert!(error.contains("it is damaged between bytes"), "{error}");
            file.write_all_at(&byte, place).unwrap();
        }
    }
}
