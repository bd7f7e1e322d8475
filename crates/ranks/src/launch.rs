//! Ranks: who has started us, and how the others are reached.

use crate::error::{RankFailure, RanksError};
use crate::{Mpi, SHIM, Transport, TransportError, Twin};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;
use std::time::Duration;
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::{ChildProgram, Ending, Limits, cache, tell};

/// How long a compiler may do nothing.
const COMPILING: Limits = Limits { idle: Duration::from_secs(600), whole: None };
/// The library's name.
const LIBRARY: &str = "libzerohop_mpi.so";
/// How long a launcher is left to pass on what a rank says last: MPICH's may end without it when it hears of the abort
/// first.
const PASSED_ON: Duration = Duration::from_millis(300);
/// Where launchers tell how many they have started, and which of them this is.
const LAUNCHERS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// How many ranks there must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankCount {
    /// All tasks of the launcher, two or more.
    All,
    /// As many as these.
    Exactly(usize),
}

impl FromStr for RankCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(RankCount::All),
            (_, Ok(ranks @ 1..)) => Ok(RankCount::Exactly(ranks)),
            _ => Err(format!("'{text}' is no number of ranks")),
        }
    }
}

/// This rank's way to the others.
pub enum Ranks {
    /// There are no others.
    Alone(Twin),
    /// A launcher has started several.
    Many(Box<Mpi>),
}

impl Ranks {
    /// Joins the others, if ranks are `wanted`; `library` is what the user named. What each rank has `checked` by
    /// itself must be right on all of them, before any of them loads something.
    ///
    /// # Errors
    /// What is wrong, on the first rank that finds it so. No others, or not as many as wanted; no library to reach
    /// them: so many copies of one rank would each do the whole.
    pub fn join<T, E: RankFailure>(
        wanted: Option<RankCount>,
        library: Option<&Path>,
        limit: Duration,
        checked: Result<T, E>,
    ) -> Result<(Self, T), E> {
        let launched = launched();
        let is_first = launched.is_none_or(|(_, rank)| rank == 0);
        // All see the same.
        let found = found(wanted, launched).map_err(E::from);
        let found = found.map_err(|failure| if is_first { failure } else { failure.told_elsewhere() })?;
        let Some((size, rank)) = found else {
            let alone = Twin::ranks(1, limit).pop();
            let alone = alone.map(Ranks::Alone).ok_or_else(|| RanksError::Failed("there is no rank".to_owned()));
            return Ok((alone?, checked?));
        };
        let missing = || {
            RanksError::Failed(format!(
                "this is one of {size} ranks that a launcher has started, and the library by which they find each \
                 other is not there: \
                 build it with 'zerohop mpi' (and the launcher's own mpicc)"
            ))
        };
        let library = find(library).ok_or_else(missing)?;
        let stuck = move |error: &TransportError| tell::error(&format!("rank {rank} of {size}: {error}"));
        let mpi = Mpi::join(&library, limit, stuck).map_err(RanksError::from)?;
        if mpi.size() != size {
            let found = mpi.size();
            return Err(RanksError::Failed(format!(
                "the launcher has started {size} ranks, and {} finds {found} (as rank {rank}): it was built for \
                 another MPI; build \
                 it anew with 'zerohop mpi' and the launcher's own mpicc",
                library.display()
            ))
            .into());
        }
        match common(&mpi, checked, say)? {
            Ok(checked) => Ok((Ranks::Many(Box::new(mpi)), checked)),
            Err(failure) => {
                mpi.leave().map_err(RanksError::from)?;
                Err(failure)
            }
        }
    }

    /// The transport.
    pub fn transport(&self) -> &dyn Transport {
        match self {
            Ranks::Alone(twin) => twin,
            Ranks::Many(mpi) => &**mpi,
        }
    }

    /// Ends: after success together with the others; after a failure all of them, with the rank's number before its
    /// message.
    ///
    /// # Errors
    /// The failure of one that is alone.
    pub fn end<T, E: RankFailure>(self, outcome: Result<T, E>) -> Result<T, E> {
        match (self, outcome) {
            (Ranks::Alone(_), outcome) => outcome,
            (Ranks::Many(mpi), Ok(done)) => mpi.leave().map(|()| done).map_err(|error| RanksError::from(error).into()),
            (ranks, Err(failure)) => ranks.abort(&failure),
        }
    }

    /// Ends this process at once, and all other ranks with it, whatever they do.
    pub fn abort(&self, failure: &impl std::fmt::Display) -> ! {
        let (rank, size) = (self.transport().rank(), self.transport().size());
        let_the_first_speak();
        tell::error(&format!("rank {rank} of {size}: {failure}"));
        if let Ranks::Many(mpi) = self {
            std::thread::sleep(PASSED_ON);
            mpi.abort(1);
        }
        // An abort that comes back must not let it be said again.
        std::process::exit(1)
    }
}

/// How many tasks a launcher has started, and which this is.
fn launched() -> Option<(usize, usize)> {
    let number = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    LAUNCHERS.iter().find_map(|(size, rank)| Some((number(size)?, number(rank)?)))
}

/// How many ranks there are, and which this is; none if this one is alone, as it should be.
fn found(wanted: Option<RankCount>, launched: Option<(usize, usize)>) -> Result<Option<(usize, usize)>, RanksError> {
    let tasks = launched.map_or(1, |(size, _)| size);
    let needed = match wanted {
        None => return Ok(None),
        Some(RankCount::All) if tasks > 1 => tasks,
        Some(RankCount::All) => 2,
        Some(RankCount::Exactly(ranks)) => ranks,
    };
    if tasks == needed {
        return Ok(launched.filter(|_| tasks > 1));
    }
    let names = LAUNCHERS.map(|(size, _)| size).join(", ");
    let there = match launched {
        None => format!("no launcher has started this: none of {names} is set"),
        Some((size, _)) => format!("the launcher has started {size} task{}", if size == 1 { "" } else { "s" }),
    };
    let wanted = match wanted {
        Some(RankCount::Exactly(ranks)) => format!("--ranks={ranks}"),
        _ => "--ranks".to_owned(),
    };
    Err(RanksError::Usage(format!(
        "{wanted}: {there}. Start it with 'mpirun -n N' or 'srun -n N'; for one process leave out --ranks, or give \
         --ranks=1"
    )))
}

/// Tells the user of a failure, before this rank leaves the others: a launcher ends those that are left when one has
/// ended.
fn say<E: RankFailure>(failure: &E) {
    let ending = match failure.status() {
        2 => Ending::Usage(failure.to_string()),
        status => Ending::Failed(failure.to_string(), status),
    };
    ending.tell();
    std::thread::sleep(PASSED_ON);
}

/// What ranks have checked, each by itself: an error for all of them if it is one for any. The first rank that has it
/// says it, and none has to say it later.
fn common<T, E: RankFailure>(
    transport: &dyn Transport,
    checked: Result<T, E>,
    say: impl Fn(&E),
) -> Result<Result<T, E>, RanksError> {
    let own = checked.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let all = transport.all_gather(own.as_bytes()).map_err(RanksError::from)?;
    let first = all.iter().position(|words| *words == own.as_bytes());
    Ok(match checked {
        Ok(checked) if all.iter().all(Vec::is_empty) => Ok(checked),
        Ok(_) => Err(RanksError::ToldElsewhere(1).into()),
        Err(failure) if first != Some(transport.rank()) => Err(failure.told_elsewhere()),
        Err(failure) => {
            let is_common = all.iter().all(|words| *words == own.as_bytes());
            let failure = if is_common { failure } else { failure.of_rank(transport.rank(), transport.size()) };
            say(&failure);
            Err(failure.told_elsewhere())
        }
    })
}

/// All ranks may fail for the same reason: the first one says so at once and ends the others, who come to say it only
/// if it does not.
fn let_the_first_speak() {
    if launched().is_some_and(|(_, rank)| rank > 0) {
        std::thread::sleep(3 * PASSED_ON);
    }
}

/// Tasks of a launcher that each work alone may be meant to work together: the first one says so.
pub fn note_if_alone(wanted: Option<RankCount>) {
    if let (None, Some((tasks @ 2.., 0))) = (wanted, launched()) {
        tell::note(&format!(
            "a launcher has started {tasks} tasks, and each does all of its command alone; with --ranks they work \
             together on one output"
        ));
    }
}

/// The machine's name.
pub fn host() -> String {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).ok();
    told.or_else(zerohop_topology::host_name).unwrap_or_default()
}

/// Where the library is, if it is anywhere.
pub fn find(named: Option<&Path>) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(LIBRARY)));
    let named = named.map(Path::to_owned).or_else(|| std::env::var_os("ZEROHOP_MPI").map(PathBuf::from));
    named.or_else(|| beside.into_iter().chain(in_cache()).find(|path| path.exists()))
}

fn in_cache() -> Option<PathBuf> {
    cache::folder().map(|folder| folder.join(LIBRARY))
}

/// Builds the library by which ranks find each other with `compiler`, the MPI's own; gives its path. By default it goes
/// into the cache folder, where [`find`] looks for it.
///
/// # Errors
/// A compiler that is not there, or fails.
pub fn build(compiler: &Path, output: Option<&Path>) -> Result<PathBuf, RanksError> {
    let no_folder = || RanksError::Failed("there is no cache folder: name a file with -o".to_owned());
    let output = output.map(Path::to_owned).or_else(in_cache).ok_or_else(no_folder)?;
    overwrite::apart([&compiler.to_owned()], [&output])?;
    overwrite::replaceable(&output, Kind::Library)?;
    let fault =
        |path: &Path, error: std::io::Error| RanksError::Failed(format!("{}: cannot write: {error}", path.display()));
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
    let work =
        tempfile::Builder::new().prefix(".zerohop-mpi-").tempdir_in(folder).map_err(|error| fault(folder, error))?;
    let (source, made) = (work.path().join("shim.c"), work.path().join(LIBRARY));
    std::fs::write(&source, SHIM).map_err(|error| fault(&source, error))?;
    let arguments = ["-O2".as_ref(), "-shared".as_ref(), "-fPIC".as_ref(), "-o".as_ref(), made.as_path(), &source];
    let program = ChildProgram::new(compiler).args(arguments);
    let cannot = |error: std::io::Error| {
        let compiler = compiler.display();
        RanksError::Failed(format!("{compiler} cannot be started: {error}; name the MPI's compiler with --compiler"))
    };
    let program = program.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (outcome, _) = program.start().and_then(|child| child.output_within(COMPILING)).map_err(cannot)?;
    if !outcome.status.success() {
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        return Err(RanksError::Failed(format!("{} failed: {}", compiler.display(), said.trim())));
    }
    let library = std::fs::read(&made).map_err(|error| fault(&made, error))?;
    zerohop_process::write(&output, &library)?;
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn what_is_wrong_is_said_once() {
        let on_ranks = |faults: [Option<&'static str>; 3]| {
            std::thread::scope(|scope| {
                let twins = Twin::ranks(3, Duration::from_secs(60)).into_iter().zip(faults);
                let check = |(twin, fault): (Twin, Option<&'static str>)| {
                    scope.spawn(move || {
                        let checked = fault.map_or(Ok(()), |words| Err(RanksError::Usage(words.to_owned())));
                        let said = RefCell::new(None);
                        let say = |failure: &RanksError| drop(said.replace(Some(failure.to_string())));
                        let outcome = common(&twin, checked, say).unwrap();
                        outcome.map_err(|failure| {
                            assert!(matches!(failure, RanksError::ToldElsewhere(_)), "it would be said again");
                            said.into_inner()
                        })
                    })
                };
                let threads: Vec<_> = twins.map(check).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
            })
        };
        let said = |words: &str| Err(Some(words.to_owned()));
        assert_eq!(on_ranks([None; 3]), [Ok(()), Ok(()), Ok(())]);
        assert_eq!(on_ranks([Some("x"); 3]), [said("x"), Err(None), Err(None)]);
        assert_eq!(on_ranks([None, Some("x"), None]), [Err(None), said("rank 1 of 3: x"), Err(None)]);
        assert_eq!(
            on_ranks([Some("y"), Some("x"), Some("x")]),
            [said("rank 0 of 3: y"), said("rank 1 of 3: x"), Err(None)]
        );
    }

    #[test]
    fn ranks_are_asked_for_and_must_be_there() {
        let all = Some(RankCount::All);
        let exactly = |ranks| Some(RankCount::Exactly(ranks));
        assert_eq!(found(None, Some((8, 3))).unwrap(), None, "a task of its own");
        assert_eq!(found(None, None).unwrap(), None);
        assert_eq!(found(all, Some((8, 3))).unwrap(), Some((8, 3)));
        assert_eq!(found(exactly(8), Some((8, 3))).unwrap(), Some((8, 3)));
        assert_eq!(found(exactly(1), Some((1, 0))).unwrap(), None);
        assert_eq!(found(exactly(1), None).unwrap(), None);
        for (wanted, launched, words) in [
            (all, None, "--ranks: no launcher has started this: none of OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM"),
            (all, Some((1, 0)), "--ranks: the launcher has started 1 task."),
            (exactly(8), Some((4, 0)), "--ranks=8: the launcher has started 4 tasks."),
            (exactly(1), Some((2, 1)), "--ranks=1: the launcher has started 2 tasks."),
            (exactly(2), None, "--ranks=2: no launcher"),
        ] {
            let said = found(wanted, launched).unwrap_err().to_string();
            assert!(said.starts_with(words), "{said}");
        }
    }
}
