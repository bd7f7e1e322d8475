//! What a plan is for, of any engine: where its key comes from.

use super::descriptors;
use super::embedded::resident;
use crate::job::AlignError;
use crate::plan::tuning_key::{Profile, TuningKey};
use std::path::{Path, PathBuf};
use zerohop_engine_external::descriptor::How;
use zerohop_engine_external::{Found, FoundIndex, UserArguments, cut};
use zerohop_model::engine::Cut;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, MakingCost, Wanted};
use zerohop_model::machine::Bytes;
use zerohop_plan::Engine;

/// The kind of reads of this mean length, for an engine with these arguments.
pub fn profile(paired: bool, mean_read_length: usize, engine_args: Option<&str>) -> Profile {
    let read_length = super::canonical_read_length(mean_read_length);
    Profile { paired, read_length, engine_args: engine_args.unwrap_or_default().to_owned() }
}

/// An engine in our own process.
pub fn embedded(provider: &dyn IndexProvider, source: &dyn IndexSource, profile: Profile) -> TuningKey {
    let (name, version) = provider.engine();
    TuningKey {
        engine: (name.to_owned(), version.to_owned()),
        kind: Engine::Embedded,
        index: source.bytes(),
        kept: resident::kept(source),
        chunk_bases: provider.chunk_bases(),
        files: source.files(),
        is_tuned: provider.has_index(),
        profile,
    }
}

/// An aligner that runs as programs of its own.
pub fn external(
    (found, user): (&Found, &UserArguments),
    index: &FoundIndex,
    reference: &Path,
    cut: Cut,
    profile: Profile,
) -> TuningKey {
    TuningKey {
        engine: (found.descriptor.name.clone(), found.version.clone()),
        kind: Engine::External { shares: found.descriptor.sharing.how != How::None },
        index: Bytes(found.memory_bytes(reference, index)),
        kept: Vec::new(),
        chunk_bases: cut.chunk_bases(),
        files: index.files.iter().cloned().chain(user.files()).collect(),
        is_tuned: true,
        profile,
    }
}

/// Any engine, by its name.
///
/// # Errors
/// An engine that is not known or not here; an index that is missing.
pub fn of(name: &str, engine_files: &[PathBuf], reference: &Path, profile: Profile) -> Result<TuningKey, AlignError> {
    if let Some(provider) = embedded_with_index(name) {
        let source = provider.find(&wanted(reference, &profile))?;
        return of_source(provider, &*source, reference, profile);
    }
    let descriptor = descriptors::described(name, engine_files)?;
    let user = descriptors::user_arguments(&descriptor, &profile.engine_args, profile.read_length)?;
    let cut = cut(&descriptor, &user)?;
    let found = Found::find(descriptor)?;
    let index = found.index(reference, &user)?;
    Ok(external((&found, &user), &index, reference, cut, profile))
}

/// As [`of`]; of an embedded engine there need be no index yet, and it is said what it takes to make one.
///
/// # Errors
/// As for [`of`].
pub fn planned(
    name: &str,
    engine_files: &[PathBuf],
    reference: &Path,
    profile: Profile,
) -> Result<(TuningKey, Option<MakingCost>), AlignError> {
    let Some(provider) = embedded_with_index(name) else {
        return of(name, engine_files, reference, profile).map(|key| (key, None));
    };
    let wanted = wanted(reference, &profile);
    let source = match provider.find(&wanted) {
        Err(IndexError::Missing(_)) => provider.find(&Wanted { anew: true, ..wanted })?,
        found => found?,
    };
    let making = source.is_built().then(|| source.making());
    Ok((of_source(provider, &*source, reference, profile)?, making))
}

fn embedded_with_index(name: &str) -> Option<&'static dyn IndexProvider> {
    super::embedded(name).filter(|provider| provider.has_index())
}

fn wanted<'w>(reference: &'w Path, profile: &'w Profile) -> Wanted<'w> {
    Wanted { reference, mean_read_length: profile.read_length, anew: false, arguments: &profile.engine_args }
}

fn of_source(
    provider: &dyn IndexProvider,
    source: &dyn IndexSource,
    reference: &Path,
    profile: Profile,
) -> Result<TuningKey, AlignError> {
    if source.bytes().0 == 0 || source.is_built() && !reference.exists() {
        return Err(AlignError::Failed(format!("{}: there is no such reference, or it is empty", reference.display())));
    }
    Ok(embedded(provider, source, profile))
}

/// What an engine can do, by its name; it need not be here.
///
/// # Errors
/// An engine that is not known.
pub fn kind(name: &str, engine_files: &[PathBuf]) -> Result<Engine, AlignError> {
    if super::embedded(name).is_some_and(|provider| provider.has_index()) {
        return Ok(Engine::Embedded);
    }
    let descriptor = descriptors::described(name, engine_files)?;
    Ok(Engine::External { shares: descriptor.sharing.how != How::None })
}
