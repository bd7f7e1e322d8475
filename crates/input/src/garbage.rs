//! What follows compressed data and is not compressed data.

/// Bytes that are neither a member nor padding follow the last member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrailingGarbage {
    /// Where they begin in the compressed file.
    pub(crate) offset: u64,
}

impl std::fmt::Display for TrailingGarbage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offset = self.offset;
        write!(
            f,
            "trailing garbage follows the compressed data, from compressed offset {offset} on: if nothing is missing, \
             keep the first {offset} bytes alone ('head -c {offset}'); otherwise the file is damaged: get it again"
        )
    }
}

impl std::error::Error for TrailingGarbage {}
