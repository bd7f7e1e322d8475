//! What is to be aligned, with what, and where the records go.

mod error;
pub(crate) mod files;
pub(crate) mod identity;
pub mod lanes;
pub(crate) mod product;
pub(crate) mod qc;
pub(crate) mod saved;
pub(crate) mod sorting;

pub use error::AlignError;

use lanes::ReadGroups;
pub use qc::{MethylDackelOptions, MosdepthOptions, PicardOptions, QcOptions};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_input::{Barcodes, BisulfiteLibrary, LaneSpec, Trimming};
use zerohop_model::directed::Directed;
use zerohop_model::index::Product;
use zerohop_model::machine::Bytes;
use zerohop_model::plan::{HugePages, Pages};
use zerohop_output::{Comments, CramVersion, Format, History, Marking, ReadsFormat, SortOrder, WriteIndex};
use zerohop_plan::Replicas;
use zerohop_ranks::RankCount;
use zerohop_runtime::{Dealing, Order};

/// The engine that a job takes unless it names another.
pub const STROBEALIGN: &str = "strobealign";
/// The engine for long reads.
pub const RAMMAP: &str = "rammap";
/// An engine that maps nothing: what is left is the runtime.
pub const NULL: &str = "null";
/// The compression level of BAM. Level 6 takes 3 to 4 times as long, and makes it 4 to 7 % smaller
/// (bench/runs/2026-11-25-epyc-2cpu-levels).
pub const BAM_LEVEL: u8 = 1;
/// The compression level of CRAM, and of reads that were not aligned.
pub const LEVEL: u8 = 6;
/// Compression level of trimmed and of dropped reads, which is that of fastp.
pub const SAVED_LEVEL: u8 = 4;
/// How long an instance, or another rank, may be silent unless the job says otherwise.
pub const HANG_LIMIT: Duration = Duration::from_secs(1800);

/// One alignment: reads, reference, engine, output, and how the machine is used. The records depend on the first three
/// alone, but for aligners whose own choices depend on the process (see `docs/engines.md`).
///
/// ```
/// use zerohop_align::{Job, lanes};
/// let reads = lanes::lanes(vec![vec!["reads.fq".into()]], false)?;
/// let mut job = Job::new("ref.fa".into(), reads);
/// job.output.path = Some("out.bam".into());
/// job.placement.threads = Some(8);
/// # Ok::<_, zerohop_align::AlignError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Job {
    /// The reference in FASTA, or an index of the engine.
    pub reference: PathBuf,
    /// The reads.
    pub lanes: Vec<LaneSpec>,
    /// The read groups.
    pub read_groups: ReadGroups,
    /// What was done to the reads before, for @PG and @CO. What lanes of BAM say of themselves is added to it.
    pub history: History,
    /// Where reads have UMIs and other barcodes; none by default.
    pub barcodes: Barcodes,
    /// How reads are trimmed, if they are.
    pub trimming: Option<Trimming>,
    /// The file of fastp's report of trimming.
    pub trim_report: Option<PathBuf>,
    /// The files of the trimmed reads, and of those that are dropped.
    pub saved: SavedPaths,
    /// Reads or pairs of each lane that are aligned; all by default. They are counted before they are trimmed.
    pub first: Option<u64>,
    /// The aligner, by its name.
    pub engine: String,
    /// Of which kind of bisulfite library reads are, if they are bisulfite reads; by default as the first ones look.
    pub library: Option<BisulfiteLibrary>,
    /// Mean read length in bases for which the index is chosen; by default that of the first reads.
    pub read_length: Option<usize>,
    /// Whether the index is built anew even if there is one.
    pub no_index: bool,
    /// Where the records go.
    pub output: OutputOptions,
    /// How the machine is used.
    pub placement: PlacementOptions,
    /// For aligners that are programs of their own.
    pub external: ExternalOptions,
    /// For several processes, or one that can be taken up after a crash.
    pub ranks: RankOptions,
    /// What is written about the run.
    pub report: ReportOptions,
    /// How long aligning may take; no limit by default. An index is loaded or built to its end, and sorted records are
    /// written to theirs; aligning that has not ended by then is stopped, and fails with
    /// [`Error::Stopped`](zerohop_model::error::Error::Stopped).
    pub time_limit: Option<Duration>,
    /// The command that asked for it, for @PG and the summary.
    pub command: String,
    /// Whether progress and summary are kept back.
    pub quiet: bool,
    /// How many jobs of this process run at the same time, this one too: they share what memory is free.
    pub at_a_time: usize,
}

/// Where the records go.
#[derive(Debug, Clone)]
pub struct OutputOptions {
    /// The file; standard output by default.
    pub path: Option<PathBuf>,
    /// The format; by default BAM if the file's name ends in .bam, else SAM.
    pub format: Option<RecordFormat>,
    /// Compression level, 0 to 9 as in samtools; by default [`BAM_LEVEL`], and [`LEVEL`] of CRAM and of reads.
    pub level: Option<u8>,
    /// Version of CRAM; by default 3.0.
    pub cram_version: Option<CramVersion>,
    /// Where readers of CRAM find the reference; by default its absolute path.
    pub reference_uri: Option<String>,
    /// The order of chunks.
    pub order: Order,
    /// Number of files.
    pub shards: usize,
    /// What of the comments of header lines is appended to records. Fields of BAM are in any case.
    pub comments: Comments,
    /// Which optional fields of the reads go with their direction, and are turned in records on the reverse strand.
    pub directed: Directed,
    /// Whether records tell of their mates: MQ, MC and ms, as `samtools fixmate -m` writes them.
    pub mate_tags: bool,
    /// Whether reads are left out of which none of their fragment is aligned: they have no records.
    pub no_unaligned: bool,
    /// Where such reads go, besides.
    pub unaligned: Option<UnalignedOptions>,
    /// Whether secondary records have bases and qualities where the engine shows none.
    pub secondary_bases: bool,
    /// How records are sorted, if they are.
    pub sorting: Option<SortOptions>,
}

/// Where reads go that were not aligned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnalignedOptions {
    /// The file: FASTQ, plain or compressed, or BAM, by its suffix. A `%` in its name stands for 1 and 2: the mates of
    /// pairs have a file each then.
    pub path: PathBuf,
    /// Whether pairs go there of which one mate is aligned; else neither is.
    pub any_mate: bool,
}

impl UnalignedOptions {
    /// Whether the mates of pairs have a file each.
    pub fn is_by_mate(&self) -> bool {
        self.paths().len() > 1
    }

    /// The file, or those of the first and the second mates.
    ///
    /// ```
    /// use zerohop_align::UnalignedOptions;
    /// let unaligned = UnalignedOptions { path: "rest_%.fq.gz".into(), any_mate: false };
    /// assert_eq!(unaligned.paths(), ["rest_1.fq.gz", "rest_2.fq.gz"].map(std::path::PathBuf::from));
    /// ```
    pub fn paths(&self) -> Vec<PathBuf> {
        mate_paths(&self.path)
    }
}

/// A file, or those of the first and the second mates: a `%` in its name stands for 1 and 2.
pub(crate) fn mate_paths(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().as_bytes();
    match name.iter().position(|&b| b == b'%') {
        None => vec![path.to_owned()],
        Some(at) => {
            let of_mate = |mate| OsString::from_vec([&name[..at], mate, &name[at + 1..]].concat());
            [b"1", b"2"].map(|mate| path.with_file_name(of_mate(mate))).into()
        }
    }
}

/// Where reads go that are trimmed: FASTQ, plain or compressed, by the suffix. A `%` in a name stands for 1 and 2: the
/// mates of pairs have a file each then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedPaths {
    /// What stays of them.
    pub trimmed: Option<PathBuf>,
    /// Whole reads that are dropped, with the reason behind their names.
    pub failed: Option<PathBuf>,
}

impl SavedPaths {
    /// The names that were given, with their options.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        [("--save-trimmed", &self.trimmed), ("--save-failed", &self.failed)]
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.as_ref()?)))
    }

    /// The files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.named().flat_map(|(_, path)| mate_paths(path)).collect()
    }
}

impl OutputOptions {
    /// The format of the records: the one that is wanted, else that of the file's name.
    pub(crate) fn format(&self) -> Format {
        let by_suffix = || match self.path.as_ref().and_then(|path| path.extension()) {
            Some(suffix) if suffix.eq_ignore_ascii_case("bam") => RecordFormat::Bam,
            Some(suffix) if suffix.eq_ignore_ascii_case("cram") => RecordFormat::Cram,
            _ => RecordFormat::Sam,
        };
        match self.format.unwrap_or_else(by_suffix) {
            RecordFormat::Sam => Format::Sam,
            RecordFormat::Bam => Format::Bam { level: self.level.unwrap_or(BAM_LEVEL) },
            RecordFormat::Cram => Format::Cram {
                version: self.cram_version.unwrap_or(CramVersion::V3_0),
                level: self.level.unwrap_or(LEVEL),
            },
            RecordFormat::Paf => Format::Paf,
            RecordFormat::Abundances => Format::Abundances,
        }
    }

    /// What the engine makes of the reads.
    pub(crate) fn product(&self) -> Product {
        match self.format {
            Some(RecordFormat::Paf) => Product::Paf,
            Some(RecordFormat::Abundances) => Product::Abundances,
            _ => Product::Records,
        }
    }

    /// The format of reads that were not aligned, by the name of their file; none if it promises another one.
    pub(crate) fn unaligned_format(&self) -> Option<ReadsFormat> {
        let path = &self.unaligned.as_ref()?.path;
        ReadsFormat::of_name(path, self.level.unwrap_or(LEVEL))
    }
}

/// How records are sorted.
#[derive(Debug, Clone)]
pub struct SortOptions {
    /// In which order.
    pub order: SortOrder,
    /// Memory that records may take until they are written; by default half of what is free once the index is loaded.
    pub memory: Option<Bytes>,
    /// The folder of temporary files; by default that of the output.
    pub tmp_dir: Option<PathBuf>,
    /// Which index is written beside the file.
    pub index: WriteIndex,
    /// How duplicates are looked for, if they are.
    pub marking: Option<Marking>,
    /// The file that says how many each library has, as Picard writes it.
    pub metrics: Option<PathBuf>,
    /// How the names of the files begin that say how many templates molecules have, as fgbio writes them.
    pub umi_metrics: Option<PathBuf>,
    /// Reports of the records, if they are wanted.
    pub qc: Option<QcOptions>,
}

/// A format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFormat {
    /// Text.
    Sam,
    /// Binary, compressed.
    Bam,
    /// Binary, without the bases that are in the reference.
    Cram,
    /// Lines that the engine writes itself, if its arguments say so. Not to be asked for otherwise.
    Paf,
    /// A table of how often each contig is covered, likewise.
    Abundances,
}

/// How the machine is used.
#[derive(Debug, Clone)]
pub struct PlacementOptions {
    /// Number of workers; by default all CPUs that may be used.
    pub threads: Option<usize>,
    /// Number of index copies.
    pub replicas: Replicas,
    /// Where the pages of a copy go; by default as the planner says.
    pub pages: Option<Pages>,
    /// Whether the index asks for huge pages.
    pub huge_pages: HugePages,
    /// Where the plan comes from; by default from an earlier `tune` of the same, else from the rule.
    pub plan: Option<PlanFrom>,
}

/// Where a plan comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanFrom {
    /// The rule.
    Rule,
    /// The rule, corrected by trials on the first reads.
    Auto,
    /// A file.
    File(PathBuf),
}

/// Options for aligners that run as programs of their own.
#[derive(Debug, Clone)]
pub struct ExternalOptions {
    /// Arguments for the aligner, as a shell would take them apart.
    pub engine_args: Option<String>,
    /// Files that describe aligners.
    pub engine_file: Vec<PathBuf>,
    /// Whether a missing index is made with the aligner's own indexer.
    pub build_index: bool,
    /// Whether spliced alignment is turned off.
    pub dna: bool,
    /// Whether each worker is a process of its own, on a shared index copy.
    pub farm: bool,
    /// Whether shared copies stay for later runs.
    pub keep_copies: bool,
    /// How reads are dealt to the instances.
    pub deal: Dealing,
    /// How long an instance, or another rank, may be silent.
    pub hang_limit: Option<Duration>,
    /// The folder for what instances write on standard error.
    pub logs: Option<PathBuf>,
    /// Whether the records are compared with those of the aligner by itself.
    pub compare: bool,
    /// Reads or pairs that are compared; all by default.
    pub compare_first: Option<u64>,
}

/// Several processes, or one that records what it has finished.
#[derive(Debug, Clone, Default)]
pub struct RankOptions {
    /// How many ranks there must be; none by default.
    pub wanted: Option<RankCount>,
    /// Whether progress is recorded without ranks, too.
    pub durable: bool,
    /// Whether there must be progress to take up.
    pub resume: bool,
    /// Whether progress is thrown away.
    pub restart: bool,
    /// The library that `zerohop mpi` built.
    pub mpi: Option<PathBuf>,
}

impl RankOptions {
    /// Whether it is recorded what is finished.
    pub fn is_recorded(&self) -> bool {
        self.wanted.is_some() || self.durable || self.resume || self.restart
    }
}

/// What is written about the run.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// The summary as JSON.
    pub json: Option<PathBuf>,
    /// The summary for MultiQC.
    pub mqc: Option<PathBuf>,
    /// The name of the sample in MultiQC's report; by default SM of the read group, else the name of the reads.
    pub sample: Option<String>,
}

impl ReportOptions {
    /// The file with M-bias for MultiQC, beside the summary: `NAME_m_bias_mqc.json` beside `NAME_mqc.json`. It is
    /// written if reads were converted.
    pub fn mqc_m_bias(&self) -> Option<PathBuf> {
        let path = self.mqc.as_ref()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        let stem = name.strip_suffix(".json").unwrap_or(&name);
        Some(path.with_file_name(format!("{}_m_bias_mqc.json", stem.strip_suffix("_mqc").unwrap_or(stem))))
    }
}

impl Job {
    /// A job with the defaults of the command: strobealign, SAM on standard output, all CPUs.
    pub fn new(reference: PathBuf, lanes: Vec<LaneSpec>) -> Self {
        Job {
            reference,
            read_groups: ReadGroups::none(lanes.len()),
            history: History::default(),
            lanes,
            barcodes: Barcodes::default(),
            library: None,
            trimming: None,
            trim_report: None,
            saved: SavedPaths::default(),
            first: None,
            engine: STROBEALIGN.to_owned(),
            read_length: None,
            no_index: false,
            output: OutputOptions {
                path: None,
                format: None,
                level: None,
                cram_version: None,
                reference_uri: None,
                order: Order::Input,
                shards: 1,
                comments: Comments::None,
                directed: Directed::default(),
                mate_tags: false,
                no_unaligned: false,
                unaligned: None,
                secondary_bases: false,
                sorting: None,
            },
            placement: PlacementOptions {
                threads: None,
                replicas: Replicas::Auto,
                pages: None,
                huge_pages: HugePages::Auto,
                plan: None,
            },
            external: ExternalOptions {
                engine_args: None,
                engine_file: Vec::new(),
                build_index: false,
                dna: false,
                farm: false,
                keep_copies: false,
                deal: Dealing::OnDemand,
                hang_limit: None,
                logs: None,
                compare: false,
                compare_first: None,
            },
            ranks: RankOptions::default(),
            report: ReportOptions::default(),
            time_limit: None,
            command: "zerohop".to_owned(),
            quiet: false,
            at_a_time: 1,
        }
    }

    /// Refuses what a command line would not let through.
    pub(crate) fn check(&self) -> Result<(), AlignError> {
        let refused = [
            ("there are no reads", self.lanes.is_empty()),
            ("a number of output files (shards) of 0", self.output.shards == 0),
            ("a number of threads of 0", self.placement.threads == Some(0)),
            ("a compression level above 9", self.output.level > Some(9)),
            ("read groups for another number of lanes", self.read_groups.of_lanes.len() != self.lanes.len()),
            ("both resume and restart", self.ranks.resume && self.ranks.restart),
        ];
        match refused.iter().find(|(_, is_so)| *is_so) {
            Some((what, _)) => Err(AlignError::Usage(format!("the job cannot be done as it was given: {what}"))),
            None => Ok(()),
        }
    }

    /// How long an instance, or another rank, may be silent.
    pub fn hang_limit(&self) -> Duration {
        self.external.hang_limit.unwrap_or(HANG_LIMIT)
    }
}
