//! Whether an index is of its reference as that is now.
//!
//! Indexes of external aligners hold no digest of the reference. What tells are the contigs in the header that the
//! aligner writes before its first record: those of the reference, with their lengths. Bases that have changed alone do
//! not show in it; of an index that is older than its reference there is a note, then.

use crate::job::AlignError;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use zerohop_engine_external::{ExternalError, Found, FoundIndex, UserArguments};
use zerohop_input::reference::{Piece, read};
use zerohop_model::error::{InputError, shown};
use zerohop_model::record::Contig;

/// A contig of a reference, and whether it has a base A, C, G or T. (bowtie and hisat2 leave out those that have none.)
type KnownContig = (Contig, bool);
/// What a reference has, or why it cannot be read.
type Contigs = Result<Vec<KnownContig>, InputError>;

/// Looks at the time of an index. What the user should know goes to `notes`.
///
/// # Errors
/// An index that is older than the reference, where the aligner's header does not tell of which reference it is.
pub fn check_time(
    (found, user): (&Found, &UserArguments),
    index: &FoundIndex,
    reference: &Path,
    notes: &mut Vec<String>,
) -> Result<(), AlignError> {
    if !index.is_older_than(reference) {
        return Ok(());
    }
    let command = found.rebuild_command(reference, index, user);
    let (file, shown) = (&index.files[0], reference.display());
    if !found.descriptor.index.header_names_contigs {
        let (index, reference) = (file.clone(), reference.to_owned());
        return Err(ExternalError::Older { index, reference, command }.into());
    }
    notes.push(format!(
        "The index {} is older than the reference {shown}. Names and lengths of contigs are compared; if bases have \
         changed, make it anew with '{command}'. touch(1) of its files ends this note.",
        file.display()
    ));
    Ok(())
}

/// The contigs of a reference, which are read while the aligner loads its index.
pub struct ComparedReference {
    reading: Mutex<Option<JoinHandle<Contigs>>>,
    /// The first file of the index.
    index: PathBuf,
    command: String,
}

impl ComparedReference {
    /// Begins to read `reference`; none if it is no file of its own, or if the aligner's header does not tell.
    pub fn begin(found: &Found, user: &UserArguments, index: &FoundIndex, reference: &Path) -> Option<Self> {
        let is_fasta = reference.is_file() && !index.files.iter().any(|file| file == reference);
        if !is_fasta || !found.descriptor.index.header_names_contigs {
            return None;
        }
        let (index, command) = (index.files[0].clone(), found.rebuild_command(reference, index, user));
        let reference = reference.to_owned();
        let reading = std::thread::spawn(move || contigs(&reference));
        Some(ComparedReference { reading: Mutex::new(Some(reading)), index, command })
    }

    /// Waits until it is read, and compares it with the contigs of a header. Says why, if it cannot be compared.
    ///
    /// # Errors
    /// [`ExternalError::Stale`].
    pub fn compare(&self, header: &[Contig]) -> Result<Option<String>, AlignError> {
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Ok(read)) = reading.map(JoinHandle::join) else { return Ok(None) };
        let contigs = match read {
            Ok(contigs) => contigs,
            Err(error) => return Ok(Some(format!("The index could not be compared with its reference. {error}"))),
        };
        match differing(header, &contigs) {
            None => Ok(None),
            Some(what) => {
                let (index, command) = (self.index.clone(), self.command.clone());
                Err(ExternalError::Stale { index, what, command }.into())
            }
        }
    }
}

/// The contigs of a FASTA.
fn contigs(reference: &Path) -> Contigs {
    let mut have_bases = Vec::new();
    let contigs = read(reference, |piece| match piece {
        Piece::Contig { .. } => have_bases.push(false),
        Piece::Bases(bases) => {
            if let Some(has_bases @ false) = have_bases.last_mut() {
                *has_bases = bases.iter().any(|base| b"ACGTacgt".contains(base));
            }
        }
    })?;
    Ok(contigs.into_iter().zip(have_bases).collect())
}

/// In which contig the index that a header is of differs from the reference.
fn differing(header: &[Contig], reference: &[KnownContig]) -> Option<String> {
    let of_index: HashMap<&str, u64> = header.iter().map(|contig| (&*contig.name, contig.length)).collect();
    let of_reference: HashMap<&str, u64> = reference.iter().map(|(contig, _)| (&*contig.name, contig.length)).collect();
    let name = |contig: &Contig| shown(contig.name.as_bytes());
    let other = header.iter().find_map(|contig| match of_reference.get(&*contig.name) {
        None => Some(format!("its contig '{}' is not in the reference", name(contig))),
        Some(&length) if length != contig.length => Some(format!(
            "contig '{}' has {} bases in the index and {length} in the reference",
            name(contig),
            contig.length
        )),
        Some(_) => None,
    });
    other.or_else(|| {
        let missing = reference.iter().find(|(contig, has_bases)| *has_bases && !of_index.contains_key(&*contig.name));
        missing.map(|(contig, _)| format!("contig '{}' of the reference is not in the index", name(contig)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contigs_of_an_index_are_those_of_its_reference() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), ">a words\nACGT\nnn\n>n\nNNNN\n>b\nNNac\n>empty\n").unwrap();
        let reference = contigs(file.path()).unwrap();
        let header = |contigs: &[(&str, u64)]| -> Vec<Contig> {
            contigs.iter().map(|&(name, length)| Contig::new(name.to_owned(), length)).collect()
        };
        for (contigs, what) in [
            (&[("a", 6), ("n", 4), ("b", 4), ("empty", 0)][..], None),
            // bowtie leaves out contigs of no bases, and SNAP may order them otherwise.
            (&[("b", 4), ("a", 6)], None),
            (&[("a", 6)], Some("contig 'b' of the reference is not in the index")),
            (&[("a", 6), ("b", 5)], Some("contig 'b' has 5 bases in the index and 4 in the reference")),
            (&[("a", 6), ("b", 4), ("c", 4)], Some("its contig 'c' is not in the reference")),
        ] {
            assert_eq!(differing(&header(contigs), &reference).as_deref(), what, "{contigs:?}");
        }
    }
}
