//! Why the program failed, and with which exit status.

use std::io::ErrorKind;
use zerohop_align::AlignError;
use zerohop_engine_external::ExternalError;
use zerohop_model::error::{Error, InputError};
use zerohop_model::index::IndexError;
use zerohop_output::ReadGroupError;
use zerohop_plan::PlanError;
use zerohop_process::overwrite::OverwriteError;
use zerohop_process::standard::ClosedError;
use zerohop_process::{Ending, WriteError};
use zerohop_ranks::{RankFailure, RanksError};
use zerohop_search::SearchError;
use zerohop_search::job::JobError;
use zerohop_topology::TopologyError;

/// A failure. Its words are for the user.
#[derive(Debug, thiserror::Error)]
pub enum CommandFailure {
    /// The options or arguments are wrong: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// The reader of our output went away: exit status 0, nothing is said.
    #[error("the reader of the output has closed it")]
    BrokenPipe,
    /// Another rank says it; with the exit status of this one.
    #[error("another rank says it")]
    Said(u8),
    /// The run failed.
    #[error(transparent)]
    Run(Error),
    /// An alignment failed.
    #[error(transparent)]
    Align(AlignError),
    /// Ranks cannot work on a job.
    #[error(transparent)]
    Ranks(RanksError),
    /// The index of an embedded engine cannot be made.
    #[error(transparent)]
    Index(IndexError),
    /// An external aligner cannot be used.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// There is no plan for it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A search, or its database, failed.
    #[error(transparent)]
    Search(SearchError),
    /// The ways to memory cannot be measured.
    #[error(transparent)]
    Probe(#[from] zerohop_probe::ProbeError),
    /// The nodes and CPUs of the machine cannot be found.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A file for the user cannot be written.
    #[error(transparent)]
    Write(WriteError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl CommandFailure {
    /// How zerohop ends with it: with the exit status of a program that it was to run, if that is what failed.
    pub fn ending(&self) -> Ending {
        match self {
            CommandFailure::BrokenPipe => Ending::Silent(0),
            CommandFailure::Said(status) => Ending::Silent(*status),
            CommandFailure::Usage(words) => Ending::Usage(words.clone()),
            CommandFailure::External(ExternalError::Ended { status, .. }) => Ending::Failed(self.to_string(), *status),
            CommandFailure::Align(error) => Ending::Failed(error.to_string(), error.status()),
            CommandFailure::Ranks(error) => Ending::Failed(error.to_string(), error.status()),
            _ => Ending::Failed(self.to_string(), 1),
        }
    }
}

impl RankFailure for CommandFailure {
    fn status(&self) -> u8 {
        self.ending().status()
    }
}

impl From<AlignError> for CommandFailure {
    fn from(error: AlignError) -> Self {
        match error {
            AlignError::Usage(words) => CommandFailure::Usage(words),
            AlignError::BrokenPipe => CommandFailure::BrokenPipe,
            AlignError::Ranks(error) => error.into(),
            other => CommandFailure::Align(other),
        }
    }
}

impl From<JobError> for CommandFailure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Usage(words) => CommandFailure::Usage(words),
            JobError::BrokenPipe => CommandFailure::BrokenPipe,
            JobError::Ranks(error) => error.into(),
            other => CommandFailure::Other(other.to_string()),
        }
    }
}

impl From<RanksError> for CommandFailure {
    fn from(error: RanksError) -> Self {
        match error {
            RanksError::Usage(words) => CommandFailure::Usage(words),
            RanksError::ToldElsewhere(status) => CommandFailure::Said(status),
            RanksError::Overwrite(error) => error.into(),
            other => CommandFailure::Ranks(other),
        }
    }
}

impl From<OverwriteError> for CommandFailure {
    fn from(error: OverwriteError) -> Self {
        match error {
            OverwriteError::Refused(words) => CommandFailure::Usage(words),
            other => CommandFailure::Other(other.to_string()),
        }
    }
}

impl From<IndexError> for CommandFailure {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Usage(words) => CommandFailure::Usage(words),
            other => CommandFailure::Index(other),
        }
    }
}

impl From<serde_json::Error> for CommandFailure {
    fn from(error: serde_json::Error) -> Self {
        CommandFailure::Other(error.to_string())
    }
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::BrokenPipe => CommandFailure::BrokenPipe,
            other => CommandFailure::Run(other),
        }
    }
}

impl From<WriteError> for CommandFailure {
    fn from(error: WriteError) -> Self {
        match error.source.kind() {
            ErrorKind::BrokenPipe => CommandFailure::BrokenPipe,
            _ => CommandFailure::Write(error),
        }
    }
}

impl From<SearchError> for CommandFailure {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Arguments(words) => CommandFailure::Usage(words),
            other => CommandFailure::Search(other),
        }
    }
}

impl From<InputError> for CommandFailure {
    fn from(error: InputError) -> Self {
        CommandFailure::Run(error.into())
    }
}

impl From<ReadGroupError> for CommandFailure {
    fn from(error: ReadGroupError) -> Self {
        CommandFailure::Usage(error.to_string())
    }
}

impl From<ClosedError> for CommandFailure {
    fn from(error: ClosedError) -> Self {
        CommandFailure::Other(error.to_string())
    }
}
