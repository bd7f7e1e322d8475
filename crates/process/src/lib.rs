//! What a process owes to whoever started it: files that are complete or not there, and words that cannot end a run.
//!
//! - [`NewFile`] writes every file of zerohop: under a temporary name, synced before it gets its name, and removed when
//!   the run fails or a signal ends it. A device, a FIFO or a symbolic link stays what it is.
//! - [`overwrite`] refuses an output that is an input, or that holds something else than the command writes.
//! - [`json`] and [`cache`] write JSON for the user, and for later runs.
//! - [`standard`] is standard output, and [`Ending`] how a program ends that failed: its exit status, and its last words.
//! - [`tell`] writes to standard error. A terminal that has gone away, or a closed pipe, is no reason to fail.
//!
//! What it refuses to do: write a temporary file that a signal would leave behind.
#![deny(unsafe_code)]

pub mod cache;
mod charge;
mod child;
mod ending;
mod environment;
mod exhausted;
mod file;
mod idle;
pub mod json;
pub mod lock;
pub mod overwrite;
mod reaper;
mod signals;
pub mod standard;
mod stat;
pub mod tell;
mod temporary;

pub use charge::Charge;
pub use child::{
    Interest, Ready, die_with_parent, give_fds, has_ended, keep_fds, kill_group, pipe, pipe_capacity, poll,
    set_nonblocking, unread_bytes, wait_unreaped,
};
pub use ending::Ending;
pub use environment::command_line;
pub use exhausted::end_where_exhausted;
pub use file::{NewFile, WriteError, check_folder, check_writable, complete_all, target_of, write};
pub use idle::{Patience, Stopped, end_programs, watch};
pub use lock::has_no_locks;
pub use reaper::{Reaper, reap};
pub use signals::{HeldSignals, Signal, spare_signals};
pub use stat::group_runs;
pub use temporary::remove_temporaries;
