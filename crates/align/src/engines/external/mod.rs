//! An aligner that runs as a program of its own.
//!
//! 1. [`WantedAligner`]: the aligner, the user's arguments for it, and the reads are looked at;
//! 2. [`Site`]: the index and the plan; index copies for processes that share them;
//! 3. [`Site::align`]: the processes are started, and the runtime feeds and drains them; the output is opened with the
//!    first header that one of them writes ([`Late`]).

pub(crate) mod compare;
mod handover;
mod late;
mod logs;
mod notes;
mod reference;
mod site;
mod wanted;

pub(crate) use wanted::{check, refuse_options};

use crate::job::{AlignError, Job};
use crate::open::output;
use crate::plan::pilots::PilotsOutcome;
use crate::plan::tuning_key::AlignedWith;
use crate::run::{EngineRan, MachineShare, ReadyEngine, RunPart};
use crate::tell::EngineTold;
use late::Late;
use reference::ComparedReference;
use site::Site;
use std::time::Instant;
use wanted::WantedAligner;
use zerohop_engine_external::descriptor::Keeps;
use zerohop_input::OpenLane;
use zerohop_model::engine::Cut;
use zerohop_model::measurement::{Comparison, RunReport};
use zerohop_model::plan::Plan;
use zerohop_model::thousands::grouped;

/// An external aligner that is ready to be started.
pub struct ExternalEngine<'j> {
    job: &'j Job,
    wanted: WantedAligner,
    site: Site,
    /// What was tried while it ran.
    tried: Option<PilotsOutcome>,
    /// Why its index could not be compared with the reference.
    uncompared: Option<String>,
}

impl<'j> ExternalEngine<'j> {
    /// Finds the aligner and its index, and plans. What the user should know goes to `notes`.
    ///
    /// # Errors
    /// An aligner or an index that is not here; wrong usage; a plan that does not fit.
    pub fn new(
        job: &'j Job,
        lanes: &mut [OpenLane],
        share: &dyn MachineShare,
        notes: &mut Vec<String>,
    ) -> Result<Self, AlignError> {
        let wanted = WantedAligner::new(job, lanes)?;
        let site = Site::new(job, &wanted, share, notes)?;
        if site.shared.as_ref().is_some_and(|shared| shared.reused > 0) {
            notes.push("Index copies that were in /dev/shm already were used.".to_owned());
        }
        Ok(ExternalEngine { job, wanted, site, tried: None, uncompared: None })
    }
}

impl ReadyEngine for ExternalEngine<'_> {
    fn cut(&self) -> Cut {
        self.wanted.cut
    }

    fn takers(&self) -> (usize, usize) {
        (self.site.instances(), self.site.plan.workers.len())
    }

    fn aligned_with(&self) -> &AlignedWith {
        &self.site.with
    }

    fn run(
        &mut self,
        lanes: Vec<OpenLane>,
        until: Option<Instant>,
        part: &mut dyn RunPart,
    ) -> Result<EngineRan, AlignError> {
        let WantedAligner { found, user, .. } = &self.wanted;
        let reference = ComparedReference::begin(found, user, &self.site.index, &self.job.reference);
        let late = Late::new(self.job, found, part.output().cloned(), reference);
        let outcome = self.site.align(self.job, &self.wanted, (lanes, until), &late, part);
        let (opened, uncompared) = late.into_opened();
        self.uncompared = uncompared;
        let (outcome, tried) = outcome.map_err(|error| self.site.log_folder.keep(error))?;
        self.tried = tried;
        let sink = opened.map(|opened| (opened.sink, output::header_digest(&opened.header)));
        Ok(EngineRan { outcome, sink })
    }

    fn plan(&self) -> &Plan {
        &self.site.plan
    }

    fn notes(&self, run: &RunReport, processes: usize) -> Vec<String> {
        let descriptor = &self.wanted.found.descriptor;
        let changed = self.tried.as_ref().is_some_and(|tried| tried.changed);
        let varying = notes::varying(self.job, descriptor, (self.site.instances(), processes > 1), changed);
        let left_out = run.tally.left_out;
        let mates = if left_out == 1 { "mate" } else { "mates" };
        let left_out = (left_out > 0)
            .then(|| format!("{} wrote no record of {} {mates} of no bases.", descriptor.title, grouped(left_out)));
        varying
            .into_iter()
            .chain(notes::warned(&descriptor.name, run))
            .chain(left_out)
            .chain(self.uncompared.clone())
            .collect()
    }

    fn compare(&self) -> Result<Option<Comparison>, AlignError> {
        let same_order = self.wanted.found.descriptor.order.keeps != Keeps::Never;
        let launch = self.site.launch(self.job, &self.wanted);
        compare::with_original(self.job, &launch, same_order)
    }

    fn told(self: Box<Self>, mut run: RunReport) -> EngineTold {
        if self.job.external.logs.is_none() {
            run.instances.iter_mut().for_each(|instance| instance.log = None);
        }
        let descriptor = &self.wanted.found.descriptor;
        EngineTold {
            engine: (descriptor.name.clone(), self.wanted.found.version.clone()),
            replicas: Vec::new(),
            index: self.site.index_report(),
            machine: self.site.machine.clone(),
            plan: self.site.followed(self.tried.clone()),
            run,
        }
    }
}
