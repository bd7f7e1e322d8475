//! Reports of the records that are merged. Of several processes each keeps what it has found, and the first makes the
//! reports of all.

use crate::finish::{Report, text_file};
use crate::job::qc::{self, MethylDackelOptions, PicardOptions, QcFiles, QcOptions};
use crate::job::{AlignError, Job};
use crate::run::{PartsToMake, RunPart};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_input::reference;
use zerohop_model::measurement::QcReport;
use zerohop_model::plan::Plan;
use zerohop_model::record::Contig;
use zerohop_output::{BedFile, FileSink, LineFile, Visitors};
use zerohop_process::tell;
use zerohop_qc::{
    BedFiles, By, ContigBases, Finished, KeptParts, MethylDackel, MosdepthSpec, PicardFiles, PicardSpec, RankReports,
    ReportSpec, Reports,
};
use zerohop_runtime::do_parts;

/// The samtools whose rules hold.
const SAMTOOLS: &str = "1.24";
/// The Picard whose rules hold.
const PICARD: &str = "3.4.0";

/// Reports that are being made.
pub struct Qc {
    options: QcOptions,
    spec: ReportSpec,
    /// The files under their names.
    files: QcFiles,
    /// As they are named until then: of a job on record, they lie in its folder.
    now: QcFiles,
    made: Made,
}

/// What is made while parts are.
enum Made {
    /// This process makes all parts.
    All(Box<Reports>),
    /// It keeps those of its own in a file of this folder.
    Own(Box<RankReports>, PathBuf),
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
        let reference = options.needs_reference().map(|_| reference(job, &contigs)).transpose()?;
        let picard = match (&options.picard, &reference) {
            (Some(options), Some(reference)) => Some(picard(job, options, (&contigs, reference))?),
            _ => None,
        };
        let methyldackel = options.methyldackel.clone().zip(reference.clone());
        let methyldackel = methyldackel.map(|(MethylDackelOptions { spec, .. }, reference)| MethylDackel {
            spec,
            reference,
            prefix: sample(job),
        });
        let stats_reference = reference.filter(|_| options.stats_reference);
        let spec = ReportSpec { contigs, mosdepth, heading: heading(job), stats_reference, picard, methyldackel };
        let folder = part.output().map(|shared| shared.folder.clone());
        let now = folder.as_ref().map_or_else(|| files.clone(), |folder| QcFiles::within(folder, options));
        let made = match folder {
            Some(folder) if ranks > 1 => {
                Made::Own(Box::new(RankReports::new(&spec, &kept_file(&folder, rank))?), folder)
            }
            _ => Made::All(Box::new(reports(&spec, &now)?)),
        };
        Ok(Some(Qc { options: options.clone(), spec, files, now, made }))
    }

    /// What looks at the records.
    pub fn visitors(&self) -> &dyn Visitors {
        match &self.made {
            Made::All(reports) => &**reports,
            Made::Own(reports, _) => &**reports,
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
        let Qc { options: QcOptions { mosdepth, picard, methyldackel, .. }, spec, files, now, made } = self;
        let mut finished = match made {
            Made::All(reports) => reports.finish()?,
            Made::Own(own, folder) => {
                let sums = part.at_first(own.finish()?)?;
                if part.place().0 > 0 {
                    return Ok((Vec::new(), None));
                }
                let kept = KeptParts::open((0..sums.len()).map(|rank| kept_file(&folder, rank)).collect())?;
                let reports = reports(&spec, &now)?;
                sums.iter().try_for_each(|sums| reports.add_sums(sums))?;
                let row = |row| reports.take_up(&kept, row);
                do_parts(plan, plan.workers.len(), (0..parts.count as usize, parts.row as usize), row)?;
                reports.finish()?
            }
        };
        let (time, figures) = (finished.time, std::mem::take(&mut finished.figures));
        let reports = written(finished, &now, &files)?;
        let cost = QcReport {
            files: reports.len() as u64,
            time,
            mosdepth: mosdepth.words,
            picard: picard.is_some(),
            methyldackel: methyldackel.map(|options| options.words),
            figures,
        };
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

/// The bases of these contigs.
fn reference(job: &Job, contigs: &[Contig]) -> Result<Arc<ContigBases>, AlignError> {
    Ok(Arc::new(reference::for_cram(&job.reference, false)?.into_contigs(contigs)?))
}

/// How Picard's files are made, with the comments by which MultiQC knows whose they are.
fn picard(
    job: &Job,
    options: &PicardOptions,
    (contigs, reference): (&[Contig], &Arc<ContigBases>),
) -> Result<PicardSpec, AlignError> {
    let prefix = qc::wanted(job).and_then(|options| options.prefix.as_ref());
    let name = job.output.path.as_ref().or(prefix).and_then(|path| path.file_name()).unwrap_or_default();
    let (version, command) = (env!("CARGO_PKG_VERSION"), job.command.replace('\n', " "));
    Ok(PicardSpec {
        reference: Arc::clone(reference),
        capture: options.read(contigs)?.map(Arc::new),
        input: name.to_string_lossy().replace(char::is_whitespace, "_"),
        rounds: PicardSpec::ROUNDS,
        made_by: format!("zerohop {version}, by the rules of Picard {PICARD}: {command}"),
    })
}

/// What the names of files begin with that are named after the sample.
fn sample(job: &Job) -> String {
    let prefix = qc::wanted(job).and_then(|options| options.prefix.clone());
    let path = prefix.or_else(|| job.output.path.as_ref().map(|path| path.with_extension("")));
    path.unwrap_or_default().display().to_string()
}

/// Where a process of several keeps what it has found.
fn kept_file(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("reports.{rank}"))
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
    let cytosines = files.cytosines.iter().map(|path| LineFile::create(path)).collect::<Result<_, _>>()?;
    Ok(Reports::new(spec.clone(), bed_files, cytosines)?)
}

/// Writes what the reports say, to files that are named `now`, and later as `files` says.
fn written(finished: Finished, now: &QcFiles, files: &QcFiles) -> Result<Vec<Report>, AlignError> {
    let Finished { stats, flagstat, idxstats, coverage, mosdepth, regions, picard, lines, cytosines, .. } = finished;
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
    for (file, path) in cytosines.into_iter().zip(&files.cytosines) {
        reports.push(Report { written: file.finish()?, path: path.clone() });
    }
    Ok(reports)
}
