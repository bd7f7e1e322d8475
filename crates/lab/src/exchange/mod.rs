//! The exchange of results between ranks, in eight [variants](Variant): the one by messages that `zerohop search` has,
//! six after H. Wang's design of one-sided search over a partitioned database, and one with a master.
//!
//! 1. one_sided.rs: records are *put* into memory of all others, in [`Rounds`](exchange::Rounds) that three kinds of
//!    synchronisation end; windows.rs: results lie in a window, and the rank that writes them *gets* them; flags.rs:
//!    how ranks tell one another how far they are;
//! 2. master.rs: rank 0 merges alone, and writes everything;
//! 3. [`run`] exchanges by any of them. They are measured with [searches](Searches) that are made up or were
//!    [recorded](recording): nobody searches, so there may be more ranks than cores;
//! 4. [`model`] says how long an exchange over more ranks would take, fed with what [`calibrate`](fn@calibrate)
//!    measures.

mod calibrate;
mod flags;
mod made_up;
mod master;
pub mod model;
mod one_sided;
pub mod recording;
mod searches;
mod variant;
mod windows;

pub use calibrate::calibrate;
pub use made_up::MadeUp;
pub use recording::RecordedError;
pub use searches::Searches;
pub use variant::{Sync, Variant};

use one_sided::OneSided;
use std::time::Instant;
use windows::Windows;
use zerohop_ranks::Transport;
use zerohop_ranks::exchange::{self, Batch, ExchangeError, Output, RankReport};

/// How results are exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The way.
    pub variant: Variant,
    /// Results of one query that are kept.
    pub most: usize,
    /// Bytes of records that are put or sent at once; more go in pieces.
    pub record_room: usize,
    /// Bytes of results that lie ready in a window at once; more go in pieces.
    pub result_room: usize,
}

impl Settings {
    /// Room for what is usual.
    pub fn new(variant: Variant, most: usize) -> Self {
        Settings { variant, most, record_room: 1 << 20, result_room: 16 << 20 }
    }
}

/// Exchanges batches as [`exchange::run`] does, by any variant. Making and closing windows is part of its time.
///
/// # Errors
/// [`ExchangeError`].
pub fn run(
    transport: &dyn Transport,
    settings: Settings,
    begin: (u64, u64),
    next: &mut dyn FnMut() -> Result<Option<Batch>, String>,
    output: &mut dyn Output,
) -> Result<(RankReport, u64), ExchangeError> {
    let Settings { variant, most, record_room, result_room } = settings;
    let started = Instant::now();
    let (report, end) = match variant {
        Variant::OneSided { sync, window_per_rank } => {
            let rounds = OneSided::new(transport, sync, window_per_rank, record_room)?;
            let carrier = Windows::new(transport, result_room)?;
            let done = exchange::run_by(transport, (&rounds, &carrier), most, begin, next, output)?;
            rounds.close()?;
            carrier.close()?;
            done
        }
        Variant::TwoSided => exchange::run(transport, exchange::Settings { most, record_room }, begin, next, output)?,
        Variant::Master => master::run(transport, most, begin, next, output)?,
    };
    Ok((RankReport { wall: started.elapsed(), ..report }, end))
}
