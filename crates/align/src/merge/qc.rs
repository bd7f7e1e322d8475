//! Reports of the records that are merged.

use crate::finish::text_file;
use crate::job::qc::QcFiles;
use crate::job::{AlignError, Job};
use zerohop_output::{BedFile, FileSink};
use zerohop_process::NewFile;
use zerohop_qc::{Finished, ReportSpec, Reports};

/// Bases of the windows whose mean depth is told, as nf-core/sarek has it (`mosdepth --by 500`).
const WINDOW: u32 = 500;
/// The samtools whose rules hold.
const SAMTOOLS: &str = "1.24";

/// Reports that are being made, and their files.
pub struct Qc {
    files: QcFiles,
    pub reports: Reports,
}

impl Qc {
    /// Those of a job, if it wants some.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn open(job: &Job, sink: &FileSink) -> Result<Option<Self>, AlignError> {
        let Some(files) = QcFiles::of(job) else { return Ok(None) };
        let contigs = sink.contigs().to_vec();
        let windows = BedFile::create(&files.windows, &contigs)?;
        let (version, command) = (env!("CARGO_PKG_VERSION"), job.command.replace('\n', " "));
        let heading = format!(
            "# This file was produced by samtools stats ({SAMTOOLS} rules) in zerohop {version} and can be plotted \
             using plot-bamstats\n# This file contains statistics for all reads.\n\
             # The command line was:  {command}\n"
        );
        let reports = Reports::new(ReportSpec { contigs, window: WINDOW, heading }, windows);
        Ok(Some(Qc { files, reports }))
    }

    /// Writes all of them; they have no names yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(self) -> Result<Vec<NewFile>, AlignError> {
        let Finished { stats, flagstat, idxstats, coverage, mosdepth, windows } = self.reports.finish();
        let files = self.files;
        let of_samtools =
            [(files.stats, stats), (files.flagstat, flagstat), (files.idxstats, idxstats), (files.coverage, coverage)];
        let of_mosdepth = files.mosdepth.into_iter().zip(mosdepth);
        let mut written: Vec<NewFile> = windows.finish()?.into();
        for (path, text) in of_samtools.into_iter().chain(of_mosdepth) {
            written.push(text_file(&path, &text)?);
        }
        Ok(written)
    }
}
