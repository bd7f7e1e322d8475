//! Ranks: who has started us, and how the others are reached.

use crate::args::search::MpiArgs;
use crate::failure::Failure;
use crate::kept;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use zerohop_distribute::{Mpi, SHIM, Transport, TransportError, Twin};
use zerohop_process::tell;

/// The library's name.
const LIBRARY: &str = "libzerohop_mpi.so";
/// How long a launcher is left to pass on what a rank says last: MPICH's may end without it when it hears of the abort first.
const PASSED_ON: Duration = Duration::from_millis(300);
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
        let stuck = move |error: &TransportError| tell::error(&format!("rank {rank} of {size}: {error}"));
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
                tell::error(&format!("rank {} of {}: {failure}", mpi.rank(), mpi.size()));
                std::thread::sleep(PASSED_ON);
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
    let library = std::fs::read(&made).map_err(|error| fault(&made, error))?;
    zerohop_process::write(&output, &library)?;
    crate::print(format!("{}\n", output.display()).as_bytes())
}
