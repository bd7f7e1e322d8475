//! A child that is run to its end for what it says.

use crate::ending::{kill_group, wait_unreaped};
use crate::idle::{Limits, Stopped, watch};
use std::io::Read;
use std::process::{Child, Output};
use std::sync::mpsc::channel;
use std::thread::Builder;

/// What a child says until it ends, as far as standard output and error are pipes; and why it was ended, if it was. It
/// must lead a group of its own, which is killed then.
///
/// # Errors
/// What the system says of its pipes or of waiting.
pub fn output_within(mut child: Child, limits: Limits) -> std::io::Result<(Output, Option<Stopped>)> {
    let (pid, stderr) = (child.id(), child.stderr.take());
    let (end, over) = channel();
    std::thread::scope(|scope| {
        let watch = Builder::new().spawn_scoped(scope, move || {
            let stopped = watch(pid, limits, &over);
            // It is not waited for before this thread has ended, so the number is still its own.
            stopped.map(|why| kill_group(pid).map(|_| why))
        })?;
        let words = Builder::new().spawn_scoped(scope, || read_all(stderr))?;
        let stdout = read_all(child.stdout.take())?;
        let stderr = words.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        wait_unreaped(pid)?;
        drop(end);
        let stopped = watch.join().ok().flatten().transpose()?;
        Ok((Output { status: child.wait()?, stdout, stderr }, stopped))
    })
}

fn read_all(from: Option<impl Read>) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    if let Some(mut from) = from {
        from.read_to_end(&mut all)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_children::{LONG, shell};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Stdio;
    use std::time::Duration;

    fn run(script: &str, idle: Duration, whole: Option<Duration>) -> (Output, Option<Stopped>) {
        let child = shell(script).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
        output_within(child, Limits { idle, whole }).unwrap()
    }

    #[test]
    fn a_child_says_something_and_ends() {
        let (output, stopped) = run("echo out; echo words >&2; exit 3", LONG, Some(LONG));
        assert_eq!((output.stdout, output.stderr), (b"out\n".to_vec(), b"words\n".to_vec()));
        assert_eq!((output.status.code(), stopped), (Some(3), None));
    }

    #[test]
    fn a_child_that_does_nothing_or_takes_too_long_is_ended() {
        let (output, stopped) = run("sleep 1000 & echo out; wait", Duration::from_millis(700), None);
        assert_eq!((output.stdout, stopped), (b"out\n".to_vec(), Some(Stopped::Idle)));
        assert_eq!(output.status.signal(), Some(9));
        let limit = Duration::from_secs(1);
        assert_eq!(run("while :; do :; done", LONG, Some(limit)).1, Some(Stopped::TooLong(limit)));
    }
}
