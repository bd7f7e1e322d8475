//! A program that runs: its life, its words, and how it ended.

use crate::error::ExternalError;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use zerohop_memory::process_census;
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::{InstanceReport, PageCensus};
use zerohop_model::plan::InstancePlan;

/// How much of a log is read for its last lines, in bytes, and how many lines are shown.
const TAIL_BYTES: u64 = 4096;
const TAIL_LINES: usize = 8;

/// What the feeding end is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Feeding {
    /// It has no reads to give: the program may wait as long as it likes.
    Idle,
    /// It has reads that the program does not take.
    Busy,
    /// It has said that there are no more.
    Ended,
}

/// What a program is told to be, and what is known of it.
#[derive(Debug)]
pub(crate) struct Identity {
    /// Its number, from 0.
    pub(crate) instance: usize,
    /// The aligner's name.
    pub(crate) name: String,
    pub(crate) plan: InstancePlan,
    /// Its command, word by word.
    pub(crate) command: Vec<String>,
    /// What it writes on standard error.
    pub(crate) log: PathBuf,
    /// The folder of the index copy that it shares with others.
    pub(crate) shared: Option<PathBuf>,
    /// How long it may neither take nor give anything while it has work.
    pub(crate) hang_limit: Duration,
    /// What the kernel refused.
    pub(crate) refused: Vec<String>,
}

/// The memory that was seen.
#[derive(Debug, Default)]
struct Seen {
    private: PageCensus,
    shared: PageCensus,
    peak: Bytes,
}

/// A program that runs. Dropped, it is killed with all its children.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) identity: Identity,
    pid: u32,
    child: Mutex<Child>,
    started: Instant,
    /// When it last took or gave something, in milliseconds from its start.
    moved: AtomicU64,
    feeding: AtomicU8,
    seen: Mutex<Seen>,
}

impl Running {
    pub(crate) fn new(identity: Identity, child: Child) -> Self {
        let (moved, feeding) = (AtomicU64::new(0), AtomicU8::new(Feeding::Idle as u8));
        let pid = child.id();
        Running {
            identity,
            pid,
            child: Mutex::new(child),
            started: Instant::now(),
            moved,
            feeding,
            seen: Mutex::default(),
        }
    }

    /// An error of this program: `what` goes on after its name. Its last words are added.
    pub(crate) fn fault(&self, what: impl Into<String>) -> Error {
        let Identity { instance, name, log, .. } = &self.identity;
        Error::Instance { instance: *instance, program: name.clone(), what: what.into() + &last_lines(log) }
    }

    /// Notes that it took or gave something.
    pub(crate) fn moved(&self) {
        self.moved.store(self.started.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    pub(crate) fn set_feeding(&self, feeding: Feeding) {
        self.moved();
        self.feeding.store(feeding as u8, Ordering::Release);
    }

    pub(crate) fn is_feeding(&self, feeding: Feeding) -> bool {
        self.feeding.load(Ordering::Acquire) == feeding as u8
    }

    /// An error if the program has work and does not move.
    pub(crate) fn check_moves(&self) -> Result<(), Error> {
        let still = self.started.elapsed().saturating_sub(Duration::from_millis(self.moved.load(Ordering::Relaxed)));
        let limit = self.identity.hang_limit;
        if self.is_feeding(Feeding::Idle) || still <= limit {
            return Ok(());
        }
        Err(self.fault(format!(
            "hangs: for {} s it took no reads and wrote no records (--hang-limit sets how long that may be)",
            limit.as_secs()
        )))
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// When it ended badly, or does not end.
    pub(crate) fn wait(&self, stop: &std::sync::atomic::AtomicBool) -> Result<(), Error> {
        self.moved();
        let mut pause = Duration::from_micros(200);
        loop {
            let status = lock(&self.child).try_wait();
            match status {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(self.fault(how_it_ended(status))),
                Ok(None) if stop.load(Ordering::Acquire) => return Err(Error::Stopped),
                Ok(None) => self.check_ends()?,
                Err(error) => return Err(self.fault(format!("cannot be waited for: {error}"))),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Its process group.
    pub(crate) fn group(&self) -> u32 {
        self.pid
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Result<Option<ExitStatus>, ExternalError> {
        let what = format!("instance {} cannot be waited for", self.identity.instance);
        lock(&self.child).try_wait().map_err(ExternalError::system(what))
    }

    /// It has closed its output and should be ending.
    fn check_ends(&self) -> Result<(), Error> {
        let still = self.started.elapsed().saturating_sub(Duration::from_millis(self.moved.load(Ordering::Relaxed)));
        match still > self.identity.hang_limit {
            true => Err(self.fault("hangs: it has closed its output and does not end")),
            false => Ok(()),
        }
    }

    /// Looks where its memory lies; what is seen when most is there is kept.
    pub(crate) fn look(&self) {
        // A program that has just ended, or a kernel that does not tell, leaves what was seen before.
        let Ok(census) = process_census(self.pid) else { return };
        let (private, peak) = (census.private(), peak_memory(self.pid));
        let shared = self.identity.shared.as_deref().map(|folder| census.files_under(folder)).unwrap_or_default();
        let mut seen = lock(&self.seen);
        if private.present.0 + shared.present.0 >= seen.private.present.0 + seen.shared.present.0 {
            (seen.private, seen.shared) = (private, shared);
        }
        seen.peak = seen.peak.max(peak);
    }

    /// What there is to say of it, but for what it was given and gave.
    pub(crate) fn report(&self) -> InstanceReport {
        let (identity, seen) = (&self.identity, lock(&self.seen));
        InstanceReport {
            plan: identity.plan.clone(),
            pid: self.pid,
            command: identity.command.clone(),
            chunks: 0,
            reads_in: 0,
            reads_out: 0,
            private: seen.private.clone(),
            shared: seen.shared.clone(),
            peak_memory: seen.peak,
            log: Some(identity.log.display().to_string()),
            refused: identity.refused.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // One that has been waited for has ended well, and its number may be another's by now.
        if let Ok(None) = child.try_wait() {
            // There is nobody to tell; and nothing is left to be done about one that cannot be killed.
            let _ = zerohop_topology::kill_group(self.pid);
            let _ = child.wait();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The largest resident set of a process so far.
fn peak_memory(pid: u32) -> Bytes {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: u64 = line.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
    Bytes(kibibytes << 10)
}

/// How a process ended, in words that go on after its name.
pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(9)) => {
            "was killed (signal 9): by somebody, or by the kernel because memory ran out on its nodes or in \
                            its control group"
                .to_owned()
        }
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => format!("ended: {status}"),
    }
}

/// The last lines of a log, as a text that follows a sentence; empty if there are none.
pub(crate) fn last_lines(log: &Path) -> String {
    let tail = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = tail().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    let last = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n  ");
    format!("\nthe last it said:\n  {last}")
}
