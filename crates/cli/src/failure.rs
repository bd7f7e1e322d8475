//! Why the program failed, and with which exit status.

use std::io::ErrorKind;
use zerohop_engine_external::ExternalError;
use zerohop_engine_strobealign::file::IndexFileError;
use zerohop_lab::LabError;
use zerohop_model::error::{Error, InputError};
use zerohop_plan::PlanError;
use zerohop_process::WriteError;
use zerohop_search::SearchError;
use zerohop_sinks::{HeaderError, ReadGroupError};
use zerohop_topology::TopologyError;

/// What follows wrong usage.
const HELP: &str = "\n\nFor more information, try '--help'.";

/// A failure. Its words are for the user.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command makes no sense: exit status 2.
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
    /// The index file cannot be used or written.
    #[error(transparent)]
    Index(#[from] IndexFileError),
    /// An experiment of the laboratory failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// An external aligner cannot be used.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// The header of an external aligner cannot be used.
    #[error("the header that the aligner wrote: {0}")]
    Header(#[from] HeaderError),
    /// There is no plan for it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A search, or its database, failed.
    #[error(transparent)]
    Search(SearchError),
    /// The ways to memory cannot be measured.
    #[error(transparent)]
    Probe(#[from] zerohop_probe::ProbeError),
    /// The machine cannot be looked at.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A file for the user cannot be written.
    #[error(transparent)]
    Write(WriteError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// The exit status of zerohop: that of a program that it was to run, if that is what failed.
    pub fn status(&self) -> u8 {
        match self {
            Failure::BrokenPipe => 0,
            Failure::Usage(_) => 2,
            Failure::Said(status) | Failure::External(ExternalError::Ended { status, .. }) => *status,
            _ => 1,
        }
    }

    /// What is said of it; nothing if that is for others to say, or if nobody wants to know.
    pub fn words(&self) -> Option<String> {
        match self {
            Failure::BrokenPipe | Failure::Said(_) => None,
            Failure::Usage(words) => Some(format!("{words}{HELP}")),
            failure => Some(failure.to_string()),
        }
    }

    /// The same failure, of which another rank speaks.
    pub fn said(self) -> Self {
        Failure::Said(self.status())
    }

    /// The same failure, with the rank that has it.
    pub fn of_rank(self, rank: usize, ranks: usize) -> Self {
        match self {
            Failure::Usage(words) => Failure::Usage(format!("rank {rank} of {ranks}: {words}")),
            failure => Failure::Other(format!("rank {rank} of {ranks}: {failure}")),
        }
    }

    /// Standard output cannot be written.
    pub fn standard_output(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Other(format!("standard output: cannot write: {error}")),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::BrokenPipe => Failure::BrokenPipe,
            other => Failure::Run(other),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error.source.kind() {
            ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Write(error),
        }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Arguments(words) => Failure::Usage(words),
            other => Failure::Search(other),
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Run(error.into())
    }
}

impl From<ReadGroupError> for Failure {
    fn from(error: ReadGroupError) -> Self {
        Failure::Usage(error.to_string())
    }
}
