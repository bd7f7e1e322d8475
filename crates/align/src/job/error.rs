//! Why an alignment failed.

use std::io::ErrorKind;
use zerohop_engine_external::ExternalError;
use zerohop_model::error::{Error, InputError};
use zerohop_model::index::IndexError;
use zerohop_output::{HeaderError, ReadGroupError};
use zerohop_plan::PlanError;
use zerohop_process::WriteError;
use zerohop_process::overwrite::OverwriteError;
use zerohop_ranks::{RankFailure, RanksError, TransportError};
use zerohop_topology::TopologyError;

/// A failure. Its words are for the user.
#[derive(Debug, thiserror::Error)]
pub enum AlignError {
    /// Wrong usage: the words say what is wrong.
    #[error("{0}")]
    Usage(String),
    /// The reader of our output went away.
    #[error("the reader of the output has closed it")]
    BrokenPipe,
    /// The run failed.
    #[error(transparent)]
    Run(Error),
    /// The index of an embedded engine cannot be found, made or written.
    #[error(transparent)]
    Index(IndexError),
    /// An external aligner cannot be used.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// The header of an external aligner cannot be used.
    #[error("the header that the aligner wrote: {0}")]
    Header(#[from] HeaderError),
    /// There is no plan for it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The machine cannot be looked at.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(WriteError),
    /// Ranks cannot go on together, or a recorded job cannot be taken up.
    #[error(transparent)]
    Ranks(RanksError),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl AlignError {
    /// The process that clears away after us cannot be charged.
    pub(crate) fn uncharged(error: std::io::Error) -> Self {
        AlignError::Failed(error.to_string())
    }

    /// The exit status of a program that ends with it: 2 for wrong usage, 0 where the reader of our output went away,
    /// else 1.
    pub fn status(&self) -> u8 {
        match self {
            AlignError::BrokenPipe => 0,
            AlignError::Usage(_) => 2,
            AlignError::Ranks(error) => error.status(),
            AlignError::External(ExternalError::Ended { status, .. }) => *status,
            AlignError::External(ExternalError::Arguments(_)) => 2,
            _ => 1,
        }
    }
}

impl RankFailure for AlignError {
    fn status(&self) -> u8 {
        AlignError::status(self)
    }
}

impl From<Error> for AlignError {
    fn from(error: Error) -> Self {
        match error {
            Error::BrokenPipe => AlignError::BrokenPipe,
            other => AlignError::Run(other),
        }
    }
}

impl From<InputError> for AlignError {
    fn from(error: InputError) -> Self {
        AlignError::Run(error.into())
    }
}

impl From<IndexError> for AlignError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Usage(words) => AlignError::Usage(words),
            other => AlignError::Index(other),
        }
    }
}

impl From<WriteError> for AlignError {
    fn from(error: WriteError) -> Self {
        match error.source.kind() {
            ErrorKind::BrokenPipe => AlignError::BrokenPipe,
            _ => AlignError::Write(error),
        }
    }
}

impl From<OverwriteError> for AlignError {
    fn from(error: OverwriteError) -> Self {
        AlignError::from(RanksError::from(error))
    }
}

impl From<RanksError> for AlignError {
    fn from(error: RanksError) -> Self {
        match error {
            RanksError::Usage(words) | RanksError::Overwrite(OverwriteError::Refused(words)) => {
                AlignError::Usage(words)
            }
            other => AlignError::Ranks(other),
        }
    }
}

impl From<TransportError> for AlignError {
    fn from(error: TransportError) -> Self {
        AlignError::Ranks(error.into())
    }
}

impl From<ReadGroupError> for AlignError {
    fn from(error: ReadGroupError) -> Self {
        AlignError::Usage(error.to_string())
    }
}
