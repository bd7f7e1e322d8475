//! What is compared: one way of taking reads, one lock, one kind of output, so many threads and processes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How threads come by their reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// One fragment is found and parsed under the lock.
    O,
    /// One fragment is found under the lock, and parsed outside.
    D,
    /// A number of fragments is found under the lock.
    B,
    /// A block is taken under the lock, without looking at it.
    L,
    /// zerohop's own for files: stretches are taken by an atomic step, and ordinary FASTQ is cut without a lock.
    Survey,
    /// zerohop's own for streams: an emitter deals a number of fragments at a time.
    Farm,
}

/// A kind of lock, see [`zerohop_lab_locks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockKind {
    /// Test and set.
    Tas,
    /// Test, then test and set, with backoff.
    Ttas,
    /// Blocking.
    Futex,
    /// Queueing.
    Mcs,
}

/// How records get out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// One file and one buffer, under the lock.
    Shared,
    /// One file in the order of the input; threads write to offsets that a gate hands out.
    Ordered,
    /// A file, a buffer and a lock for each thread.
    Files,
}

/// One configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arm {
    /// How threads come by their reads.
    pub input: InputKind,
    /// The lock of input and output.
    pub lock: LockKind,
    /// How records get out.
    pub output: OutputKind,
    /// Threads that map, over all processes.
    pub threads: usize,
    /// Processes; each has as many threads as the others.
    pub processes: usize,
}

impl Arm {
    /// Whether its lock is used at all.
    pub fn uses_lock(&self) -> bool {
        !matches!(self.input, InputKind::Survey | InputKind::Farm) || self.output != OutputKind::Ordered
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lock = if self.uses_lock() { self.lock.to_string() } else { "none".to_owned() };
        write!(f, "{}/{lock}/{} {}x{}", self.input, self.output, self.processes, self.threads / self.processes)
    }
}

/// Names of a kind, for what is typed and for what is shown.
macro_rules! names {
    ($kind:ty { $($variant:ident = $name:literal),+ }) => {
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $name),+ })
            }
        }

        impl FromStr for $kind {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                match name.to_ascii_lowercase().as_str() {
                    $(name if name == $name.to_ascii_lowercase() => Ok(Self::$variant),)+
                    _ => Err(format!("there is no '{name}': choose among {}", [$($name),+].join(", "))),
                }
            }
        }
    };
}

names!(InputKind { O = "O", D = "D", B = "B", L = "L", Survey = "survey", Farm = "farm" });
names!(LockKind { Tas = "tas", Ttas = "ttas", Futex = "futex", Mcs = "mcs" });
names!(OutputKind { Shared = "shared", Ordered = "ordered", Files = "files" });
