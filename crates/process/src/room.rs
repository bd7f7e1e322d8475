//! Room on a disk for what must be written when the disk is full.

use std::fs::File;

/// Sets so many bytes aside behind the end of a file, whose size stays. What is written there next finds room, also
/// where the disk is full by then. A file system that cannot do so, or has no room, leaves it: then nothing is lost
/// but that.
pub fn set_room_aside(file: &File, bytes: u64) {
    #[cfg(target_os = "linux")]
    if let Ok(end) = file.metadata().map(|data| data.len()) {
        use rustix::fs::{FallocateFlags, fallocate};
        let _ = fallocate(file, FallocateFlags::KEEP_SIZE, end, bytes);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, bytes);
}
