//! What an output is to be: its files, its format, and how its records are sorted.

use crate::format::Format;
use crate::header::Header;
use crate::index::IndexFormat;
use crate::marking::Marking;
use crate::order::SortOrder;
use crate::tags::Comments;
use crate::unaligned::Unaligned;
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_cram::CramReference;
use zerohop_model::directed::Directed;
use zerohop_sort::{RunFolder, RunStore};

/// What to write, and where.
#[derive(Debug, Clone)]
pub struct OutputSpec {
    /// The file; `None` is standard output.
    pub path: Option<PathBuf>,
    /// Number of files that the records are dealt to; more than one needs a path.
    pub shards: usize,
    /// The format of the records.
    pub format: Format,
    /// The reference, which CRAM needs.
    pub reference: Option<Arc<CramReference>>,
    /// The header; each shard has all of it.
    pub header: Header,
    /// Position in the header of each lane's read group.
    pub lane_groups: Vec<Option<usize>>,
    /// What of the comments of reads is copied.
    pub comments: Comments,
    /// Which fields of comments go with the direction of the read.
    pub directed: Directed,
    /// Whether records tell of their mates (MQ, MC, ms).
    pub mate_tags: bool,
    /// Whether reads have records of which none of their fragment is aligned.
    pub shows_unaligned: bool,
    /// Where reads go that were not aligned, besides.
    pub unaligned: Option<Unaligned>,
    /// Whether secondary records have bases and qualities, although the engine shows none.
    pub secondary_bases: bool,
    /// How the records are sorted, if they are.
    pub sorting: Option<Sorting>,
}

/// How records are sorted.
#[derive(Debug, Clone)]
pub struct Sorting {
    /// The order of the records.
    pub order: SortOrder,
    /// Bytes of memory that records may take until they are written.
    pub memory: u64,
    /// The folder of temporary files for those that take more.
    pub folder: PathBuf,
    /// Whether BAM files in the order of coordinates get an index, and which.
    pub index: WriteIndex,
    /// How duplicates are looked for, if they are.
    pub marking: Option<Marking>,
    /// Where sorted records are kept for every process that takes part, if several do, or if this may be taken up
    /// after a crash.
    pub kept: Option<KeptRuns>,
}

/// Where sorted records are kept.
#[derive(Debug, Clone)]
pub struct KeptRuns {
    /// The folder, which all processes see.
    pub folder: PathBuf,
    /// Which attempt this is, from 0.
    pub attempt: usize,
    /// The number of this process.
    pub rank: usize,
}

/// Which index is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteIndex {
    /// No index.
    No,
    /// BAI, or CSI if a contig is too long for it.
    AsNeeded,
    /// An index of this format.
    As(IndexFormat),
}

impl OutputSpec {
    /// One file of the records of one lane, as they come.
    pub fn new(path: Option<PathBuf>, format: Format, header: Header) -> Self {
        OutputSpec {
            path,
            shards: 1,
            format,
            reference: None,
            header,
            lane_groups: vec![None],
            comments: Comments::None,
            directed: Directed::default(),
            mate_tags: false,
            shows_unaligned: true,
            unaligned: None,
            secondary_bases: false,
            sorting: None,
        }
    }
}

/// What the files of an output end with: those of records in this format, and those of reads that were not aligned.
pub fn end_markers(
    format: Format,
    shards: usize,
    unaligned: Option<&Unaligned>,
) -> impl Iterator<Item = &'static [u8]> + use<> {
    let of_records = std::iter::repeat_n(format.end_marker(), shards.max(1));
    let of_reads = unaligned.map(|to| std::iter::repeat_n(to.format.end_marker(), to.paths.len()));
    of_records.chain(of_reads.into_iter().flatten())
}

impl Sorting {
    /// What takes records or signatures, with so many bytes of memory.
    pub(crate) fn store(&self, kind: &'static str, memory: u64) -> RunStore {
        match self.kept.clone() {
            None => RunStore::new(memory, self.folder.clone()),
            Some(KeptRuns { folder, attempt, rank }) => {
                RunStore::kept(memory, RunFolder { folder, kind, attempt, rank })
            }
        }
    }

    /// The index that a file in this format gets.
    pub(crate) fn index(&self, format: Format, header: &Header) -> Option<IndexFormat> {
        match (self.index, self.order, format) {
            (WriteIndex::No, ..)
            | (_, SortOrder::Name | SortOrder::TemplateCoordinate, _)
            | (.., Format::Sam | Format::Paf | Format::Abundances) => None,
            (.., Format::Cram { .. }) => Some(IndexFormat::Crai),
            (WriteIndex::AsNeeded, ..) => Some(IndexFormat::for_contigs(&header.contigs)),
            (WriteIndex::As(index), ..) => Some(index),
        }
    }
}
