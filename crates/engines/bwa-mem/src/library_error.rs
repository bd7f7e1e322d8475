//! What the library cannot do, in words.

/// What the library was asked for and could not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bwa-mem3: {0}")]
pub struct LibraryError(String);

impl LibraryError {
    /// In words of the library, or of ours.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        LibraryError(what.into())
    }
}
