//! Places reads anywhere, at no cost, so that a run is what the runtime and the sort make of it: `bench/sorting.py`
//! compares that with programs that sort.
#![forbid(unsafe_code)]

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zerohop_align::{AlignError, Job, PlacedAlloc, SortOptions, SortOrder, WriteIndex, align_with, lanes};
use zerohop_bench::random::Random;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, OnStart, Wanted};
use zerohop_model::machine::Bytes;
use zerohop_model::mapper::Mapper;
use zerohop_model::record::{CigarOp, Contig, Locus, REVERSE, UNMAPPED};
use zerohop_process::tell;

/// Buffers lie where the plan says, as in zerohop.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

/// Write reads to random places of a reference
#[derive(Parser)]
struct Arguments {
    /// The reference in FASTA
    reference: PathBuf,
    /// Files of single reads, each a lane
    #[arg(required = true)]
    reads: Vec<PathBuf>,
    /// Write to FILE, SAM or BAM by its suffix
    #[arg(short, long)]
    output: PathBuf,
    /// Sort by coordinate, with so many MiB of memory
    #[arg(long, value_name = "MIB")]
    sort_memory: Option<u64>,
    /// Worker threads
    #[arg(short, long)]
    threads: Option<usize>,
}

fn main() -> ExitCode {
    zerohop_align::prepare();
    match align(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell::error(&error.to_string());
            ExitCode::from(error.status())
        }
    }
}

fn align(arguments: Arguments) -> Result<(), AlignError> {
    let files = arguments.reads.into_iter().map(|file| vec![file]).collect();
    let mut job = Job::new(arguments.reference, lanes::lanes(files, false)?);
    job.engine = "scattered".to_owned();
    job.output.path = Some(arguments.output);
    job.output.sorting = arguments.sort_memory.map(|mib| SortOptions {
        order: SortOrder::Coordinate,
        memory: Some(Bytes(mib << 20)),
        tmp_dir: None,
        index: WriteIndex::AsNeeded,
        marking: None,
        umi_metrics: None,
        metrics: None,
        qc: None,
    });
    job.placement.threads = arguments.threads;
    align_with(&job, &Scatter)
}

/// The engine, before the contigs are known.
struct Scatter;

/// As strobealign cuts.
const CUT: Cut = Cut::at(1_000_001);

impl IndexProvider for Scatter {
    fn engine(&self) -> (&str, &str) {
        ("scattered", env!("CARGO_PKG_VERSION"))
    }

    fn has_index(&self) -> bool {
        false
    }

    fn chunk_bases(&self) -> u64 {
        CUT.closes_at_bases
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        Ok(Box::new(Reference(wanted.reference.to_owned())))
    }
}

struct Reference(PathBuf);

impl IndexSource for Reference {
    fn file(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Bytes {
        Bytes(0)
    }

    fn make(&self, _: usize, _: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        let contigs = zerohop_input::reference::read(&self.0, |_| {});
        Ok(Box::new(Places { contigs: contigs.map_err(IndexError::failed)? }))
    }
}

#[derive(Clone)]
struct Places {
    contigs: Vec<Contig>,
}

impl Engine for Places {
    fn program(&self) -> (&str, &str) {
        ("scattered", env!("CARGO_PKG_VERSION"))
    }

    fn cut(&self) -> Cut {
        CUT
    }

    fn max_read_bases(&self) -> usize {
        100_000
    }

    fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    fn index_bytes(&self) -> u64 {
        0
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(self.clone()))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(self)
    }
}

impl Mapper for &Places {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        // The same places, whoever maps the chunk.
        let mut random = Random::new(u64::from(chunk.ticket.lane) << 40 | chunk.ticket.first_fragment);
        for fragment in chunk.fragments() {
            let length = fragment.first.seq.len();
            let number = random.below(self.contigs.len());
            let last = self.contigs[number].length as usize;
            match CigarOp::new(length as u32, b'M').filter(|_| length <= last) {
                Some(cigar) => {
                    let locus = Locus { contig: number as u32, position: random.below(last - length + 1) as u32 };
                    let flags = if random.bits() & 1 == 1 { REVERSE } else { 0 };
                    out.push(Alignment { flags, locus: Some(locus), mapq: 60, ..Alignment::default() }, [cigar], []);
                }
                None => out.push(Alignment { flags: UNMAPPED, ..Alignment::default() }, [], []),
            }
            out.end_fragment();
        }
        Ok(())
    }
}
