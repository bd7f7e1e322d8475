//! How reads of a lane are trimmed, or dropped, as fastp does it (crates/trim), and what came of it.

use crate::bam;
use crate::content::Content;
use crate::open::OpenedFile;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, InputError};
use zerohop_trim::{
    Counts, Curves, DETECTION_BASES, DETECTION_READS, FirstReads, Options, Outcome, Read, Span, Statistics, Trimmer,
    detect_adapter, fasta_adapters, has_two_colours,
};

/// Bytes of text from which adapters are detected, at most.
const TEXT_OF_DETECTION: usize = 256 << 20;

/// How reads are trimmed, and whether it is counted what is left of their bases, cycle by cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trimming {
    /// What fastp is asked for.
    pub options: Options,
    /// Whether [`Trimmed::json`] is wanted.
    pub has_statistics: bool,
}

/// What trims the reads of one lane, and what came of it so far.
#[derive(Debug)]
pub struct Trimmed {
    trimmer: Trimmer,
    has_statistics: bool,
    counts: Mutex<Counts>,
    /// Those that nobody adds to at the moment: one for each thread.
    statistics: Mutex<Vec<Statistics>>,
}

impl Trimmed {
    /// Looks at the first reads of the files of a lane.
    ///
    /// # Errors
    /// Reads that cannot be trimmed; a file that cannot be read.
    pub(crate) fn new(trimming: &Trimming, files: &mut [OpenedFile], is_paired: bool) -> Result<Self, InputError> {
        let Trimming { options, has_statistics } = trimming;
        let mut first_reads = FirstReads::default();
        let mates = files.len();
        for (mate, file) in files.iter_mut().enumerate() {
            if mate == 0 {
                first_reads.two_colours = file.first_name()?.is_some_and(|name| has_two_colours(&name));
            }
            // fastp looks for no adapter on standard input either: what was read is gone. Of interleaved mates it would
            // look at both together.
            let is_of_one_mate = !is_paired || mates > 1;
            let is_file = file.is_regular() || file.is_converted && file.seen.is_some();
            if is_of_one_mate && options.detects_adapter(mate, is_paired) && is_file {
                first_reads.adapters[mate] = adapter_of(file, options.ends[mate].tail)?;
            }
        }
        let listed = match options.adapters.as_ref().and_then(|adapters| adapters.fasta.as_ref()) {
            None => Vec::new(),
            Some(path) => {
                fasta_adapters(&std::fs::read(path).map_err(|error| InputError::new(path, error.to_string()))?)
            }
        };
        Ok(Trimmed {
            trimmer: Trimmer::new(options.clone(), is_paired, &first_reads, &listed),
            has_statistics: *has_statistics,
            counts: Mutex::default(),
            statistics: Mutex::default(),
        })
    }

    /// The adapter that is looked for in a mate, 0 or 1.
    pub fn adapter(&self, mate: usize) -> Option<&str> {
        self.trimmer.adapter(mate)
    }

    /// What was trimmed and dropped.
    pub fn counts(&self) -> Counts {
        locked(&self.counts).clone()
    }

    /// First and second reads by cycle, of all reads of these lanes, if they are counted so.
    pub fn curves(lanes: &[Arc<Self>]) -> [Curves; 2] {
        let mut statistics = Statistics::default();
        for lane in lanes {
            locked(&lane.statistics).iter().for_each(|some| statistics += some);
        }
        statistics.curves()
    }

    /// fastp's report of all reads of these lanes, when they are trimmed; `command` is the command line. None of no
    /// lanes.
    pub fn json(lanes: &[Arc<Self>], command: &str) -> Option<String> {
        let (mut counts, mut statistics) = (Counts::default(), Statistics::default());
        for lane in lanes {
            counts += &lane.counts();
            locked(&lane.statistics).iter().for_each(|some| statistics += some);
        }
        let first = lanes.first()?;
        Some(zerohop_trim::fastp_json(&first.trimmer, &counts, &statistics, command))
    }

    /// What was counted so far, for another process.
    ///
    /// # Errors
    /// Numbers that cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut statistics = Statistics::default();
        locked(&self.statistics).iter().for_each(|some| statistics += some);
        serde_json::to_vec(&(&*locked(&self.counts), statistics))
    }

    /// Takes what all processes have counted, in the order of the input, for what was counted so far.
    ///
    /// # Errors
    /// Bytes that [`Trimmed::to_bytes`] did not write.
    pub fn take_all(&self, of_processes: &[Vec<u8>]) -> Result<(), serde_json::Error> {
        let mut all = (Counts::default(), Statistics::default());
        for bytes in of_processes {
            let (counts, statistics): (Counts, Statistics) = serde_json::from_slice(bytes)?;
            all.0 += &counts;
            all.1 += &statistics;
        }
        *locked(&self.counts) = all.0;
        *locked(&self.statistics) = vec![all.1];
        Ok(())
    }

    /// Adds what was counted, in the order of the input.
    pub(crate) fn add(&self, counts: &Counts) {
        *locked(&self.counts) += counts;
    }

    /// Trims the reads of a chunk: gives `each` the number of each fragment, and what stays of its reads.
    pub(crate) fn trim(&self, chunk: &Chunk, each: impl FnMut(usize, Outcome<&[Span]>)) -> Counts {
        let mut counts = Counts::default();
        let mut statistics = self.has_statistics.then(|| locked(&self.statistics).pop().unwrap_or_default());
        trim(&self.trimmer, chunk, (&mut counts, statistics.as_mut()), each);
        locked(&self.statistics).extend(statistics);
        counts
    }

    /// The same of reads that come again: nothing of it is counted.
    pub(crate) fn trim_uncounted(&self, chunk: &Chunk, each: impl FnMut(usize, Outcome<&[Span]>)) {
        trim(&self.trimmer, chunk, (&mut Counts::default(), None), each);
    }
}

fn trim(
    trimmer: &Trimmer,
    chunk: &Chunk,
    (counts, mut statistics): (&mut Counts, Option<&mut Statistics>),
    mut each: impl FnMut(usize, Outcome<&[Span]>),
) {
    for (number, fragment) in chunk.fragments().enumerate() {
        let first = read(fragment.first);
        match fragment.mate {
            Some(mate) => {
                let reads = [first, read(mate)];
                let outcome = trimmer.pair(reads, counts);
                if let Some(statistics) = &mut statistics {
                    statistics.add_pair(reads, &outcome);
                }
                match &outcome {
                    Outcome::Kept(spans) => each(number, Outcome::Kept(spans)),
                    Outcome::Dropped(failed) => each(number, Outcome::Dropped(*failed)),
                }
            }
            None => {
                let outcome = trimmer.single(first, counts);
                if let Some(statistics) = &mut statistics {
                    statistics.add_single(first, &outcome);
                }
                match outcome {
                    Outcome::Kept(span) => each(number, Outcome::Kept(&[span])),
                    Outcome::Dropped(failed) => each(number, Outcome::Dropped(failed)),
                }
            }
        }
    }
}

fn read(read: zerohop_model::chunk::Read<'_>) -> Read<'_> {
    Read::new(read.seq, read.qual.unwrap_or_default())
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The adapter that the first reads of a file have.
fn adapter_of(file: &mut OpenedFile, tail: u32) -> Result<Option<String>, InputError> {
    let mut wanted = 1 << 20;
    loop {
        let more = file.read_more(wanted)?;
        let sequences = first_sequences(file);
        let reads: Vec<_> = sequences.iter().map(|sequence| &**sequence).collect();
        let bases: usize = reads.iter().map(|read| read.len()).sum();
        if !more || reads.len() > DETECTION_READS || bases > DETECTION_BASES || wanted >= TEXT_OF_DETECTION {
            return Ok(detect_adapter(&reads, tail).map(|found| found.sequence));
        }
        wanted *= 2;
    }
}

/// The bases of the reads that are known of a file.
fn first_sequences(file: &OpenedFile) -> Vec<Cow<'_, [u8]>> {
    if let Some(Content::Bam { header, .. }) = file.content {
        return bam::sequences(file.prefix().get(header as usize..).unwrap_or_default()).map(Cow::Owned).collect();
    }
    let lines = file.prefix().split(|byte| *byte == b'\n').skip(1).step_by(4);
    lines.map(|line| Cow::Borrowed(line.strip_suffix(b"\r").unwrap_or(line))).collect()
}

/// An error of the input as it is.
pub(crate) fn input_error(error: Error) -> Result<InputError, Error> {
    match error {
        Error::Input(error) => Ok(error),
        other => Err(other),
    }
}
