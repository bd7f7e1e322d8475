//! Processes of the laboratory, started and talked to line by line.

use crate::error::LabError;
use crate::process::ProcessSpec;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Stdio};
use zerohop_model::machine::{CpuId, NodeId};
use zerohop_process::{ChildProgram, RunningChild};

/// How processes of the laboratory are started.
#[derive(Debug, Clone)]
pub struct Starter {
    /// The program and its arguments; it reads a [`ProcessSpec`] in JSON, one line, says a line when it is ready, waits
    /// for another line, and says a [`ProcessReport`](crate::process::ProcessReport).
    pub command: Vec<PathBuf>,
    /// CPUs that may be used.
    pub cpus: Vec<CpuId>,
    /// The node of each, if it shall be counted where the pages of tasks lie; else empty.
    pub nodes: Vec<NodeId>,
    /// Rounds of work per second of a core, see [`crate::synthetic::rounds_per_second`].
    pub rounds_per_second: f64,
    /// Where outputs and reads go.
    pub folder: PathBuf,
}

/// A process that was started, killed if it is let go.
pub(crate) struct Running {
    child: RunningChild,
    stdin: Option<ChildStdin>,
    out: BufReader<std::process::ChildStdout>,
    command: String,
}

impl Running {
    pub(crate) fn start(starter: &Starter, spec: &ProcessSpec, log: &Path) -> Result<Self, LabError> {
        let mut words = starter.command.iter();
        let program = ChildProgram::new(words.next().map_or(Path::new(""), |program| program)).args(words);
        let said = std::fs::File::create(log).map_err(|error| LabError::file(log, error))?;
        let program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said);
        let shown = format!("{} {}", starter.command[0].display(), spec.arm);
        let fault = |what: String| LabError::Process { command: shown.clone(), what };
        let mut child = program.start().map_err(|error| fault(format!("cannot be started: {error}")))?;
        let Some(out) = child.take_stdout() else { return Err(fault("has no output".to_owned())) };
        let stdin = child.take_stdin();
        let mut running = Running { child, stdin, out: BufReader::new(out), command: shown.clone() };
        let spec = serde_json::to_string(spec).map_err(|error| fault(error.to_string()))?;
        running.say(&spec)?;
        Ok(running)
    }

    pub(crate) fn say(&mut self, line: &str) -> Result<(), LabError> {
        let said = self.stdin.as_mut().map(|stdin| writeln!(stdin, "{line}"));
        // If it has ended, its output tells.
        match said {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(self.fault(format!("cannot be told: {error}")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn hear(&mut self, log: &Path) -> Result<String, LabError> {
        let mut line = String::new();
        let heard = self.out.read_line(&mut line);
        match heard {
            Ok(read) if read > 0 => Ok(line),
            Err(error) => Err(self.fault(format!("cannot be heard: {error}"))),
            Ok(_) => {
                let words = std::fs::read_to_string(log).unwrap_or_default();
                let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(self.fault(format!("ended with {status}; its last words: {}", words.trim())))
            }
        }
    }

    pub(crate) fn fault(&self, what: String) -> LabError {
        LabError::Process { command: self.command.clone(), what }
    }
}
