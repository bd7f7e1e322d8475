//! Reads taken from front to back, by whoever holds the reader.

mod records;
mod stopwatch;
mod text;

pub(crate) use records::{ParsedAlready, RecordEmitter};
pub use stopwatch::Stopwatch;
pub(crate) use text::SerialText;
