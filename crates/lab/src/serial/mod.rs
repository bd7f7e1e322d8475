//! Reads taken from front to back, by whoever holds the reader.

mod records;
mod text;
mod timed;

pub(crate) use records::{ParsedAlready, RecordTaker};
pub(crate) use text::{SerialText, fastq_texts};
pub(crate) use timed::{Take, Timed};
