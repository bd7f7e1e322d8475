//! Reports of the records (`--qc`): for which outputs they are made, and how their files are named.

use crate::job::{AlignError, Job};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use zerohop_input::reference;
use zerohop_model::error::{Error, InputError};
use zerohop_model::record::Contig;
use zerohop_output::{BedFile, Format, SortOrder};
use zerohop_qc::{Bed, By, Capture, MethylDackelSpec, MosdepthSpec, NotBed, NotTargets, PicardFiles, Targets};

/// Reports that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QcOptions {
    /// What the names of their files begin with; by default the name of the output.
    pub prefix: Option<PathBuf>,
    /// Whether `samtools stats` has the reference, as with `-r`.
    pub stats_reference: bool,
    /// What mosdepth is asked for.
    pub mosdepth: MosdepthOptions,
    /// Picard's metrics, if they are wanted.
    pub picard: Option<PicardOptions>,
    /// What MethylDackel extracts, if that is wanted.
    pub methyldackel: Option<MethylDackelOptions>,
}

impl QcOptions {
    /// The option that needs the reference, if one does.
    pub fn needs_reference(&self) -> Option<&'static str> {
        let options = [
            ("--picard-metrics", self.picard.is_some()),
            ("--stats-reference", self.stats_reference),
            ("--methyldackel", self.methyldackel.is_some()),
        ];
        options.iter().find(|(_, needs)| *needs).map(|(option, _)| *option)
    }
}

/// What Picard's metrics are made with, besides the reference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PicardOptions {
    /// The file of the regions that were to be enriched, if some were.
    pub targets: Option<PathBuf>,
    /// The file of what they were enriched with; by default the same.
    pub baits: Option<PathBuf>,
}

impl PicardOptions {
    /// The regions, if there are some.
    ///
    /// # Errors
    /// A file that cannot be read, or has no regions of these contigs.
    pub fn read(&self, contigs: &[Contig]) -> Result<Option<Capture>, Error> {
        let Some(path) = &self.targets else { return Ok(None) };
        let targets = targets(path, contigs)?;
        let baits = self.baits.as_ref().map_or(Ok(targets.clone()), |path| self::targets(path, contigs))?;
        Ok(Some(Capture { targets, baits }))
    }
}

fn targets(path: &Path, contigs: &[Contig]) -> Result<Targets, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Targets::parse(&name, &text(path)?, contigs).map_err(|NotTargets { line, words }| {
        let what = if line > 0 { format!("line {line}: {words}") } else { words };
        Error::from(InputError::new(path, what))
    })
}

/// The text of a file, which may be in gzip.
fn text(path: &Path) -> Result<String, Error> {
    let unreadable = |error: std::io::Error| InputError::new(path, error.to_string());
    let mut text = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    zerohop_input::inflated(file).and_then(|mut file| file.read_to_end(&mut text)).map_err(unreadable)?;
    String::from_utf8(text).map_err(|error| {
        let byte = error.utf8_error().valid_up_to() + 1;
        let what = format!("byte {byte}: this is no text in UTF-8, and so has no regions");
        Error::from(InputError::new(path, what))
    })
}

/// What mosdepth is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MosdepthOptions {
    /// Its options, as they were given.
    pub words: String,
    /// What they say, but for the regions of a file.
    pub spec: MosdepthSpec,
    /// The file of the regions, in BED or BED in gzip, if its regions are to be told of.
    pub bed: Option<PathBuf>,
}

impl MosdepthOptions {
    /// All that mosdepth is asked for, with the regions of the file.
    ///
    /// # Errors
    /// A file that cannot be read, or is none of BED.
    pub fn read(&self) -> Result<MosdepthSpec, AlignError> {
        let Some(path) = &self.bed else { return Ok(self.spec.clone()) };
        let bed = Bed::parse(&text(path)?).map_err(|NotBed { line, words }| {
            AlignError::Failed(format!("{}, line {line}: this is no line of BED: {words}", path.display()))
        })?;
        Ok(MosdepthSpec { by: Some(By::Bed(bed)), ..self.spec.clone() })
    }
}

/// What MethylDackel is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethylDackelOptions {
    /// Its options, as they were given.
    pub words: String,
    /// What they say.
    pub spec: MethylDackelSpec,
}

/// The files of the reports.
#[derive(Debug, Clone)]
pub struct QcFiles {
    /// `samtools stats`.
    pub stats: PathBuf,
    /// `samtools flagstat`.
    pub flagstat: PathBuf,
    /// `samtools idxstats`.
    pub idxstats: PathBuf,
    /// `samtools coverage`.
    pub coverage: PathBuf,
    /// mosdepth's summary.txt and global.dist.txt.
    pub mosdepth: [PathBuf; 2],
    /// Its region.dist.txt and regions.bed.gz, if there are regions.
    pub regions: Option<[PathBuf; 2]>,
    /// Its thresholds.bed.gz, per-base.bed.gz and quantized.bed.gz, if they are wanted.
    pub thresholds: Option<PathBuf>,
    pub per_base: Option<PathBuf>,
    pub quantized: Option<PathBuf>,
    /// Picard's metrics, if they are wanted.
    pub picard: Option<PicardFiles<PathBuf>>,
    /// Cytosines, as MethylDackel tells of them: a file of each context.
    pub cytosines: Vec<PathBuf>,
}

impl QcFiles {
    /// The files of a text, in the order of the fields.
    pub fn texts(&self) -> Vec<PathBuf> {
        let QcFiles { stats, flagstat, idxstats, coverage, mosdepth, regions, picard, .. } = self;
        let regions = regions.as_ref().map(|[distribution, _]| distribution);
        let of_tools = [stats, flagstat, idxstats, coverage].into_iter().chain(mosdepth).chain(regions).cloned();
        of_tools.chain(picard.clone().into_iter().flat_map(PicardFiles::into_all)).collect()
    }

    /// The files of lines, as [`zerohop_qc::BedFiles`] has them.
    pub fn of_lines(&self) -> Vec<PathBuf> {
        let QcFiles { regions, thresholds, per_base, quantized, .. } = self;
        let regions = regions.as_ref().map(|[_, regions]| regions);
        let all = [regions, thresholds.as_ref(), per_base.as_ref(), quantized.as_ref()];
        all.into_iter().flatten().cloned().collect()
    }

    /// Those of a job; none if it wants none. samtools' are named after the file of records, `S.bam.stats`, the others
    /// after the sample, `S.mosdepth.summary.txt`.
    pub fn of(job: &Job) -> Option<Self> {
        let options = wanted(job)?;
        match (&options.prefix, &job.output.path) {
            (Some(prefix), _) => Some(Self::named(prefix, prefix, options)),
            (None, Some(path)) => Some(Self::named(path, &path.with_extension(""), options)),
            (None, None) => None,
        }
    }

    /// The same in a folder, as long as they have no names.
    pub fn within(folder: &Path, options: &QcOptions) -> Self {
        let report = folder.join("report");
        Self::named(&report, &report, options)
    }

    fn named(records: &Path, sample: &Path, QcOptions { mosdepth, picard, methyldackel, .. }: &QcOptions) -> Self {
        let file = |base: &Path, suffix: &str| {
            let mut name = base.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let of_sample = |suffix: &str| file(sample, suffix);
        let MosdepthOptions { spec, bed, .. } = mosdepth;
        let has_regions = spec.by.is_some() || bed.is_some();
        let regions = [".mosdepth.region.dist.txt", ".regions.bed.gz"];
        QcFiles {
            stats: file(records, ".stats"),
            flagstat: file(records, ".flagstat"),
            idxstats: file(records, ".idxstats"),
            coverage: file(records, ".coverage.txt"),
            mosdepth: [".mosdepth.summary.txt", ".mosdepth.global.dist.txt"].map(of_sample),
            regions: has_regions.then(|| regions.map(of_sample)),
            thresholds: (!spec.thresholds.is_empty()).then(|| of_sample(".thresholds.bed.gz")),
            per_base: spec.has_per_base.then(|| of_sample(".per-base.bed.gz")),
            quantized: spec.quantize.is_some().then(|| of_sample(".quantized.bed.gz")),
            cytosines: methyldackel.iter().flat_map(|it| it.spec.suffixes()).map(|end| of_sample(&end)).collect(),
            picard: picard.as_ref().map(|picard| PicardFiles::suffixes(picard.targets.is_some()).map(of_sample)),
        }
    }
}

/// The reports that a job wants, if it wants some.
pub fn wanted(job: &Job) -> Option<&QcOptions> {
    job.output.sorting.as_ref()?.qc.as_ref()
}

/// The files of regions that the reports tell of, and what each is given for.
pub fn regions(job: &Job) -> impl Iterator<Item = (&'static str, &PathBuf)> {
    let qc = wanted(job);
    let picard = qc.and_then(|qc| qc.picard.as_ref());
    let of_mosdepth = qc.and_then(|qc| qc.mosdepth.bed.as_ref());
    let targets = picard.and_then(|picard| picard.targets.as_ref());
    let baits = picard.and_then(|picard| picard.baits.as_ref());
    let files = [("--mosdepth", of_mosdepth), ("--targets", targets), ("--baits", baits)];
    files.into_iter().filter_map(|(option, file)| Some((option, file?)))
}

/// Refuses regions that are none of these contigs, before reads are aligned.
///
/// # Errors
/// A file that cannot be read, or has no regions of these contigs.
pub fn check_targets(job: &Job, contigs: &[Contig]) -> Result<(), Error> {
    let picard = wanted(job).and_then(|qc| qc.picard.as_ref());
    picard.map_or(Ok(()), |picard| picard.read(contigs).map(|_| ()))
}

/// All files of the reports of a job.
pub fn files(job: &Job) -> Vec<PathBuf> {
    let Some(files) = QcFiles::of(job) else { return Vec::new() };
    let of_lines = files.of_lines();
    let indexes: Vec<PathBuf> = of_lines.iter().map(|path| BedFile::index_path(path)).collect();
    [files.texts(), of_lines, indexes, files.cytosines].concat()
}

/// Refuses outputs of which there are no reports.
///
/// # Errors
/// Wrong usage.
pub fn check(job: &Job) -> Result<(), AlignError> {
    let Some(sorting) = &job.output.sorting else { return Ok(()) };
    let Some(qc) = &sorting.qc else { return Ok(()) };
    let has_name = job.output.path.as_deref().is_some_and(|path| !zerohop_process::is_written_in_place(path));
    let words = if sorting.order != SortOrder::Coordinate {
        "--qc is for records that are sorted by coordinate: give --sort without an order"
    } else if !matches!(job.output.format(), Format::Bam { .. } | Format::Cram { .. }) {
        "--qc is for BAM and CRAM: name the output .bam or .cram, or give --format"
    } else if qc.prefix.is_none() && !has_name {
        "--qc names its files after the output, which is no file: say what their names begin with (--qc=PREFIX)"
    } else {
        // Before all reads are aligned.
        if let Some(option) = qc.needs_reference() {
            reference::check_fasta(&job.reference, &format!("{option} needs the reference"))?;
        }
        return qc.mosdepth.read().map(|_| ());
    };
    Err(AlignError::Usage(words.to_owned()))
}
