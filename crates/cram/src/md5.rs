//! MD5, as htslib computes it.
#![allow(unsafe_code)]

use crate::hts::HtsRefused;
use std::ptr::NonNull;

/// The digest of bytes that are added.
#[derive(Debug)]
pub(crate) struct Md5(NonNull<hts_sys::hts_md5_context>);

// SAFETY: it is plain memory, and only its owner uses it.
unsafe impl Send for Md5 {}

impl Md5 {
    pub(crate) fn new() -> Result<Self, HtsRefused> {
        // SAFETY: it allocates, and may fail.
        NonNull::new(unsafe { hts_sys::hts_md5_init() }).map(Md5).ok_or(HtsRefused("get memory for a digest"))
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // SAFETY: the bytes are valid, and only read. No contig has 2^31 bytes, nor a line of one.
        unsafe { hts_sys::hts_md5_update(self.0.as_ptr(), bytes.as_ptr().cast(), bytes.len() as _) };
    }

    /// The digest in hexadecimal digits; then it begins anew.
    pub(crate) fn take(&mut self) -> String {
        let mut digest = [0; 16];
        // SAFETY: a digest has 16 bytes, for which there is room; the context is valid.
        unsafe {
            hts_sys::hts_md5_final(digest.as_mut_ptr(), self.0.as_ptr());
            hts_sys::hts_md5_reset(self.0.as_ptr());
        }
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Drop for Md5 {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        unsafe { hts_sys::hts_md5_destroy(self.0.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_rfc_1321() {
        let mut md5 = Md5::new().unwrap();
        assert_eq!(md5.take(), "d41d8cd98f00b204e9800998ecf8427e");
        md5.add(b"message ");
        md5.add(b"digest");
        assert_eq!(md5.take(), "f96b697d7cb7938d525a2f31aaf161d0");
    }
}
