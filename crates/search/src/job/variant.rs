//! Which variant of the exchange a search takes, and why: as it was asked for, as it was remembered, or as a self-test
//! finds it now.

use super::error::JobError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;
use zerohop_process::{WriteError, cache, running_time, tell};
use zerohop_ranks::trial::{self, Tried};
use zerohop_ranks::{Transport, Variant};

/// After this time the self-test hangs in a call of the library that nothing can interrupt.
const HANGS: Duration = Duration::from_secs(60);
/// The first rank, which remembers that, is left so much longer to do it before another ends the job.
const FIRST: Duration = Duration::from_secs(10);
/// How often it is looked at the time.
const LOOK: Duration = Duration::from_millis(200);

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The best.
    Auto,
    /// This one.
    Asked(Variant),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Choice::Auto),
            _ => text.parse().map(Choice::Asked).map_err(|error: String| format!("{error}; or 'auto'")),
        }
    }
}

/// Why a variant is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It was asked for.
    Asked,
    /// There is one rank: nothing is exchanged.
    OneRank,
    /// Ranks are on hosts that no network for remote memory connects: there puts are only messages, and an outage has
    /// stalled them.
    OnlyMessages,
    /// A self-test of this run.
    Measured,
    /// A self-test of an earlier run on these hosts.
    Remembered,
}

/// What is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The variant.
    pub variant: Variant,
    /// Why.
    pub variant_why: Why,
    /// The figures of the self-test, the baseline's among them.
    pub self_test: Vec<Tried>,
}

/// What is kept of a self-test that has come to a verdict.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    self_test: Vec<Tried>,
}

/// Decides; all ranks come to it, and to the same.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn choose(choice: Choice, transport: &dyn Transport) -> Result<Taken, JobError> {
    match choice {
        Choice::Asked(variant) => Ok(Taken { variant, variant_why: Why::Asked, self_test: Vec::new() }),
        Choice::Auto if transport.size() == 1 => {
            Ok(Taken { variant: trial::BASELINE, variant_why: Why::OneRank, self_test: Vec::new() })
        }
        Choice::Auto => match Hosts::of(transport)? {
            hosts if !hosts.put => {
                Ok(Taken { variant: trial::BASELINE, variant_why: Why::OnlyMessages, self_test: Vec::new() })
            }
            hosts => measured(transport, hosts.file(transport).as_deref()),
        },
    }
}

/// Where ranks are.
struct Hosts {
    /// The name of each rank's host, and whether it has a network for remote memory.
    ranks: Vec<Vec<u8>>,
    /// Whether ranks can put into each other's memory.
    put: bool,
}

impl Hosts {
    fn of(transport: &dyn Transport) -> Result<Self, JobError> {
        let own = format!("{} {}", zerohop_topology::detect()?.name, has_remote_memory(Path::new("/sys/class")));
        let ranks = transport.all_gather(own.as_bytes()).map_err(|error| JobError::Failed(error.to_string()))?;
        let is_one = ranks.iter().all(|rank| *rank == ranks[0]);
        let put = is_one || ranks.iter().all(|rank| rank.ends_with(b" true"));
        Ok(Hosts { ranks, put })
    }

    /// Where the answer for this transport, these hosts and this order of ranks on them is kept; nowhere without a
    /// cache folder.
    fn file(&self, transport: &dyn Transport) -> Option<PathBuf> {
        let name = cache::digest(&(env!("CARGO_PKG_VERSION"), transport.name(), &self.ranks, choices_of_transport()));
        Some(cache::folder()?.join("variants").join(name + ".json"))
    }
}

/// Whether this host has a device that puts into the memory of others: InfiniBand, Omni-Path, RoCE, EFA (`infiniband`)
/// or Slingshot (`cxi`).
fn has_remote_memory(classes: &Path) -> bool {
    let has = |class: &str| std::fs::read_dir(classes.join(class)).is_ok_and(|mut devices| devices.next().is_some());
    ["infiniband", "cxi"].into_iter().any(has)
}

/// What the environment (and `mpirun --mca`) says about how messages and windows travel: with another choice another
/// variant may be best.
fn choices_of_transport() -> BTreeMap<String, String> {
    let known = ["OMPI_MCA_btl", "OMPI_MCA_mtl", "OMPI_MCA_osc", "OMPI_MCA_pml", "UCX_", "FI_", "MPICH_", "I_MPI_"];
    let text = |value: OsString| value.to_string_lossy().into_owned();
    let all = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
    all.filter(|(name, _)| known.iter().any(|known| name.starts_with(known))).collect()
}

/// As it is remembered, or measured now. What rank 0 has kept counts for all.
fn measured(transport: &dyn Transport, path: Option<&Path>) -> Result<Taken, JobError> {
    let other = |error: &dyn std::fmt::Display| JobError::Failed(error.to_string());
    let path = path.filter(|_| transport.rank() == 0);
    // One without figures was left by a zerohop that was interrupted, and says nothing.
    let kept: Option<Kept> = path.and_then(cache::read).filter(|kept: &Kept| !kept.self_test.is_empty());
    let kept = kept.map(|kept| serde_json::to_vec(&kept)).transpose().map_err(|error| other(&error))?;
    let all = transport.all_gather(&kept.unwrap_or_default()).map_err(|error| other(&error))?;
    if let Some(kept) = all.first().filter(|kept| !kept.is_empty()) {
        let Kept { self_test } = serde_json::from_slice(kept).map_err(|error| other(&error))?;
        return Ok(Taken { variant: trial::best(&self_test), variant_why: Why::Remembered, self_test });
    }
    let limit = if transport.rank() == 0 { HANGS } else { HANGS + FIRST };
    let exit = transport.exit();
    let hung = move || {
        note_if_forgotten(keep(path, trial::hung()));
        tell::error(
            "the self-test of the exchange hangs within the MPI library: run the command again, which will do without \
             the test, or name a variant with --variant",
        );
        exit(1);
    };
    let self_test = guarded(limit, hung, || trial::try_variants(transport))?.map_err(|error| other(&error))?;
    note_if_forgotten(keep(path, self_test.clone()));
    Ok(Taken { variant: trial::best(&self_test), variant_why: Why::Measured, self_test })
}

fn keep(path: Option<&Path>, self_test: Vec<Tried>) -> Result<(), WriteError> {
    path.map_or(Ok(()), |path| cache::write(path, &Kept { self_test }))
}

fn note_if_forgotten(kept: Result<(), WriteError>) {
    if let Err(failure) = kept {
        tell::note(&format!("what the self-test of the exchange says cannot be remembered: {failure}"));
    }
}

/// Runs the self-test; if it takes longer than `limit`, `hung` is called in another thread.
fn guarded<T>(limit: Duration, hung: impl FnOnce() + Send, test: impl FnOnce() -> T) -> Result<T, JobError> {
    let (done, wait) = channel::<()>();
    std::thread::scope(|scope| {
        let begun = running_time();
        let guard = move || {
            while wait.recv_timeout(LOOK.min(limit)) == Err(RecvTimeoutError::Timeout) {
                // While the job is suspended nothing hangs.
                if running_time().saturating_sub(begun) > limit {
                    return hung();
                }
            }
        };
        let guard = Builder::new().name("guard".into()).spawn_scoped(scope, guard);
        guard.map_err(|error| JobError::Failed(format!("a thread cannot be started: {error}")))?;
        let outcome = test();
        drop(done);
        Ok(outcome)
    })
}

impl Taken {
    /// For people, on one line.
    pub fn words(&self) -> String {
        let why = match self.variant_why {
            Why::Asked => "as asked for",
            Why::OneRank => "one rank exchanges nothing",
            Why::OnlyMessages => {
                "for the hosts have no network for remote memory (InfiniBand or the like) to put anything by"
            }
            Why::Measured => "the best of a self-test",
            Why::Remembered => "the best of an earlier self-test",
        };
        let figure = |one: &Tried| match (one.batch_s, &one.fault) {
            (Some(time), _) => format!("{} {:.3}", one.variant, time * 1e3),
            (None, fault) => {
                format!("{} cannot be used ({})", one.variant, fault.as_deref().unwrap_or("no reason given"))
            }
        };
        let figures: Vec<String> = self.self_test.iter().map(figure).collect();
        match figures.is_empty() {
            true => format!("{}, {why}", self.variant),
            false => format!("{}, {why} (ms for a batch: {})", self.variant, figures.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_ranks::Twin;

    /// What every rank takes.
    fn on_ranks(ranks: usize, path: &Path) -> Vec<Taken> {
        let twins = Twin::ranks(ranks, Duration::from_secs(60));
        std::thread::scope(|scope| {
            let start = |twin: Twin| scope.spawn(move || measured(&twin, Some(path)).unwrap());
            let threads: Vec<_> = twins.into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn ranks_agree_and_the_answer_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("variants/one.json");
        let first = on_ranks(3, &path);
        assert!(first.iter().all(|taken| taken == &first[0] && taken.variant_why == Why::Measured), "{first:?}");
        let again = on_ranks(3, &path);
        assert!(
            again.iter().all(|taken| taken.variant_why == Why::Remembered && taken.self_test == first[0].self_test)
        );
        assert!(first[0].words().contains("two-sided "), "{}", first[0].words());
    }

    #[test]
    fn a_self_test_that_was_interrupted_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.json");
        let mut twins = Twin::ranks(2, Duration::from_secs(60));
        // The other rank is killed in the middle.
        let other = twins.pop().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                other.all_gather(&[]).unwrap();
                other.fail();
            });
            let failed = measured(&twins[0], Some(&path)).unwrap_err().to_string();
            assert!(failed.contains("another rank has failed"), "{failed}");
        });
        assert!(!path.exists());
        // What an earlier version has left behind.
        std::fs::write(&path, "{\"self_test\":[]}").unwrap();
        assert!(on_ranks(2, &path).iter().all(|taken| taken.variant_why == Why::Measured));
    }

    #[test]
    fn a_self_test_that_hangs_is_not_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.json");
        let (ends, wait) = channel();
        let hung = || {
            keep(Some(&path), trial::hung()).unwrap();
            ends.send(()).unwrap();
        };
        guarded(Duration::from_millis(1), hung, || wait.recv().unwrap()).unwrap();
        let taken = on_ranks(2, &path);
        assert!(taken.iter().all(|taken| taken.variant_why == Why::Remembered && taken.variant == trial::BASELINE));
        let words = taken[0].words();
        assert!(words.contains("flush cannot be used (the self-test did not come back from it)"), "{words}");
        assert!(!words.contains("two-sided cannot"), "{words}");
    }

    #[test]
    fn a_network_for_remote_memory_is_seen() {
        let classes = tempfile::tempdir().unwrap();
        assert!(!has_remote_memory(classes.path()));
        std::fs::create_dir(classes.path().join("infiniband")).unwrap();
        assert!(!has_remote_memory(classes.path()), "no device");
        std::fs::create_dir(classes.path().join("infiniband/mlx5_0")).unwrap();
        assert!(has_remote_memory(classes.path()));
    }

    #[test]
    fn one_rank_and_a_variant_that_was_asked_for_test_nothing() {
        let alone = Twin::ranks(1, Duration::from_secs(1)).pop().unwrap();
        assert_eq!(choose(Choice::Auto, &alone).unwrap().variant_why, Why::OneRank);
        let asked = choose("fence".parse().unwrap(), &alone).unwrap();
        assert_eq!((asked.variant.to_string().as_str(), asked.variant_why), ("fence", Why::Asked));
        assert!("best".parse::<Choice>().unwrap_err().contains("or 'auto'"));
    }
}
