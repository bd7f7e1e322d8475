//! Options for sorted output and duplicates.

use super::{methyldackel, mosdepth, numbers};
use clap::builder::ArgPredicate;
use clap::{ArgGroup, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use zerohop_align::{
    Barcode, DuplicateSearch, Duplicates, IndexFormat, Marking, MethylDackelOptions, MosdepthOptions, PicardOptions,
    QcOptions, Rules, SortOptions, SortOrder, UmiRules, UmiStrategy, WriteIndex,
};
use zerohop_model::machine::Bytes;

/// What Picard takes for near on the flow cell, in pixels, if nothing else is said.
const PICARDS_DISTANCE: u32 = 100;

/// Options for sorted output and duplicates.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
#[command(group(ArgGroup::new("duplicates").args(["mark_duplicates", "remove_duplicates"]).multiple(true)))]
pub struct SortArgs {
    /// Sort by coordinate, name or template-coordinate, as samtools does
    ///
    /// --sort alone is by coordinate; --sort=name and --sort=template-coordinate are the others.
    /// A BAM or CRAM file that is sorted by coordinate gets an index beside it. template-coordinate is the order in
    /// which fgumi and fgbio take the reads of a molecule; MC and MQ are written with it.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "coordinate")]
    #[arg(value_name = "ORDER", hide_possible_values = true)]
    pub sort: Option<SortName>,

    /// Mark duplicates by the RULES of samtools (the default) or picard
    ///
    /// samtools: as 'samtools fixmate -m', 'sort' and 'markdup' do. picard: as Picard MarkDuplicates does with records
    /// in the order of coordinates; reads of other libraries (LB of the read group) are no duplicates then.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "samtools")]
    #[arg(value_name = "RULES", hide_possible_values = true)]
    #[arg(default_value_if("remove_duplicates", ArgPredicate::IsPresent, Some("samtools")))]
    pub mark_duplicates: Option<RulesName>,

    /// Leave duplicates out: their primary records, or all records of their templates (--remove-duplicates=templates)
    ///
    /// With templates, secondary and supplementary records of a duplicate and its unmapped mate are left out, too.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "records")]
    #[arg(value_name = "records|templates", hide_possible_values = true, hide_short_help = true)]
    pub remove_duplicates: Option<RemoveName>,

    /// Count optical duplicates: those at most N pixels apart [default: 100 with picard, else none are counted]
    #[arg(long, value_name = "N", value_parser = numbers::any_u32, requires = "duplicates", hide_short_help = true)]
    pub optical_distance: Option<u32>,

    /// Duplicates have the same barcode, which this tag of the read holds, such as RX
    ///
    /// It is a field of BAM, or one in the comment of FASTQ, which -C copies.
    #[arg(long, value_name = "TAG", value_parser = parse_tag, requires = "duplicates", hide_short_help = true)]
    pub barcode_tag: Option<[u8; 2]>,

    /// Duplicates have the same barcode, which follows the seventh colon of the read's name
    #[arg(long, requires = "duplicates", conflicts_with = "barcode_tag", hide_short_help = true)]
    pub barcode_name: bool,

    /// Duplicates come from one molecule: group reads of one place by their UMIs (exact, edit, adjacency, paired)
    ///
    /// UMIs are in the tag RX, or where --barcode-tag or --barcode-name says. Of each molecule one template stays, and
    /// all records of the others are marked; MI says which molecule a record comes from. exact: UMIs are equal. edit:
    /// they differ at N positions at most [default: 1]. adjacency: as edit, but only rare UMIs are errors of frequent
    /// ones, as in UMI-tools. paired: as adjacency, with one UMI from each end (ACGT-TTGA), for duplex sequencing. The
    /// rules are those of fgbio GroupReadsByUmi: reads below mapping quality 1, and those with N in the UMI, are not
    /// grouped.
    #[arg(long, value_name = "RULE[:N]", value_parser = parse_umi, requires = "duplicates", hide_short_help = true)]
    pub umi: Option<UmiRules>,

    /// With --umi: UMIs may differ in length, and have N bases at least
    ///
    /// Those of a place are compared as far as the shortest goes; reads with fewer bases are not grouped. Without it
    /// all UMIs of a place need one length, but for exact. Not for paired.
    #[arg(long, value_name = "N", requires = "umi", hide_short_help = true)]
    pub min_umi_length: Option<u8>,

    /// With --umi: write PREFIX.family_sizes.txt and PREFIX.grouping_metrics.txt, as fgbio does
    #[arg(long, value_name = "PREFIX", requires = "umi", hide_short_help = true)]
    pub umi_metrics: Option<PathBuf>,

    /// Write how many duplicates each library has to FILE, as Picard does
    #[arg(long, value_name = "FILE", requires = "duplicates", hide_short_help = true)]
    pub duplicate_metrics: Option<PathBuf>,

    /// Write what samtools and mosdepth say of the records, too
    ///
    /// These are the lines of samtools stats, flagstat, idxstats and coverage 1.24, and of mosdepth 0.3.14, as if they
    /// read the file. Their files have the names OUTPUT.stats, OUTPUT.flagstat, OUTPUT.idxstats and
    /// OUTPUT.coverage.txt, and, without the suffix .bam or .cram, OUTPUT.mosdepth.summary.txt,
    /// OUTPUT.mosdepth.global.dist.txt, OUTPUT.mosdepth.region.dist.txt and OUTPUT.regions.bed.gz; with PREFIX that is
    /// the beginning of all.
    #[arg(long, value_name = "PREFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub qc: Option<OsString>,

    /// With --qc, write what samtools stats says with its option -r, too
    ///
    /// That is mismatches by cycle (MPC), and GC-depth by the GC of the reference. REF must be FASTA.
    #[arg(long, requires = "qc", hide_short_help = true)]
    pub stats_reference: bool,

    /// What --qc writes of mosdepth: its own options, quoted as in a shell
    ///
    /// Such as "--by targets.bed --thresholds 1,10,20 --use-median". All are taken but --chrom, --fragment-mode and
    /// --d4; --threads and --fasta change nothing.
    #[arg(long, value_name = "OPTIONS", default_value = mosdepth::SAREKS, requires = "qc", hide_short_help = true)]
    #[arg(allow_hyphen_values = true, value_parser = mosdepth::parse)]
    pub mosdepth: MosdepthOptions,

    /// With --qc, also write what MethylDackel extract says of bisulfite reads; its own options, quoted as in a shell
    ///
    /// These are the lines of MethylDackel 0.6.1: OUTPUT_CpG.bedGraph, and OUTPUT_CHG.bedGraph and OUTPUT_CHH.bedGraph
    /// if the options ask for them, such as --methyldackel="--CHG --mergeContext". All are taken but -r, -l,
    /// --keepStrand, --logit, --cytosine_report, those of mappability and of variants, and --minConversionEfficiency.
    /// -@ and --chunkSize change nothing. REF must be FASTA.
    #[arg(long, value_name = "OPTIONS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(requires = "qc", hide_short_help = true, allow_hyphen_values = true, value_parser = methyldackel::parse)]
    pub methyldackel: Option<MethylDackelOptions>,

    /// With --qc, also write metrics of Picard
    ///
    /// Those of Picard 3.4.0, without charts. CollectMultipleMetrics: OUTPUT.alignment_summary_metrics,
    /// OUTPUT.insert_size_metrics, OUTPUT.quality_distribution_metrics, OUTPUT.quality_by_cycle_metrics,
    /// OUTPUT.base_distribution_by_cycle_metrics. CollectGcBiasMetrics: OUTPUT.gc_bias.detail_metrics,
    /// OUTPUT.gc_bias.summary_metrics. CollectWgsMetrics: OUTPUT.wgs_metrics. All without the suffix .bam or .cram.
    /// REF must be FASTA.
    #[arg(long, requires = "qc", hide_short_help = true)]
    pub picard_metrics: bool,

    /// With --picard-metrics: the regions that were enriched, such as an exome, in BED or as an interval list
    ///
    /// Then OUTPUT.hs_metrics (CollectHsMetrics) is written in place of OUTPUT.wgs_metrics.
    #[arg(long, value_name = "FILE", requires = "picard_metrics", hide_short_help = true)]
    pub targets: Option<PathBuf>,

    /// With --targets: the regions of the probes [default: those of --targets]
    #[arg(long, value_name = "FILE", requires = "targets", hide_short_help = true)]
    pub baits: Option<PathBuf>,

    /// Memory that records may take until they are written [default: half of what the index leaves free]
    ///
    /// A number with K, M, G or T, as in samtools: 2G. What takes more is compressed, and kept in temporary files until
    /// all reads are aligned. With ranks it is the memory of each.
    #[arg(long, value_name = "SIZE", value_parser = numbers::size, hide_short_help = true)]
    pub sort_memory: Option<Bytes>,

    /// Folder of temporary files for sorting [default: that of the output]
    ///
    /// For an output that is no file it is that of the environment variable TMPDIR, else the present one. They have no
    /// names: nothing is left of them, whatever ends zerohop. With --ranks, --durable, --resume and --restart sorted
    /// records are kept beside the output instead.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub tmp_dir: Option<PathBuf>,

    /// Index of the sorted BAM file [default: bai, or csi if a contig has more than 2^29 bases]
    #[arg(long, value_name = "bai|csi", value_enum, hide_possible_values = true, hide_short_help = true)]
    pub index: Option<IndexName>,

    /// Write no index of the sorted file
    #[arg(long, conflicts_with = "index", hide_short_help = true)]
    pub no_write_index: bool,
}

/// What can be given to `--sort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortName {
    Coordinate,
    Name,
    TemplateCoordinate,
}

/// What can be given to `--mark-duplicates`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RulesName {
    Samtools,
    Picard,
}

/// What can be given to `--remove-duplicates`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RemoveName {
    Records,
    Templates,
}

/// What can be given to `--index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IndexName {
    Bai,
    Csi,
}

/// A tag of SAM: a letter, and a letter or a digit.
fn parse_tag(text: &str) -> Result<[u8; 2], String> {
    match *text.as_bytes() {
        [first, second] if first.is_ascii_alphabetic() && second.is_ascii_alphanumeric() => Ok([first, second]),
        _ => Err("a tag is a letter, and a letter or a digit, such as RX".to_owned()),
    }
}

/// How UMIs are compared: a rule, and maybe at how many positions they may differ.
fn parse_umi(text: &str) -> Result<UmiRules, String> {
    let (rule, edits) = match text.split_once(':') {
        Some((rule, edits)) => (rule, Some(edits)),
        None => (text, None),
    };
    let strategy = match rule {
        "exact" => UmiStrategy::Exact,
        "edit" => UmiStrategy::Edit,
        "adjacency" => UmiStrategy::Adjacency,
        "paired" => UmiStrategy::Paired,
        "identity" => return Err("fgbio's 'identity' is 'exact' here".to_owned()),
        _ => return Err(format!("there is no rule '{rule}': choose exact, edit, adjacency or paired")),
    };
    let edits = edits.map(|edits| edits.parse().map_err(|_| format!("'{edits}' is no number of positions")));
    UmiRules::new(strategy, edits.transpose()?).map_err(|error| error.to_string())
}

impl SortArgs {
    /// How records are to be sorted, if they are.
    ///
    /// # Errors
    /// In words: an option that is for sorted records alone.
    pub fn sorting(self) -> Result<Option<SortOptions>, String> {
        let order = match self.sort {
            None => return self.without_sort().map_or(Ok(None), Err),
            Some(SortName::Coordinate) => SortOrder::Coordinate,
            Some(SortName::Name) => SortOrder::Name,
            Some(SortName::TemplateCoordinate) => SortOrder::TemplateCoordinate,
        };
        let marking = self.marking()?;
        Ok(Some(SortOptions {
            order,
            memory: self.sort_memory,
            tmp_dir: self.tmp_dir,
            marking,
            metrics: self.duplicate_metrics,
            umi_metrics: self.umi_metrics,
            qc: self.qc.map(|prefix| QcOptions {
                prefix: Some(prefix).filter(|it| !it.is_empty()).map(Into::into),
                stats_reference: self.stats_reference,
                mosdepth: self.mosdepth,
                methyldackel: self.methyldackel,
                picard: self.picard_metrics.then_some(PicardOptions { targets: self.targets, baits: self.baits }),
            }),
            index: match (self.no_write_index, self.index) {
                (true, _) => WriteIndex::No,
                (_, None) => WriteIndex::AsNeeded,
                (_, Some(IndexName::Bai)) => WriteIndex::As(IndexFormat::Bai),
                (_, Some(IndexName::Csi)) => WriteIndex::As(IndexFormat::Csi),
            },
        }))
    }

    /// What is wrong without `--sort`, if something is.
    fn without_sort(&self) -> Option<String> {
        let of_duplicates = [
            ("--remove-duplicates", self.remove_duplicates.is_some()),
            ("--mark-duplicates", self.mark_duplicates.is_some()),
        ];
        let others = [
            ("--sort-memory", self.sort_memory.is_some()),
            ("--tmp-dir", self.tmp_dir.is_some()),
            ("--index", self.index.is_some()),
            ("--no-write-index", self.no_write_index),
            ("--qc", self.qc.is_some()),
        ];
        let given = |options: &[(&'static str, bool)]| options.iter().find(|(_, is)| *is).map(|(option, _)| *option);
        let of_duplicates = given(&of_duplicates).map(|option| {
            format!(
                "{option} is done while records are sorted: give --sort, too (by coordinate), or --sort=name. Without \
                 --sort zerohop looks for no duplicates"
            )
        });
        of_duplicates.or_else(|| Some(format!("{} is for sorted records: give --sort, too", given(&others)?)))
    }

    fn marking(&self) -> Result<Option<Marking>, String> {
        let Some(rules) = self.mark_duplicates else { return Ok(None) };
        let (rules, distance) = match rules {
            RulesName::Samtools => (Rules::Samtools, None),
            RulesName::Picard => (Rules::Picard, Some(PICARDS_DISTANCE)),
        };
        let umis = match (self.umi, self.min_umi_length) {
            (Some(umis), Some(bases)) => {
                Some(umis.with_least_bases(bases).map_err(|error| format!("--min-umi-length: {error}"))?)
            }
            (umis, _) => umis,
        };
        // A UMI in the name goes into RX when reads are parsed.
        let of_umi = self.umi.map(|_| Barcode::Tag(*b"RX"));
        let of_name = self.barcode_name.then_some(Barcode::Name);
        Ok(Some(Marking {
            duplicates: if self.remove_duplicates.is_some() { Duplicates::Remove } else { Duplicates::Mark },
            search: DuplicateSearch {
                rules,
                optical_distance: self.optical_distance.or(distance),
                templates: self.remove_duplicates == Some(RemoveName::Templates) || self.umi.is_some(),
                umis,
            },
            barcode: self.barcode_tag.map(Barcode::Tag).or(of_umi).or(of_name),
        }))
    }
}
