//! The progress line, on a terminal alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerohop_process::tell;
use zerohop_runtime::AtEnd;
use zerohop_runtime::Progress;

/// How often it is renewed.
const INTERVAL: Duration = Duration::from_millis(500);

/// Runs `body` and shows the progress meanwhile, if standard error is a terminal and `wanted`.
pub fn shown<R>(wanted: bool, progress: &Progress, body: impl FnOnce() -> R) -> R {
    if !wanted || !tell::shows_progress() {
        return body();
    }
    let result = beside(|elapsed| tell::progress(&line(progress, elapsed)), body);
    tell::progress("");
    result
}

/// Runs `body`; meanwhile another thread shows something, at intervals.
fn beside<R>(show: impl Fn(Duration) + Sync, body: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("progress".into()).spawn_scoped(scope, || {
            let started = Instant::now();
            while !done.load(Ordering::Acquire) {
                show(started.elapsed());
                std::thread::park_timeout(INTERVAL);
            }
        });
        let _done = AtEnd(|| {
            done.store(true, Ordering::Release);
            // Without a thread for it there is no progress line; the run does not need one.
            thread.iter().for_each(|thread| thread.thread().unpark());
        });
        body()
    })
}

fn line(progress: &Progress, elapsed: Duration) -> String {
    if let Some(made) = progress.made() {
        let left = elapsed.as_secs_f64() / made - elapsed.as_secs_f64();
        return format!("sorted and written: {:.0} %, {left:.0} s left", 100.0 * made);
    }
    let (reads, seconds) = (progress.reads(), elapsed.as_secs_f64());
    let mut line = format!("{:.2} M reads, {:.0} reads/s", reads as f64 / 1e6, reads as f64 / seconds.max(1e-9));
    if let Some(share) = progress.dealt() {
        let left = seconds / share - seconds;
        line += &format!(", {:.0} % dealt, {left:.0} s left", 100.0 * share);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn progress_is_shown_until_the_end_or_a_panic() {
        assert_eq!(beside(|_| (), || 5), 5);
        assert!(catch_unwind(|| beside(|_| (), || panic!("made up"))).is_err());
    }
}
