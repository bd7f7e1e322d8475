//! The engines in our own process. A further one is a crate and a line here.

use zerohop_model::index::IndexProvider;

/// The read length in bases, of seven, that is nearest to a mean: reads of one such length share a strobealign index,
/// and a plan.
pub use zerohop_engine_strobealign::canonical_read_length;

/// All of them, the default first.
const EMBEDDED: &[&dyn IndexProvider] = &[
    &zerohop_engine_strobealign::Provider,
    #[cfg(feature = "bwa-mem")]
    &zerohop_engine_bwa_mem::Provider,
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
