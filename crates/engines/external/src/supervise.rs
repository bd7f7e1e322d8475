//! Any program as instances under a plan: started, watched and ended together (after the framework of Lenis & Senar
//! 2017).

use crate::arguments::{Values, shown};
use crate::error::ExternalError;
use crate::process::{ProgramIdentity, RunningProgram, start};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use zerohop_model::machine::CpuId;
use zerohop_model::measurement::InstanceReport;
use zerohop_model::plan::InstancePlan;
use zerohop_process::{ChildProgram, HeldSignals, Interest, Signal, how_it_ended, last_lines_of, poll};
use zerohop_topology::cpulist;

/// How often to check whether an instance has ended, at first and at last; and how often to check where its memory
/// lies.
const FIRST_POLL: Duration = Duration::from_millis(1);
const LAST_POLL: Duration = Duration::from_millis(50);
const LOOK: Duration = Duration::from_secs(1);
/// Looking takes one part in so many of the time at most.
const LOOK_SHARE: u32 = 100;

/// How long instances that were asked to end may take before they are killed.
const GRACE: Duration = Duration::from_secs(10);

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Supervision<'a> {
    /// The program and its arguments; `{instance}`, `{instances}`, `{threads}`, `{cpus}` and `{nodes}` are replaced.
    pub words: &'a [OsString],
    /// Where the output of each instance goes; to ours if none is named.
    pub logs: Option<&'a Path>,
    /// The CPUs that this process may use: those of an instance that is not pinned.
    pub cpus: &'a [CpuId],
}

/// The instances, and how those that have ended did.
struct SupervisedInstances {
    running: Vec<RunningProgram>,
    /// Those that have not ended.
    open: Vec<usize>,
    /// The first one by its number that failed by itself.
    failed: Option<(usize, ExitStatus)>,
    /// When the last signal was passed on: their handlers may still be at work.
    told: Option<Instant>,
    /// When they were asked to end, by somebody's signal or by us.
    asked: Option<Instant>,
    /// Whether it was we who asked: what they end with then is not their own.
    by_us: bool,
}

impl Supervision<'_> {
    /// Runs one instance per plan to the end of all. Must be called on a thread that lives on, before others are
    /// started: the instances are killed when it ends, and signals are held back for it. A single one without logs
    /// stays in our process group, so that it can read our terminal and is interrupted with us; several have nothing to
    /// read.
    ///
    /// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on; what the instances do then is theirs. When
    /// one fails, the others are asked to end (SIGTERM), and killed after ten seconds; after a signal, their handlers
    /// get ten seconds before that.
    ///
    /// # Errors
    /// [`ExternalError::Ended`] with the status of the first instance, by its number, that failed.
    pub fn run(&self, plans: Vec<InstancePlan>) -> Result<Vec<InstanceReport>, ExternalError> {
        let count = plans.len();
        let signals = HeldSignals::new().map_err(ExternalError::system("signals cannot be passed on"))?;
        let mut running = Vec::new();
        for (i, plan) in plans.into_iter().enumerate() {
            running.push(self.start(i, count, plan)?);
        }
        let mut crew = SupervisedInstances {
            running,
            open: (0..count).collect(),
            failed: None,
            told: None,
            asked: None,
            by_us: false,
        };
        let (mut pause, mut looked, mut look_after) = (FIRST_POLL, Instant::now(), LOOK);
        while !crew.open.is_empty() {
            // What cannot be waited for shows where it is read.
            let _ = poll(&[(signals.as_fd(), Interest::Read)], pause);
            pause = (pause * 2).min(LAST_POLL);
            while let Some(signal) = signals.next().map_err(ExternalError::system("signals cannot be passed on"))? {
                crew.pass_on(signal);
            }
            // The first look comes early, for what ends soon; the others in their time.
            if looked.elapsed() > look_after || pause < LAST_POLL {
                let begun = Instant::now();
                for &i in &crew.open {
                    crew.running[i].look();
                }
                looked = Instant::now();
                // The kernel walks through all their pages for it.
                look_after = LOOK.max((looked - begun) * LOOK_SHARE);
            }
            crew.collect()?;
            if crew.by_us && crew.asked.is_some_and(|asked| asked.elapsed() > GRACE) {
                break;
            }
        }
        match crew.failed {
            Some((number, status)) => Err(self.fault(number, status)),
            None => Ok(crew.running.iter().map(RunningProgram::report).collect()),
        }
    }

    fn start(&self, number: usize, count: usize, plan: InstancePlan) -> Result<RunningProgram, ExternalError> {
        let numbers = |numbers: Vec<u32>| cpulist::format(&numbers);
        let cpus = if plan.cpus.is_empty() { self.cpus } else { &plan.cpus };
        let values = Values::default()
            .with("instance", number.to_string())
            .with("instances", count.to_string())
            .with("threads", plan.threads.to_string())
            .with("cpus", numbers(cpus.iter().map(|cpu| cpu.0).collect()))
            .with("nodes", numbers(plan.placement.nodes.iter().map(|node| node.0).collect()));
        let words = values.fill_all(self.words);
        let what = format!("instance {number} ({}) cannot be started", words[0].display());
        let fault = |source| ExternalError::System { what: what.clone(), source };
        let mut program = ChildProgram::new(&words[0]).args(&words[1..]);
        program = match self.logs.is_some() || count > 1 {
            true => program.of_users(),
            false => program.in_foreground(),
        };
        if let Some(logs) = self.logs {
            let out = File::create(logs.join(format!("{number}.out"))).map_err(fault)?;
            program = program.stdout(out).stderr(File::create(self.log(number)).map_err(fault)?);
        }
        let (child, refused) = start(program, &plan).map_err(fault)?;
        let (name, shared, hang_limit) = (words[0].display().to_string(), None, Duration::MAX);
        let (log, instance, command) = (self.log(number), number, shown(&words));
        let identity = ProgramIdentity { instance, name, plan, command, log, shared, hang_limit, refused };
        Ok(RunningProgram::new(identity, child))
    }

    fn log(&self, number: usize) -> PathBuf {
        self.logs.map(|logs| logs.join(format!("{number}.err"))).unwrap_or_default()
    }

    fn fault(&self, number: usize, status: ExitStatus) -> ExternalError {
        let (name, how) = (self.words[0].display(), how_it_ended(status));
        let last = last_lines_of(&self.log(number));
        let what = format!("instance {number} of {name} {how}{last}");
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        ExternalError::Ended { what, status: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1) }
    }
}

impl SupervisedInstances {
    /// Passes a signal on to those that have not ended.
    fn pass_on(&mut self, signal: Signal) {
        for &i in &self.open {
            self.running[i].send(signal);
        }
        self.told = Some(Instant::now());
        if signal.asks_to_end && self.asked.is_none() {
            self.asked = Some(Instant::now());
        }
    }

    /// Sees who has ended. At the first failure, the others are asked to end.
    fn collect(&mut self) -> Result<(), ExternalError> {
        for i in self.open.clone() {
            // What an instance has started may have something to do before it ends, too.
            if self.asked.is_some_and(|asked| asked.elapsed() <= GRACE) && self.running[i].has_left_some() {
                continue;
            }
            let ended =
                self.running[i].ended().map_err(ExternalError::system(format!("instance {i} cannot be waited for")))?;
            let Some(status) = ended else { continue };
            self.open.retain(|&other| other != i);
            if !status.success() && !self.by_us && self.failed.is_none_or(|(first, _)| i < first) {
                self.failed = Some((i, status));
            }
        }
        let is_told = self.told.is_some_and(|told| told.elapsed() <= GRACE);
        if self.failed.is_some() && self.asked.is_none() && !is_told {
            self.pass_on(Signal::TERMINATE);
            self.by_us = true;
        }
        Ok(())
    }
}
