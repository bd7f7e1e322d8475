//! What stands for the whole content of files: reading all of it is the only way to notice a change in the middle. Each
//! rank reads a part.

use crate::Transport;
use crate::error::RanksError;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes that are read at once.
const PIECE: u64 = 8 << 20;

/// For each file its name, its length in bytes and a number that stands for its content. All ranks come to it, each
/// with so many threads.
///
/// # Errors
/// A file that cannot be read; ranks that see files of different lengths, or have failed.
pub fn of_files(transport: &dyn Transport, files: &[PathBuf], threads: usize) -> Result<Vec<String>, RanksError> {
    let (rank, ranks) = (transport.rank() as u64, transport.size() as u64);
    let own = files.iter().map(|path| share(path, rank, ranks, threads)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<Vec<Share>> = crate::values(transport, &own)?;
    files.iter().enumerate().map(|(number, path)| joined(path, &all, number)).collect()
}

/// For people, and to be compared: the name of a file, its length, and what stands for its content.
pub fn words(path: &Path, bytes: u64, content: u64) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    format!("{name}, {bytes} bytes, content {content:016x}")
}

/// The length of a file, and the digests of the pieces that one rank has read, in order.
type Share = (u64, Vec<u64>);

/// Reads every so-many-th piece of a file.
fn share(path: &Path, rank: u64, ranks: u64, threads: usize) -> Result<Share, RanksError> {
    let fault = |error: std::io::Error| RanksError::Failed(format!("{}: cannot be read: {error}", path.display()));
    let file = File::open(path).map_err(fault)?;
    let bytes = file.metadata().map_err(fault)?.len();
    let own = (bytes.div_ceil(PIECE) + ranks - 1 - rank) / ranks;
    let (next, done) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let read = || {
        let mut buffer = vec![0; PIECE.min(bytes) as usize];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= own {
                return Ok(());
            }
            let at = (number * ranks + rank) * PIECE;
            let piece = &mut buffer[..PIECE.min(bytes - at) as usize];
            file.read_exact_at(piece, at)?;
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, xxh3_64(piece)));
        }
    };
    std::thread::scope(|scope| {
        let threads = threads.clamp(1, own.max(1) as usize);
        let started: Vec<_> = (1..threads).map(|_| scope.spawn(read)).collect();
        let own: std::io::Result<()> = read();
        started.into_iter().fold(own, |all, thread| {
            all.and(thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread that reads it died"))))
        })
    })
    .map_err(fault)?;
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_unstable();
    Ok((bytes, done.into_iter().map(|(_, digest)| digest).collect()))
}

/// What stands for a file of which each rank has read a share.
fn joined(path: &Path, all: &[Vec<Share>], number: usize) -> Result<String, RanksError> {
    let differs =
        || RanksError::Failed(format!("{}: ranks see files of different lengths under this name", path.display()));
    let shares = all.iter().map(|shares| shares.get(number)).collect::<Option<Vec<_>>>().ok_or_else(differs)?;
    let bytes = shares.first().map_or(0, |share| share.0);
    if shares.iter().any(|share| share.0 != bytes) {
        return Err(differs());
    }
    let mut digest = Xxh3::new();
    for piece in 0..bytes.div_ceil(PIECE) as usize {
        let own = shares[piece % shares.len()].1.get(piece / shares.len()).ok_or_else(differs)?;
        digest.update(&own.to_le_bytes());
    }
    Ok(words(path, bytes, digest.digest()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Twin;
    use std::time::Duration;

    fn on_ranks(ranks: usize, path: &Path) -> String {
        let files = [path.to_owned()];
        std::thread::scope(|scope| {
            let twins = Twin::ranks(ranks, Duration::from_secs(60)).into_iter();
            let threads: Vec<_> = twins.map(|twin| scope.spawn(|| of_files(&{ twin }, &files, 2).unwrap())).collect();
            let mut all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap().remove(0)).collect();
            all.dedup();
            assert_eq!(all.len(), 1, "all ranks say the same");
            all.remove(0)
        })
    }

    #[test]
    fn a_byte_in_the_middle_counts_and_the_number_of_ranks_does_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let empty = on_ranks(2, file.path());
        let mut bytes: Vec<u8> = (0..3 * PIECE as usize + 5).map(|i| (i % 251) as u8).collect();
        std::fs::write(file.path(), &bytes).unwrap();
        let one = on_ranks(1, file.path());
        assert!(one.contains(&format!(", {} bytes, content ", bytes.len())) && one != empty, "{one}");
        assert!((2..6).all(|ranks| on_ranks(ranks, file.path()) == one));
        bytes[2 * PIECE as usize + 77] ^= 1;
        std::fs::write(file.path(), &bytes).unwrap();
        assert_ne!(on_ranks(3, file.path()), one);
    }
}
