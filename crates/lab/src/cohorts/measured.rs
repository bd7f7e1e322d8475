//! A run of `zerohop align` with an engine that sleeps: each worker has a core of its own, as it were.

use crate::cohorts::{Case, Costs};
use crate::error::LabError;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use zerohop_align::{Job, LaneSpec, align_with};
use zerohop_engine_null::add_unmapped;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, OnStart, Wanted};
use zerohop_model::machine::Bytes;
use zerohop_model::mapper::{Mapper, Phased, Phases};
use zerohop_model::record::Contig;

/// Reads of a piece, and bases of a read.
const READS: u64 = 10;
const READ_BASES: usize = 100;

/// How long the workers of a run take, from the first piece to the last. A piece has as good as no reads.
///
/// # Errors
/// What the run says; a folder that cannot be written.
pub fn measure(case: &Case, folder: &Path) -> Result<Duration, LabError> {
    let [reads, reference, output] = ["reads.fq", "reference.fa", "out.sam"].map(|name| folder.join(name));
    let write = |path: &Path, text: &[u8]| std::fs::write(path, text).map_err(|error| LabError::file(path, error));
    write(&reads, &fastq(case.cohorts * u64::from(case.pieces) * READS))?;
    write(&reference, b">none\nA\n")?;
    let mut job = Job::new(reference, vec![LaneSpec { files: vec![reads], interleaved: false }]);
    job.engine = NAME.to_owned();
    (job.quiet, job.output.path, job.placement.threads) = (true, Some(output), Some(case.workers));
    let provider = MeasuredProvider { pieces: case.pieces, costs: case.costs, span: Arc::default() };
    align_with(&job, &provider)?;
    let span = provider.span.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(span.map_or(Duration::ZERO, |(start, end)| end - start))
}

fn fastq(reads: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let (bases, qualities) = ("A".repeat(READ_BASES), "I".repeat(READ_BASES));
    for read in 0..reads {
        // Into memory.
        let _written = write!(text, "@{read}\n{bases}\n+\n{qualities}\n");
    }
    text
}

const NAME: &str = "asleep";

/// When the first piece was begun and the last was done.
type MeasuredSpan = Arc<Mutex<Option<(Instant, Instant)>>>;

struct MeasuredProvider {
    pieces: u32,
    costs: Costs,
    span: MeasuredSpan,
}

impl IndexProvider for MeasuredProvider {
    fn engine(&self) -> (&str, &str) {
        (NAME, env!("CARGO_PKG_VERSION"))
    }

    fn has_index(&self) -> bool {
        false
    }

    fn chunk_bases(&self) -> u64 {
        READS * READ_BASES as u64
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        let engine = Asleep {
            cut: Cut::at(self.chunk_bases() * u64::from(self.pieces)).in_pieces_of(self.chunk_bases()),
            costs: self.costs,
            span: Arc::clone(&self.span),
        };
        Ok(Box::new(MeasuredSource { reference: wanted.reference.to_owned(), engine }))
    }
}

struct MeasuredSource {
    reference: PathBuf,
    engine: Asleep,
}

impl IndexSource for MeasuredSource {
    fn file(&self) -> &Path {
        &self.reference
    }

    fn bytes(&self) -> Bytes {
        Bytes(0)
    }

    fn make(&self, _: usize, _: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        Ok(Box::new(self.engine.clone()))
    }
}

#[derive(Clone)]
struct Asleep {
    cut: Cut,
    costs: Costs,
    span: MeasuredSpan,
}

impl Engine for Asleep {
    fn program(&self) -> (&str, &str) {
        (NAME, env!("CARGO_PKG_VERSION"))
    }

    fn cut(&self) -> Cut {
        self.cut
    }

    fn max_read_bases(&self) -> usize {
        READ_BASES
    }

    fn contigs(&self) -> &[Contig] {
        &[]
    }

    fn index_bytes(&self) -> u64 {
        0
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(self.clone()))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(Phased(AsleepMapper(self)))
    }
}

struct AsleepMapper<'e>(&'e Asleep);

impl AsleepMapper<'_> {
    /// Sleeps; that time is part of the run.
    fn sleep(&self, time: Duration) {
        let started = Instant::now();
        sleep(time);
        let mut span = self.0.span.lock().unwrap_or_else(PoisonError::into_inner);
        let first = span.map_or(started, |(first, _)| first.min(started));
        *span = Some((first, Instant::now()));
    }
}

impl Phases for AsleepMapper<'_> {
    type Partial = ();
    type Summary = ();
    type Statistics = ();

    fn first(&mut self, chunk: &Chunk) -> Result<((), ()), Error> {
        self.sleep(self.0.costs.first(chunk.ticket.number));
        Ok(((), ()))
    }

    fn combine(&mut self, _: Vec<()>) -> Result<(), Error> {
        self.sleep(self.0.costs.combine);
        Ok(())
    }

    fn second(&mut self, chunk: &Chunk, (): (), (): &(), out: &mut Alignments) -> Result<(), Error> {
        self.sleep(self.0.costs.second(chunk.ticket.number));
        chunk.fragments().for_each(|fragment| add_unmapped(fragment.mate.is_some(), out));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_slept_for() {
        let folder = tempfile::tempdir().unwrap();
        let time = Duration::from_millis(2);
        let costs = Costs { first: time, second: time, combine: time, spread: 0.5 };
        let case = Case { workers: 3, cohorts: 4, pieces: 5, costs };
        // It cannot be less; how much more depends on the machine.
        assert!(measure(&case, folder.path()).unwrap() >= case.work() / 3);
        let records = std::fs::read_to_string(folder.path().join("out.sam")).unwrap();
        let records = records.lines().filter(|line| !line.starts_with('@')).count();
        assert_eq!(records as u64, 4 * 5 * READS);
    }
}
