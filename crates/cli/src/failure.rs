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

/// A failure. Its words are for the user.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command makes no sense: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// The reader of our output went away: exit status 0, nothing is said.
    #[error("the reader of the output has closed it")]
    BrokenPipe,
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
