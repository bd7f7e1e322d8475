//! The pipes into a program: one, or one per mate.
//!
//! A program takes from two pipes as it likes: bwa by turns, GEM3 some 60 MB of the first before it looks at the
//! second. So what one pipe does not take is kept, and reads go on to the other.

use crate::process::RunningProgram;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerohop_model::error::Error;
use zerohop_process::{Interest, poll, unread_bytes};

/// How often a feeder that waits looks whether the run was stopped.
const STOP_POLL: Duration = Duration::from_millis(100);
/// Bytes that may be kept for one pipe while the program takes from the other.
const BACKLOG_BYTES: usize = 256 << 20;

/// A pipe, and what it has not taken yet.
#[derive(Debug)]
struct PipeBacklog {
    /// None when all was given and it was closed.
    pipe: Option<File>,
    backlog: Vec<u8>,
}

/// The pipes into one program.
#[derive(Debug)]
pub(crate) struct Pipes(Vec<PipeBacklog>);

/// What is left to be given to one pipe: the backlog, a text, and what the text lacks at its end.
type LeftForPipe<'t> = [&'t [u8]; 3];

impl Pipes {
    /// Pipes that do not block.
    pub(crate) fn new(pipes: Vec<File>) -> Self {
        Pipes(pipes.into_iter().map(|pipe| PipeBacklog { pipe: Some(pipe), backlog: Vec::new() }).collect())
    }

    /// Gives a text to each pipe, as the program takes them; returns when one pipe could take more than there is. False
    /// when the program takes no more.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Instance`] when the pipe fails.
    pub(crate) fn give(
        &mut self,
        texts: [&[u8]; 2],
        running: &RunningProgram,
        stop: &AtomicBool,
    ) -> Result<bool, Error> {
        let backlogs: Vec<Vec<u8>> = self.0.iter_mut().map(|way| std::mem::take(&mut way.backlog)).collect();
        let mut left: Vec<LeftForPipe<'_>> =
            backlogs.iter().zip(texts).map(|(backlog, text)| [&backlog[..], text, line_end(text)]).collect();
        while left.iter().any(|parts| length(parts) > 0) {
            match self.write(&mut left, running)? {
                None => return Ok(false),
                Some(true) => continue,
                Some(false) => {}
            }
            let hungry = left.iter().any(|parts| length(parts) == 0);
            if hungry && left.iter().all(|parts| length(parts) <= BACKLOG_BYTES) {
                break;
            }
            self.wait(&left, running, stop)?;
        }
        let rest: Vec<Vec<u8>> = left.iter().map(|parts| parts.concat()).collect();
        self.0.iter_mut().zip(rest).for_each(|(way, rest)| way.backlog = rest);
        Ok(true)
    }

    /// Gives what is left. A pipe that has all is closed if the program takes nothing from the others: it may wait for
    /// its end.
    ///
    /// # Errors
    /// As for [`Pipes::give`].
    pub(crate) fn give_rest(&mut self, running: &RunningProgram, stop: &AtomicBool) -> Result<(), Error> {
        let backlogs: Vec<Vec<u8>> = self.0.iter_mut().map(|way| std::mem::take(&mut way.backlog)).collect();
        let mut left: Vec<LeftForPipe<'_>> = backlogs.iter().map(|backlog| [&backlog[..], b"", b""]).collect();
        while left.iter().any(|parts| length(parts) > 0) {
            match self.write(&mut left, running)? {
                None => return Ok(()),
                Some(true) => continue,
                Some(false) => {}
            }
            let done = self.0.iter_mut().zip(&left).filter(|(_, parts)| length(parts) == 0);
            done.for_each(|(way, _)| way.pipe = None);
            self.wait(&left, running, stop)?;
        }
        Ok(())
    }

    /// Bytes that the program has not taken out of its pipes.
    pub(crate) fn unread(&self) -> usize {
        self.0.iter().filter_map(|way| way.pipe.as_ref()).map(|pipe| unread_bytes(pipe.as_fd()).unwrap_or(0)).sum()
    }

    pub(crate) fn close(&mut self) {
        self.0.clear();
    }

    /// Writes to each pipe as much as it takes at once: whether it took anything; nothing if the program has closed it.
    fn write(&self, left: &mut [LeftForPipe<'_>], running: &RunningProgram) -> Result<Option<bool>, Error> {
        let mut moved = false;
        for (way, parts) in self.0.iter().zip(left) {
            let (Some(pipe), Some(part)) = (&way.pipe, parts.iter_mut().find(|part| !part.is_empty())) else {
                continue;
            };
            match write_some(pipe, part) {
                Ok(some) => moved |= some,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(None),
                Err(error) => return Err(running.fault(format!("cannot be given reads: {error}"))),
            }
        }
        if moved {
            running.moved();
        }
        Ok(Some(moved))
    }

    /// Waits until a pipe with something left to write has room.
    fn wait(&self, left: &[LeftForPipe<'_>], running: &RunningProgram, stop: &AtomicBool) -> Result<(), Error> {
        let open = self.0.iter().zip(left).filter(|(_, parts)| length(parts) > 0);
        let asked: Vec<_> =
            open.filter_map(|(way, _)| way.pipe.as_ref()).map(|pipe| (pipe.as_fd(), Interest::Write)).collect();
        let outcome = poll(&asked, STOP_POLL);
        if stop.load(Ordering::Acquire) {
            return Err(Error::Stopped);
        }
        outcome.map(|_| ()).map_err(|error| running.fault(format!("cannot be given reads: {error}")))
    }
}

fn length(parts: &LeftForPipe<'_>) -> usize {
    parts.iter().map(|part| part.len()).sum()
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
    match pipe.write(text) {
        Ok(written) => {
            *text = &text[written..];
            Ok(written > 0)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::ProgramIdentity;
    use std::io::Read;
    use zerohop_model::plan::{HugePages, InstancePlan, Pages, Placement};
    use zerohop_process::{ChildProgram, pipe, set_nonblocking};

    fn running() -> RunningProgram {
        let child = ChildProgram::new("sleep").args(["1000"]).start().unwrap();
        let placement = Placement { nodes: vec![], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
        let identity = ProgramIdentity {
            instance: 0,
            name: "made-up".into(),
            plan: InstancePlan { cpus: vec![], threads: 1, replica: 0, placement },
            command: vec![],
            log: "/dev/null".into(),
            shared: None,
            hang_limit: Duration::from_secs(1000),
            refused: vec![],
        };
        RunningProgram::new(identity, child)
    }

    #[test]
    fn a_program_may_read_all_of_one_pipe_before_the_other() {
        let (stop, running, mut theirs, mut ours) = (AtomicBool::new(false), running(), Vec::new(), Vec::new());
        for _ in 0..2 {
            let (read, write) = pipe(4096).unwrap();
            set_nonblocking(write.as_fd()).unwrap();
            theirs.push(File::from(read));
            ours.push(File::from(write));
        }
        let texts: Vec<Vec<u8>> = (0..100u32).map(|i| format!("{i}").repeat(20_000).into_bytes()).collect();
        let reader = std::thread::spawn(move || {
            let read = |mut file: &File| {
                let mut text = Vec::new();
                file.read_to_end(&mut text).unwrap();
                text
            };
            [read(&theirs[1]), read(&theirs[0])]
        });
        let mut pipes = Pipes::new(ours);
        for text in &texts {
            assert!(pipes.give([text, &text[1..]], &running, &stop).unwrap());
        }
        pipes.give_rest(&running, &stop).unwrap();
        pipes.close();
        let line = |text: &[u8]| [text, b"\n"].concat();
        let [second, first] = reader.join().unwrap();
        assert!(first == texts.iter().flat_map(|text| line(text)).collect::<Vec<_>>());
        assert!(second == texts.iter().flat_map(|text| line(&text[1..])).collect::<Vec<_>>());
    }

    #[test]
    fn a_program_that_closes_its_pipe_takes_no_more() {
        let (read, write) = pipe(4096).unwrap();
        set_nonblocking(write.as_fd()).unwrap();
        drop(read);
        let mut pipes = Pipes::new(vec![File::from(write)]);
        assert!(!pipes.give([b"x", b""], &running(), &AtomicBool::new(false)).unwrap());
    }
}
