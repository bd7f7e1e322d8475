//! Where the instances' logs go.

use crate::job::{AlignError, Job};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zerohop_model::error::Error;
use zerohop_process::{Charge, Charged, charge};

/// Where the logs go.
pub struct LogFolder {
    /// The folder.
    pub logs: PathBuf,
    /// Removed at the end, unless the run failed.
    temporary: Option<(TempDir, Charged)>,
}

impl LogFolder {
    /// The folder that the job names, or a temporary one.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(job: &Job) -> Result<Self, AlignError> {
        let fault =
            |path: &Path, e: std::io::Error| AlignError::Failed(format!("{}: cannot be made: {e}", path.display()));
        if let Some(logs) = &job.external.logs {
            std::fs::create_dir_all(logs).map_err(|e| fault(logs, e))?;
            return Ok(LogFolder { logs: logs.clone(), temporary: None });
        }
        let temporary = tempfile::Builder::new().prefix("zerohop-").tempdir();
        let temporary = temporary.map_err(|e| fault(&std::env::temp_dir(), e))?;
        let charged = charge(Charge::folder(temporary.path())).map_err(AlignError::uncharged)?;
        Ok(LogFolder { logs: temporary.path().to_owned(), temporary: Some((temporary, charged)) })
    }

    /// After a failure of an instance the logs stay.
    pub fn keep(&mut self, failure: AlignError) -> AlignError {
        match (failure, self.temporary.take()) {
            (AlignError::Run(error @ (Error::Instance { .. } | Error::Header(_))), Some((temporary, _))) => {
                let logs = temporary.keep();
                AlignError::Failed(format!("{error}\n(all it said is in {})", logs.display()))
            }
            (failure, _) => failure,
        }
    }
}
