//! A reference in FASTA: plain, gzip or BGZF, by content. One that is plain can be read by many threads
//! ([`Stretches`]). CRAM wants it in another form ([`for_cram`]).

mod for_cram;
mod stretches;

pub use for_cram::{check_fasta, for_cram};
pub use stretches::{Counted, ReferenceLayout, STRETCH, Stretches};

use crate::errors::read_fault;
use crate::gzip::inflated;
use std::collections::HashSet;
use std::fs::File;
use std::io::BufRead;
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerohop_cram::LinePlace;
use zerohop_model::error::{InputError, shown};
use zerohop_model::record::{Contig, MAX_CONTIG_BASES};

/// Bases per byte of gzip: FASTA shrinks about fourfold.
const BASES_PER_GZIP_BYTE: u64 = 4;

/// Refuses a reference that can be read only once: it is read several times.
///
/// # Errors
/// A pipe, a device; `-`, which is standard input elsewhere.
pub fn check_file(path: &Path) -> Result<(), InputError> {
    let is_no_file = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    match path == Path::new("-") || std::fs::metadata(path).is_ok_and(is_no_file) {
        true => Err(InputError::new(path, "the reference must be a file, plain or gzip: it is read more than once")),
        false => Ok(()),
    }
}

/// About how many bases a reference has, by its length; 0 of what cannot be read, which is reported when it is read in
/// full.
pub fn estimated_bases(path: &Path) -> u64 {
    let mut first = [0; 2];
    let Ok(file) = File::open(path) else { return 0 };
    let is_gzip = file.read_exact_at(&mut first, 0).is_ok() && first == zerohop_gzip::MAGIC;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    bytes.saturating_mul(if is_gzip { BASES_PER_GZIP_BYTE } else { 1 })
}

/// What a reference consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A contig begins.
    Contig {
        /// Its name: the first word of the header line.
        name: &'a [u8],
        /// What follows the name in the header line; may be empty.
        comment: &'a [u8],
    },
    /// Some of its bases: a line.
    Bases(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// The bases, if it is some.
    pub fn bases(self) -> Option<&'a [u8]> {
        match self {
            Piece::Bases(bases) => Some(bases),
            Piece::Contig { .. } => None,
        }
    }
}

/// Reads a reference, handing it to `take` piece by piece, in order. Returns its contigs.
///
/// # Errors
/// A file that cannot be read; text that is not FASTA; a name that is missing, used twice or not allowed in SAM; bases
/// that are no letters; a contig that is too long for SAM and BAM; no sequence at all.
pub fn read(path: &Path, mut take: impl FnMut(Piece<'_>)) -> Result<Vec<Contig>, InputError> {
    read_lines(path, |piece, _| {
        take(piece);
        Ok(())
    })
}

/// As [`read`], with the place of each line in the text.
fn read_lines(
    path: &Path,
    mut take: impl FnMut(Piece<'_>, LinePlace) -> Result<(), InputError>,
) -> Result<Vec<Contig>, InputError> {
    let mut text = open(path)?;
    let mut contigs: Vec<Contig> = Vec::new();
    let mut names = HashSet::new();
    let (mut line, mut byte) = (Vec::new(), 0u64);
    loop {
        line.clear();
        let read = text.read_until(b'\n', &mut line).map_err(|e| read_fault(path, &e))?;
        if read == 0 {
            break;
        }
        let record = contigs.len() as u64;
        let fault = |record, what: String| Err(InputError::new(path, what).at(record, byte));
        let trimmed = line.trim_ascii_end();
        let place = LinePlace { offset: byte, bytes: read as u64 };
        if let Some(header) = trimmed.strip_prefix(b">") {
            let (name, comment) = crate::header::split(header);
            take(Piece::Contig { name, comment }, place)?;
            let name = String::from_utf8_lossy(name).into_owned();
            if let Some(what) = wrong_name(&name) {
                return fault(record + 1, what);
            }
            if !names.insert(name.clone()) {
                return fault(record + 1, format!("two sequences have the name '{}'", shown(name.as_bytes())));
            }
            contigs.push(Contig::new(name, 0));
        } else if let Some(contig) = contigs.last_mut() {
            // All at once first: many bytes are looked at at a time.
            let are_bases = trimmed.iter().fold(true, |all, &byte| all & is_base(byte));
            if !are_bases && let Some(odd) = trimmed.iter().find(|&&byte| !is_base(byte)) {
                let name = shown(contig.name.as_bytes());
                let what = format!("sequence '{name}' holds '{}', which is not a base", odd.escape_ascii());
                return fault(record, what);
            }
            contig.length += trimmed.len() as u64;
            // What is too long is read on, for the message has its length, but not kept.
            if contig.length <= MAX_CONTIG_BASES {
                take(Piece::Bases(trimmed), place)?;
            }
        } else if !trimmed.is_empty() {
            let is_of_reads = trimmed[0] == b'@' || trimmed.starts_with(b"BAM\x01") || trimmed.starts_with(b"CRAM");
            let hint = match is_of_reads {
                true => ": the reference comes first, then the reads",
                false if trimmed.starts_with(b"MMI\x02") => {
                    ": an index of minimap2 is for --engine rammap, or --engine minimap2"
                }
                false => "",
            };
            return fault(
                1,
                format!("not FASTA: it must start with '>', but starts with '{}'{hint}", trimmed[0].escape_ascii()),
            );
        }
        byte += read as u64;
    }
    let too_long = contigs.iter().zip(1..).find_map(|(contig, record)| Some((contig.too_long()?, record)));
    if let Some((what, record)) = too_long {
        return Err(InputError { record: Some(record), ..InputError::new(path, what) });
    }
    if contigs.iter().all(|c| c.length == 0) {
        return Err(InputError::new(path, "the reference holds no sequence"));
    }
    Ok(contigs)
}

/// Whether it may stand for a base: a letter, or what stands for a gap.
#[inline(always)]
fn is_base(byte: u8) -> bool {
    byte.is_ascii_alphabetic() | (byte == b'*') | (byte == b'-') | (byte == b'.')
}

/// What forbids a name in SAM (SAMv1, section 1.2.1, but for the characters that real references use all the same).
pub fn wrong_name(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("a sequence has no name".to_owned());
    }
    let shown = shown(name.as_bytes());
    if name.starts_with(['*', '=']) {
        return Some(format!("the name '{shown}' starts with '{}', which SAM does not allow", &name[..1]));
    }
    let odd = name.bytes().find(|b| !(33..=126).contains(b))?;
    Some(format!("the name '{shown}' holds '{}', which SAM does not allow", odd.escape_ascii()))
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, InputError> {
    let fault = |e| InputError::new(path, format!("cannot open: {e}"));
    let file = File::open(path).map_err(fault)?;
    if file.metadata().map_err(fault)?.is_dir() {
        return Err(InputError::new(path, "is a directory, not a reference in FASTA"));
    }
    inflated(file).map_err(|e| read_fault(path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn try_read(text: &[u8]) -> Result<(Vec<Contig>, Vec<u8>), String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        let mut all = Vec::new();
        let contigs = read(file.path(), |piece| all.extend_from_slice(piece.bases().unwrap_or_default()));
        let name = file.path().display().to_string();
        contigs.map(|c| (c, all)).map_err(|e| e.to_string().replace(&name, "ref.fa"))
    }

    #[test]
    fn contigs_and_bases() {
        let (contigs, bases) = try_read(b"\n>a x\r\nACGT\r\nnn\n>b\n>c\ntt").unwrap();
        let found: Vec<_> = contigs.iter().map(|c| (c.name.as_str(), c.length)).collect();
        assert_eq!(found, [("a", 6), ("b", 0), ("c", 2)]);
        assert_eq!(bases, b"ACGTnntt");
    }

    #[test]
    fn faults() {
        let at = |text: &[u8]| try_read(text).unwrap_err();
        assert_eq!(at(b">a\nAC\n>a\nA\n"), "ref.fa: record 2 (byte 6): two sequences have the name 'a'");
        assert_eq!(at(b">a\nAC1\n"), "ref.fa: record 1 (byte 3): sequence 'a' holds '1', which is not a base");
        assert_eq!(
            at(b"@a\nAC\n"),
            "ref.fa: record 1 (byte 0): not FASTA: it must start with '>', but starts with '@': the reference comes \
             first, then the reads"
        );
        assert!(at(b"BAM\x01\0\0").ends_with("but starts with 'B': the reference comes first, then the reads"));
        assert!(at(b"MMI\x02\x0a").contains("an index of minimap2 is for --engine rammap"));
        assert_eq!(at(b"> a\nAC\n"), "ref.fa: record 1 (byte 0): a sequence has no name");
        assert_eq!(at(b""), "ref.fa: the reference holds no sequence");
        assert_eq!(at(b">a\n>b\n"), "ref.fa: the reference holds no sequence");
    }
    /// A gzip member of so many lines of a mebibyte.
    fn member(lines: usize) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let line = [&[b'A'; 1 << 20][..], b"\n"].concat();
        (0..lines).for_each(|_| encoder.write_all(&line).unwrap());
        encoder.finish().unwrap()
    }

    #[test]
    fn a_contig_of_two_to_the_31_bases_is_refused_before_it_is_held() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let part = member(64);
        let mut write = |bytes: &[u8]| file.write_all(bytes).unwrap();
        let mut name = GzEncoder::new(Vec::new(), Compression::fast());
        name.write_all(b">short\nACGT\n>long\n").unwrap();
        write(&name.finish().unwrap());
        (0..32).for_each(|_| write(&part));
        let mut held = 0;
        let error = read(file.path(), |piece| held += piece.bases().map_or(0, <[u8]>::len)).unwrap_err().to_string();
        let wanted = format!(
            "{}: record 2: the contig 'long' has 2147483648 bases, and SAM and BAM can hold positions up to \
             2147483647: split it",
            file.path().display()
        );
        assert_eq!(error, wanted);
        assert!(held < 1 << 31);
    }
}
