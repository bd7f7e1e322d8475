//! Why ranks cannot work on a job.

use crate::transport::TransportError;
use std::path::PathBuf;
use zerohop_process::WriteError;
use zerohop_process::overwrite::OverwriteError;
use zerohop_topology::TopologyError;

/// A failure of ranks, or of a job that is recorded. Its words are for the user.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// Wrong usage: the words say what is wrong.
    #[error("{0}")]
    Usage(String),
    /// Another rank tells the user; with the exit status of this one.
    #[error("another rank says it")]
    ToldElsewhere(u8),
    /// The way to the other ranks is broken.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A file of the job cannot be read or written.
    #[error("{}: cannot be read or written: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An output would destroy what is there.
    #[error(transparent)]
    Overwrite(#[from] OverwriteError),
    /// The machine cannot be looked at.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// The failure of a job that ranks work on together: one rank tells it for all.
pub trait RankFailure: std::fmt::Display + From<RanksError> {
    /// The exit status that it leads to.
    fn status(&self) -> u8;

    /// The same failure, with the rank that has it before its words.
    #[must_use]
    fn of_rank(self, rank: usize, ranks: usize) -> Self {
        let words = format!("rank {rank} of {ranks}: {self}");
        if self.status() == 2 { RanksError::Usage(words).into() } else { RanksError::Failed(words).into() }
    }

    /// The same failure, of which another rank tells the user.
    #[must_use]
    fn told_elsewhere(self) -> Self {
        RanksError::ToldElsewhere(self.status()).into()
    }
}

impl RankFailure for RanksError {
    fn status(&self) -> u8 {
        match self {
            RanksError::Usage(_) | RanksError::Overwrite(OverwriteError::Refused(_)) => 2,
            RanksError::ToldElsewhere(status) => *status,
            _ => 1,
        }
    }
}
