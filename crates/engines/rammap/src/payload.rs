//! The bytes from which rammap makes an index, its own format (`RMMI`): what is made here, kept in files, and read
//! again. One thread makes them, piece by piece, and another takes them apart, so that no index lies in memory twice.
//!
//! The format is what bincode 1 makes of `rammap::align::index::Index`, behind four letters: numbers of 8 bytes,
//! little-endian, also for lengths; the number of a variant in 4, a truth in 1.

use crate::parameters::IndexParameters;
use rammap::align::index::Index;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use zerohop_memory::LARGE;
use zerohop_model::error::Error;
use zerohop_model::record::Contig;

/// The first bytes.
const MAGIC: &[u8; 4] = b"RMMI";
/// Bytes of a piece: what is sent, and checked, at a time.
pub(crate) const PIECE: usize = 4 << 20;
/// Pieces that may wait for whoever takes them.
const WAITING: usize = 2;
/// Positions have 32 bits among all.
pub(crate) const MOST_POSITIONS: u64 = u32::MAX as u64;

/// By how many bits of a hash the bucket of a key is found, of so many keys in all: buckets are as many as can be as
/// long as each has a table of its own mapping ([`LARGE`]), so that the tables are placed, as the rest of the index is.
pub(crate) fn bucket_bits(keys: u64) -> u32 {
    (1..u64::BITS).take_while(|bits| table_bytes(keys >> bits) >= LARGE as u64).last().unwrap_or(0)
}

/// Bytes of the hash table of a bucket with so many keys: hashbrown has a power of two of places, of which it fills
/// seven of eight, with 16 bytes and one more each.
fn table_bytes(keys: u64) -> u64 {
    const PLACE: u64 = 17;
    if keys == 0 { 0 } else { (keys * 8 / 7).next_power_of_two().max(4) * PLACE }
}

/// Writes the parts of an index in their order.
pub(crate) struct PayloadWriter<W> {
    out: W,
    /// Positions that the buckets so far tell of.
    positions: u64,
    /// Bytes that all so far takes in memory.
    memory: u64,
}

impl<W: Write> PayloadWriter<W> {
    /// Begins with what comes before the buckets, of which there are 2^`bucket_bits`.
    pub(crate) fn begin(
        mut out: W,
        IndexParameters { k, w, homopolymers }: IndexParameters,
        contigs: &[Contig],
        bucket_bits: u32,
    ) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let mut writer = PayloadWriter { out, positions: 0, memory: 0 };
        writer.number(k as u64)?;
        writer.number(w as u64)?;
        writer.out.write_all(&[u8::from(homopolymers)])?;
        writer.number(0)?;
        writer.number(contigs.len() as u64)?;
        let mut start = 0;
        for Contig { name, length, .. } in contigs {
            writer.number(name.len() as u64)?;
            writer.out.write_all(name.as_bytes())?;
            writer.number(*length)?;
            writer.number(start)?;
            writer.out.write_all(&[0])?;
            start += length;
        }
        writer.out.write_all(&0u32.to_le_bytes())?;
        writer.out.write_all(&bucket_bits.to_le_bytes())?;
        writer.number(1 << bucket_bits)?;
        Ok(writer)
    }

    /// The keys of the next bucket, in any order, with how many positions each has. These follow one another.
    pub(crate) fn bucket(&mut self, keys: &[(u64, u32)]) -> io::Result<()> {
        self.number(keys.len() as u64)?;
        for (key, count) in keys {
            self.number(*key)?;
            self.number(self.positions << 32 | u64::from(*count))?;
            self.positions += u64::from(*count);
        }
        self.memory += table_bytes(keys.len() as u64);
        Ok(())
    }

    /// Behind the last bucket: how many positions there are.
    pub(crate) fn begin_positions(&mut self) -> io::Result<()> {
        self.memory += self.positions * size_of::<u64>() as u64;
        self.number(self.positions)
    }

    /// Positions, in the order of the keys.
    pub(crate) fn positions(&mut self, positions: &[u64]) -> io::Result<()> {
        positions.iter().try_for_each(|position| self.number(*position))
    }

    /// Behind the last position: in how many words the bases are.
    pub(crate) fn begin_bases(&mut self, words: u64) -> io::Result<()> {
        self.memory += words * size_of::<u32>() as u64;
        self.number(words)
    }

    /// Bases, eight to a word.
    pub(crate) fn bases(&mut self, words: &[u32]) -> io::Result<()> {
        words.iter().try_for_each(|word| self.out.write_all(&word.to_le_bytes()))
    }

    /// Behind the last base: says how many bytes the index takes in memory.
    pub(crate) fn end(mut self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.memory)
    }

    fn number(&mut self, number: u64) -> io::Result<()> {
        self.out.write_all(&number.to_le_bytes())
    }
}

/// Bytes in pieces of [`PIECE`], the last of which may be shorter; `end` takes each.
pub(crate) struct PieceWriter<F> {
    piece: Vec<u8>,
    end: F,
}

impl<F: FnMut(Vec<u8>) -> io::Result<()>> PieceWriter<F> {
    /// A writer of pieces, with nothing written yet.
    pub(crate) fn new(end: F) -> Self {
        PieceWriter { piece: Vec::new(), end }
    }
}

impl<F: FnMut(Vec<u8>) -> io::Result<()>> Write for PieceWriter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.capacity() == 0 {
            self.piece.reserve_exact(PIECE);
        }
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.piece) {
            none if none.is_empty() => Ok(()),
            piece => (self.end)(piece),
        }
    }
}

/// What sends pieces to the thread that makes the index.
pub(crate) struct PieceSender {
    pieces: SyncSender<Vec<u8>>,
    /// Set when nobody takes them any more.
    refused: Arc<AtomicBool>,
}

impl PieceSender {
    /// Sends a piece as it is.
    pub(crate) fn send(&self, piece: Vec<u8>) -> io::Result<()> {
        self.pieces.send(piece).map_err(|_| {
            self.refused.store(true, Ordering::Relaxed);
            io::Error::from(io::ErrorKind::BrokenPipe)
        })
    }

    /// What is written is sent.
    pub(crate) fn writer(&self) -> impl Write {
        PieceWriter::new(|piece| self.send(piece))
    }
}

/// Pieces as they come, one after the other.
struct PieceReader {
    pieces: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    taken: usize,
}

impl Read for PieceReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.piece.len() {
            match self.pieces.recv() {
                Ok(piece) => (self.piece, self.taken) = (piece, 0),
                Err(_) => return Ok(0),
            }
        }
        let rest = &self.piece[self.taken..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

/// rammap asks for it, for files of another format.
impl Seek for PieceReader {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// The index that `produce` sends the bytes of, from a thread of its own. The index is made by the calling thread, so
/// it lies where that one's memory does.
///
/// # Errors
/// What `produce` says; bytes that are no index; a thread that cannot be started.
pub(crate) fn receive<E: Send + From<Error>>(
    produce: impl FnOnce(&PieceSender) -> Result<(), E> + Send,
) -> Result<Index, E> {
    let (pieces, received) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        let refused = Arc::new(AtomicBool::new(false));
        let sender = PieceSender { pieces, refused: Arc::clone(&refused) };
        let producer = std::thread::Builder::new()
            .name("index".into())
            .spawn_scoped(scope, move || produce(&sender))
            .map_err(Error::Thread)?;
        let mut reader = PieceReader { pieces: received, piece: Vec::new(), taken: 0 };
        let index = Index::load_part(&mut reader);
        // Whoever still sends is told that nobody takes it.
        drop(reader);
        let produced = producer.join().map_err(|_| Error::Internal("a thread that made the index died".to_owned()))?;
        let why = match index {
            Ok(Some(index)) => return produced.map(|()| index),
            Ok(None) => "it is empty".to_owned(),
            Err(error) => error.to_string(),
        };
        // What the producer says comes of it where rammap refused first.
        if !refused.load(Ordering::Relaxed) {
            produced?;
        }
        Err(Error::Internal(format!("rammap cannot read the index: {why}")).into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_as_many_as_have_tables_of_their_own_mappings() {
        for keys in [0, 1, 100_000, 850_000, 10_000_000, 300_000_000] {
            let bits = bucket_bits(keys);
            assert!(bits == 0 || table_bytes(keys >> bits) >= LARGE as u64, "{keys}");
            assert!(table_bytes(keys >> (bits + 1)) < LARGE as u64, "{keys}");
        }
    }

    #[test]
    fn what_is_no_index_is_an_error_and_nobody_waits() {
        let many = receive::<Error>(|sender| {
            // More than may wait.
            let sent = (0..5 * WAITING).all(|_| sender.send(vec![0xff; PIECE]).is_ok());
            assert!(!sent);
            Ok(())
        });
        assert!(many.unwrap_err().to_string().contains("rammap cannot read the index"));
        let none = receive::<Error>(|_| Ok(()));
        assert!(none.unwrap_err().to_string().contains("it is empty"));
        let failed = receive::<Error>(|_| Err(Error::Internal("on purpose".to_owned())));
        assert!(failed.unwrap_err().to_string().contains("on purpose"));
    }
}
