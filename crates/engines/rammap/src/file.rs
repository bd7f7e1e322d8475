//! The index file: what rammap makes an index from ([`payload`](crate::payload)), in pieces that are checked, and what
//! it was made of. The reference need not be there.
//!
//! Layout, little-endian: [`MAGIC`], the format version (u32), four bytes of 0, then where the description is (u64),
//! its length (u64) and its XXH3 (u64); the payload; the description, in JSON, with the XXH3 of each piece of the
//! payload.

use crate::VERSION;
use crate::build::IndexParts;
use crate::error::RammapIndexError;
use crate::parameters::IndexParameters;
use crate::payload::{PIECE, PieceWriter, receive};
use rammap::align::index::Index;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;
use zerohop_input::identity::FileId;
use zerohop_model::record::Contig;
use zerohop_process::NewFile;

/// The first bytes.
pub(crate) const MAGIC: [u8; 8] = *b"ZHRAMMAP";
/// The version of the format that this program reads and writes.
const FORMAT_VERSION: u32 = 1;
/// Bytes before the payload.
const HEAD: u64 = 40;

/// What stands behind the payload.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    engine_version: String,
    reference: FileId,
    k: usize,
    w: usize,
    homopolymers: bool,
    contigs: Vec<(String, u64)>,
    /// Bytes of the index in memory.
    memory: u64,
    payload: u64,
    piece_xxh3: Vec<u64>,
}

/// Writes an index of this reference to `path`, and says how many bytes it takes in memory.
///
/// # Errors
/// When the file cannot be written; then none is left.
pub(crate) fn save(parts: IndexParts, path: &Path, reference: FileId) -> Result<u64, RammapIndexError> {
    let unwritten = RammapIndexError::unwritten(path);
    let new = NewFile::create(path).map_err(|error| unwritten(error.source))?;
    let contigs = parts.contigs.iter().map(|contig| (contig.name.clone(), contig.length)).collect();
    let IndexParameters { k, w, homopolymers } = parts.parameters;
    let (mut at, mut piece_xxh3) = (HEAD, Vec::new());
    let out = PieceWriter::new(|piece| {
        piece_xxh3.push(xxh3_64(&piece));
        new.file().write_all_at(&piece, at)?;
        at += piece.len() as u64;
        Ok(())
    });
    let memory = parts.write(out).map_err(unwritten)?;
    let (engine_version, payload) = (VERSION.to_owned(), at - HEAD);
    let description =
        Description { engine_version, reference, k, w, homopolymers, contigs, memory, payload, piece_xxh3 };
    let json = serde_json::to_vec(&description).map_err(|error| unwritten(io::Error::other(error)))?;
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    head.extend_from_slice(&[0; 4]);
    for number in [at, json.len() as u64, xxh3_64(&json)] {
        head.extend_from_slice(&number.to_le_bytes());
    }
    new.file().write_all_at(&json, at).map_err(unwritten)?;
    new.file().write_all_at(&head, 0).map_err(unwritten)?;
    new.complete().map_err(|error| unwritten(error.source))?;
    Ok(memory)
}

/// An index file that was opened, with its description.
pub(crate) struct IndexFile {
    path: PathBuf,
    file: File,
    description: Description,
}

impl IndexFile {
    /// Opens it and reads its description.
    ///
    /// # Errors
    /// A file that cannot be read, is no index of ours, of another version, cut off or damaged.
    pub(crate) fn open(path: &Path) -> Result<Self, RammapIndexError> {
        let unread = RammapIndexError::unread(path);
        let unusable = |what: &str| RammapIndexError::Unusable {
            path: path.to_owned(),
            what: what.to_owned(),
            arguments: String::new(),
            reference: None,
        };
        let file = File::open(path).map_err(unread)?;
        let length = file.metadata().map_err(unread)?.len();
        let mut head = [0; HEAD as usize];
        let short = |_| unusable("it is not an index of zerohop, or it is truncated");
        file.read_exact_at(&mut head, 0).map_err(short)?;
        if head[..8] != MAGIC {
            return Err(unusable("it is not an index of this engine"));
        }
        let word = |at: usize| head[at..at + 8].iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let version = word(8);
        if version != u64::from(FORMAT_VERSION) {
            let what = format!("it has version {version} of the format, and this zerohop reads {FORMAT_VERSION}");
            return Err(unusable(&what));
        }
        let [at, bytes, hash] = [word(16), word(24), word(32)];
        // Asked for before any memory is: the length may be what is damaged.
        if at.checked_add(bytes).is_none_or(|end| end > length) {
            return Err(unusable("it is truncated"));
        }
        let mut json = vec![0; bytes as usize];
        file.read_exact_at(&mut json, at).map_err(short)?;
        let damaged = || unusable("its description is damaged");
        if xxh3_64(&json) != hash {
            return Err(damaged());
        }
        let description: Description = serde_json::from_slice(&json).map_err(|_| damaged())?;
        if description.engine_version != VERSION {
            return Err(unusable("it was made by another version of the engine"));
        }
        let contigs = description.contigs.iter().map(|(name, length)| Contig::new(name, *length));
        let has_all = HEAD + description.payload == at
            && description.payload.div_ceil(PIECE as u64) == description.piece_xxh3.len() as u64;
        match contigs.clone().find_map(|contig| contig.too_long()) {
            None if has_all => Ok(IndexFile { path: path.to_owned(), file, description }),
            what => Err(unusable(&what.unwrap_or_else(|| "its description is damaged".to_owned()))),
        }
    }

    /// What it was made with.
    pub(crate) fn parameters(&self) -> IndexParameters {
        let Description { k, w, homopolymers, .. } = self.description;
        IndexParameters { k, w, homopolymers }
    }

    /// Bytes of the index in memory.
    pub(crate) fn memory(&self) -> u64 {
        self.description.memory
    }

    /// The sequences of its reference.
    pub(crate) fn contigs(&self) -> Vec<Contig> {
        self.description.contigs.iter().map(|(name, length)| Contig::new(name, *length)).collect()
    }

    fn unusable(&self, what: String) -> RammapIndexError {
        let arguments = self.parameters().arguments();
        RammapIndexError::Unusable { path: self.path.clone(), what, arguments, reference: None }
    }

    /// Refuses an index that was made from another FASTA than this one.
    ///
    /// # Errors
    /// That it was; a reference that cannot be read.
    pub(crate) fn check_reference(&self, reference: &Path, threads: usize) -> Result<(), RammapIndexError> {
        match self.description.reference.is_of(reference, threads).map_err(RammapIndexError::unread(reference))? {
            true => Ok(()),
            false => {
                Err(self.unusable("it was made from another reference, or the reference has changed since".into()))
            }
        }
    }

    /// Loads it into memory of the calling thread's placement, checking every byte.
    ///
    /// # Errors
    /// A file that cannot be read, or is damaged.
    pub(crate) fn load(&self) -> Result<Index, RammapIndexError> {
        receive(|sender| {
            let Description { payload, piece_xxh3, .. } = &self.description;
            let mut at = 0;
            for hash in piece_xxh3 {
                let mut piece = vec![0; (payload - at).min(PIECE as u64) as usize];
                let unread = RammapIndexError::unread(&self.path);
                self.file.read_exact_at(&mut piece, HEAD + at).map_err(unread)?;
                let end = at + piece.len() as u64;
                if xxh3_64(&piece) != *hash {
                    let what = format!("it is damaged between bytes {} and {}", HEAD + at, HEAD + end);
                    return Err(self.unusable(what));
                }
                at = end;
                if sender.send(piece).is_err() {
                    // Whoever takes them says why it does not.
                    return Ok(());
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_same, fasta, file, parts, twin};
    use fastrand::Rng;

    #[test]
    fn an_index_is_the_same_after_it_was_in_a_file_and_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let parameters = IndexParameters { k: 15, w: 10, homopolymers: false };
        let text = fasta(&[4000, 100, 900], 7);
        let reference = file(folder.path(), "ref.fa", &text);
        let path = parameters.path(&reference);
        let id = FileId::read(&reference, 1).unwrap();
        let memory = save(parts(&reference, parameters, 2), &path, id).unwrap();
        let index = IndexFile::open(&path).unwrap();
        assert_eq!((index.parameters(), index.memory()), (parameters, memory));
        assert_eq!(index.contigs().iter().map(|contig| contig.length).sum::<u64>(), 5000);
        index.check_reference(&reference, 1).unwrap();
        assert_same(&twin(&text, parameters), &index.load().unwrap(), &text);

        let (whole, mut rng) = (std::fs::read(&path).unwrap(), Rng::with_seed(1));
        let is_refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            IndexFile::open(&path).and_then(|index| index.load()).is_err()
        };
        for _ in 0..300 {
            let (mut bytes, at) = (whole.clone(), rng.usize(..whole.len()));
            bytes[at] ^= 1 << rng.u8(..8);
            assert!(is_refused(&bytes), "byte {at} of {}", whole.len());
        }
        for length in [0, 7, 39, 40, 5000, whole.len() - 1] {
            assert!(is_refused(&whole[..length]), "{length} of {}", whole.len());
        }
        std::fs::write(&path, &whole).unwrap();
        std::fs::write(&reference, fasta(&[4000, 100, 901], 7)).unwrap();
        let stale = IndexFile::open(&path).unwrap().check_reference(&reference, 1).unwrap_err().to_string();
        assert!(stale.contains("made from another reference"), "{stale}");
    }
}
