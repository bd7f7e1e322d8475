//! The engines: those in our own process (embedded/; listed here: a further one is a crate and a line), and aligners
//! that run as programs of their own (external/), which [`descriptors`] describe.

pub mod descriptors;
pub(crate) mod embedded;
pub(crate) mod external;
pub(crate) mod key;

use crate::job::{AlignError, Job};
use crate::run::{MachineShare, ReadyEngine};
use embedded::EmbeddedEngine;
use embedded::shared_index::OneOfMany;
use external::{ExternalEngine, compare};
use std::path::Path;
use zerohop_input::{LaneSpec, OpenLane};
use zerohop_model::index::IndexProvider;
use zerohop_process::quoted;

/// The read length in bases, of seven, that is nearest to a mean: reads of one such length share a strobealign index,
/// and a plan.
pub use zerohop_engine_strobealign::canonical_read_length;

/// The command line of minimap2, for whoever types it here.
pub use zerohop_engine_rammap::{Given as GivenOfMinimap2, options_of as options_of_minimap2};

/// All of them, the default first.
const EMBEDDED: &[&dyn IndexProvider] = &[
    &zerohop_engine_strobealign::Provider,
    #[cfg(feature = "bwa-mem")]
    &zerohop_engine_bwa_mem::Provider,
    &zerohop_engine_rammap::Provider,
    &zerohop_engine_null::Provider,
];

/// The embedded engine of this name; none if it is, or would be, a program of its own.
pub fn embedded(name: &str) -> Option<&'static dyn IndexProvider> {
    EMBEDDED.iter().copied().find(|provider| provider.engine().0 == name)
}

/// Makes all of them ready, as long as the program has one thread.
pub(crate) fn prepare() {
    EMBEDDED.iter().for_each(|provider| provider.prepare());
}

/// Those that align, for lists.
pub fn all_embedded() -> impl Iterator<Item = &'static dyn IndexProvider> {
    EMBEDDED.iter().copied().filter(|provider| provider.has_index())
}

/// Refuses options that are not for this engine, and an aligner that is not there.
///
/// # Errors
/// Wrong usage.
pub(crate) fn check(job: &Job, embedded: Option<&dyn IndexProvider>) -> Result<(), AlignError> {
    match embedded {
        Some(provider) => external::refuse_options(job, provider).and_then(|()| refuse_pairs(job, provider)),
        None => external::check(job).and_then(|()| compare::check(job)),
    }
}

/// Refuses pairs for an engine that aligns single reads.
fn refuse_pairs(job: &Job, provider: &dyn IndexProvider) -> Result<(), AlignError> {
    let engine = &job.engine;
    let of_pairs = |lane: &&LaneSpec| lane.interleaved || lane.files.len() > 1;
    match job.lanes.iter().find(of_pairs).filter(|_| !provider.aligns_pairs()) {
        Some(lane) if lane.interleaved => {
            Err(AlignError::Usage(format!("-p is for pairs, and {engine} aligns single reads: leave -p out")))
        }
        Some(lane) => {
            let shown = |path: &Path| quoted(&path.to_string_lossy());
            let [files, apart] = [" and ", " --reads "]
                .map(|between| lane.files.iter().map(|file| shown(file)).collect::<Vec<_>>().join(between));
            let reference = shown(&job.reference);
            Err(AlignError::Usage(format!(
                "{files} would be the mates of pairs, and {engine} aligns single reads: give each file as a lane, as \
                 in {reference} {apart}, or in a row of a sheet"
            )))
        }
        None => Ok(()),
    }
}

/// Finds the index, plans, and makes the index copies; those of an embedded engine are shared with the runs that this
/// one is `among`. Gives the engine, and what the user should know.
///
/// # Errors
/// An index that cannot be found or made, or does not fit into memory; a plan that does not fit the machine.
pub(crate) fn make_ready<'j>(
    job: &'j Job,
    embedded: Option<&dyn IndexProvider>,
    lanes: &mut [OpenLane],
    (share, among): (&dyn MachineShare, Option<OneOfMany<'j>>),
) -> Result<(Box<dyn ReadyEngine + 'j>, Vec<String>), AlignError> {
    let mut notes = Vec::new();
    let engine: Box<dyn ReadyEngine + 'j> = match embedded {
        Some(provider) => Box::new(EmbeddedEngine::new(job, provider, lanes, (share, among), &mut notes)?),
        None => Box::new(ExternalEngine::new(job, lanes, share, &mut notes)?),
    };
    Ok((engine, notes))
}
