//! Why a command of the laboratory failed.

use zerohop_lab::LabError;
use zerohop_lab::exchange::RecordedError;
use zerohop_model::error::{Error, InputError};
use zerohop_model::index::IndexError;
use zerohop_process::overwrite::OverwriteError;
use zerohop_process::standard::ClosedError;
use zerohop_process::{Ending, WriteError};
use zerohop_ranks::{RankFailure, RanksError, TransportError};
use zerohop_topology::TopologyError;

/// A failure. Its words are for the user.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong usage: the words say what is wrong.
    #[error("{0}")]
    Usage(String),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] Error),
    /// An experiment failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// An output may not be written.
    #[error(transparent)]
    Overwrite(#[from] OverwriteError),
    /// A file, or standard output, cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A value has no JSON form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Standard output is closed.
    #[error(transparent)]
    Closed(#[from] ClosedError),
    /// Ranks cannot work together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The index of an embedded engine cannot be made.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Ranks could not go on together.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A recording cannot be used.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
    /// A page cannot be made.
    #[error(transparent)]
    Report(#[from] zerohop_report::ReportError),
    /// The machine cannot be looked at.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Run(error.into())
    }
}

impl Failure {
    /// How the program ends with it.
    pub fn ending(&self) -> Ending {
        match self {
            Failure::Usage(words) => Ending::Usage(words.clone()),
            Failure::Overwrite(OverwriteError::Refused(words)) => Ending::Usage(words.clone()),
            Failure::Write(error) => error.ending(),
            Failure::Run(Error::BrokenPipe) => Ending::Silent(0),
            Failure::Ranks(RanksError::ToldElsewhere(status)) => Ending::Silent(*status),
            Failure::Ranks(error) if error.status() == 2 => Ending::Usage(error.to_string()),
            other => Ending::failed(other),
        }
    }
}

impl RankFailure for Failure {
    fn status(&self) -> u8 {
        self.ending().status()
    }
}
