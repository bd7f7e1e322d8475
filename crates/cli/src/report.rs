//! `zerohop report`: one HTML page of what other commands measured.

use crate::args::report::ReportArgs;
use crate::failure::CommandFailure;
use std::path::{Path, PathBuf};
use zerohop_lab::Point;
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::tell;
use zerohop_report::{Page, Recorded, RecordedError, show};

/// The files that 'report' takes.
const EXPECTED: &str = "what 'zerohop align --json', 'zerohop search --json', 'zerohop tune', \
                        'zerohop topo --measure --json', 'zerohop-lab scaling' or 'zerohop-lab exchange -o' writes";

/// Does the command.
///
/// # Errors
/// A file that holds nothing that can be shown; an output that cannot be written, which is then not there.
pub fn run(args: &ReportArgs) -> Result<(), CommandFailure> {
    // Beside NAME.json, '--samples' writes the same for MultiQC.
    let is_for_multiqc = |path: &&PathBuf| path.to_string_lossy().ends_with("_mqc.json");
    let (for_multiqc, runs): (Vec<_>, Vec<_>) = args.runs.iter().partition(is_for_multiqc);
    for path in for_multiqc.iter().filter(|_| !runs.is_empty()) {
        tell::note(&format!("{} is for MultiQC, and was left out", path.display()));
    }
    let runs = if runs.is_empty() { for_multiqc } else { runs };
    let files: Vec<PathBuf> = runs.into_iter().map(|path| points_in(path)).collect();
    if let Some(output) = &args.output {
        check_output(output, &files)?;
    }
    let (mut records, mut points) = (Vec::new(), Vec::new());
    for path in &files {
        let fault = |what: String| CommandFailure::Other(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(format!("cannot read: {error}")))?;
        match are_points(&text) {
            true => points.extend(zerohop_lab::points_of(&text).map_err(fault)?),
            false => records.push((path.display().to_string(), recorded(&text).map_err(fault)?)),
        }
    }
    let html = page(&args.title, &records, &points).map_err(|error| CommandFailure::Other(error.to_string()))?;
    match &args.output {
        None => crate::print(html.as_bytes()),
        Some(path) => Ok(zerohop_process::write(path, html.as_bytes())?),
    }
}

/// Of a folder of the laboratory its points.
fn points_in(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("points.jsonl") } else { path.to_owned() }
}

fn check_output(output: &PathBuf, runs: &[PathBuf]) -> Result<(), CommandFailure> {
    overwrite::apart(runs, [output])?;
    Ok(overwrite::replaceable(output, Kind::Page)?)
}

/// Whether the first thing in `text` is a point of the laboratory.
fn are_points(text: &str) -> bool {
    let first = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>().next();
    matches!(first, Some(Ok(value)) if value.get("arm").is_some() && value.get("experiment").is_some())
}

fn recorded(text: &str) -> Result<Recorded, String> {
    Recorded::from_json(text).map_err(|error| match error {
        RecordedError::Damaged { .. } => error.to_string(),
        RecordedError::NotJson(_) | RecordedError::Unknown => format!("{error}; expected: {EXPECTED}"),
    })
}

fn page(title: &str, records: &[(String, Recorded)], points: &[Point]) -> Result<String, zerohop_report::ChartError> {
    let mut page = Page::new(title);
    show(&mut page, records)?;
    if !points.is_empty() {
        page.heading("Thread scaling");
        zerohop_lab::show(points, &mut page)?;
    }
    page.note(&format!(
        "Made by zerohop {}. What was projected or predicted, and not measured, says so.",
        env!("CARGO_PKG_VERSION")
    ));
    Ok(page.html())
}
