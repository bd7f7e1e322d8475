//! What this process has used, from /proc (proc(5)), or from the system call where that is missing.

use std::time::Duration;
use zerohop_model::machine::Bytes;
use zerohop_report::ResourceUse;
use zerohop_topology::{cpu_times, peak_memory};

/// Clock ticks per second in /proc; fixed at 100 for user space (USER_HZ).
const TICKS_PER_SECOND: f64 = 100.0;

/// What was used so far, CPU time of children that have ended included.
pub fn used() -> ResourceUse {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        let (user, system) = cpu_times();
        return ResourceUse { user, system, peak_memory: peak_memory() };
    };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: u64 = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    let time = |at| Duration::from_secs_f64(ticks(at) / TICKS_PER_SECOND);
    ResourceUse { user: time(11) + time(13), system: time(12) + time(14), peak_memory: Bytes(kibibytes << 10) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_process_has_used_memory() {
        assert!(super::used().peak_memory.0 > 1 << 20);
    }
}
