//! A program that runs: its life, its words, and how it ended.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use zerohop_memory::{Placed, process_census};
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::{InstanceReport, PageCensus};
use zerohop_model::plan::InstancePlan;
use zerohop_process::{ChildProgram, RunningChild, Signal, how_it_ended, last_lines_of, running_time};
use zerohop_topology::Pinned;

/// What the feeding end is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Feeding {
    /// It has no reads to give: the program may wait as long as it likes.
    Idle,
    /// It has reads that the program does not take.
    Busy,
    /// The program takes no more, though there are.
    Refused,
    /// It has said that there are no more.
    Ended,
    /// There were none at all, and the program cannot stand that: it was killed.
    Unneeded,
}

/// What identifies a program: its number, command and plan.
#[derive(Debug)]
pub(crate) struct ProgramIdentity {
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
    /// What the kernel refused to do for its memory.
    pub(crate) refused: Vec<String>,
}

#[derive(Debug, Default)]
struct SeenMemory {
    private: PageCensus,
    shared: PageCensus,
    peak: Bytes,
}

/// Starts a program on the CPUs and under the memory policy of its plan, and says what the kernel refused of them.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn start(program: ChildProgram, plan: &InstancePlan) -> std::io::Result<(RunningChild, Vec<String>)> {
    let placed = Placed::new(&plan.placement);
    // A child is born with the CPUs and the memory policy of the thread that starts it.
    let (_cpus, unpinned) = Pinned::where_allowed(&plan.cpus);
    let child = placed.run(|| program.start())?;
    Ok((child, placed.refused().into_iter().chain(unpinned).collect()))
}

/// A program that runs. Dropped, it is killed with all that it has started.
#[derive(Debug)]
pub(crate) struct RunningProgram {
    pub(crate) identity: ProgramIdentity,
    pid: u32,
    child: Mutex<RunningChild>,
    /// When it last took or gave something, in milliseconds of [`running_time`].
    moved: AtomicU64,
    feeding: AtomicU8,
    seen: Mutex<SeenMemory>,
}

impl RunningProgram {
    /// `child` runs.
    pub(crate) fn new(identity: ProgramIdentity, child: RunningChild) -> Self {
        let (moved, feeding) = (AtomicU64::default(), AtomicU8::new(Feeding::Idle as u8));
        let pid = child.id();
        RunningProgram { identity, pid, child: Mutex::new(child), moved, feeding, seen: Mutex::default() }
    }

    /// An error of this program: `what` goes on after its name. Its last words are added.
    pub(crate) fn fault(&self, what: impl Into<String>) -> Error {
        let ProgramIdentity { instance, name, log, .. } = &self.identity;
        Error::Instance { instance: *instance, program: name.clone(), what: what.into() + &last_lines_of(log) }
    }

    /// Notes that it took or gave something.
    pub(crate) fn moved(&self) {
        self.moved.store(running_time().as_millis() as u64, Ordering::Relaxed);
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
        let limit = self.identity.hang_limit;
        if self.is_feeding(Feeding::Idle) || self.still() <= limit {
            return Ok(());
        }
        if self.is_feeding(Feeding::Refused) {
            let limit = limit.as_secs();
            return Err(self.fault(format!(
                "has closed its input before it was given all reads, and has not ended for {limit} s"
            )));
        }
        Err(self.fault(format!(
            "hangs: for {} s it took no reads and wrote no records (--hang-limit sets how long that may be)",
            limit.as_secs()
        )))
    }

    /// Waits until it has ended, and says how.
    ///
    /// # Errors
    /// When it does not end; [`Error::Stopped`].
    pub(crate) fn wait(&self, stop: &AtomicBool) -> Result<ExitStatus, Error> {
        self.moved();
        let mut pause = Duration::from_micros(200);
        loop {
            match self.ended() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if stop.load(Ordering::Acquire) => return Err(Error::Stopped),
                Ok(None) if self.still() <= self.identity.hang_limit => {}
                Ok(None) => return Err(self.fault("hangs: it has closed its output and does not end")),
                Err(error) => return Err(self.fault(format!("cannot be waited for: {error}"))),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// An error unless it ended well.
    pub(crate) fn check(&self, status: ExitStatus) -> Result<(), Error> {
        if status.success() { Ok(()) } else { Err(self.fault(how_it_ended(status))) }
    }

    /// For how long it has not moved.
    fn still(&self) -> Duration {
        running_time().saturating_sub(Duration::from_millis(self.moved.load(Ordering::Relaxed)))
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> std::io::Result<Option<ExitStatus>> {
        lock(&self.child).ended()
    }

    /// Sends it a signal, and its group with it.
    pub(crate) fn send(&self, signal: Signal) {
        lock(&self.child).send(signal);
    }

    /// Whether it has ended and left others behind that run.
    pub(crate) fn has_left_some(&self) -> bool {
        lock(&self.child).has_left_some()
    }

    /// Looks where its memory lies; what is seen when most is there is kept. Says whether it was seen at all.
    pub(crate) fn look(&self) -> bool {
        // A program that has just ended, or a kernel that does not tell, leaves what was seen before.
        let Ok(census) = process_census(self.pid) else { return false };
        let (private, peak) = (census.private(), peak_memory(self.pid));
        let shared = self.identity.shared.as_deref().map(|folder| census.files_under(folder)).unwrap_or_default();
        let mut seen = lock(&self.seen);
        if private.present.0 + shared.present.0 >= seen.private.present.0 + seen.shared.present.0 {
            (seen.private, seen.shared) = (private, shared);
        }
        seen.peak = seen.peak.max(peak);
        true
    }

    /// Kills it, for there are no reads for it.
    pub(crate) fn end_unneeded(&self) {
        self.set_feeding(Feeding::Unneeded);
        lock(&self.child).kill();
    }

    /// Whether it was to map a shared index and has not.
    pub(crate) fn lacks_shared(&self) -> bool {
        self.identity.shared.is_some() && lock(&self.seen).shared.present.0 == 0
    }

    /// The report on the program, without the reads and records that it was given and gave.
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
