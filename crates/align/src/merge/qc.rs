//! Reports of the records that are merged.

use crate::finish::text_file;
use crate::job::qc::{self, QcFiles};
use crate::job::{AlignError, Job};
use std::path::PathBuf;
use zerohop_output::{BedFile, FileSink};
use zerohop_process::NewFile;
use zerohop_process::tell;
use zerohop_qc::{BedFiles, By, Finished, ReportSpec, Reports};

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
        let (Some(files), Some(options)) = (QcFiles::of(job), qc::wanted(job)) else { return Ok(None) };
        let contigs = sink.contigs().to_vec();
        let mosdepth = options.mosdepth.read()?;
        if let (Some(By::Bed(bed)), Some(path)) = (&mosdepth.by, &options.mosdepth.bed)
            && let Some(contig) = bed.unknown_contig(&contigs)
        {
            tell::note(&format!(
                "{}: the reference has no contig {contig}: its regions are not told of, as with mosdepth",
                path.display()
            ));
        }
        let create = |path: &Option<PathBuf>| path.as_deref().map(|path| BedFile::create(path, &contigs)).transpose();
        let bed_files = BedFiles {
            regions: create(&files.regions.as_ref().map(|[_, regions]| regions.clone()))?,
            thresholds: create(&files.thresholds)?,
            per_base: create(&files.per_base)?,
            quantized: create(&files.quantized)?,
        };
        let (version, command) = (env!("CARGO_PKG_VERSION"), job.command.replace('\n', " "));
        let heading = format!(
            "# This file was produced by samtools stats ({SAMTOOLS} rules) in zerohop {version} and can be plotted \
             using plot-bamstats\n# This file contains statistics for all reads.\n\
             # The command line was:  {command}\n"
        );
        let reports = Reports::new(ReportSpec { contigs, mosdepth, heading }, bed_files)?;
        Ok(Some(Qc { files, reports }))
    }

    /// Writes all of them; they have no names yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(self) -> Result<Vec<NewFile>, AlignError> {
        let Finished { stats, flagstat, idxstats, coverage, mosdepth, regions, lines } = self.reports.finish()?;
        let files = self.files;
        let of_samtools =
            [(files.stats, stats), (files.flagstat, flagstat), (files.idxstats, idxstats), (files.coverage, coverage)];
        let of_mosdepth = files.mosdepth.into_iter().zip(mosdepth);
        let of_regions = files.regions.map(|[distribution, _]| distribution).into_iter().zip(regions);
        let mut written: Vec<NewFile> = Vec::new();
        for file in lines {
            written.extend(file.finish()?);
        }
        for (path, text) in of_samtools.into_iter().chain(of_mosdepth).chain(of_regions) {
            written.push(text_file(&path, &text)?);
        }
        Ok(written)
    }
}
