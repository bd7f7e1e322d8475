//! Reports of the records that are merged. Of several processes each keeps what it has found, and the first makes the
//! reports of all.

use crate::finish::{Report, text_file};
use crate::job::qc::{self, QcFiles, QcOptions};
use crate::job::{AlignError, Job};
use crate::run::{PartsToMake, RunPart};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_input::reference;
use zerohop_model::measurement::QcReport;
use zerohop_model::plan::Plan;
use zerohop_model::record::Contig;
use zerohop_output::{BedFile, FileSink, Visitors};
use zerohop_process::tell;
use zerohop_qc::{
    BedFiles, By, Finished, KeptParts, MosdepthSpec, PicardFiles, PicardSpec, RankReports, ReportSpec, Reports,
};
use zerohop_runtime::do_parts;

/// The samtools whose rules hold.
const SAMTOOLS: &str = "1.24";
/// The Picard whose rules hold.
const PICARD: &str = "3.4.0";

/// Reports that are being made.
pub struct Qc {
    spec: ReportSpec,
    files: QcFiles,
    /// Of a job on record, the folder in which files lie that have no names yet.
    folder: Option<PathBuf>,
    made: Made,
    /// The options of mosdepth.
    words: String,
}

/// What is made while parts are.
enum Made {
    /// This process makes all parts.
    All(Box<Reports>),
    Own(Box<RankReports>),
}

impl Qc {
    /// Those of a job, if it wants some.
    ///
    /// # Errors
    /// A file that cannot be written, regions that cannot be read.
    pub fn open(job: &Job, sink: &FileSink, part: &dyn RunPart) -> Result<Option<Self>, AlignError> {
        let (Some(files), Some(options)) = (QcFiles::of(job), qc::wanted(job)) else { return Ok(None) };
        let (contigs, (rank, ranks)) = (sink.contigs().to_vec(), part.place());
        let mosdepth = mosdepth(options, &contigs, rank == 0)?;
        let picard = options.picard.then(|| picard(job, &contigs)).transpose()?;
        let spec = ReportSpec { contigs, mosdepth, heading: heading(job), picard };
        let folder = part.output().map(|shared| shared.folder.clone());
        let made = match &folder {
            Some(folder) if ranks > 1 => Made::Own(Box::new(RankReports::new(&spec, &kept_file(folder, rank))?)),
            _ => Made::All(Box::new(reports(&spec, &in_folder(&files, folder.as_deref()))?)),
        };
        Ok(Some(Qc { spec, files, folder, made, words: options.mosdepth.words.clone() }))
    }

    /// What looks at the records.
    pub fn visitors(&self) -> &dyn Visitors {
        match &self.made {
            Made::All(reports) => &**reports,
            Made::Own(reports) => &**reports,
        }
    }

    /// Writes all of them, on the first process; they have no names yet. Says what they cost.
    ///
    /// # Errors
    /// What the system says; processes that cannot go on together.
    pub fn finish(
        self,
        part: &dyn RunPart,
        plan: &Plan,
        parts: PartsToMake,
    ) -> Result<(Vec<Report>, Option<QcReport>), AlignError> {
        let Qc { spec, files, folder, made, words } = self;
        let now = in_folder(&files, folder.as_deref());
        let finished = match made {
            Made::All(reports) => reports.finish()?,
            Made::Own(own) => {
                let sums = part.at_first(own.finish()?)?;
                let (0, Some(folder)) = (part.place().0, &folder) else { return Ok((Vec::new(), None)) };
                let kept = KeptParts::open((0..sums.len()).map(|rank| kept_file(folder, rank)).collect())?;
                let reports = reports(&spec, &now)?;
                sums.iter().try_for_each(|sums| reports.add_sums(sums))?;
                let row = |row| reports.take_up(&kept, row);
                do_parts(plan, plan.workers.len(), (0..parts.count as usize, parts.row as usize), row)?;
                reports.finish()?
            }
        };
        let time = finished.time;
        let reports = written(finished, &now, &files)?;
        let cost = QcReport { files: reports.len() as u64, time, mosdepth: words };
        Ok((reports, Some(cost)))
    }
}

/// What mosdepth is asked for; who `tells` says which regions are left out.
fn mosdepth(options: &QcOptions, contigs: &[Contig], tells: bool) -> Result<MosdepthSpec, AlignError> {
    let spec = options.mosdepth.read()?;
    if let (Some(By::Bed(bed)), Some(path), true) = (&spec.by, &options.mosdepth.bed, tells)
        && let Some(contig) = bed.unknown_contig(contigs)
    {
        let path = path.display();
        tell::note(&format!(
            "{path}: the reference has no contig {contig}: its regions are not told of, as with mosdepth"
        ));
    }
    Ok(spec)
}

/// The comments that `samtools stats` begins with.
fn heading(job: &Job) -> String {
    let (version, command) = (env!("CARGO_PKG_VERSION"), job.command.replace('\n', " "));
    format!(
        "# This file was produced by samtools stats ({SAMTOOLS} rules) in zerohop {version} and can be plotted \
         using plot-bamstats\n# This file contains statistics for all reads.\n\
         # The command line was:  {command}\n"
    )
}

/// How Picard's files are made, with the comments by which MultiQC knows whose they are.
fn picard(job: &Job, contigs: &[Contig]) -> Result<PicardSpec, AlignError> {
    let name = job.output.path.as_ref().and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy();
    let (version, command) = (env!("CARGO_PKG_VERSION"), job.command.replace('\n', " "));
    Ok(PicardSpec {
        reference: Arc::new(reference::for_cram(&job.reference, false)?.into_contigs(contigs)?),
        input: name.replace(char::is_whitespace, "_"),
        made_by: format!("zerohop {version}, by the rules of Picard {PICARD}: {command}"),
    })
}

/// Where a process of several keeps what it has found.
fn kept_file(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("reports.{rank}"))
}

/// The files as they are before they have their names.
fn in_folder(files: &QcFiles, folder: Option<&Path>) -> QcFiles {
    folder.map_or_else(|| files.clone(), |folder| files.within(folder))
}

/// Reports of no records yet.
fn reports(spec: &ReportSpec, files: &QcFiles) -> Result<Reports, AlignError> {
    let create = |path: Option<&PathBuf>| path.map(|path| BedFile::create(path, &spec.contigs)).transpose();
    let bed_files = BedFiles {
        regions: create(files.regions.as_ref().map(|[_, regions]| regions))?,
        thresholds: create(files.thresholds.as_ref())?,
        per_base: create(files.per_base.as_ref())?,
        quantized: create(files.quantized.as_ref())?,
    };
    Ok(Reports::new(spec.clone(), bed_files)?)
}

/// Writes what the reports say, to files that are named `now`, and later as `files` says.
fn written(finished: Finished, now: &QcFiles, files: &QcFiles) -> Result<Vec<Report>, AlignError> {
    let Finished { stats, flagstat, idxstats, coverage, mosdepth, regions, picard, lines, .. } = finished;
    let of_tools = [stats, flagstat, idxstats, coverage].into_iter().chain(mosdepth).chain(regions);
    let texts = of_tools.chain(picard.into_iter().flat_map(PicardFiles::into_all));
    let mut reports = Vec::new();
    for ((now, path), text) in now.texts().into_iter().zip(files.texts()).zip(texts) {
        reports.push(Report { written: text_file(&now, &text)?, path });
    }
    for (file, path) in lines.into_iter().zip(files.of_lines()) {
        let index = BedFile::index_path(&path);
        reports.extend(file.finish()?.into_iter().zip([path, index]).map(|(written, path)| Report { written, path }));
    }
    Ok(reports)
}
