//! Where `PlacedAlloc` is not the global allocator.
#![allow(unsafe_code)]

use std::io::ErrorKind;
use zerohop_memory::{LARGE, mapped};

#[test]
fn no_vector_is_made_that_another_allocator_would_free() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(2 * LARGE as u64).unwrap();
    // SAFETY: there is no vector.
    let refused = unsafe { mapped::<u64>(&file, 0, LARGE / 8) };
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
}
