//! How busy CPUs have been, whoever kept them busy (`/proc/stat`, proc(5)).

use crate::clock::cpu_time;
use std::time::{Duration, Instant};
use zerohop_model::machine::CpuId;

/// Clock ticks per second in /proc; fixed at 100 for user space (USER_HZ).
const TICKS_PER_SECOND: f64 = 100.0;

/// The time that these CPUs have been busy since the machine was started, all together, with what other virtual
/// machines took of them; zero where the kernel does not tell. The difference of two is good to some hundredths of a
/// second.
pub fn busy_time(cpus: &[CpuId]) -> Duration {
    busy_of(&std::fs::read_to_string("/proc/stat").unwrap_or_default(), cpus)
}

/// Watches how much of some CPUs others use: what they were busy less what this process and its children used of them.
#[derive(Debug)]
pub struct Others {
    cpus: Vec<CpuId>,
    began: Instant,
    busy: Duration,
    own: Duration,
}

impl Others {
    /// Watches `cpus` from now on.
    pub fn on(cpus: &[CpuId]) -> Self {
        Others { cpus: cpus.to_vec(), began: Instant::now(), busy: busy_time(cpus), own: cpu_time() }
    }

    /// CPU seconds that others used since, and seconds that have gone by. Children count from when they were waited
    /// for. The first is good to some hundredths of a second, and may be less than nothing by as much.
    pub fn used_s(&self) -> (f64, f64) {
        let busy = busy_time(&self.cpus).saturating_sub(self.busy).as_secs_f64();
        (busy - cpu_time().saturating_sub(self.own).as_secs_f64(), self.began.elapsed().as_secs_f64())
    }
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

    #[test]
    fn own_work_is_not_that_of_others() {
        let cpus = crate::current_affinity().unwrap();
        let (others, before) = (Others::on(&cpus), cpu_time());
        while cpu_time() < before + Duration::from_millis(200) {
            std::hint::spin_loop();
        }
        let ((used, window), own) = (others.used_s(), (cpu_time() - before).as_secs_f64());
        let busy = busy_time(&cpus).saturating_sub(others.busy).as_secs_f64();
        assert!(window > 0.0 && used <= busy - own + 0.02, "{used} of {busy}, {own} of them our own");
    }
}
