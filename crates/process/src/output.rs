//! A child that is run to its end for what it says.

use crate::ending::wait_unreaped;
use crate::idle::{Limits, Stopped, watch};
use crate::running_child::RunningChild;
use std::io::Read;
use std::process::Output;
use std::sync::mpsc::channel;
use std::thread::Builder;

impl RunningChild {
    /// What it says until it ends, as far as standard output and error are pipes; and why it was ended, if it was.
    ///
    /// # Errors
    /// A failure of its pipes, or of waiting for it.
    pub fn output_within(mut self, limits: Limits) -> std::io::Result<(Output, Option<Stopped>)> {
        let (pid, family) = (self.id(), self.family().clone());
        let (stdout, stderr) = (self.take_stdout(), self.take_stderr());
        let (end, over) = channel();
        let said = std::thread::scope(|scope| {
            let watch = Builder::new().spawn_scoped(scope, move || {
                let stopped = watch(pid, &family, limits, &over);
                // It is not waited for before this thread has ended, so the number is still its own. Whoever it has
                // started holds its pipes, too.
                stopped.inspect(|_| family.kill())
            })?;
            let words = Builder::new().spawn_scoped(scope, || read_all(stderr))?;
            let stdout = read_all(stdout)?;
            let stderr = words.join().unwrap_or_else(|_| Ok(Vec::new()))?;
            wait_unreaped(pid)?;
            drop(end);
            Ok::<_, std::io::Error>((stdout, stderr, watch.join().ok().flatten()))
        });
        let (stdout, stderr, stopped) = said?;
        Ok((Output { status: self.wait()?, stdout, stderr }, stopped))
    }
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
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::Duration;

    fn run(script: &str, idle: Duration, whole: Option<Duration>) -> (Output, Option<Stopped>) {
        let child = shell(script).stderr(Stdio::piped()).start().unwrap();
        child.output_within(Limits { idle, whole }).unwrap()
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
        let (output, stopped) = run("setsid sleep 1000 & echo out; wait", Duration::from_millis(700), None);
        assert_eq!((output.stdout, stopped), (b"out\n".to_vec(), Some(Stopped::Idle)), "its pipe is closed");
        let limit = Duration::from_secs(1);
        assert_eq!(run("while :; do :; done", LONG, Some(limit)).1, Some(Stopped::TooLong(limit)));
    }
}
