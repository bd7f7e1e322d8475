//! Any program as instances under a plan: started, watched and ended together (after the framework of Lenis & Senar 2017).

use crate::arguments::Values;
use crate::charge::Charge;
use crate::error::ExternalError;
use crate::process::{Identity, Running, how_it_ended};
use crate::tool::Tell;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use zerohop_memory::Placed;
use zerohop_model::measurement::InstanceReport;
use zerohop_model::plan::InstancePlan;
use zerohop_topology::{Pinned, cpulist, die_with_parent};

/// How often it is looked whether an instance has ended, at first and at last; and how often where its memory lies.
const FIRST_POLL: Duration = Duration::from_millis(1);
const LAST_POLL: Duration = Duration::from_millis(50);
const LOOK: Duration = Duration::from_secs(1);
/// Looking takes one part in so many of the time at most.
const LOOK_SHARE: u32 = 100;

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Supervision<'a> {
    /// The program and its arguments; `{instance}`, `{instances}`, `{threads}`, `{cpus}` and `{nodes}` are replaced.
    pub words: &'a [String],
    /// Where the output of each instance goes; to ours if none is named.
    pub logs: Option<&'a Path>,
}

impl Supervision<'_> {
    /// Runs one instance per plan to the end of all. Must be called on a thread that lives on: the instances are killed when
    /// it ends. A single one without logs stays in our process group, so that it can read our terminal and is interrupted
    /// with us; several have nothing to read.
    ///
    /// # Errors
    /// The first instance that ends badly; the others are killed then.
    pub fn run(&self, plans: Vec<InstancePlan>, tell: Tell<'_>) -> Result<Vec<InstanceReport>, ExternalError> {
        let count = plans.len();
        let mut running = Vec::new();
        for (i, plan) in plans.into_iter().enumerate() {
            running.push(self.start(i, count, plan)?);
            tell(Charge::group(running[i].pid()))?;
        }
        let mut open: Vec<usize> = (0..count).collect();
        let (mut pause, mut looked, mut look_after) = (FIRST_POLL, Instant::now(), LOOK);
        while !open.is_empty() {
            std::thread::sleep(pause);
            pause = (pause * 2).min(LAST_POLL);
            // The first look comes early, for what ends soon; the others in their time.
            if looked.elapsed() > look_after || pause < LAST_POLL {
                let begun = Instant::now();
                for &i in &open {
                    running[i].look();
                }
                looked = Instant::now();
                // The kernel walks through all their pages for it.
                look_after = LOOK.max((looked - begun) * LOOK_SHARE);
            }
            for i in open.clone() {
                let ended =
                    running[i].ended().map_err(ExternalError::system(format!("instance {i} cannot be waited for")))?;
                if let Some(status) = ended {
                    self.check(i, status)?;
                    open.retain(|&other| other != i);
                }
            }
        }
        Ok(running.iter().map(Running::report).collect())
    }

    fn start(&self, number: usize, count: usize, plan: InstancePlan) -> Result<Running, ExternalError> {
        let numbers = |numbers: Vec<u32>| cpulist::format(&numbers);
        let values = Values::default()
            .with("instance", number.to_string())
            .with("instances", count.to_string())
            .with("threads", plan.threads.to_string())
            .with("cpus", numbers(plan.cpus.iter().map(|cpu| cpu.0).collect()))
            .with("nodes", numbers(plan.placement.nodes.iter().map(|node| node.0).collect()));
        let words = values.fill_all(self.words);
        let what = format!("instance {number} ({}) cannot be started", words[0]);
        let fault = |source| ExternalError::System { what: what.clone(), source };
        let mut command = std::process::Command::new(&words[0]);
        command.args(&words[1..]);
        let own_group = self.logs.is_some() || count > 1;
        if own_group {
            command.process_group(0).stdin(Stdio::null());
        }
        if let Some(logs) = self.logs {
            let out = logs.join(format!("{number}.out"));
            command.stdout(File::create(out).map_err(fault)?);
            command.stderr(File::create(self.log(number)).map_err(fault)?);
        }
        die_with_parent(&mut command);
        let placed = Placed::new(&plan.placement);
        let (child, unpinned) = {
            let (_cpus, unpinned) = Pinned::where_allowed(&plan.cpus);
            (placed.run(|| command.spawn()).map_err(fault)?, unpinned)
        };
        let (name, shared, hang_limit) = (words[0].clone(), None, Duration::MAX);
        let (log, refused) = (self.log(number), placed.refused().into_iter().chain(unpinned).collect());
        let (instance, command) = (number, words);
        let identity = Identity { instance, name, plan, command, log, shared, hang_limit, refused };
        Ok(Running::new(identity, child, own_group))
    }

    fn log(&self, number: usize) -> PathBuf {
        self.logs.map(|logs| logs.join(format!("{number}.err"))).unwrap_or_default()
    }

    fn check(&self, number: usize, status: ExitStatus) -> Result<(), ExternalError> {
        match status.success() {
            true => Ok(()),
            false => {
                let (name, how) = (&self.words[0], how_it_ended(status));
                let last = crate::process::last_lines(&self.log(number));
                Err(ExternalError::Failed(format!("instance {number} of {name} {how}{last}")))
            }
        }
    }
}
