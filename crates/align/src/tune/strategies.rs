//! Which strategy is best for an index on a machine, and why: the rule, for a machine that need not be this one.

use crate::engines::descriptors;
use crate::engines::key;
use crate::job::{AlignError, STROBEALIGN};
use crate::plan;
use crate::plan::plan_cache;
use crate::plan::tuning_key::TuningKey;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use zerohop_model::index::MakingCost;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::tuning::{Choice, SavedPlan};
use zerohop_plan::{Engine, Need, Ranked, Remark, Strategy, Verdict, kept_suffice, rank, remarks};
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::{json, tell};

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The reference whose index is meant.
    pub reference: Option<PathBuf>,
    /// Size of one index copy; by default that of the reference's index.
    pub index_size: Option<Bytes>,
    /// The aligner, by its name.
    pub engine: Option<String>,
    /// Files that describe aligners.
    pub engine_file: Vec<PathBuf>,
    /// Number of threads of all index copies together; by default all CPUs that may be used.
    pub threads: Option<usize>,
    /// Mean read length in bases, on which the index may depend.
    pub read_length: usize,
    /// A file that describes the machine; by default this one.
    pub machine: Option<PathBuf>,
    /// Where the best plan goes.
    pub output: Option<PathBuf>,
}

/// What the rule says; as JSON, the machine is its name.
#[derive(Debug, Serialize)]
pub struct StrategyAnswer {
    #[serde(serialize_with = "name")]
    machine: Machine,
    index: Bytes,
    /// What it takes to make the index, if there is none.
    making: Option<MakingCost>,
    threads: usize,
    /// The aligner that was named.
    #[serde(skip)]
    engine: Option<String>,
    /// Whether the number of threads was.
    #[serde(skip)]
    asked: bool,
    strategies: Vec<Ranked>,
    remarks: Vec<Remark>,
    plan: SavedPlan,
}

fn name<S: Serializer>(machine: &Machine, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&machine.name)
}

/// Answers, and writes the best plan if it shall be written.
///
/// # Errors
/// A file that describes no machine; an index that is not there; a plan that cannot be written.
pub fn answer(question: &Question) -> Result<StrategyAnswer, AlignError> {
    check_output(question, &[])?;
    let machine = match &question.machine {
        None => {
            zerohop_topology::unknown().iter().for_each(|what| tell::note(what));
            zerohop_topology::detect()?
        }
        Some(path) => described(path)?,
    };
    let threads = question.threads.unwrap_or_else(|| machine.allowed.worker_count());
    let map = if question.machine.is_none() { plan_cache::memory_map(&machine) } else { None };
    let (key, making) = key(question)?.unzip();
    let making = making.flatten().filter(|_| question.index_size.is_none());
    check_output(question, key.as_ref().map(|key| &key.files[..]).unwrap_or_default())?;
    let index = match (&key, question.index_size) {
        (_, Some(size)) => size,
        (Some(key), None) => key.index,
        (None, None) => {
            return Err(AlignError::Usage("say how large the index is: --index-size, or --reference".to_owned()));
        }
    };
    let engine = match (&key, &question.engine) {
        (Some(key), _) => Some(key.kind),
        (None, Some(name)) => Some(key::kind(name, &question.engine_file)?),
        (None, None) => None,
    };
    if question.machine.is_none() && key.as_ref().is_some_and(|key| kept_suffice(&machine, &key.kept)) {
        let words = "'align' reads the copies that 'zerohop index --keep' put into memory, unless --replicas or \
                     --pages is given";
        tell::note(words);
    }
    let need = Need { index_bytes: index.0, engine: engine.unwrap_or(Engine::External { shares: false }), threads };
    let strategies = rank(&machine, &need, map.as_ref());
    let remarks = remarks(&machine, engine);
    let best = strategies.first().map(|ranked| ranked.strategy);
    let best = best.ok_or_else(|| AlignError::Failed("there is no strategy for a machine without nodes".to_owned()))?;
    let choice = Choice { copies: best.copies, threads, pages: best.pages, farm: false };
    let mut plan = plan::work_out(&machine, choice, index, &[])?;
    plan.reasons.splice(0..1, strategies[0].reasons.iter().cloned());
    let plan = plan::saved(&machine, key.as_ref(), index.0, choice, plan);
    if let Some(path) = &question.output {
        json::write(path, &plan)?;
    }
    let engine = question.engine.clone().filter(|name| *name != STROBEALIGN);
    let asked = question.threads.is_some();
    Ok(StrategyAnswer { machine, index, making, threads, engine, asked, strategies, remarks, plan })
}

/// Refuses an output that would destroy what is read: what was named, and the files of the index.
fn check_output(question: &Question, index: &[PathBuf]) -> Result<(), AlignError> {
    let (descriptors, output) = (descriptors::files(&question.engine_file), &question.output);
    overwrite::apart(question.reference.iter().chain(&question.machine).chain(&descriptors).chain(index), output)?;
    Ok(output.iter().try_for_each(|path| overwrite::replaceable(path, Kind::Json))?)
}

/// The machine that a file describes: as hwloc does if it begins as XML does, else as we do.
fn described(path: &Path) -> Result<Machine, AlignError> {
    let fault = |what: String| AlignError::Failed(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fault(format!("cannot read: {error}")))?;
    let (program, machine) = if text.trim_start().starts_with('<') {
        ("lstopo --of xml", zerohop_topology::from_hwloc_xml(&text).map_err(|error| error.to_string()))
    } else {
        ("zerohop topo --json", serde_json::from_str(&text).map_err(|error| error.to_string()))
    };
    let machine: Machine =
        machine.map_err(|error| fault(format!("it does not describe a machine as '{program}' does: {error}")))?;
    zerohop_topology::check_described(&machine)
        .map_err(|error| fault(format!("it does not describe a machine that can be: {error}")))?;
    Ok(machine)
}

/// What the plan is for, if an index was named, and what it takes to make that, if there is none.
fn key(question: &Question) -> Result<Option<(TuningKey, Option<MakingCost>)>, AlignError> {
    let Some(reference) = &question.reference else { return Ok(None) };
    let profile = key::profile(true, question.read_length, None);
    let name = question.engine.as_deref().unwrap_or(STROBEALIGN);
    key::planned(name, &question.engine_file, reference, profile).map(Some)
}

impl StrategyAnswer {
    /// The strategies, the best first.
    pub fn strategies(&self) -> &[Ranked] {
        &self.strategies
    }

    /// The best, as a plan that a job can follow.
    pub fn plan(&self) -> &SavedPlan {
        &self.plan
    }

    /// In words; with `all`, also the strategies that are ruled out.
    pub fn text(&self, all: bool) -> String {
        words(self, all)
    }
}

fn words(said: &StrategyAnswer, all: bool) -> String {
    let machine = &said.machine;
    let (nodes, free) = (machine.nodes.len(), machine.memory_nodes().iter().map(|node| node.free.0).sum::<u64>());
    let free = free.min(machine.allowed.memory_left.map_or(u64::MAX, |left| left.0));
    let cpus = machine.allowed.cpus.len();
    let mut text = format!(
        "{}: {nodes} {}, {cpus} CPUs, {} of memory free; an index of {}, {} threads\n",
        tell::one_line(&machine.name),
        if nodes == 1 { "node" } else { "nodes" },
        Bytes(free),
        said.index,
        said.threads
    );
    if let Some(MakingCost { memory, disk, .. }) = said.making {
        text += &format!("There is no index yet: making it takes about {memory} of memory, and {disk} on the disk.\n");
    }
    text += "\n";
    let shown = |verdict: Verdict| all || matches!(verdict, Verdict::Chosen | Verdict::Pilot);
    for Ranked { strategy, verdict, reasons } in said.strategies.iter().filter(|ranked| shown(ranked.verdict)) {
        let copies = if strategy.copies == 1 { "1 copy".to_owned() } else { format!("{} copies", strategy.copies) };
        let (pages, verdict) = (strategy.pages, verdict_words(*verdict));
        text += &format!("{verdict:13}  {copies:9}  {pages:11}  {}\n", reasons.join(" "));
        if verdict == "best by rule" {
            text += &format!("{:13}  {:9}  {:11}  {}\n", "", "", "", command(said, *strategy));
        }
    }
    for Remark { about, verdict, reason } in said.remarks.iter().filter(|remark| shown(remark.verdict)) {
        text += &format!("{:13}  {about:22}  {reason}\n", verdict_words(*verdict));
    }
    text
}

/// The command that follows a strategy.
fn command(said: &StrategyAnswer, strategy: Strategy) -> String {
    let threads = if said.asked { format!(" -t {}", said.threads) } else { String::new() };
    let name = said.engine.as_ref().map_or_else(String::new, |name| format!(" --engine {name}"));
    format!("zerohop align{name}{threads} --replicas {} --pages {}", strategy.copies, strategy.pages)
}

fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Chosen => "best by rule",
        Verdict::Pilot => "worth a trial",
        Verdict::Possible => "possible",
        Verdict::RuledOut => "ruled out",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is answered for a machine of which a file says this.
    fn answered(description: &str) -> Result<String, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), description).unwrap();
        let question = Question {
            reference: None,
            index_size: Some(Bytes(1 << 30)),
            engine: None,
            engine_file: Vec::new(),
            threads: None,
            read_length: 150,
            machine: Some(file.path().to_owned()),
            output: None,
        };
        answer(&question).map(|answer| answer.text(true)).map_err(|error| error.to_string())
    }

    /// Two nodes of this many bytes each, with this name, as JSON.
    fn two_nodes(name: &str, memory: u64) -> String {
        format!(
            r#"{{"name": "{name}", "cpu_model": "", "distances": [[10, 20], [20, 10]], "caches": [], "page_size": 4096,
                "nodes": [{{"id": 0, "cpus": [0], "memory": {memory}, "free": {memory}}},
                          {{"id": 1, "cpus": [1], "memory": {memory}, "free": {memory}}}],
                "huge_page_size": null, "allowed": {{"cpus": [0, 1], "nodes": [0, 1], "cpu_quota": null,
                "memory_limit": null}}}}"#
        )
    }

    #[test]
    fn a_name_does_not_steer_the_terminal() {
        let said = answered(&two_nodes(r"a\u001b[2Jb\nbest by rule", 1 << 34)).unwrap();
        assert!(said.starts_with(r"a\x1b[2Jb\x0abest by rule: 2 nodes, 2 CPUs, 32.0 GiB of memory free"), "{said}");
    }

    #[test]
    fn machines_that_cannot_be_are_refused() {
        let xml = r#"<topology version="2.0"><object type="Machine" cpuset="0x1">
            <object type="NUMANode" os_index="0" cpuset="0x1" local_memory="9223372036854775808"/>
            <object type="NUMANode" os_index="1" cpuset="0x0" local_memory="9223372036854775808"/>
            <object type="PU" os_index="0"/></object></topology>"#;
        for description in [&two_nodes("two", 1 << 63), xml] {
            let refused = answered(description).unwrap_err();
            assert!(
                refused.contains("it does not describe a machine that can be: its nodes have more mem"),
                "{refused}"
            );
        }
        let refused = answered(&two_nodes("two", 1 << 34).replace(r#""id": 1"#, r#""id": 0"#)).unwrap_err();
        assert!(refused.ends_with(": it has node 0 twice"), "{refused}");
    }
}
