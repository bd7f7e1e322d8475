//! `zerohop report`: one HTML page of what other commands measured.

use crate::args::report::ReportArgs;
use crate::failure::CommandFailure;
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::tell;
use zerohop_report::{ChartError, Laboratory, OfLaboratory, Page, files_of, report};

/// The laboratory's files are for its own program.
struct LaboratoryElsewhere;

impl Laboratory for LaboratoryElsewhere {
    fn expected(&self) -> &'static str {
        "what 'zerohop align --json', 'zerohop search --json', 'zerohop tune' or 'zerohop topo --measure --json' writes"
    }

    fn take(&mut self, _kind: OfLaboratory, _name: &str, _text: &str) -> Result<(), String> {
        Err("zerohop-lab wrote it, and 'zerohop-lab report' shows it".to_owned())
    }

    fn show(&self, _page: &mut Page) -> Result<(), ChartError> {
        Ok(())
    }
}

/// Does the command.
///
/// # Errors
/// A file that holds nothing that can be shown; an output that cannot be written, which is then not there.
pub fn run(args: &ReportArgs) -> Result<(), CommandFailure> {
    let (files, notes) = files_of(&args.runs).map_err(|error| CommandFailure::Other(error.to_string()))?;
    notes.iter().for_each(|note| tell::note(note));
    if let Some(output) = &args.output {
        overwrite::apart(&files, [output])?;
        overwrite::replaceable(output, Kind::Page)?;
    }
    let html = report(&args.title, &files, &mut LaboratoryElsewhere)
        .map_err(|error| CommandFailure::Other(error.to_string()))?;
    match &args.output {
        None => crate::print(html.as_bytes()),
        Some(path) => Ok(zerohop_process::write(path, html.as_bytes())?),
    }
}
