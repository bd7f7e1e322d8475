//! Why a search job failed.

use crate::error::SearchError;
use std::io::ErrorKind;
use zerohop_plan::PlanError;
use zerohop_process::WriteError;
use zerohop_process::overwrite::OverwriteError;
use zerohop_ranks::{ExchangeError, RankFailure, RanksError, TransportError};
use zerohop_topology::TopologyError;

/// A failure. Its words are for the user.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Wrong usage: the words say what is wrong.
    #[error("{0}")]
    Usage(String),
    /// The reader of our output went away.
    #[error("the reader of the output has closed it")]
    BrokenPipe,
    /// The search itself failed.
    #[error(transparent)]
    Search(SearchError),
    /// Ranks cannot go on together, or a recorded job cannot be taken up.
    #[error(transparent)]
    Ranks(RanksError),
    /// The exchange of results failed.
    #[error(transparent)]
    Exchange(ExchangeError),
    /// There is no plan for it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The machine cannot be looked at.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(WriteError),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl RankFailure for JobError {
    fn status(&self) -> u8 {
        match self {
            JobError::BrokenPipe => 0,
            JobError::Usage(_) => 2,
            JobError::Ranks(error) => error.status(),
            _ => 1,
        }
    }
}

impl From<SearchError> for JobError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Arguments(words) => JobError::Usage(words),
            other => JobError::Search(other),
        }
    }
}

impl From<RanksError> for JobError {
    fn from(error: RanksError) -> Self {
        match error {
            RanksError::Usage(words) | RanksError::Overwrite(OverwriteError::Refused(words)) => JobError::Usage(words),
            other => JobError::Ranks(other),
        }
    }
}

impl From<WriteError> for JobError {
    fn from(error: WriteError) -> Self {
        match error.source.kind() {
            ErrorKind::BrokenPipe => JobError::BrokenPipe,
            _ => JobError::Write(error),
        }
    }
}

impl From<OverwriteError> for JobError {
    fn from(error: OverwriteError) -> Self {
        RanksError::from(error).into()
    }
}

impl From<TransportError> for JobError {
    fn from(error: TransportError) -> Self {
        JobError::Ranks(error.into())
    }
}

impl From<ExchangeError> for JobError {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::Output(error) if error.kind() == ErrorKind::BrokenPipe => JobError::BrokenPipe,
            other => JobError::Exchange(other),
        }
    }
}

impl From<serde_json::Error> for JobError {
    fn from(error: serde_json::Error) -> Self {
        JobError::Failed(error.to_string())
    }
}
