//! Buffers that lie on the node of the thread that uses them.
//!
//! Among small blocks mimalloc gives out again what another thread has written to before, on whatever node that was:
//! who frees a block of a page may go on with the page. A buffer of [`zerohop_memory::LARGE`] bytes is a mapping of its
//! own, whose pages lie where they are first written to, and take no memory before. (tests/lab/30-farm.sh counts the
//! pages.)

use zerohop_model::chunk::{Chunk, Text};

/// An empty buffer, to be filled by the calling thread.
pub(crate) fn buffer() -> Vec<u8> {
    Vec::with_capacity(zerohop_memory::LARGE)
}

/// An empty chunk, to be filled by the calling thread.
pub(crate) fn chunk() -> Box<Chunk> {
    let mut chunk = Box::<Chunk>::default();
    chunk.text.iter_mut().for_each(|text| text.bytes = buffer());
    chunk
}

/// Replaces memory that another thread has written to by memory that the calling thread writes to first, with some room
/// to spare: to be filled by another thread again.
pub(crate) fn make_local(text: &mut Text) {
    if text.bytes.capacity() == 0 {
        return;
    }
    text.bytes = written_to(text.bytes.capacity() + text.bytes.capacity() / 8);
}

/// An empty chunk with as much room as `other`, to be filled by another thread in memory of this one's node.
pub(crate) fn another(other: &Chunk) -> Box<Chunk> {
    let mut chunk = Box::<Chunk>::default();
    for (text, other) in chunk.text.iter_mut().zip(&other.text).filter(|(_, other)| other.bytes.capacity() > 0) {
        text.bytes = written_to(other.bytes.capacity());
    }
    chunk
}

/// An empty buffer whose pages the calling thread has written to.
fn written_to(room: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(room.max(zerohop_memory::LARGE));
    // Not zeros: the compiler would ask for zeroed memory, and pages that nobody has written to are nowhere yet.
    bytes.resize(room, 1);
    bytes.clear();
    bytes
}
