//! The end of a program where reads go in.

use crate::descriptor::Via;
use crate::ledger::Expected;
use crate::process::{Feeding, Running};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;
use zerohop_model::chunk::{Chunk, Read};
use zerohop_model::error::{Error, InputError};
use zerohop_model::instance::Feed;
use zerohop_model::record::{FIRST, LAST, MATE_UNMAPPED, PAIRED, UNMAPPED};
use zerohop_topology::{Interest, poll, unread_bytes};

/// How often a feeder that waits looks whether the run was stopped.
const STOP_POLL: Duration = Duration::from_millis(100);
/// How often it looks whether the last reads were taken.
const LAST_POLL: Duration = Duration::from_millis(1);
/// How long it waits for them while the program takes none.
const LAST_WAIT: Duration = Duration::from_millis(30);

/// Gives one program its reads.
pub(crate) struct Feeder {
    pub(crate) running: Arc<Running>,
    /// The pipes: one, or one per mate. Empty when all was given.
    pub(crate) pipes: Vec<File>,
    pub(crate) via: Via,
    pub(crate) paired: bool,
    pub(crate) comments: bool,
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
        if self.expected.send(Expected::of(chunk, number, self.paired, self.comments)).is_err() {
            return Ok(false);
        }
        self.running.set_feeding(Feeding::Busy);
        let mut written = std::mem::take(&mut self.written);
        let as_it_is = self.via == Via::Fd && (!self.paired || !chunk.text[1].bytes.is_empty());
        let outcome = if as_it_is {
            self.give([&chunk.text[0].bytes, &chunk.text[1].bytes], stop)
        } else {
            self.write_anew(chunk, &mut written);
            self.give([&written[0], &written[1]], stop)
        };
        self.written = written;
        self.running.set_feeding(if let Ok(false) = outcome { Feeding::Refused } else { Feeding::Idle });
        outcome
    }

    fn end(&mut self, stop: &AtomicBool) {
        self.running.set_feeding(Feeding::Ended);
        self.await_last_reads(stop);
        self.running.look();
        self.pipes.clear();
    }
}

impl Feeder {
    /// Waits a little for the program to take the last reads: after that, and before it can end, is a good time to see its
    /// memory. It may leave the end of one pipe until it has seen the end of the other, so this must not wait for long.
    fn await_last_reads(&self, stop: &AtomicBool) {
        let unread = |pipe: &File| unread_bytes(pipe.as_fd()).unwrap_or(0);
        let (mut before, mut still) = (usize::MAX, Duration::ZERO);
        while still < LAST_WAIT && !stop.load(Ordering::Acquire) {
            let left = self.pipes.iter().map(unread).sum();
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
            true => "it has no mate: an external aligner takes interleaved files only if every read has one",
            false => "it is one of a pair",
        };
        let file = &self.lanes[chunk.ticket.lane as usize];
        Err(InputError::new(file, what).read(odd.first.name).into())
    }

    /// Writes the reads in the form that the program takes.
    fn write_anew(&self, chunk: &Chunk, written: &mut [Vec<u8>; 2]) {
        written.iter_mut().for_each(Vec::clear);
        let [one, two] = written;
        for fragment in chunk.fragments() {
            match (self.via, fragment.mate) {
                (Via::StdinInterleaved, mate) => {
                    write_record(one, &fragment.first);
                    mate.iter().for_each(|mate| write_record(one, mate));
                }
                (Via::StdinSam, mate) => {
                    let flags =
                        mate.map_or([UNMAPPED, 0], |_| [FIRST, LAST].map(|f| PAIRED | UNMAPPED | MATE_UNMAPPED | f));
                    write_sam(one, &fragment.first, flags[0]);
                    mate.iter().for_each(|mate| write_sam(one, mate, flags[1]));
                }
                (Via::Fd, mate) => {
                    write_record(one, &fragment.first);
                    mate.iter().for_each(|mate| write_record(two, mate));
                }
            }
        }
    }

    /// Writes both texts to the pipes, as the program takes them. False when it takes no more.
    fn give(&mut self, texts: [&[u8]; 2], stop: &AtomicBool) -> Result<bool, Error> {
        let mut left: Vec<[&[u8]; 2]> =
            texts.iter().take(self.pipes.len()).map(|text| [*text, line_end(text)]).collect();
        while left.iter().any(|parts| !parts[0].is_empty() || !parts[1].is_empty()) {
            let mut moved = false;
            for (pipe, parts) in self.pipes.iter().zip(&mut left) {
                let part = if parts[0].is_empty() { &mut parts[1] } else { &mut parts[0] };
                match write_some(pipe, part) {
                    Ok(some) => moved |= some,
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(false),
                    Err(error) => return Err(self.running.fault(format!("cannot be given reads: {error}"))),
                }
            }
            if moved {
                self.running.moved();
                continue;
            }
            self.wait(&left, stop)?;
        }
        Ok(true)
    }

    /// Waits until a pipe with something left to write has room.
    fn wait(&self, left: &[[&[u8]; 2]], stop: &AtomicBool) -> Result<(), Error> {
        let open = self.pipes.iter().zip(left).filter(|(_, parts)| !parts[0].is_empty() || !parts[1].is_empty());
        let asked: Vec<_> = open.map(|(pipe, _)| (pipe.as_fd(), Interest::Write)).collect();
        let outcome = poll(&asked, STOP_POLL);
        if stop.load(Ordering::Acquire) {
            return Err(Error::Stopped);
        }
        outcome.map(|_| ()).map_err(|error| self.running.fault(format!("cannot be given reads: {error}")))
    }
}

/// What a text lacks at its end: the last line of a file may have no end, and more reads may follow.
fn line_end(text: &[u8]) -> &'static [u8] {
    match text.last() {
        None | Some(b'\n') => b"",
        Some(_) => b"\n",
    }
}

/// Writes as much of `text` as there is room for; false if there is none.
fn write_some(mut pipe: &File, text: &mut &[u8]) -> std::io::Result<bool> {
    if text.is_empty() {
        return Ok(false);
    }
    match pipe.write(text) {
        Ok(written) => {
            *text = &text[written..];
            Ok(written > 0)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
        Err(error) => Err(error),
    }
}

fn write_record(out: &mut Vec<u8>, read: &Read<'_>) {
    out.push(if read.qual.is_some() { b'@' } else { b'>' });
    out.extend_from_slice(read.name);
    if !read.comment.is_empty() {
        out.push(b' ');
        out.extend_from_slice(read.comment);
    }
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
