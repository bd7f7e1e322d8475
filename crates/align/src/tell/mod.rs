//! What is said of a run that went well, or is interrupted.

mod doubts;
mod interrupted;
pub mod progress;
pub mod resources;

use crate::job::{AlignError, Job, files};
pub use doubts::doubts;
pub use interrupted::if_interrupted;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use zerohop_input::WhenRead;
use zerohop_model::machine::Machine;
use zerohop_model::measurement::{Comparison, ReplicaReport, RunReport};
use zerohop_model::plan::Plan;
use zerohop_model::thousands::grouped;
use zerohop_output::FileSink;
use zerohop_process::tell;
use zerohop_report::{IndexReport, RankSummary, SCHEMA_VERSION, Summary};

/// A run that went well, as the first rank tells it.
pub struct Done {
    /// What there is to say.
    pub summary: Summary,
    /// Why the records could not be compared, if they should have been. They are there all the same.
    pub not_compared: Option<AlignError>,
}

/// What an engine says of a run.
pub struct EngineTold {
    /// Name and version of the aligner.
    pub engine: (String, String),
    /// The index copies of an embedded engine.
    pub replicas: Vec<ReplicaReport>,
    /// The index.
    pub index: IndexReport,
    /// The machine.
    pub machine: Machine,
    /// The plan that was followed to the end.
    pub plan: Plan,
    /// What the runtime did.
    pub run: RunReport,
}

impl EngineTold {
    /// All that a run says of itself.
    pub fn summary(
        self,
        job: &Job,
        started: Instant,
        comparison: Option<Comparison>,
        ranks: Vec<RankSummary>,
        notes: Vec<String>,
    ) -> Summary {
        let names = |files: &Vec<std::path::PathBuf>| files.iter().map(|f| f.display().to_string()).collect();
        Summary {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: job.command.clone(),
            engine: self.engine,
            sample: sample(job),
            product: job.output.product(),
            inputs: job.lanes.iter().map(|lane| names(&lane.files)).collect(),
            outputs: names(&files::paths(job)),
            replicas: self.replicas,
            index: self.index,
            machine: self.machine,
            plan: self.plan,
            run: self.run,
            wall: started.elapsed(),
            finished: SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs()),
            resources: resources::used(),
            samples: 0,
            comparison,
            ranks,
            notes: [notes, zerohop_topology::unknown()].concat(),
        }
    }
}

/// Every read must have come out.
///
/// # Errors
/// If one has not.
pub fn check(report: &RunReport) -> Result<(), AlignError> {
    let (reads, records) = (report.tally.reads, report.tally.primary_records + report.tally.without_record());
    match reads == records {
        true => Ok(()),
        false => Err(AlignError::Failed(format!(
            "{} reads came in, but {} are accounted for: please report this",
            grouped(reads),
            grouped(records)
        ))),
    }
}

/// Says how it went: on standard error, and in the files that the job asks for.
///
/// # Errors
/// A file that cannot be written.
pub fn tell(job: &Job, summary: &Summary) -> Result<(), AlignError> {
    if job.quiet {
        // Some tell of what may make the result wrong.
        summary.notes.iter().for_each(|note| tell::note(note));
    } else {
        tell::text(&summary.text());
    }
    // The records may have taken hours, and are there.
    write_reports(job, summary).map_err(|error| match &job.output.path {
        Some(path) => AlignError::Failed(format!("{error}; the records are complete in {}", path.display())),
        None => error,
    })
}

/// Writes how it went to the files that the job asks for.
///
/// # Errors
/// A file that cannot be written.
pub fn write_reports(job: &Job, summary: &Summary) -> Result<(), AlignError> {
    let other = |e: serde_json::Error| AlignError::Failed(e.to_string());
    if let Some(path) = &job.report.json {
        zerohop_process::write(path, summary.json().map_err(other)?.as_bytes())?;
    }
    if let Some(path) = &job.report.mqc {
        zerohop_process::write(path, summary.multiqc().map_err(other)?.as_bytes())?;
    }
    if let (Some(path), Some(text)) = (job.report.mqc_m_bias(), summary.multiqc_m_bias()) {
        zerohop_process::write(&path, text.map_err(other)?.as_bytes())?;
    }
    Ok(())
}

/// The name of the sample: that of the job, SM of a read group, or the name of the reads.
pub(crate) fn sample(job: &Job) -> String {
    let fields = || job.read_groups.groups.iter().flat_map(|group| &group.fields);
    let in_group = || fields().find_map(|field| field.strip_prefix("SM:")).map(str::to_owned);
    let first = || job.lanes.first()?.files.first()?.file_name();
    let of_file = || first().map(|name| name.to_string_lossy().into_owned());
    job.report.sample.clone().or_else(in_group).or_else(of_file).unwrap_or_default()
}

/// What the output and the lanes of a run have to say, when all is read.
///
/// # Errors
/// A pipe that ended in the middle.
pub fn after_run(sink: Option<&(FileSink, String)>, lanes: Vec<WhenRead>) -> Result<Vec<String>, AlignError> {
    let mut notes: Vec<String> = sink.into_iter().flat_map(|(sink, _)| sink.notes()).collect();
    for lane in lanes {
        notes.extend(lane.note()?);
    }
    Ok(notes)
}
