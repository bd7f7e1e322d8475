//! The end of a program where records come out.

use crate::ledger::{Expected, Ledger};
use crate::process::{Feeding, RunningProgram};
use memchr::memchr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use zerohop_model::error::Error;
use zerohop_model::instance::{Answer, Drain};
use zerohop_model::measurement::InstanceReport;
use zerohop_process::{Interest, poll};

/// How often a drainer that waits looks whether the run was stopped, and whether the program moves.
const STOP_POLL: Duration = Duration::from_millis(100);
/// Bytes that are read at once.
const READ: usize = 1 << 18;
/// The longest line, in bytes: a read of 100 Mb has one of 200 MB.
const MAX_LINE: usize = 1 << 30;

/// Takes what one program writes.
pub(crate) struct Drainer {
    running: Arc<RunningProgram>,
    output: File,
    /// What was read is `buffer[taken..filled]`; it keeps its length, for to make it longer is to write zeros.
    buffer: Vec<u8>,
    taken: usize,
    filled: usize,
    /// How much of what was not taken is known to hold no end of a line.
    searched: usize,
    /// Whether its output is at its end.
    ended: bool,
    /// Whether a record has come.
    begun: bool,
    /// Whether it ended without ever having had a read.
    idle: bool,
    expected: Receiver<Expected>,
    ledger: Ledger,
}

impl Drainer {
    /// Takes what `running` writes; `ledger` is its account.
    pub(crate) fn new(
        running: Arc<RunningProgram>,
        output: File,
        expected: Receiver<Expected>,
        ledger: Ledger,
    ) -> Self {
        let buffer = Vec::new();
        let (taken, filled, searched, ended, begun, idle) = (0, 0, 0, false, false, false);
        Drainer { running, output, buffer, taken, filled, searched, ended, begun, idle, expected, ledger }
    }

    /// Reads more; at the end of the output it notes that.
    fn read_more(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        if self.filled > MAX_LINE {
            return Err(self.running.fault("wrote a line of more than 1 GiB"));
        }
        if self.buffer.len() < self.filled + READ {
            self.buffer.resize(2 * (self.filled + READ), 0);
        }
        loop {
            match (&self.output).read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(read) => {
                    self.filled += read;
                    self.running.moved();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(stop)?;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.running.fault(format!("cannot be read from: {error}"))),
            }
            // What was given to the program before it wrote this is known by now.
            self.expected.try_iter().for_each(|expected| self.ledger.expect(expected));
            return Ok(());
        }
    }

    fn wait(&self, stop: &AtomicBool) -> Result<(), Error> {
        let ready = poll(&[(self.output.as_fd(), Interest::Read)], STOP_POLL);
        let ready = ready.map_err(|error| self.running.fault(format!("cannot be read from: {error}")))?;
        if ready[0].readable || ready[0].closed {
            return Ok(());
        }
        if stop.load(Ordering::Acquire) {
            return Err(Error::Stopped);
        }
        self.running.check_moves()
    }

    /// Where the next line ends, if it is whole.
    fn line_end(&mut self) -> Option<usize> {
        let from = self.taken + self.searched;
        let end = memchr(b'\n', &self.buffer[from..self.filled]).map(|at| from + at);
        self.searched = if end.is_some() { 0 } else { self.filled - self.taken };
        end
    }

    /// Puts the next line to its read; false when no whole line is there.
    fn place_line(&mut self) -> Result<bool, Error> {
        let Some(end) = self.line_end() else { return Ok(false) };
        if !std::mem::replace(&mut self.begun, true) {
            let seen = self.running.look();
            if seen && self.running.lacks_shared() {
                return Err(self.running.fault("did not map the index copy that it was to share: it read its own"));
            }
        }
        let line = &self.buffer[self.taken..end];
        self.ledger.place(line).map_err(|what| self.running.fault(what))?;
        self.taken = end + 1;
        Ok(true)
    }

    /// It ended without a record: well, or because there were no reads for it.
    fn never_needed(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        let status = self.running.wait(stop)?;
        self.idle = self.running.is_feeding(Feeding::Unneeded);
        if self.idle { Ok(()) } else { self.running.check(status) }
    }

    /// The output is at its end: all must be there, and the program must have ended well.
    fn finish(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        if self.idle {
            return Ok(());
        }
        let status = self.running.wait(stop)?;
        self.running.check(status)?;
        // Asked before the last chunks are looked for: after that there are no more.
        let was_given_all = self.running.is_feeding(Feeding::Ended);
        if self.taken < self.filled {
            return Err(self.running.fault("ended in the middle of a line"));
        }
        self.expected.try_iter().for_each(|expected| self.ledger.expect(expected));
        self.ledger.close().map_err(|what| self.running.fault(what))?;
        if self.ledger.owes() {
            return Err(self.running.fault(format!("ended with exit status 0, but {}", self.ledger.missing())));
        }
        if !was_given_all {
            return Err(self.running.fault("ended before it was given all reads"));
        }
        Ok(())
    }
}

impl Drain for Drainer {
    fn header(&mut self, stop: &AtomicBool) -> Result<Vec<u8>, Error> {
        let mut header = Vec::new();
        loop {
            while let Some(end) = self.line_end() {
                if self.buffer[self.taken] != b'@' {
                    return Ok(header);
                }
                header.extend_from_slice(&self.buffer[self.taken..=end]);
                self.taken = end + 1;
            }
            if self.ended {
                return self.never_needed(stop).map(|()| header);
            }
            self.read_more(stop)?;
        }
    }

    fn drain(&mut self, answer: &mut Answer, stop: &AtomicBool) -> Result<bool, Error> {
        // While its records waited for their turn, the program could not move.
        self.running.moved();
        loop {
            if self.ledger.take(answer) {
                return Ok(true);
            }
            if self.place_line()? {
                continue;
            }
            if self.ended {
                self.finish(stop)?;
                return Ok(self.ledger.take(answer));
            }
            self.read_more(stop)?;
        }
    }

    fn report(&self) -> InstanceReport {
        let (chunks, reads_in, reads_out) = (self.ledger.chunks_out, self.ledger.reads_in, self.ledger.reads_out);
        InstanceReport { chunks, reads_in, reads_out, ..self.running.report() }
    }
}
