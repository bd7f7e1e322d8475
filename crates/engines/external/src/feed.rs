//! The end of a program where reads go in.

use crate::descriptor::Via;
use crate::ledger::{Asked, Expected};
use crate::pipes::Pipes;
use crate::process::{Feeding, RunningProgram};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;
use zerohop_model::chunk::{Chunk, Read};
use zerohop_model::error::{Error, InputError};
use zerohop_model::instance::Feed;
use zerohop_model::record::{FIRST, LAST, MATE_UNMAPPED, PAIRED, UNMAPPED};

/// How often it looks whether the last reads were taken.
const LAST_POLL: Duration = Duration::from_millis(1);
/// How long it waits for them while the program takes none.
const LAST_WAIT: Duration = Duration::from_millis(30);
/// Why a program does not get a read.
const ONE_KIND: &str = "an external aligner takes either pairs or single reads: align them in runs of their own. (Of \
                        BAM, 'samtools collate -O -u FILE | samtools fixmate -u - - | samtools view -b -f 1 -o \
                        PAIRS.bam -U SINGLE.bam -' parts them.)";

/// Gives one program its reads.
pub(crate) struct Feeder {
    pub(crate) running: Arc<RunningProgram>,
    pub(crate) pipes: Pipes,
    pub(crate) via: Via,
    pub(crate) paired: bool,
    pub(crate) fasta: bool,
    /// What the draining end needs of each read.
    pub(crate) asked: Asked,
    /// Whether it has got a read, or needs none.
    pub(crate) given: bool,
    /// The first file of each lane, for messages.
    pub(crate) lanes: Arc<[PathBuf]>,
    /// Tells the draining end what to expect.
    pub(crate) expected: Sender<Expected>,
    /// What is written where the text cannot be given as it is.
    pub(crate) written: [Vec<u8>; 2],
}

impl Feed for Feeder {
    fn feed(&mut self, chunk: &Chunk, number: u64, stop: &AtomicBool) -> Result<bool, Error> {
        self.check(chunk)?;
        // Before the first byte is written: what comes out may be looked for at once.
        if self.expected.send(Expected::of(chunk, number, self.paired, self.asked)).is_err() {
            return Ok(false);
        }
        self.given = true;
        self.running.set_feeding(Feeding::Busy);
        let mut written = std::mem::take(&mut self.written);
        // Of FASTA the parser has joined the lines of a sequence, which leaves bytes behind it.
        let is_as_wanted = !self.fasta && !chunk.comments_are_fields;
        let as_it_is = self.via == Via::Fd && is_as_wanted && (!self.paired || !chunk.text[1].bytes.is_empty());
        let outcome = if as_it_is {
            self.pipes.give([&chunk.text[0].bytes, &chunk.text[1].bytes], &self.running, stop)
        } else {
            self.write_anew(chunk, &mut written);
            self.pipes.give([&written[0], &written[1]], &self.running, stop)
        };
        self.written = written;
        self.running.set_feeding(if let Ok(false) = outcome { Feeding::Refused } else { Feeding::Idle });
        outcome
    }

    fn end(&mut self, stop: &AtomicBool) {
        if !self.given {
            self.running.end_unneeded();
            return;
        }
        self.running.set_feeding(Feeding::Ended);
        // What goes wrong here, the draining end finds: the program ends, or hangs.
        if self.pipes.give_rest(&self.running, stop).is_ok() {
            self.await_last_reads(stop);
            self.running.look();
        }
        self.pipes.close();
    }
}

impl Feeder {
    /// Waits a little for the program to take the last reads: after that, and before it can end, is a good time to see
    /// its memory. It may leave the end of one pipe until it has seen the end of the other, so this must not wait for
    /// long.
    fn await_last_reads(&self, stop: &AtomicBool) {
        let (mut before, mut still) = (usize::MAX, Duration::ZERO);
        while still < LAST_WAIT && !stop.load(Ordering::Acquire) {
            let left = self.pipes.unread();
            if left == 0 {
                return;
            }
            still = if left == before { still + LAST_POLL } else { Duration::ZERO };
            before = left;
            std::thread::sleep(LAST_POLL);
        }
    }

    /// A program that was told of pairs takes nothing else, and the other way round.
    fn check(&self, chunk: &Chunk) -> Result<(), Error> {
        let Some(odd) = chunk.fragments().find(|fragment| fragment.mate.is_some() != self.paired) else {
            return Ok(());
        };
        let what = match self.paired {
            true => format!("it has no mate, and {ONE_KIND}"),
            false => format!("it is one of a pair, and the reads before are single ones, and {ONE_KIND}"),
        };
        let file = &self.lanes[chunk.ticket.lane as usize];
        Err(InputError::new(file, what).read(odd.first.name).into())
    }

    /// Writes the reads in the form that the program takes, with their header lines as they are in the input.
    fn write_anew(&self, chunk: &Chunk, written: &mut [Vec<u8>; 2]) {
        written.iter_mut().for_each(Vec::clear);
        let [one, two] = written;
        for (i, fragment) in chunk.fragments().enumerate() {
            match (self.via, fragment.mate) {
                (Via::StdinInterleaved, mate) => {
                    write_record(one, chunk.header(i, 0), &fragment.first);
                    mate.iter().for_each(|mate| write_record(one, chunk.header(i, 1), mate));
                }
                (Via::StdinSam, mate) => {
                    let flags =
                        mate.map_or([UNMAPPED, 0], |_| [FIRST, LAST].map(|f| PAIRED | UNMAPPED | MATE_UNMAPPED | f));
                    write_sam(one, &fragment.first, flags[0]);
                    mate.iter().for_each(|mate| write_sam(one, mate, flags[1]));
                }
                (Via::Fd, mate) => {
                    write_record(one, chunk.header(i, 0), &fragment.first);
                    mate.iter().for_each(|mate| write_record(two, chunk.header(i, 1), mate));
                }
            }
        }
    }
}

fn write_record(out: &mut Vec<u8>, header: &[u8], read: &Read<'_>) {
    out.push(if read.qual.is_some() { b'@' } else { b'>' });
    out.extend_from_slice(header);
    out.push(b'\n');
    out.extend_from_slice(read.seq);
    out.push(b'\n');
    if let Some(qual) = read.qual {
        out.extend_from_slice(b"+\n");
        out.extend_from_slice(qual);
        out.push(b'\n');
    }
}

fn write_sam(out: &mut Vec<u8>, read: &Read<'_>, flags: u16) {
    let or_star = |text| if <[u8]>::is_empty(text) { b"*" } else { text };
    out.extend_from_slice(read.name);
    out.extend_from_slice(format!("\t{flags}\t*\t0\t0\t*\t*\t0\t0\t").as_bytes());
    out.extend_from_slice(or_star(read.seq));
    out.push(b'\t');
    out.extend_from_slice(or_star(read.qual.unwrap_or_default()));
    out.push(b'\n');
}
