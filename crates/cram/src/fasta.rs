//! The FASTA of the reference: htslib reads contigs at any place of it, and for that needs the index of samtools faidx
//! beside it.

use crate::hts;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zerohop_model::error::{Error, InputError};
use zerohop_model::record::Contig;

/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An index of a FASTA file that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIndex {
    /// Where htslib looks for it.
    pub path: PathBuf,
    /// What it says.
    pub text: Vec<u8>,
}

/// The index that `fasta` lacks, or which is older than it; none if it is there.
///
/// # Errors
/// [`Error::Input`] if the file cannot be read, or indexed, or is compressed and has no index.
pub fn missing_index(fasta: &Path) -> Result<Option<NewIndex>, Error> {
    let fault = |what: &str| Error::from(InputError::new(fasta, what));
    let unreadable = |source: std::io::Error| fault(&format!("CRAM needs the reference: {source}"));
    let (fai, gzi) = (beside(fasta, ".fai"), beside(fasta, ".gzi"));
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
    let of_fasta = modified(fasta).map_err(unreadable)?;
    let is_current = |index: &Path| modified(index).is_ok_and(|of_index| of_index >= of_fasta);
    let mut head = [0; 2];
    File::open(fasta).and_then(|mut file| file.read_exact(&mut head)).map_err(unreadable)?;
    if head != GZIP && head[0] != b'>' {
        return Err(fault("it is no FASTA, which CRAM needs: give the FASTA of the reference"));
    }
    match (head == GZIP, is_current(&fai)) {
        (true, true) if is_current(&gzi) => Ok(None),
        (true, _) => Err(fault(
            "it is compressed: for CRAM it must be compressed by bgzip and have the indexes that 'samtools faidx' \
             makes (.fai and .gzi, not older than it), or not be compressed",
        )),
        (false, true) => Ok(None),
        (false, false) => match hts::fai(fasta) {
            // It may be older than the FASTA, and right: a copy of both may have given it its time first.
            Ok(text) if std::fs::read(&fai).is_ok_and(|there| there == text) => Ok(None),
            Ok(text) => Ok(Some(NewIndex { path: fai, text })),
            Err(_) => Err(fault("'samtools faidx' cannot index it, which CRAM needs: are its lines of equal length?")),
        },
    }
}

/// Refuses a FASTA file that is not the reference of these contigs.
pub(crate) fn check(fasta: &Path, contigs: &[Contig]) -> Result<(), Error> {
    let fault = |what: String| Error::from(InputError::new(fasta, what));
    let text = std::fs::read_to_string(beside(fasta, ".fai")).map_err(|error| fault(format!("its index: {error}")))?;
    let line = |line: &str| {
        let mut columns = line.split('\t');
        Some((columns.next()?.to_owned(), columns.next()?.parse().ok()?))
    };
    let lengths: HashMap<String, u64> = text.lines().filter_map(line).collect();
    for Contig { name, length, .. } in contigs {
        match lengths.get(name) {
            Some(found) if found == length => {}
            Some(found) => {
                let what = format!("contig '{name}' has {found} bases here, but {length} in the index of the aligner");
                return Err(fault(what));
            }
            None if *length == 0 => {
                return Err(fault(format!("contig '{name}' has no bases, and CRAM cannot hold it: leave it out")));
            }
            None => return Err(fault(format!("contig '{name}' of the aligner's index is not here"))),
        }
    }
    Ok(())
}

fn beside(fasta: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = fasta.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
