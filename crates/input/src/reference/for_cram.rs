//! A reference as CRAM wants it: in capital letters, as `samtools dict` and the specification have it (SAMv1, section
//! 1.3.2), whatever lies beside it. This is the one place where that is done.

use super::{Piece, check_file, open, read_lines};
use crate::errors::read_fault;
use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;
use zerohop_cram::{CramReference, CramReferenceBuilder};
use zerohop_model::error::InputError;

/// Refuses early what [`for_cram`] refuses later: looks at the first byte alone. `needed` says who needs it, such as
/// "CRAM needs the reference".
///
/// # Errors
/// What cannot be read, is not FASTA, or is empty.
pub fn check_fasta(path: &Path, needed: &str) -> Result<(), InputError> {
    check_file(path)?;
    let with = |error: InputError| InputError { what: format!("{needed}: {}", error.what), ..error };
    let text = open(path).map_err(with)?.fill_buf().map_err(|e| read_fault(path, &e))?.first().copied();
    match text {
        None => Err(InputError::new(path, "the reference holds no sequence")),
        // A blank line may come first; what is behind it is seen when all is read.
        Some(b'>' | b'\n' | b'\r') => Ok(()),
        Some(_) => Err(InputError::new(path, format!("it is not FASTA; {needed}: give its FASTA"))),
    }
}

/// Reads a reference for CRAM, with M5 of its contigs or without. One that is plain, with lines of equal length, is
/// read from its file later; the bases of any other are kept in memory, a byte each.
///
/// # Errors
/// As [`super::read`]; too little memory.
pub fn for_cram(path: &Path, with_md5: bool) -> Result<CramReference, InputError> {
    check_file(path)?;
    let from_file = match is_gzip(path) {
        true => None,
        false => build(path, with_md5, false)?,
    };
    match from_file {
        Some(reference) => Ok(reference),
        None => build(path, with_md5, true)?.ok_or_else(|| InputError::new(path, "its bases cannot be kept in memory")),
    }
}

fn is_gzip(path: &Path) -> bool {
    let mut first = [0; 2];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok()) && zerohop_gzip::is_member(&first)
}

fn build(path: &Path, with_md5: bool, in_memory: bool) -> Result<Option<CramReference>, InputError> {
    let fault = |e: std::io::Error| InputError::new(path, format!("its bases cannot be kept in memory: {e}"));
    let mut builder = CramReferenceBuilder::new(with_md5, in_memory).map_err(fault)?;
    let mut capitals = Vec::new();
    read_lines(path, |piece, place| {
        match piece {
            Piece::Contig { name, .. } => builder.begin(&String::from_utf8_lossy(name)),
            Piece::Bases(bases) => {
                capitals.clear();
                capitals.extend_from_slice(bases);
                capitals.make_ascii_uppercase();
                builder.push(&capitals, place).map_err(fault)?;
            }
        }
        Ok(())
    })?;
    builder.finish(path).map_err(fault)
}
