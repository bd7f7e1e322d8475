//! Reads taken from front to back, by whoever holds the reader.

mod records;
mod stopwatch;
mod text;
mod timed;

pub(crate) use records::{ParsedAlready, RecordTaker};
pub use stopwatch::Stopwatch;
pub(crate) use text::SerialText;
pub(crate) use timed::{Take, Timed};
