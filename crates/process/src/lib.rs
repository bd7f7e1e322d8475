//! What a process owes to whoever started it: files that are complete or not there, and words that cannot end a run.
//!
//! - [`NewFile`] writes every file of zerohop: under a temporary name, synced before it gets its name, and removed when
//!   the run fails or a signal ends it. A device, a FIFO or a symbolic link stays what it is.
//! - [`tell`] writes to standard error. A terminal that has gone away, or a closed pipe, is no reason to fail.
//!
//! What it refuses to do: know what is in a file, or write a temporary file that a signal would leave behind.
#![deny(unsafe_code)]

mod file;
pub mod tell;
mod temporary;

pub use file::{NewFile, WriteError, check_writable, complete_all, has_no_locks, target_of, write};
pub use temporary::remove_temporaries;
