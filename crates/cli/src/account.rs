//! What is said of a run that went well.

use crate::args::AlignArgs;
use crate::failure::Failure;
use crate::{lanes::Groups, outputs, resources};
use std::time::Instant;
use zerohop_model::machine::Machine;
use zerohop_model::measurement::{Comparison, ReplicaReport, RunReport};
use zerohop_model::plan::Plan;
use zerohop_process::tell;
use zerohop_reads::LaneSpec;
use zerohop_report::{IndexReport, RankSummary, SCHEMA_VERSION, Summary};
use zerohop_sinks::Program;

/// A run that went well.
pub struct Account {
    /// When it began.
    pub started: Instant,
    /// Name and version of the aligner.
    pub engine: (String, String),
    /// The index copies of an embedded engine.
    pub replicas: Vec<ReplicaReport>,
    /// The index.
    pub index: IndexReport,
    /// The machine.
    pub machine: Machine,
    /// The plan.
    pub plan: Plan,
    /// What the runtime did.
    pub run: RunReport,
    /// How the records compare with the aligner's own.
    pub comparison: Option<Comparison>,
    /// What each rank did, if there were several.
    pub ranks: Vec<RankSummary>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// Every read must have come out.
///
/// # Errors
/// If one has not.
pub fn check(report: &RunReport) -> Result<(), Failure> {
    let (reads, records) = (report.tally.reads, report.tally.primary_records + report.tally.left_out);
    match reads == records {
        true => Ok(()),
        false => {
            Err(Failure::Other(format!("{reads} reads came in, but {records} are accounted for: please report this")))
        }
    }
}

/// zerohop itself, for @PG.
pub fn zerohop() -> Program {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Program { name: "zerohop".to_owned(), version, command_line: Some(command_line()) }
}

/// The command as it was typed.
pub fn command_line() -> String {
    let quoted = |arg: String| match arg.contains([' ', '\t', '\'', '"', '\\']) {
        true => format!("'{}'", arg.replace('\'', r"'\''")),
        false => arg,
    };
    let arguments = std::env::args_os().skip(1).map(|arg| quoted(arg.to_string_lossy().into_owned()));
    std::iter::once("zerohop".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

impl Account {
    /// Says how it went, in words and in the files asked for.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn tell(self, args: &AlignArgs, lanes: &[LaneSpec], groups: &Groups) -> Result<(), Failure> {
        let summary = Summary {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command_line(),
            engine: self.engine,
            inputs: lanes.iter().map(|lane| lane.files.iter().map(|f| f.display().to_string()).collect()).collect(),
            outputs: outputs::paths(args).iter().map(|path| path.display().to_string()).collect(),
            replicas: self.replicas,
            index: self.index,
            machine: self.machine,
            plan: self.plan,
            run: self.run,
            wall: self.started.elapsed(),
            resources: resources::used(),
            comparison: self.comparison,
            ranks: self.ranks,
            notes: [self.notes, zerohop_topology::unknown()].concat(),
        };
        tell(args, &summary, groups, lanes)
    }
}

/// Says how it went, in words and in the files asked for.
fn tell(args: &AlignArgs, summary: &Summary, (groups, _): &Groups, lanes: &[LaneSpec]) -> Result<(), Failure> {
    if args.quiet {
        // What may make the result wrong is never kept quiet.
        summary.notes.iter().for_each(|note| tell::note(note));
    } else {
        tell::text(&summary.text());
    }
    let other = |e: serde_json::Error| Failure::Other(e.to_string());
    if let Some(path) = &args.json {
        zerohop_process::write(path, summary.json().map_err(other)?.as_bytes())?;
    }
    if let Some(path) = &args.mqc {
        let in_group = groups.iter().flat_map(|g| &g.fields).find_map(|field| field.strip_prefix("SM:"));
        let of_file = lanes[0].files[0].file_name().map(|name| name.to_string_lossy().into_owned());
        let sample = args.sample.clone().or_else(|| in_group.map(str::to_owned)).or(of_file).unwrap_or_default();
        zerohop_process::write(path, summary.multiqc(&sample).map_err(other)?.as_bytes())?;
    }
    Ok(())
}
