//! How a program ends that has not done what it was asked to do: its exit status, and what it says last.

use crate::tell;
use std::process::ExitCode;

/// What follows wrong usage.
const HELP: &str = "\n\nFor more information, try '--help'.";

/// The end of a program that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The options or arguments are wrong: exit status 2.
    Usage(String),
    /// The run failed: why, and the exit status.
    Failed(String, u8),
    /// The reader of our output went away, which is no failure, or another rank says why: the exit status alone.
    Silent(u8),
}

impl Ending {
    /// Why the run failed, with the usual exit status.
    pub fn failed(why: impl ToString) -> Self {
        Ending::Failed(why.to_string(), 1)
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Ending::Usage(_) => 2,
            Ending::Failed(_, status) | Ending::Silent(status) => *status,
        }
    }

    /// What is said; nothing if that is for others to say, or if nobody wants to know.
    pub fn words(&self) -> Option<String> {
        match self {
            Ending::Usage(words) => Some(format!("{words}{HELP}")),
            Ending::Failed(words, _) => Some(words.clone()),
            Ending::Silent(_) => None,
        }
    }

    /// Prints the message, and returns the exit status for `main`.
    pub fn tell(&self) -> ExitCode {
        self.words().iter().for_each(|words| tell::error(words));
        ExitCode::from(self.status())
    }
}
