//! What the first reads of a run look like: their mean length, on which the index depends, and how bisulfite reads were
//! converted.

use crate::bam;
use crate::bisulfite::{self, ConvertedReads};
use crate::content::Content;
use crate::lane::OpenLane;
use crate::open::OpenedFile;
use crate::parse::TextFormat;
use crate::segment::{LineState, mark_fasta, mark_fastq};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zerohop_model::chunk::{Chunk, Text};
use zerohop_model::error::InputError;

/// strobealign takes the mean length of this many first reads as the length of all.
const READS: usize = 500;
/// Bytes of text after which fewer reads must do. Such reads have tens of thousands of bases: all indexes for more than
/// 400 are the same.
pub(crate) const TEXT: usize = 64 << 20;
/// Bytes of text that are read at first.
const BEGIN: usize = 1 << 15;
/// Bytes that are read of a pipe at once: less than a pipe holds.
const PIPE_STEP: usize = 1 << 14;
/// Bytes of text by which one of two pipes may be read ahead of the other: more than programs that write both write to
/// one at once.
const LEAD: u64 = 16 << 20;
/// Milliseconds that the thread of the other pipe is given to end a read before more of this one is read.
const PATIENCE_MS: u32 = 20;

/// Some reads, and all their bases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadSample {
    pub(crate) reads: usize,
    pub(crate) bases: u64,
}

/// The mean length, in bases and rounded down, of the first 500 reads of all lanes in their order (of pairs the first
/// mates), but 1 at least; 0 if there are none. It is what the strobealign program finds in the lanes' files put one
/// after the other.
///
/// # Errors
/// A file that cannot be read.
pub fn mean_read_length(lanes: &mut [OpenLane]) -> Result<usize, InputError> {
    let mut all = ReadSample::default();
    for lane in lanes {
        if all.reads == READS {
            break;
        }
        // Of two pipes both mates would have to be waited for.
        let is_seen = lane.files.len() == 1 || lane.files.iter().all(OpenedFile::is_regular);
        if lane.is_dealt_again() && is_seen {
            let found = sample_kept(lane, READS - all.reads)?;
            lane.close();
            all = ReadSample { reads: all.reads + found.reads, bases: all.bases + found.bases };
            continue;
        }
        let found = match &mut lane.files[..] {
            [] => continue,
            [first, second] if !first.is_regular() && !second.is_regular() => {
                sample_first_of_two_pipes(first, second, READS - all.reads)?
            }
            [first, ..] => sample(first, READS - all.reads)?,
        };
        lane.close();
        let found = ReadSample { bases: lane.barcodes.template_bases(0, found.bases, found.reads as u64), ..found };
        all = ReadSample { reads: all.reads + found.reads, bases: all.bases + found.bases };
    }
    // Reads without bases are short ones.
    Ok((all.bases as usize).checked_div(all.reads).map_or(0, |mean| mean.max(1)))
}

/// The first `most` reads of a file, or as many as it has.
pub(crate) fn sample(file: &mut OpenedFile, most: usize) -> Result<ReadSample, InputError> {
    let Some(content) = file.content else { return Ok(ReadSample::default()) };
    let mut wanted = BEGIN;
    loop {
        let more = file.read_more(wanted)?;
        // Empty lines at the end are no record.
        let text = if more { file.prefix() } else { file.prefix().trim_ascii_end() };
        let marks = match content {
            Content::Text(TextFormat::Fastq) => mark_fastq(text, LineState::RECORD_START).0,
            Content::Text(TextFormat::Fasta) => mark_fasta(text),
            Content::Bam { header, .. } => {
                let text = file.prefix().get(header as usize..).unwrap_or_default();
                let (reads, bases) = bam::sample(text, most);
                if reads == most || !more || wanted >= TEXT {
                    return Ok(ReadSample { reads, bases });
                }
                wanted = (2 * wanted).min(TEXT);
                continue;
            }
        };
        match marks.bases_before.get(most) {
            Some(&bases) => return Ok(ReadSample { reads: most, bases: u64::from(bases) }),
            None if !more || wanted >= TEXT => {
                return Ok(ReadSample { reads: marks.starts.len(), bases: u64::from(marks.bases) });
            }
            None => wanted = (2 * wanted).min(TEXT),
        }
    }
}

/// The first `most` first reads of which something stays, or as many as there are.
fn sample_kept(lane: &mut OpenLane, most: usize) -> Result<ReadSample, InputError> {
    let mut wanted = 1 << 18;
    loop {
        let (mut chunk, is_all) = lane.first_chunk(wanted)?;
        let mut found = ReadSample::default();
        lane.look_at_kept(&mut chunk, |bases| {
            if found.reads < most {
                found.reads += 1;
                found.bases += bases as u64;
            }
        });
        if found.reads == most || is_all || wanted >= TEXT {
            return Ok(found);
        }
        wanted *= 2;
    }
}

impl OpenLane {
    /// The whole records in the first so many bytes of each file, or a record more; and whether these are all. Of two
    /// pipes no more is read than was.
    pub(crate) fn first_chunk(&mut self, wanted: usize) -> Result<(Chunk, bool), InputError> {
        let (mut chunk, mut is_all) = (Chunk::default(), true);
        let is_read = self.files.len() == 1 || self.files.iter().all(OpenedFile::is_regular);
        for file in &mut self.files {
            is_all &= is_read && !file.read_more(wanted)?;
        }
        let records: Vec<_> = self.files.iter().map(ends_of_records).collect();
        let whole = records.iter().map(Vec::len).min().unwrap_or(0);
        for ((text, file), ends) in chunk.text.iter_mut().zip(&self.files).zip(&records) {
            let start = file.records_start();
            let end = match (is_all, whole) {
                (true, _) => file.prefix().len(),
                (false, 0) => start,
                (false, whole) => ends[whole - 1],
            };
            *text = Text { bytes: file.prefix().get(start..end).unwrap_or_default().to_vec(), ..Text::default() };
        }
        Ok((chunk, is_all))
    }
}

impl OpenLane {
    /// Looks at the first reads: how they were converted, if they are bisulfite reads.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn converted_reads(&mut self) -> Result<ConvertedReads, InputError> {
        let (mut chunk, _) = self.first_chunk(bisulfite::TEXT)?;
        let mut found = ConvertedReads::default();
        // What is wrong is told when the reads are dealt; those before count.
        self.parse_first(&mut chunk);
        chunk.fragments().take(bisulfite::READS).for_each(|fragment| found.add(fragment.first.seq));
        self.close();
        Ok(found)
    }
}

/// Where whole records end in what is known of a file; of BAM, where whole fragments surely do.
fn ends_of_records(file: &OpenedFile) -> Vec<usize> {
    let start = file.records_start();
    match file.content {
        Some(Content::Bam { .. }) => {
            bam::ends_of_fragments(file.prefix().get(start..).unwrap_or_default()).map(|end| start + end).collect()
        }
        _ => memchr::memchr_iter(b'\n', file.prefix()).skip(3).step_by(4).map(|at| at + 1).collect(),
    }
}

/// Two pipes that are read at the same time.
struct TwoPipes {
    state: Mutex<SampleState>,
    /// Bytes of text that were read of each.
    read: [Arc<AtomicU64>; 2],
}

#[derive(Default)]
struct SampleState {
    /// The first one has been read far enough.
    sampled: bool,
    /// Who is in a read, which may take as long as the writer likes.
    in_read: [bool; 2],
}

impl TwoPipes {
    fn state(&self) -> MutexGuard<'_, SampleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first one has been read far enough.
    fn end_sample(&self) {
        let mut state = self.state();
        (state.sampled, state.in_read[0]) = (true, false);
    }

    fn is_ahead(&self, own: usize) -> bool {
        let [own, other] = [own, 1 - own].map(|pipe| self.read[pipe].load(Ordering::Relaxed));
        own >= other + LEAD
    }

    /// Waits until pipe `own` is to be read on, which the caller then does; false when both are read far enough.
    fn is_next(&self, own: usize) -> bool {
        let mut waited = 0;
        loop {
            {
                let mut state = self.state();
                if state.sampled && !state.in_read[1 - own] {
                    return false;
                }
                let is_patient = state.sampled && waited < PATIENCE_MS;
                if !is_patient && !self.is_ahead(own) {
                    state.in_read[own] = true;
                    return true;
                }
            }
            std::thread::sleep(Duration::from_millis(1));
            waited += 1;
        }
    }

    /// Reads `file`, which is pipe `own`, as long as it is its turn and there is more.
    fn read_on(&self, own: usize, file: &mut OpenedFile) -> Result<(), InputError> {
        let mut more = Ok(true);
        while matches!(more, Ok(true)) && self.is_next(own) {
            more = file.read_more(file.prefix().len() + PIPE_STEP);
            self.state().in_read[own] = false;
        }
        more.map(|_| ())
    }
}

/// One program may write both pipes in turn, and would wait for us to read the second one while we read the first. So
/// both are read, until the first one has been read far enough and neither is in the middle of a read. Whoever is far
/// ahead of the other waits.
fn sample_first_of_two_pipes(
    first: &mut OpenedFile,
    second: &mut OpenedFile,
    most: usize,
) -> Result<ReadSample, InputError> {
    let read = [first.text()?, second.text()?].map(|text| Arc::clone(&text.read));
    let pipes = TwoPipes { state: Mutex::new(SampleState { sampled: false, in_read: [true, false] }), read };
    std::thread::scope(|scope| {
        let keep_up = || pipes.read_on(1, second);
        let thread = std::thread::Builder::new().name("second pipe".into()).spawn_scoped(scope, keep_up);
        let found = sample(first, most);
        pipes.end_sample();
        let Ok(thread) = thread else { return found };
        let read = if found.is_ok() { pipes.read_on(0, first) } else { Ok(()) };
        let lost = |_| Err(InputError::new(Path::new("-"), "the thread that reads the second pipe died"));
        thread.join().unwrap_or_else(lost)?;
        read?;
        found
    })
}
