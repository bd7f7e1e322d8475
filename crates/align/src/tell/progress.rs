//! What is said while it lasts: on a terminal a line that is renewed, elsewhere a line a minute.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zerohop_model::index::{MakingNews, Told};
use zerohop_model::thousands::grouped;
use zerohop_process::tell;
use zerohop_runtime::AtEnd;
use zerohop_runtime::Progress;

/// How often the line on a terminal is renewed.
const RENEWED: Duration = Duration::from_millis(500);
/// How often a line goes to a file or a pipe.
const IN_A_LOG: Duration = Duration::from_secs(60);

/// Runs `body` and says meanwhile how far it is, if `wanted`.
pub fn shown<R>(wanted: bool, progress: &Progress, body: impl FnOnce() -> R) -> R {
    telling(wanted, |elapsed| line(progress, elapsed), body)
}

/// Runs `body` and says meanwhile what is done, which step of it `body` tells, and for how long, if `wanted`.
pub fn waiting<R>(wanted: bool, what: &str, body: impl FnOnce(Told<'_>) -> R) -> R {
    let step = Mutex::new(String::new());
    let now = || step.lock().unwrap_or_else(PoisonError::into_inner);
    let line = |elapsed: Duration| match &*now() {
        step if step.is_empty() => format!("{what}: {} s", elapsed.as_secs()),
        step => format!("{what}: {step}, {} s", elapsed.as_secs()),
    };
    let told = |news: MakingNews<'_>| match news {
        MakingNews::Step(step) => step.clone_into(&mut now()),
        MakingNews::Note(words) if wanted => tell::note(words),
        MakingNews::Note(_) => {}
    };
    telling(wanted, line, || body(&told))
}

fn telling<R>(wanted: bool, line: impl Fn(Duration) -> String + Sync, body: impl FnOnce() -> R) -> R {
    if !wanted {
        return body();
    }
    if tell::shows_progress() {
        let result = beside(RENEWED, |elapsed| tell::progress(&line(elapsed)), body);
        tell::progress("");
        return result;
    }
    let in_a_log = |elapsed: Duration| match elapsed < IN_A_LOG {
        true => {}
        false => tell::text(&format!("{}\n", line(elapsed))),
    };
    beside(IN_A_LOG, in_a_log, body)
}

/// Runs `body`; meanwhile another thread shows something: now, and at intervals.
fn beside<R>(interval: Duration, show: impl Fn(Duration) + Sync, body: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("progress".into()).spawn_scoped(scope, || {
            let started = Instant::now();
            for turn in 1.. {
                show(started.elapsed());
                // Woken before the time, it goes on to wait.
                while let left = (interval * turn).saturating_sub(started.elapsed())
                    && !left.is_zero()
                    && !done.load(Ordering::Acquire)
                {
                    std::thread::park_timeout(left);
                }
                if done.load(Ordering::Acquire) {
                    return;
                }
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

/// Bases of reads on the average, from which on these are told in place of the reads.
const LONG_READ: u64 = 1000;

fn line(progress: &Progress, elapsed: Duration) -> String {
    if let Some(made) = progress.made() {
        let left = elapsed.as_secs_f64() / made - elapsed.as_secs_f64();
        return format!("sorted and written: {:.0} %, {left:.0} s left", 100.0 * made);
    }
    let (reads, bases, seconds) = (progress.reads(), progress.bases(), elapsed.as_secs_f64());
    let by_second = |count: u64| count as f64 / seconds.max(1e-9);
    // Of long reads some take a thousand times as long as others.
    let mut line = match bases >= LONG_READ * reads.max(1) {
        true => format!("{:.1} Mb, {:.2} Mb/s", bases as f64 / 1e6, by_second(bases) / 1e6),
        false => format!("{:.2} M reads, {} reads/s", reads as f64 / 1e6, grouped(by_second(reads) as u64)),
    };
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
        let interval = Duration::from_millis(1);
        let (sender, receiver) = std::sync::mpsc::channel();
        let shown = |elapsed| sender.send(elapsed).unwrap();
        let seen = || (0..3).map(|_| receiver.recv().unwrap()).collect::<Vec<_>>();
        let times = beside(interval, shown, seen);
        assert!(times.is_sorted() && times[2] >= 2 * interval, "{times:?}");
        assert!(catch_unwind(|| beside(interval, |_| (), || panic!("made up"))).is_err());
    }
}
