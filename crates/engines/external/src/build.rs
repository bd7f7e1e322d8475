//! Makes an index with the aligner's own indexer: under a name of its own, and moved to its place when it is complete.

use crate::arguments::UserArguments;
use crate::error::ExternalError;
use crate::found::{Found, FoundIndex};
use crate::tool::run_tool;
use flate2::read::MultiGzDecoder;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zerohop_process::lock::{self, Hold};
use zerohop_process::{Charge, charge, give_name};

impl Found {
    /// The index of `reference`; made first with `threads` if it is not there. Runs that want the same index at the
    /// same time wait for the first one to make it.
    ///
    /// # Errors
    /// [`ExternalError::Build`], with the last lines of the indexer.
    pub fn index_or_build(
        &self,
        reference: &Path,
        user: &UserArguments,
        threads: usize,
    ) -> Result<FoundIndex, ExternalError> {
        match self.index(reference, user) {
            Err(ExternalError::NoIndex { .. }) => {}
            found => return found,
        }
        let prefix = self.new_prefix(reference, user);
        let fault = |what: String| ExternalError::Build { reference: reference.to_owned(), what };
        let name = prefix.file_name().ok_or_else(|| fault("it has no name".to_owned()))?;
        let folder = prefix.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let lock_path = folder.join(hidden(name, &format!("{}.lock", self.descriptor.name)));
        let _lock = lock::take(&lock_path, Hold::Alone)?;
        let _charged = charge(Charge::file(&lock_path)).map_err(ExternalError::uncharged)?;
        let outcome = match self.index(reference, user) {
            Err(ExternalError::NoIndex { .. }) => self
                .build(reference, user, threads, (folder, name))
                .map_err(|e| fault(e.to_string()))
                .and_then(|()| self.index(reference, user)),
            found => found,
        };
        // Whoever waits for it will find that it is nobody's, and takes it anew.
        let _ = std::fs::remove_file(&lock_path);
        outcome
    }

    fn build(
        &self,
        reference: &Path,
        user: &UserArguments,
        threads: usize,
        (folder, name): (&Path, &OsStr),
    ) -> Result<(), ExternalError> {
        let failed = ExternalError::Failed;
        let workshop =
            Workshop::new(folder.join(hidden(name, &format!("{}-{}", self.descriptor.name, std::process::id()))));
        let workshop = workshop.map_err(failed)?;
        let _charged = charge(Charge::folder(&workshop.0)).map_err(ExternalError::uncharged)?;
        let plain = match self.descriptor.index.build_reads_gzip {
            true => reference.to_owned(),
            false => workshop.plain(reference).map_err(failed)?,
        };
        let made = workshop.0.join(name);
        if self.descriptor.index.suffix.is_empty() {
            // Some indexers take no name for the index: it comes beside the reference, which is to be under this name.
            let target = plain.canonicalize().map_err(ExternalError::system(plain.display().to_string()))?;
            std::os::unix::fs::symlink(target, &made).map_err(ExternalError::system(made.display().to_string()))?;
        }
        let command = self.build_command(&plain, &made, threads, user);
        let log = workshop.0.join("log");
        let out = File::create(workshop.0.join("out")).map_err(ExternalError::system(log.display().to_string()))?;
        run_tool(&command, out, &log)?;
        self.move_to(&made, &folder.join(name), user).map_err(failed)
    }

    /// Moves the files of the index that was made, whatever variant it is.
    fn move_to(&self, made: &Path, place: &Path, user: &UserArguments) -> Result<(), String> {
        let give = |from: &Path, to: &Path| give_name(from, to).map_err(|e| format!("{}: {e}", to.display()));
        if self.descriptor.index.directory {
            return give(made, place);
        }
        let variants = self.descriptor.index.variant.iter().map(|variant| &variant.files);
        for suffixes in std::iter::once(&self.descriptor.index.files).chain(variants) {
            let (from, to) = (self.files(made, suffixes, user), self.files(place, suffixes, user));
            if from.iter().all(|file| file.exists()) {
                return from.iter().zip(&to).try_for_each(|(from, to)| give(from, to));
            }
        }
        Err("its indexer ended with exit status 0, but did not write all files".to_owned())
    }
}

/// A name beside `name` that listings leave out.
fn hidden(name: &OsStr, ending: &str) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    hidden.push(ending);
    hidden
}

/// A folder for what is being made; removed with all that is in it.
struct Workshop(PathBuf);

impl Workshop {
    fn new(path: PathBuf) -> Result<Self, String> {
        // The lock is ours: a run of the same number, in another container, was killed there.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Workshop(path))
    }

    /// The reference, inflated if need be.
    fn plain(&self, reference: &Path) -> Result<PathBuf, String> {
        let fault = |e: std::io::Error| format!("{}: {e}", reference.display());
        let mut first = [0; 2];
        let is_gzip = File::open(reference).map_err(fault)?.read_exact(&mut first).is_ok() && first == [0x1f, 0x8b];
        if !is_gzip {
            return Ok(reference.to_owned());
        }
        let path = self.0.join("reference.fa");
        let mut text = MultiGzDecoder::new(BufReader::new(File::open(reference).map_err(fault)?));
        let mut plain = File::create(&path).map_err(fault)?;
        std::io::copy(&mut text, &mut plain).map_err(fault)?;
        Ok(path)
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // Ours alone, and nobody is left to tell.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
