//! `zerohop topo`: shows the machine, and measures the ways to its memory.

use crate::args::topo::TopoArgs;
use crate::failure::CommandFailure;
use zerohop_align::plan_cache::{map_file, memory_map};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::memory_map::MemoryMap;
use zerohop_process::tell;
use zerohop_process::{cache, json};
use zerohop_report::MeasuredMachine;

/// Runs the command.
///
/// # Errors
/// When the machine cannot be looked at or standard output cannot be written.
pub fn run(args: &TopoArgs) -> Result<(), CommandFailure> {
    let machine = zerohop_topology::detect()?;
    zerohop_topology::unknown().iter().for_each(|what| tell::note(what));
    let map = if args.measure { Some(map(args, &machine)?) } else { None };
    match (map, args.json) {
        (None, true) => crate::print(json::text(&machine)?.as_bytes()),
        (None, false) => crate::show(&zerohop_topology::describe(&machine)),
        (Some(map), true) => crate::print(json::text(&MeasuredMachine { machine, map })?.as_bytes()),
        (Some(map), false) => crate::show(&zerohop_report::map_text(&map)),
    }
}

/// What a cache may hold.
const LEAST_BUFFER: Bytes = Bytes(1 << 20);

/// Refuses what nobody could measure with.
fn check_buffer(buffer: Bytes, machine: &Machine) -> Result<(), CommandFailure> {
    if buffer < LEAST_BUFFER {
        return Err(CommandFailure::Usage(format!("--buffer {buffer}: it must be {LEAST_BUFFER} or more")));
    }
    // One buffer lies on each node, and one over all.
    let all = (machine.memory_nodes().len() as u64 + 1).saturating_mul(buffer.0);
    if let Some(left) = machine.allowed.memory_left.filter(|left| left.0 < all) {
        return Err(CommandFailure::Usage(format!("--buffer {buffer}: {} in all, and {left} may be used", Bytes(all))));
    }
    match machine.memory_nodes().into_iter().find(|node| node.free.0 / 2 < buffer.0) {
        Some(node) => Err(CommandFailure::Usage(format!(
            "--buffer {buffer}: two of them must fit node {}, which has {} free",
            node.id, node.free
        ))),
        None => Ok(()),
    }
}

/// The kept map, or one that is measured now and kept.
fn map(args: &TopoArgs, machine: &Machine) -> Result<MemoryMap, CommandFailure> {
    // With a size or pages of its own it is not what others would expect to find.
    let usual = args.buffer.is_none() && args.huge_pages == crate::args::HugePagesName::Auto;
    if let Some(map) = memory_map(machine).filter(|_| usual && !args.again) {
        tell::note("this is what was measured before; --again measures anew");
        return Ok(map);
    }
    if let Some(buffer) = args.buffer {
        check_buffer(buffer, machine)?;
    }
    let mut progress = |part: f64| {
        let line = if part < 1.0 { format!("measuring, {:.0} % done", 100.0 * part) } else { String::new() };
        tell::progress(&line);
    };
    let extent = zerohop_probe::Extent { bytes: args.buffer, huge_pages: args.huge_pages.into() };
    let map = zerohop_probe::measure(machine, extent, &mut progress)?;
    if let Some(path) = map_file(machine).filter(|_| usual)
        && let Err(failure) = cache::write(&path, &map)
    {
        tell::note(&format!("what was measured cannot be kept: {failure}"));
    }
    Ok(map)
}
