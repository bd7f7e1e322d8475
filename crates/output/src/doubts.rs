//! What samtools cannot read of SAM that is written as the aligner's own program writes it.

use crate::bam::MAX_NAME;
use crate::tags::push_fields;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was found, by any encoder.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    long_name: AtomicBool,
    odd_comment: AtomicBool,
}

impl Doubts {
    pub(crate) fn look_at_name(&self, name: &[u8]) {
        if name.len() > MAX_NAME {
            self.long_name.store(true, Ordering::Relaxed);
        }
    }

    /// Looks at a comment that a record shows; `scratch` is for what is made of it.
    pub(crate) fn look_at_comment(&self, comment: &[u8], scratch: &mut Vec<u8>) {
        scratch.clear();
        if push_fields(scratch, comment).is_err() {
            self.odd_comment.store(true, Ordering::Relaxed);
        }
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
