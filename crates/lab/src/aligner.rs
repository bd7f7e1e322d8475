//! Aligners that run as programs of their own: the processes that threads are compared with.

use crate::arm::Arm;
use crate::error::LabError;
use crate::inputs::Fragments;
use crate::process::ProcessReport;
use crate::starter::Starter;
use crate::worker::ThreadReport;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zerohop_process::command;

/// The least that mapping must take, as a part of what loading takes.
const SHORTEST: f64 = 0.05;

/// What came of one run.
pub(crate) struct Ran {
    /// Seconds without those of a run with as good as no reads: starting, and loading the index.
    pub(crate) mapping_s: f64,
    /// Those seconds.
    pub(crate) load_s: f64,
    pub(crate) processes: Vec<ProcessReport>,
}

/// Runs `engine` under `zerohop align`, as `arm.processes` instances, on `fragments` fragments for all.
///
/// # Errors
/// What it says.
pub(crate) fn run(
    engine: &str,
    reference: &Path,
    arm: &Arm,
    (all, fragments): (usize, &Fragments),
    starter: &Starter,
) -> Result<Ran, LabError> {
    // Enough for each instance to be given something.
    let load_s = align(engine, reference, arm, &fragments.files(0, arm.processes, None)?, starter)?.0;
    let (wall_s, reads) = align(engine, reference, arm, &fragments.files(0, all, None)?, starter)?;
    let mapping_s = wall_s - load_s;
    if mapping_s < SHORTEST * load_s {
        let what = format!(
            "it took {wall_s:.2} s, and {load_s:.2} s with as good as no reads: too little to tell, give it more \
             fragments"
        );
        return Err(LabError::Process { command: format!("zerohop align --engine {engine}"), what });
    }
    let thread = ThreadReport { wall_s: mapping_s, reads, ..ThreadReport::default() };
    Ok(Ran { mapping_s, load_s, processes: vec![ProcessReport { threads: vec![thread], ..ProcessReport::default() }] })
}

/// Seconds from start to end, and reads.
fn align(
    engine: &str,
    reference: &Path,
    arm: &Arm,
    files: &[PathBuf],
    starter: &Starter,
) -> Result<(f64, u64), LabError> {
    let (output, json) = (starter.folder.join("out.sam"), starter.folder.join("align.json"));
    let mut command = command(&starter.zerohop);
    command.args(["align", "-q", "--order", "any", "--engine", engine, "-t", &arm.threads.to_string()]);
    command.args(["--replicas", &arm.processes.to_string()]).arg("-o").arg(&output).arg("--json").arg(&json);
    command.arg(reference).args(files);
    let fault = |what: String| LabError::Process { command: format!("zerohop align --engine {engine}"), what };
    let ended = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let zerohop = starter.zerohop.display();
            fault(format!("{zerohop} is not there, and zerohop runs this aligner: 'make build' makes both programs"))
        }
        _ => fault(format!("cannot be started: {error}")),
    })?;
    if !ended.status.success() {
        return Err(fault(format!("{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr).trim())));
    }
    let text = std::fs::read(&json).map_err(|error| LabError::file(&json, error))?;
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(|error| LabError::file(&json, error))?;
    let number = |of: &serde_json::Value| of.as_f64().ok_or_else(|| LabError::file(&json, "it lacks a number"));
    let wall = number(&value["wall"]["secs"])? + number(&value["wall"]["nanos"])? / 1e9;
    for file in [output, json.clone()] {
        std::fs::remove_file(&file).map_err(|error| LabError::file(&file, error))?;
    }
    Ok((wall, number(&value["run"]["tally"]["reads"])? as u64))
}
