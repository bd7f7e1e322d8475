//! `zerohop-lab report`: the page of `zerohop report`, with what the laboratory measured.

use crate::args::ReportArgs;
use crate::failure::Failure;
use zerohop_lab::{ExchangeRun, Point, exchange_runs_of, points_of, show, show_exchange};
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::{standard, tell};
use zerohop_report::{ChartError, Laboratory, OfLaboratory, Page, files_of, report};

/// What the laboratory measured, file by file.
#[derive(Default)]
struct TakenFiles {
    points: Vec<Point>,
    exchanges: Vec<(String, Vec<ExchangeRun>)>,
}

impl Laboratory for TakenFiles {
    fn expected(&self) -> &'static str {
        "what 'zerohop align --json', 'zerohop search --json', 'zerohop tune', 'zerohop topo --measure --json', \
         'zerohop-lab scaling' or 'zerohop-lab exchange -o' writes"
    }

    fn take(&mut self, kind: OfLaboratory, name: &str, text: &str) -> Result<(), String> {
        match kind {
            OfLaboratory::Points => self.points.extend(points_of(text)?),
            OfLaboratory::Exchanges => self.exchanges.push((name.to_owned(), exchange_runs_of(text)?)),
        }
        Ok(())
    }

    fn show(&self, page: &mut Page) -> Result<(), ChartError> {
        if !self.exchanges.is_empty() {
            page.heading("Exchange");
        }
        self.exchanges.iter().for_each(|(name, runs)| show_exchange(name, runs, page));
        if !self.points.is_empty() {
            page.heading("Thread scaling");
            show(&self.points, page)?;
        }
        Ok(())
    }
}

/// Does the command.
///
/// # Errors
/// A file that holds nothing that can be shown; an output that cannot be written, which is then not there.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let (files, notes) = files_of(&args.runs)?;
    notes.iter().for_each(|note| tell::note(note));
    if let Some(output) = &args.output {
        overwrite::apart(&files, [output])?;
        overwrite::replaceable(output, Kind::Page)?;
    }
    let html = report(&args.title, &files, &mut TakenFiles::default())?;
    match &args.output {
        None => Ok(standard::print(html.as_bytes())?),
        Some(path) => Ok(zerohop_process::write(path, html.as_bytes())?),
    }
}
