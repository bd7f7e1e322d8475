//! What every program of zerohop does for its user and with its children: files and messages, processes and signals.
//!
//! Files and words:
//!
//! - [`NewFile`] writes every file of zerohop: under a temporary name, synced before it gets its name, and removed when
//!   the run fails or a signal ends it. A device, a FIFO or a symbolic link stays what it is. [`give_name`] names what
//!   others have made.
//! - [`overwrite`] refuses an output that is an input, or that holds something else than the command writes.
//! - [`json`] and [`cache`] write JSON for the user, and for later runs; [`user_folder`] finds the user's folders.
//!   [`lock`] has locks as files.
//! - [`standard`] is standard output, and [`Ending`] how a program ends that failed: its exit status, and its last
//!   words.
//! - [`tell`] writes to standard error. A terminal that has gone away, or a closed pipe, is no reason to fail. With
//!   [`Interruption`] SIGINT does not end a program without a word.
//!
//! Children, in the order of their lives:
//!
//! 1. [`on_path`] finds a program, [`ChildProgram`] starts it: the only way to start one. The child inherits CPUs and
//!    memory policy from the thread that starts it.
//! 2. It is [`RunningChild`] then: whoever drops that ends it with all that it has started, wherever that is by now.
//!    [`pipe`] and [`poll`] are for those who talk to it, [`HeldSignals`] for those who pass signals on to it.
//! 3. [`RunningChild::output_within`] runs it to its end, for what it says, unless it does nothing any more or takes
//!    too long; [`running_time`] is the clock for how long it may be silent. [`how_it_ended`] and [`last_lines`] say
//!    how it went.
//! 4. If we are killed, a reaper does what it was [charged](charge) with: it ends what children have started, and
//!    removes what is not complete. A program has one if it begins with [`prepare`].
//!
//! What it refuses to do: know what a program is for, or write a temporary file that a signal would leave behind.
#![deny(unsafe_code)]

mod aside;
pub mod cache;
mod charge;
mod child_program;
mod closed;
#[cfg_attr(target_os = "macos", path = "confined/macos.rs")]
mod confined;
mod cut;
mod descriptors;
mod ending;
mod environment;
mod exhausted;
mod exit;
mod family;
mod file;
mod files;
mod identity;
mod idle;
mod interruption;
pub mod json;
mod last_words;
pub mod lock;
mod mark;
mod on_path;
mod output;
pub mod overwrite;
mod partial;
mod pipe;
mod poll;
mod reaper;
mod room;
mod running;
mod running_child;
mod signals;
pub mod standard;
#[cfg_attr(target_os = "macos", path = "stat/macos.rs")]
mod stat;
mod system;
pub mod tell;
mod temporary;
#[cfg(test)]
mod test_children;
mod user_folder;

pub use charge::Charge;
pub use child_program::ChildProgram;
pub use confined::confine;
pub use cut::CutWatch;
pub use environment::{command_line, quoted};
pub use exhausted::end_where_exhausted;
pub use exit::Ending;
pub use file::{NewFile, WriteError, check_folder, check_writable, complete_all, complete_instead_of};
pub use file::{give_name, is_written_in_place, sync_folder, target_of, write};
pub use files::allow_more_files;
pub use identity::{Identity, file_ends};
pub use idle::{Limits, Stopped, end_programs};
pub use interruption::Interruption;
pub use last_words::{how_it_ended, last_lines, last_lines_of};
pub use lock::{has_no_locks, open_shared};
pub use on_path::on_path;
pub use pipe::{pipe, pipe_capacity, set_nonblocking, unread_bytes};
pub use poll::{Interest, Readiness, poll};
pub use reaper::{Charged, charge, is_prepared, prepare};
pub use room::set_room_aside;
pub use running::running_time;
pub use running_child::RunningChild;
pub use signals::{HeldSignals, Signal, see_children_end};
pub use system::{GIVEN_FDS, STDIN, own_program};
pub use temporary::{
    NewFolder, TemporaryFolder, TemporaryLink, end_as_first_process, remove_temporaries, tell_if_cut,
    tell_if_interrupted,
};
pub use user_folder::user_folder;
