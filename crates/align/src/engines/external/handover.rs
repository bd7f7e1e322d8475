//! `--plan auto` with an aligner that runs as programs of its own: its instances hand over to others while the run
//! goes on.
//!
//! The new instances are started beside the old ones, which take no more reads from then on and end when all their
//! records have come. Meanwhile both load and map on the same CPUs, so it is done only when much is left to do.

use crate::plan::pilots::{Switch, wait_until};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use zerohop_engine_external::Launch;
use zerohop_model::instance::{Instance, Leave};
use zerohop_model::plan::Plan;
use zerohop_runtime::Progress;

/// Has other instances take the reads of a run.
pub struct HandOver<'a> {
    /// Starts them.
    pub launch: &'a Launch<'a>,
    /// The strategies; the run begins with the first.
    pub plans: &'a [Plan],
    /// The number of the one that is followed.
    pub followed: usize,
    /// Where the runtime takes them from.
    pub send: Sender<Instance>,
    /// Those that take reads now.
    pub present: Vec<Arc<Leave>>,
    /// How many were started so far.
    pub started: usize,
    /// How far the run is.
    pub progress: &'a Progress,
}

impl HandOver<'_> {
    fn hand_over(&mut self, plan: &Plan, ended: &dyn Fn() -> bool) -> Result<(), String> {
        let fresh = self.launch.start(plan.instances(false), self.started).map_err(|error| error.to_string())?;
        self.started += fresh.len();
        let old = std::mem::replace(&mut self.present, fresh.iter().map(|one| Arc::clone(&one.leave)).collect());
        for instance in fresh {
            // Nobody takes it when the input has ended: it goes as it came.
            let _ = self.send.send(instance);
        }
        old.iter().for_each(|leave| leave.ask());
        // What the old ones still had is not counted for the new ones.
        if wait_until(|| old.iter().all(|leave| leave.is_gone()), ended) {
            let before = self.progress.reads();
            wait_until(|| self.progress.reads() > before, ended);
        }
        Ok(())
    }
}

impl Switch for HandOver<'_> {
    fn follow(&mut self, number: usize, ended: &dyn Fn() -> bool) -> Result<(), String> {
        let plans = self.plans;
        self.hand_over(&plans[number], ended)?;
        self.followed = number;
        Ok(())
    }

    fn present(&self) -> usize {
        self.followed
    }
}
