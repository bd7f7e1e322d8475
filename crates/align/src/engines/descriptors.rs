//! The aligners that run as programs of their own, as descriptors know them.

use crate::engines::{self, canonical_read_length};
use crate::job::AlignError;
use std::path::PathBuf;
use zerohop_engine_external::{Descriptor, UserArguments};
use zerohop_process::user_folder;

/// All descriptors: built-in ones, the user's own folder, and the files named.
///
/// # Errors
/// A file that is no descriptor.
pub fn all(files: &[PathBuf]) -> Result<Vec<Descriptor>, AlignError> {
    Ok(zerohop_engine_external::all(self::files(files).iter().map(PathBuf::as_path))?)
}

/// The files that describe aligners: those in the user's own folder, then those named.
pub fn files(named: &[PathBuf]) -> Vec<PathBuf> {
    let folder = user_folder("XDG_CONFIG_HOME", ".config").map(|config| config.join("zerohop/engines"));
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut own: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    own.retain(|path| path.extension().is_some_and(|suffix| suffix == "toml"));
    own.sort();
    own.extend_from_slice(named);
    own
}

/// The aligner of this name, among those that are built in and those that `files` describe.
///
/// # Errors
/// A name that none has; a file that is no descriptor.
pub fn described(name: &str, files: &[PathBuf]) -> Result<Descriptor, AlignError> {
    let all = self::all(files)?;
    all.iter().find(|descriptor| descriptor.name == name).cloned().ok_or_else(|| {
        let own = || engines::all_embedded().map(|provider| provider.engine().0);
        let programs = || all.iter().map(|descriptor| &*descriptor.name);
        let bare = |name: &str| name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
        let meant = own().chain(programs()).find(|known| bare(known) == bare(name));
        let meant = meant.map_or(String::new(), |known| format!(" (is {known} meant?)"));
        let [own, programs] = [own().collect::<Vec<_>>().join(", "), programs().collect::<Vec<_>>().join(", ")];
        AlignError::Usage(format!(
            "there is no engine '{name}'{meant}: there are {own} (built in) and, as programs of their own, {programs}"
        ))
    })
}

/// What the user gives an aligner whose reads have this mean length; an option may say another one, for which the index
/// is then, too.
///
/// # Errors
/// Wrong usage.
pub fn user_arguments(descriptor: &Descriptor, text: &str, mean_bases: usize) -> Result<UserArguments, AlignError> {
    let parse = |bases: usize| {
        let canonical = canonical_read_length(bases);
        let known = [("read_length", bases.to_string()), ("canonical_read_length", canonical.to_string())];
        UserArguments::parse(descriptor, text, &known)
    };
    let user = parse(mean_bases)?;
    match user.read_length()?.filter(|bases| *bases != mean_bases) {
        Some(bases) => Ok(parse(bases)?),
        None => Ok(user),
    }
}
