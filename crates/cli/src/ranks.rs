//! Ranks: who has started us, and how the others are reached.

use crate::args::search::MpiArgs;
use crate::failure::{self, Failure};
use crate::kept;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use zerohop_distribute::{Mpi, SHIM, Transport, TransportError, Twin};
use zerohop_model::machine::CpuId;

/// The library's name.
const LIBRARY: &str = "libzerohop_mpi.so";
/// Where launchers tell how many they have started, and which of them this is.
const LAUNCHERS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// This rank's way to the others.
pub enum Ranks {
    /// There are no others.
    Alone(Twin),
    /// A launcher has started several.
    Many(Box<Mpi>),
}

impl Ranks {
    /// Joins the others, if a launcher has started any; `library` is what the user named.
    ///
    /// # Errors
    /// A launcher without a library: so many copies of one rank would each do the whole.
    pub fn join(library: Option<&Path>, limit: Duration) -> Result<Self, Failure> {
        let Some((size, rank)) = launched() else {
            let alone = Twin::ranks(1, limit).pop();
            return alone.map(Ranks::Alone).ok_or_else(|| Failure::Other("there is no rank".to_owned()));
        };
        let missing = || {
            Failure::Other(format!(
                "this is one of {size} ranks that a launcher has started, and the library by which they find each other is not there: \
                 build it with 'zerohop mpi' (and the launcher's own mpicc)"
            ))
        };
        let library = find(library).ok_or_else(missing)?;
        let stuck = move |error: &TransportError| failure::say(&format!("rank {rank} of {size}: {error}"));
        let mpi = Mpi::join(&library, limit, stuck).map_err(|error| Failure::Other(error.to_string()))?;
        if mpi.size() != size {
            let found = mpi.size();
            return Err(Failure::Other(format!(
                "the launcher has started {size} ranks, and {} finds {found} (as rank {rank}): it was built for another MPI; build \
                 it anew with 'zerohop mpi' and the launcher's own mpicc",
                library.display()
            )));
        }
        Ok(Ranks::Many(Box::new(mpi)))
    }

    /// Whether a launcher has started several ranks.
    pub fn are_many() -> bool {
        launched().is_some()
    }

    /// The transport.
    pub fn transport(&self) -> &dyn Transport {
        match self {
            Ranks::Alone(twin) => twin,
            Ranks::Many(mpi) => &**mpi,
        }
    }

    /// Ends: after success together with the others; after a failure all of them, at once.
    ///
    /// # Errors
    /// The failure, with the rank's number before it if there are several.
    pub fn end(self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let Ranks::Many(mpi) = self else { return outcome };
        match outcome {
            Ok(()) => mpi.leave().map_err(|error| Failure::Other(error.to_string())),
            Err(failure) => {
                failure::say(&format!("rank {} of {}: {failure}", mpi.rank(), mpi.size()));
                mpi.abort(1);
                Err(failure)
            }
        }
    }
}

/// How many ranks a launcher has started, and which this is; none if there is only one.
fn launched() -> Option<(usize, usize)> {
    let number = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    let found = LAUNCHERS.iter().find_map(|(size, rank)| Some((number(size)?, number(rank)?)))?;
    (found.0 > 1).then_some(found)
}

/// The machine's name.
pub fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).unwrap_or_default()
}

/// Ranks that may use the same CPUs of one machine share them out, node by node, so that they do not sit on one another. Gives what the
/// user should know.
///
/// # Errors
/// Ranks that cannot go on together; what the system says.
pub fn share_cpus(transport: &dyn Transport) -> Result<Option<String>, Failure> {
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let machine = zerohop_topology::detect()?;
    let is_allowed = |cpu: &CpuId| machine.allowed.cpus.contains(cpu);
    let cpus: Vec<CpuId> = machine.nodes.iter().flat_map(|node| node.cpus.iter().copied().filter(is_allowed)).collect();
    let own = serde_json::to_vec(&(host(), &cpus)).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    let with_us =
        |text: &Vec<u8>| serde_json::from_slice(text).is_ok_and(|(name, _): (String, Vec<CpuId>)| name == host());
    let same = |rank: &usize| all[*rank] == own;
    let ranks: Vec<usize> = (0..all.len()).filter(same).collect();
    if let (2.., Some(place)) = (ranks.len(), ranks.iter().position(|&rank| rank == transport.rank())) {
        zerohop_topology::pin_current_thread(share(&cpus, place, ranks.len()))?;
    }
    let used: BTreeSet<CpuId> = all
        .iter()
        .filter(|text| with_us(text))
        .filter_map(|text| serde_json::from_slice::<(String, Vec<CpuId>)>(text).ok())
        .flat_map(|(_, cpus)| cpus)
        .collect();
    let there = machine.nodes.iter().map(|node| node.cpus.len()).sum::<usize>();
    Ok((2 * used.len() < there).then(|| {
        format!(
            "the ranks on {} may use {} of its {there} CPUs: the launcher has bound them (mpirun --bind-to none, srun --cpus-per-task)",
            host(),
            used.len()
        )
    }))
}

/// The share of one of several; a CPU at least.
fn share(cpus: &[CpuId], place: usize, of: usize) -> &[CpuId] {
    let (start, end) = (place * cpus.len() / of, (place + 1) * cpus.len() / of);
    &cpus[start..end.max(start + 1).min(cpus.len())]
}

/// Where the library is.
fn find(named: Option<&Path>) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(LIBRARY)));
    let named = named.map(Path::to_owned).or_else(|| std::env::var_os("ZEROHOP_MPI").map(PathBuf::from));
    named.or_else(|| beside.into_iter().chain(in_cache()).find(|path| path.exists()))
}

fn in_cache() -> Option<PathBuf> {
    kept::folder().map(|folder| folder.join(LIBRARY))
}

/// `zerohop mpi`: builds the library.
///
/// # Errors
/// A compiler that is not there, or fails.
pub fn build(args: &MpiArgs) -> Result<(), Failure> {
    let no_folder = || Failure::Other("there is no cache folder: name a file with -o".to_owned());
    let output = args.output.clone().or_else(in_cache).ok_or_else(no_folder)?;
    let fault =
        |path: &Path, error: std::io::Error| Failure::Other(format!("{}: cannot write: {error}", path.display()));
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
    let work =
        tempfile::Builder::new().prefix(".zerohop-mpi-").tempdir_in(folder).map_err(|error| fault(folder, error))?;
    let (source, made) = (work.path().join("shim.c"), work.path().join(LIBRARY));
    std::fs::write(&source, SHIM).map_err(|error| fault(&source, error))?;
    let mut command = Command::new(&args.compiler);
    command.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&made).arg(&source);
    let cannot = |error: std::io::Error| {
        let compiler = args.compiler.display();
        Failure::Other(format!("{compiler} cannot be started: {error}; name the MPI's compiler with --compiler"))
    };
    let outcome = command.output().map_err(cannot)?;
    if !outcome.status.success() {
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        return Err(Failure::Other(format!("{} failed: {}", args.compiler.display(), said.trim())));
    }
    std::fs::rename(&made, &output).map_err(|error| fault(&output, error))?;
    crate::print(format!("{}\n", output.display()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_even_as_can_be() {
        let cpus: Vec<CpuId> = (0..5).map(CpuId).collect();
        let shares = |of| (0..of).map(|place| share(&cpus, place, of).len()).collect::<Vec<_>>();
        assert_eq!((shares(1), shares(2), shares(5)), (vec![5], vec![2, 3], vec![1; 5]));
        assert_eq!(shares(7).iter().filter(|&&cpus| cpus == 1).count(), 7, "more ranks than CPUs");
    }
}
