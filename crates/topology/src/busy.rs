//! How busy CPUs have been, whoever kept them busy (`/proc/stat`, proc(5)).

use std::time::Duration;
use zerohop_model::machine::CpuId;

/// Clock ticks per second in /proc; fixed at 100 for user space (USER_HZ).
const TICKS_PER_SECOND: f64 = 100.0;

/// The time that these CPUs have been busy since the machine was started, all together, with what other virtual machines took of
/// them; zero where the kernel does not tell. The difference of two is good to some hundredths of a second.
pub fn busy_time(cpus: &[CpuId]) -> Duration {
    busy_of(&std::fs::read_to_string("/proc/stat").unwrap_or_default(), cpus)
}

fn busy_of(stat: &str, cpus: &[CpuId]) -> Duration {
    let ticks = |line: &str| -> Option<f64> {
        // The line of all CPUs together has a blank where the others have a number.
        let mut fields = line.strip_prefix("cpu").filter(|rest| !rest.starts_with(' '))?.split_ascii_whitespace();
        let cpu = CpuId(fields.next()?.parse().ok()?);
        if !cpus.contains(&cpu) {
            return None;
        }
        let fields: Vec<f64> = fields.map_while(|field| field.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice already.
        Some([0, 1, 2, 5, 6, 7].iter().filter_map(|&field| fields.get(field)).sum())
    };
    Duration::from_secs_f64(stat.lines().filter_map(ticks).sum::<f64>() / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_cpus_asked_for_count_and_idling_does_not() {
        let stat = "cpu  1 1 1 1 1 1 1 1 1 1\ncpu0 100 10 20 9999 9999 1 2 3 100 0\ncpu1 5 0 0 7 0 0 0 0 0 0\nintr 3\n";
        assert_eq!(busy_of(stat, &[CpuId(0)]), Duration::from_millis(1360));
        assert_eq!(busy_of(stat, &[CpuId(0), CpuId(1)]), Duration::from_millis(1410));
        assert_eq!(busy_of("", &[CpuId(0)]), Duration::ZERO);
    }
}
