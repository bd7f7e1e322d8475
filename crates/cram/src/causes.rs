//! Why SAM or CRAM could not be read, in words for the user: what is wrong, and what to do.

use std::fmt;
use std::path::PathBuf;

/// Where, and why, reading SAM or CRAM stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadFault {
    /// Before the first record.
    Header {
        /// Whether the file ends there.
        is_cut_off: bool,
    },
    /// At a line of SAM, counted from 1 without the header.
    Sam { number: u64 },
    /// At a record of CRAM, counted from 1, or in what its container holds.
    Cram {
        number: u64,
        /// Whether the file ends there.
        is_cut_off: bool,
        given: GivenReference,
    },
    /// The container that ends a file is missing.
    NoEnd,
    /// In another way.
    Other(String),
}

/// What became of the reference that was given for CRAM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GivenReference {
    /// None was, or none is needed.
    Nothing,
    /// It cannot be used.
    Unusable(String),
    /// It is not what the header names.
    Other(PathBuf),
    /// htslib has it.
    Taken(PathBuf),
}

impl fmt::Display for GivenReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GivenReference::Nothing => f.write_str("none was given"),
            GivenReference::Unusable(why) => f.write_str(why),
            GivenReference::Other(path) => write!(f, "{} has other contigs", path.display()),
            GivenReference::Taken(path) => write!(f, "{} was tried", path.display()),
        }
    }
}

/// What to do about data that are not whole.
const AGAIN: &str = "get the file again";
/// What to do where the reference is missing or another one.
const WITH_REFERENCE: &str = "give the reference that the reads were aligned to as REF, or convert the file to BAM \
                              with 'samtools view -b -T REFERENCE'";
const AS_BAM: &str = "'samtools view -b' converts it to BAM";

impl ReadFault {
    /// The words, by what htslib wrote to standard error.
    pub(crate) fn words(&self, said: &str) -> String {
        let says = |words: &str| said.contains(words);
        match self {
            ReadFault::Header { .. } if says("CRAM version number mismatch") => {
                "its version of CRAM is not 1, 2 or 3: a newer samtools may convert it to BAM ('samtools view -b')"
                    .to_owned()
            }
            ReadFault::Header { is_cut_off: true } => {
                format!("it ends in the middle of its header: it is truncated: {AGAIN}")
            }
            ReadFault::Header { is_cut_off: false } => {
                format!(
                    "its header is damaged{}: {AGAIN}",
                    if says("CRC32 failure") { " (its checksum differs)" } else { "" }
                )
            }
            ReadFault::Sam { number } => format!(
                "record {number} of all in it, or what follows, is damaged or truncated, or is on a contig, and the \
                 header has no @SQ line"
            ),
            ReadFault::Cram { number, is_cut_off, given } => {
                format!("record {number} of all in it, or what follows, {}", of_cram(said, *is_cut_off, given))
            }
            ReadFault::NoEnd => format!("it lacks the end-of-file container of CRAM: it is truncated: {AGAIN}"),
            ReadFault::Other(words) => words.clone(),
        }
    }
}

/// What is wrong with a container of CRAM.
fn of_cram(said: &str, is_cut_off: bool, given: &GivenReference) -> String {
    let says = |words: &str| said.contains(words);
    // One may lead to another: the first that fits is the cause.
    if says("CRC32 failure") {
        format!("is damaged: its checksum (CRC32) differs: {AGAIN}")
    } else if says("Lzma compression is not compiled") {
        format!("is compressed by lzma, which zerohop does not have: {AS_BAM}")
    } else if let Some(place) = said.split("MD5 checksum reference mismatch at ").nth(1) {
        let place = place.lines().next().unwrap_or_default();
        format!("was aligned to another reference, which has other bases at {place} ({given}): {WITH_REFERENCE}")
    } else if says("Unable to fetch reference") || says("No reference found for id") {
        format!("needs the reference that they were aligned to ({given}): {WITH_REFERENCE}")
    } else if is_cut_off {
        format!("is cut off: the file is truncated: {AGAIN}")
    } else {
        format!("is damaged: {AGAIN}")
    }
}
