//! Errors of the system and of the inflater, in words for the user.

use crate::garbage::TrailingGarbage;
use crate::header;
use std::fmt::Display;
use std::path::Path;
use zerohop_gzip::GzipFault;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::InputError;

/// What an error of the system or of the inflater means, of a text of
/// [`OpenLane::into_texts`](crate::OpenLane::into_texts).
pub fn read_fault(path: &Path, e: &std::io::Error) -> InputError {
    use std::io::ErrorKind;
    let garbage = e.get_ref().and_then(|inner| inner.downcast_ref::<TrailingGarbage>());
    if let Some(garbage) = garbage {
        return InputError::new(path, garbage.to_string());
    }
    if let Some(unreadable) = e.get_ref().and_then(|inner| inner.downcast_ref::<zerohop_cram::Unreadable>()) {
        return InputError::new(path, unreadable.to_string());
    }
    let what = match e.kind() {
        ErrorKind::UnexpectedEof => TRUNCATED.to_owned(),
        ErrorKind::InvalidData | ErrorKind::InvalidInput => damaged(e),
        _ => format!("cannot read: {e}"),
    };
    InputError::new(path, what)
}

/// By what a text is compressed that zerohop does not inflate, and what does.
fn compressed_by(text: &[u8]) -> Option<(&'static str, &'static str)> {
    let known: [(&[u8], _); 4] = [
        (b"\xfd7zXZ\0", ("xz", "xz -dc")),
        (b"BZh", ("bzip2", "bzip2 -dc")),
        (b"\x28\xb5\x2f\xfd", ("zstd", "zstd -dc")),
        (b"PK\x03\x04", ("zip", "unzip -p")),
    ];
    known.into_iter().find_map(|(magic, by)| text.starts_with(magic).then_some(by))
}

/// What to say of a file that holds no reads, by the text that it begins with.
pub(crate) fn not_reads(path: &Path, text: &[u8]) -> InputError {
    let what = match compressed_by(text) {
        Some((what, program)) => format!(
            "it is compressed by {what}; zerohop inflates gzip and BGZF: '{program} FILE' inflates it, and '-' reads \
             standard input"
        ),
        None => {
            let first = text.get(..1).unwrap_or_default().escape_ascii();
            format!("not FASTQ, FASTA, BAM, SAM or CRAM: it starts with '{first}'")
        }
    };
    InputError::new(path, what).at(1, 0)
}

/// What to say where there should be a record that begins so, and a line begins otherwise; none of an empty line.
pub(crate) fn no_record(wanted: u8, found: Option<u8>) -> String {
    let wanted = char::from(wanted);
    let found = match found {
        None | Some(b'\n' | b'\r') => "an empty line".to_owned(),
        Some(byte) => format!("'{}'", byte.escape_ascii()),
    };
    format!("a record must start with '{wanted}', but here is {found}")
}

const TRUNCATED: &str = "the compressed data end early: the file is truncated";

fn damaged(how: impl Display) -> String {
    format!("the compressed data are damaged: {how}")
}

/// What is wrong with a file of plain gzip.
pub(crate) fn gzip_fault(path: &Path, fault: GzipFault) -> InputError {
    let what = match fault {
        GzipFault::Truncated => TRUNCATED.to_owned(),
        fault => damaged(fault),
    };
    InputError::new(path, what)
}

/// Bytes of text that one record may have: with what a chunk may hold before it, its places fit in 32 bits.
const MAX_RECORD_TEXT: u64 = (3 << 30) - (1 << 24);

/// Bytes of text after which a record of reads of at most so many bases cannot end any more.
pub(crate) fn record_text_limit(max_read_bases: u64) -> u64 {
    max_read_bases.saturating_mul(4).saturating_add(1 << 20).min(MAX_RECORD_TEXT)
}

/// What to say of a record of text that is longer than any can be. `record` is its text as far as it was read, with
/// `bases` bases.
pub(crate) fn endless(path: &Path, record: &[u8], bases: u64, limit: u64) -> InputError {
    if bases <= limit {
        return InputError::new(path, "the record does not end: this is not FASTQ, FASTA or BAM, or it is damaged");
    }
    let header = record.split(|&b| b == b'\n').next().unwrap_or_default();
    let (name, _) = header::split(header.get(1..).unwrap_or_default());
    let name = if header.starts_with(b"@") { header::without_mate_number(name) } else { name };
    InputError::new(path, over_limit(limit)).read(name)
}

/// What to say of records of BAM, those of one fragment, that are longer than any can be: of so many `reads`, with
/// `bases` bases as far as they were read. `name` is that of the first.
pub(crate) fn endless_records(path: &Path, name: &[u8], (bases, limit, reads): (u64, u64, u64)) -> InputError {
    let limit_of_read = limit / reads;
    let what = match bases > limit {
        true => over_limit(limit_of_read),
        false => format!(
            "the records of this read, or pair, are longer than those of {limit_of_read} bases can be, the most that \
             the engine can take: the file is damaged, or has very long fields"
        ),
    };
    InputError::new(path, what).read(name)
}

/// What to say of a record of BAM that is cut off.
pub(crate) const TRUNCATED_RECORD: &str = "the file ends in the middle of this record: it is truncated";

/// What to say where a record of BAM should begin, and none does.
pub(crate) const DAMAGED_RECORD: &str =
    "here should be a record of BAM, but the sizes of its parts contradict each other: the file is damaged";

/// What is wrong with the name of a read, if SAM cannot hold it (SAMv1, section 1.4).
pub(crate) fn odd_name(name: &[u8]) -> Option<String> {
    if name.first() == Some(&b'@') {
        let what = "its name begins with '@', so that SAM would take its record for a line of the header";
        return Some(what.to_owned());
    }
    let odd = name.iter().find(|b| !(b'!'..=b'~').contains(b))?;
    Some(format!("its name holds '{}', which SAM does not allow", odd.escape_ascii()))
}

/// What to say of a read with too many bases.
pub(crate) fn over_limit(limit: u64) -> String {
    format!(
        "the read has more than {limit} bases, the longest that the engine can take: leave it out, or take another \
         --engine"
    )
}

/// What is wrong with read `mate` of a fragment of a chunk, whose texts are of the files of `path`; places in them are
/// known if `has_places`.
pub(crate) fn fault_of<'p>(
    chunk: &Chunk,
    (fragment, mate): (usize, usize),
    (path, has_places): (impl Fn(usize) -> Option<&'p Path>, bool),
    what: impl Into<String>,
) -> InputError {
    let (text, record) = chunk.place(fragment, mate);
    let name = chunk.fragment(fragment).reads().nth(mate).map_or(&[][..], |read| read.name);
    let fault = InputError::new(path(text).unwrap_or(Path::new("")), what).read(name);
    let byte = chunk.text[text].first_byte + chunk.name_place(fragment, mate).saturating_sub(1);
    if has_places { fault.at(record, byte) } else { fault }
}
