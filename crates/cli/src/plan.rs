//! `zerohop plan`: which strategy is best for an index on a machine, and why.

use crate::args::PlanArgs;
use crate::failure::Failure;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::Pages;
use zerohop_plan::{Ranked, Verdict, rank};

/// Runs the command.
///
/// # Errors
/// A file that describes no machine; standard output that cannot be written.
pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let machine = match &args.machine {
        None => zerohop_topology::detect()?,
        Some(path) => {
            let fault = |what: String| Failure::Other(format!("{}: {what}", path.display()));
            let text = std::fs::read(path).map_err(|error| fault(format!("cannot read: {error}")))?;
            serde_json::from_slice::<Machine>(&text).map_err(|error| {
                fault(format!("it does not describe a machine as 'zerohop topo --json' does: {error}"))
            })?
        }
    };
    let ranked = rank(&machine, args.index_size.0);
    let text = match args.json {
        true => serde_json::to_string_pretty(&ranked).map_err(|error| Failure::Other(error.to_string()))? + "\n",
        false => words(&machine, args.index_size, &ranked, args.explain),
    };
    crate::print(text.as_bytes())
}

fn words(machine: &Machine, index: Bytes, ranked: &[Ranked], all: bool) -> String {
    let (nodes, free) = (machine.nodes.len(), machine.memory_nodes().iter().map(|node| node.free.0).sum());
    let cpus = machine.allowed.cpus.len();
    let mut text = format!(
        "{}: {nodes} {}, {cpus} CPUs, {} of memory free; an index of {index}\n\n",
        machine.name,
        if nodes == 1 { "node" } else { "nodes" },
        Bytes(free)
    );
    let shown = |ranked: &&Ranked| all || matches!(ranked.verdict, Verdict::Chosen | Verdict::Pilot);
    for Ranked { strategy, verdict, reasons } in ranked.iter().filter(shown) {
        let copies = if strategy.copies == 1 { "1 copy".to_owned() } else { format!("{} copies", strategy.copies) };
        let pages = match strategy.pages {
            Pages::Local => "local",
            Pages::Interleave => "interleave",
            Pages::FirstTouch => "first-touch",
            Pages::LocalAlloc => "localalloc",
        };
        let verdict = match verdict {
            Verdict::Chosen => "best by rule",
            Verdict::Pilot => "worth a trial",
            Verdict::Possible => "possible",
            Verdict::RuledOut => "ruled out",
        };
        text += &format!("{verdict:13}  {copies:9}  {pages:11}  {}\n", reasons.join(" "));
        if verdict == "best by rule" {
            text += &format!(
                "{:13}  {:9}  {:11}  zerohop align --replicas {} --pages {pages}\n",
                "", "", "", strategy.copies
            );
        }
    }
    text
}
