//! What the records of a job depend on, besides its reads, reference and aligner.

use crate::job::sorting::umi_words;
use crate::job::{Job, UnalignedOptions};
use zerohop_output::{
    Barcode, Comments, CramVersion, Duplicates, Format, IndexFormat, Marking, ReadsFormat, Rules, Search, SortOrder,
    WriteIndex,
};
use zerohop_process::Identity;

/// How duplicates are marked, in the words of the options.
fn marking_words(marking: Marking) -> String {
    let Marking { duplicates, search: Search { rules, optical_distance, templates, umis }, barcode } = marking;
    let rules = match rules {
        Rules::Samtools => "samtools",
        Rules::Picard => "picard",
    };
    let barcode = barcode.map(|barcode| match barcode {
        Barcode::Tag(tag) => format!("--barcode-tag {}", String::from_utf8_lossy(&tag)),
        Barcode::Name => "--barcode-name".to_owned(),
    });
    let distance = optical_distance.map(|distance| format!("--optical-distance {distance}"));
    let remove = (duplicates == Duplicates::Remove).then(|| match templates {
        false => "--remove-duplicates".to_owned(),
        true => "--remove-duplicates=templates".to_owned(),
    });
    let umis = umis.map(|umis| format!("--umi {}", umi_words(umis)));
    let words = std::iter::once(rules.to_owned()).chain(umis).chain(barcode).chain(distance).chain(remove);
    words.collect::<Vec<_>>().join(" ")
}

fn format_words(format: Format) -> String {
    match format {
        Format::Sam => "SAM".to_owned(),
        Format::Bam { level } => format!("BAM (--level {level})"),
        Format::Cram { version: CramVersion::V3_0, level } => format!("CRAM 3.0 (--level {level})"),
        Format::Cram { version: CramVersion::V3_1, level } => format!("CRAM 3.1 (--level {level})"),
        Format::Paf => "PAF".to_owned(),
        Format::Abundances => "abundances".to_owned(),
    }
}

fn order_words(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Coordinate => "coordinate",
        SortOrder::Name => "name",
        SortOrder::TemplateCoordinate => "template-coordinate",
    }
}

/// Which index of the output is written, in the words of the options.
pub fn index_words(index: WriteIndex) -> &'static str {
    match index {
        WriteIndex::No => "none",
        WriteIndex::AsNeeded => "as needed",
        WriteIndex::As(IndexFormat::Bai) => "bai",
        WriteIndex::As(IndexFormat::Csi) => "csi",
        WriteIndex::As(IndexFormat::Crai) => "crai",
    }
}

/// The options of a job that its output depends on.
pub fn of_options(job: &Job) -> Identity {
    let sorting = job.output.sorting.as_ref();
    let unaligned = job.output.unaligned.as_ref();
    let unaligned = unaligned.map(|wanted @ UnalignedOptions { any_mate, .. }| {
        let format = match job.output.unaligned_format() {
            None => "unknown".to_owned(),
            Some(ReadsFormat::Fastq) => ".fq".to_owned(),
            Some(ReadsFormat::FastqGz { level }) => format!(".fq.gz (--level {level})"),
            Some(ReadsFormat::Bam { level }) => format!(".bam (--level {level})"),
        };
        let files = if wanted.is_by_mate() { "%" } else { "" };
        format!("{files}{format} --unaligned-mates {}", if *any_mate { "any" } else { "both" })
    });
    let structures: Vec<String> = job.barcodes.structures.iter().map(ToString::to_string).collect();
    let structures = (!structures.is_empty()).then(|| structures.join(" "));
    Identity::new("align")
        .with("the format of the output", format_words(job.output.format()))
        .with_option("--reference-uri", &job.output.reference_uri)
        .with("--shards", job.output.shards)
        .with("the read groups", job.read_groups.words())
        .with("-C", job.output.comments == Comments::AsTheyStand)
        .with("fields that are turned", job.output.directed.to_string())
        .with("--mate-tags", job.output.mate_tags)
        .with("--no-unaligned", job.output.no_unaligned)
        .with("--secondary-bases", job.output.secondary_bases)
        .with_option("--unaligned", &unaligned)
        .with_option("--sort", &sorting.map(|sorting| order_words(sorting.order)))
        .with_option("--mark-duplicates", &sorting.and_then(|sorting| sorting.marking).map(marking_words))
        .with_option("--engine-args", &job.external.engine_args)
        .with("--dna", job.external.dna)
        .with("--interleaved", job.lanes.iter().any(|lane| lane.interleaved))
        .with_option("--read-structure", &structures)
        .with("UMIs in names", job.barcodes.umis_in_names)
        .with_option("--library", &job.library.map(|library| format!("{library:?}")))
        .with_option("--trim", &job.trimming.as_ref().map(|trimming| format!("{:?}", trimming.options)))
        .with_option("--first", &job.first)
        .with_option("--read-length", &job.read_length)
}
