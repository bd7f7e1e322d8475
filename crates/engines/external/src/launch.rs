//! Starts the programs: each on its CPUs and under its memory policy, with pipes for its reads and its records.

use crate::arguments::{UserArguments, Values, shown};
use crate::descriptor::{BatchLaw, CommandPart, Descriptor, Keeps, Via};
use crate::drain::Drainer;
use crate::error::ExternalError;
use crate::feed::Feeder;
use crate::found::{Found, FoundIndex};
use crate::ledger::{Asked, Ledger, Promises};
use crate::pipes::Pipes;
use crate::process::{ProgramIdentity, RunningProgram, start};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use zerohop_model::engine::Cut;
use zerohop_model::instance::Instance;
use zerohop_model::plan::InstancePlan;
use zerohop_process::{ChildProgram, GIVEN_FDS, pipe, set_nonblocking};

/// Bytes that a pipe to or from a program holds at most, where the system grants them; and bytes of all pipes together:
/// an ordinary user has 64 MiB for all of theirs (pipe(7), pipe-user-pages-soft).
const PIPE_BYTES: usize = 1 << 20;
const ALL_PIPES_BYTES: usize = 48 << 20;
const LEAST_PIPE_BYTES: usize = 1 << 16;
/// The most bases of a batch: its text and its records are held in one piece each, whose places have 32 bits.
const MAX_BATCH_BASES: u64 = 1_000_000_000;
/// Bases of a chunk for programs whose input may be cut anywhere: some seconds of one thread's work.
const FREE_BASES: u64 = 1_000_000;

/// All that the instances of a run have in common.
pub struct Launch<'a> {
    /// The aligner.
    pub found: &'a Found,
    /// The index, as the user has it.
    pub index: &'a FoundIndex,
    /// The path that the aligner is given for the index, for each replica of the plan: the index itself, or a shared
    /// copy.
    pub prefixes: &'a [PathBuf],
    /// The folders of these copies; none if the index is not shared.
    pub shared: &'a [PathBuf],
    /// What the user gave for the aligner.
    pub user: &'a UserArguments,
    /// The reference, as the user named it.
    pub reference: &'a Path,
    /// The first file of each lane, for messages.
    pub lanes: Arc<[PathBuf]>,
    /// Whether the reads are pairs.
    pub paired: bool,
    /// Whether they are in FASTA.
    pub fasta: bool,
    /// The header line of the read group of all reads, if they have one in common.
    pub read_group: Option<String>,
    /// Whether the comments of reads are wanted with the records.
    pub comments: bool,
    /// Whether the reads are plain DNA (`--dna`).
    pub dna: bool,
    /// Where logs go.
    pub logs: &'a Path,
    /// How long a program may neither take nor give anything while it has work.
    pub hang_limit: Duration,
}

/// Where the input of an aligner is to be cut.
///
/// # Errors
/// When the user's value for a batch is no number, or too large.
pub fn cut(descriptor: &Descriptor, user: &UserArguments) -> Result<Cut, ExternalError> {
    if descriptor.batch.law == BatchLaw::Free {
        return Ok(Cut::at(FREE_BASES));
    }
    let value = user.settings.get(&descriptor.batch.setting);
    let bases: u64 = value.parse().ok().filter(|&bases| bases > 0).ok_or_else(|| {
        ExternalError::Arguments(format!("the bases of a batch must be a number of 1 or more, not '{value}'"))
    })?;
    if bases > MAX_BATCH_BASES {
        return Err(ExternalError::Arguments(format!(
            "a batch may have {MAX_BATCH_BASES} bases at most, for zerohop holds it in one piece: {bases} are too many"
        )));
    }
    Ok(match descriptor.batch.law {
        BatchLaw::Chunk => Cut::at(bases.saturating_add(1)),
        _ => Cut::at(bases),
    })
}

impl Launch<'_> {
    /// Starts one program per plan. They are numbered from `first` on. The calling
    /// thread must live as long as they: they are killed when it ends.
    ///
    /// # Errors
    /// What the aligner cannot do, or what the system says. Those that were started are killed.
    pub fn start(&self, plans: Vec<InstancePlan>, first: usize) -> Result<Vec<Instance>, ExternalError> {
        let pipes = plans.len() * if self.paired { 3 } else { 2 };
        let bytes = (ALL_PIPES_BYTES / pipes.max(1)).clamp(LEAST_PIPE_BYTES, PIPE_BYTES);
        plans.into_iter().zip(first..).map(|(plan, i)| self.start_one(i, plan, bytes)).collect()
    }

    fn start_one(&self, number: usize, plan: InstancePlan, pipe_bytes: usize) -> Result<Instance, ExternalError> {
        let descriptor = &self.found.descriptor;
        let what = format!("instance {number} of {} cannot be started", descriptor.name);
        let fault = |e| ExternalError::System { what: what.clone(), source: e };
        let words = self.command(&plan)?;
        let log = self.logs.join(format!("{}.{number}.log", descriptor.name));
        let program = ChildProgram::new(&words[0]).args(&words[1..]).stderr(File::create(&log).map_err(fault)?);
        let (program, pipes) = self.connect(program, pipe_bytes).map_err(fault)?;
        let (output, theirs) = pipe(pipe_bytes).map_err(fault)?;
        set_nonblocking(output.as_fd()).map_err(fault)?;
        let (child, refused) = start(program.stdout(theirs), &plan).map_err(fault)?;
        let identity = ProgramIdentity {
            instance: number,
            name: descriptor.name.clone(),
            shared: self.shared.get(plan.replica).cloned(),
            command: shown(&words),
            log,
            hang_limit: self.hang_limit,
            refused,
            plan: plan.clone(),
        };
        let running = Arc::new(RunningProgram::new(identity, child));
        let (tell, expected) = channel();
        let keeps_order = descriptor.order.keeps != Keeps::Never || plan.threads == 1;
        let rules = Promises {
            keeps_order,
            repeats_primary: descriptor.order.repeats_primary,
            names_take_comments: descriptor.reads.names_take_comments,
        };
        let ledger = Ledger::new(rules, descriptor.reads.pairs.clone());
        let blamed = Arc::clone(&running);
        let feed = Box::new(Feeder {
            running: Arc::clone(&running),
            pipes: Pipes::new(pipes),
            via: descriptor.reads.via,
            paired: self.paired,
            fasta: self.fasta,
            asked: Asked { comments: self.comments, digests: !keeps_order },
            given: !descriptor.reads.needed,
            lanes: Arc::clone(&self.lanes),
            expected: tell,
            written: Default::default(),
        });
        let drain = Box::new(Drainer::new(running, File::from(output), expected, ledger));
        let blame = Arc::new(move |what: &str| blamed.fault(what));
        Ok(Instance { plan, feed, drain, blame, leave: Arc::default() })
    }

    /// Gives the program the ends of its pipes, and returns ours.
    fn connect(&self, program: ChildProgram, pipe_bytes: usize) -> std::io::Result<(ChildProgram, Vec<File>)> {
        let one = self.found.descriptor.reads.via != Via::Fd || !self.paired;
        let mut theirs: Vec<OwnedFd> = Vec::new();
        let mut ours = Vec::new();
        for _ in 0..if one { 1 } else { 2 } {
            let (read, write) = pipe(pipe_bytes)?;
            set_nonblocking(write.as_fd())?;
            theirs.push(read);
            ours.push(File::from(write));
        }
        let program = match self.found.descriptor.reads.via {
            Via::Fd => program.given(theirs),
            Via::StdinInterleaved | Via::StdinSam => theirs.into_iter().fold(program, ChildProgram::stdin),
        };
        Ok((program, ours))
    }

    /// The command of one instance, word by word.
    ///
    /// # Errors
    /// [`ExternalError::Unsuited`] when the aligner does not take such reads.
    pub fn command(&self, plan: &InstancePlan) -> Result<Vec<OsString>, ExternalError> {
        let values = |values: Values| {
            values
                .with("reads_1", GIVEN_FDS[0])
                .with("reads_2", GIVEN_FDS[1])
                .with("index", &self.prefixes[plan.replica])
        };
        let reads = &self.found.descriptor.reads;
        let reads = if self.paired { &reads.paired } else { &reads.single };
        let sharing = &self.found.descriptor.sharing;
        let sharing = if self.shared.is_empty() { &sharing.private } else { &sharing.option };
        self.words(plan.threads, sharing, reads, values)
    }

    /// The command that a user would type to align `files` with this aligner alone, with `threads`.
    ///
    /// # Errors
    /// As for [`Launch::command`].
    pub fn plain_command(&self, files: &[PathBuf], threads: usize) -> Result<Vec<OsString>, ExternalError> {
        let file = |i: usize| files.get(i).cloned().unwrap_or_default();
        let values =
            |values: Values| values.with("reads_1", file(0)).with("reads_2", file(1)).with("index", &self.index.prefix);
        let reads = &self.found.descriptor.reads;
        let reads = match self.paired {
            true => reads.plain_paired.as_ref().unwrap_or(&reads.paired),
            false => reads.plain_single.as_ref().unwrap_or(&reads.single),
        };
        self.words(threads, &[], reads, values)
    }

    fn words(
        &self,
        threads: usize,
        sharing: &[String],
        reads: &[String],
        values: impl Fn(Values) -> Values,
    ) -> Result<Vec<OsString>, ExternalError> {
        let descriptor = &self.found.descriptor;
        let unsuited = |what: &str| ExternalError::Unsuited(format!("{} takes no {what}", descriptor.title));
        let values = values(self.user.settings.clone())
            .with("reference", self.reference)
            .with("layout", if self.paired { "paired" } else { "single" })
            .with("threads", threads.to_string());
        if reads.is_empty() {
            return Err(unsuited(if self.paired { "pairs" } else { "single reads" }));
        }
        let fasta = match (self.fasta, &descriptor.reads.fasta) {
            (false, _) => &[][..],
            (true, Some(option)) => option,
            (true, None) => return Err(unsuited("reads in FASTA")),
        };
        let program = self.index.program.as_ref().unwrap_or(&self.found.program);
        let mut words = vec![program.clone().into_os_string()];
        for part in &descriptor.order_of_arguments {
            match part {
                CommandPart::Arguments => words.extend(values.fill_all(&descriptor.arguments)),
                CommandPart::Threads => words.extend(values.fill_all(&descriptor.threads.option)),
                CommandPart::Order => words.extend(values.fill_all(&descriptor.order.option)),
                CommandPart::Index => words.extend(values.fill_all(&descriptor.index.option)),
                CommandPart::Reads => words.extend(values.fill_all(fasta).into_iter().chain(values.fill_all(reads))),
                CommandPart::EngineArgs => {
                    let dna = if self.dna { &descriptor.dna.option[..] } else { &[] };
                    words.extend(values.fill_all(dna).into_iter().chain(values.fill_all(sharing)));
                    if let Some(line) = &self.read_group {
                        let values = Values::default().with("read_group", line.replace('\t', "\\t"));
                        words.extend(values.fill_all(&descriptor.read_group.option));
                    }
                    words.extend(self.user.words().map(OsString::from));
                }
            }
        }
        Ok(words)
    }
}
