//! The output, which is opened with the first header that an instance writes.

use super::reference::ComparedReference;
use crate::job::{AlignError, Job};
use crate::open::output::{self, SharedOutput};
use std::sync::OnceLock;
use zerohop_engine_external::Found;
use zerohop_model::error::Error;
use zerohop_model::sink::Sink;
use zerohop_output::{FileSink, Header, Program};
use zerohop_process::{Charge, charge};
use zerohop_runtime::LateSink;

/// The output, which is opened when its header is known.
pub struct Late<'a> {
    job: &'a Job,
    found: &'a Found,
    /// What other ranks write as well.
    shared: Option<SharedOutput>,
    /// What the header is compared with.
    reference: Option<ComparedReference>,
    /// Why it could not be compared.
    uncompared: OnceLock<String>,
    sink: OnceLock<OpenedOutput>,
}

pub struct OpenedOutput {
    /// Where the records go.
    pub sink: FileSink,
    /// The header of the instance that was first.
    pub header: Header,
}

impl<'a> Late<'a> {
    /// Nothing is opened yet. `shared` is what other ranks write as well; the header is compared with `reference`.
    pub fn new(
        job: &'a Job,
        found: &'a Found,
        shared: Option<SharedOutput>,
        reference: Option<ComparedReference>,
    ) -> Self {
        Late { job, found, shared, reference, uncompared: OnceLock::new(), sink: OnceLock::new() }
    }

    /// The output, if it was opened; and a note if its header could not be compared with the reference.
    pub fn into_opened(self) -> (Option<OpenedOutput>, Option<String>) {
        (self.sink.into_inner(), self.uncompared.into_inner())
    }

    fn open_sink(&self, text: &[u8]) -> Result<OpenedOutput, AlignError> {
        let header = Header::from_program(text)?;
        if header.contigs.is_empty() {
            // minimap2 goes on without any, and ends well, if its index is cut off.
            let words = "the header that the aligner wrote names no sequence: its index must be damaged";
            return Err(AlignError::Failed(words.to_owned()));
        }
        let compared = self.reference.as_ref().map(|reference| reference.compare(&header.contigs)).transpose()?;
        if let Some(note) = compared.flatten() {
            self.uncompared.get_or_init(|| note);
        }
        let groups = self.job.read_groups.groups.clone();
        let history = self.job.history.clone();
        let mut whole = header.clone().with_read_groups(groups)?.with_history(history);
        if self.found.descriptor.read_group.always {
            whole.drop_other_read_groups();
        }
        // Most aligners name themselves.
        if !header.lines.iter().any(|line| line.starts_with("@PG")) {
            let (name, version) = (self.found.descriptor.name.clone(), self.found.version.clone());
            whole.programs.push(Program { name, version, description: None, command_line: None });
        }
        whole.programs.push(output::zerohop(self.job));
        let sink = output::open(self.job, whole, self.shared.as_ref())?;
        for file in sink.temporary_files() {
            // It has another name when the run is complete.
            charge(Charge::file(&file)).map_err(AlignError::uncharged)?.until_our_end();
        }
        Ok(OpenedOutput { sink, header })
    }
}

impl LateSink for Late<'_> {
    fn open(&self, header: &[u8]) -> Result<&dyn Sink, Error> {
        let opened = self.open_sink(header).map_err(|failure| match failure {
            AlignError::Run(error) => error,
            AlignError::BrokenPipe => Error::BrokenPipe,
            other => Error::Header(other.to_string()),
        })?;
        Ok(&self.sink.get_or_init(|| opened).sink)
    }

    fn check(&self, instance: usize, header: &[u8]) -> Result<(), Error> {
        let wrong = |what: String| Error::Header(format!("instance {instance} of {}: {what}", self.job.engine));
        let header = Header::from_program(header).map_err(|e| wrong(format!("the header that it wrote: {e}")))?;
        match self.sink.get() {
            Some(opened) if !header.same_as(&opened.header) => Err(wrong(
                "it wrote another header than the first instance that wrote its own: do they read the same index?"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }
}
