//! What samtools cannot read of SAM that is written as the aligner's own program writes it.

use std::sync::atomic::{AtomicBool, Ordering};

/// What was found, by any encoder.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    long_name: AtomicBool,
    odd_comment: AtomicBool,
}

impl Doubts {
    /// A name is longer than BAM, and samtools, can hold.
    pub(crate) fn note_long_name(&self) {
        self.long_name.store(true, Ordering::Relaxed);
    }

    /// A comment that a record shows is not made of fields.
    pub(crate) fn note_odd_comment(&self) {
        self.odd_comment.store(true, Ordering::Relaxed);
    }

    /// What the user should know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let long_name = self.long_name.load(Ordering::Relaxed).then_some(
            "Names of reads have more than 254 bytes: samtools does not read such SAM, and BAM cannot hold them.",
        );
        let odd_comment = self.odd_comment.load(Ordering::Relaxed).then_some(
            "Comments of reads are not fields of SAM, as BC:Z:ACGT is: -C copies them as they stand, as bwa mem and \
             strobealign do, and samtools does not read such SAM. Without -C it does.",
        );
        long_name.into_iter().chain(odd_comment).map(str::to_owned).collect()
    }
}
