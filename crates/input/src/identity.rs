//! What identifies a file of which an index was made, or that an index consists of: what it holds, as a digest of
//! digests, so that many threads can read it.

use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Bytes that one thread hashes at a time; part of the format of the index file.
const BLOCK: u64 = 32 << 20;
/// Times before 1981 are made up (Nix sets all to one second after 1970, zip files begin in 1980), and say nothing.
const FIRST_TIME: i64 = 347_155_200;
/// Bytes that are read at once.
const BUFFER: usize = 1 << 20;
/// Parts of a file that are read where nothing else has changed, and bytes of each.
const SAMPLES: u64 = 16;
const SAMPLE: u64 = 1 << 16;

/// What identifies a file: its length, the time of its last change, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    bytes: u64,
    /// Seconds since 1970, and nanoseconds.
    modified: (i64, i64),
    /// Its [`digest`].
    blocks_xxh3_128: String,
    /// The XXH3-128 of some parts of it; none in descriptions of earlier versions.
    #[serde(default)]
    parts_xxh3_128: Option<String>,
}

impl FileId {
    /// Reads the file at `path` with so many threads.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path, threads: usize) -> io::Result<Self> {
        // Before it is read: what changes meanwhile is noticed later.
        let metadata = std::fs::metadata(path)?;
        let (blocks_xxh3_128, parts_xxh3_128) = (digest(path, threads)?, Some(digest_of_parts(path)?));
        Ok(FileId { bytes: metadata.len(), modified: modified(&metadata), blocks_xxh3_128, parts_xxh3_128 })
    }

    /// Whether it identifies the file at `path`. All of that is read, with so many threads, only if it has the same
    /// length and was changed at another time: copied, say, or fetched again. Where the time is the same, too, a
    /// mebibyte of it is: programs that copy and unpack files set times, and a reference with its repeats masked is as
    /// long as without.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn is_of(&self, path: &Path, threads: usize) -> io::Result<bool> {
        let metadata = std::fs::metadata(path)?;
        if metadata.len() != self.bytes {
            return Ok(false);
        }
        let is_unchanged = modified(&metadata) == self.modified && self.modified.0 >= FIRST_TIME;
        match &self.parts_xxh3_128 {
            Some(parts) if is_unchanged => Ok(digest_of_parts(path)? == *parts),
            None if is_unchanged => Ok(true),
            _ => Ok(digest(path, threads)? == self.blocks_xxh3_128),
        }
    }
}

/// What parts of a file hold, from its first to its last bytes.
fn digest_of_parts(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let last = file.metadata()?.len().saturating_sub(SAMPLE);
    let (mut hash, mut part) = (Xxh3::new(), Vec::new());
    for number in 0..SAMPLES {
        part.clear();
        let at = last / (SAMPLES - 1) * number + last % (SAMPLES - 1) * number / (SAMPLES - 1);
        file.seek(SeekFrom::Start(at))?;
        (&mut file).take(SAMPLE).read_to_end(&mut part)?;
        hash.update(&part);
    }
    Ok(format!("{:032x}", hash.digest128()))
}

fn modified(metadata: &Metadata) -> (i64, i64) {
    (metadata.mtime(), metadata.mtime_nsec())
}

/// What a file holds, read with so many threads: the XXH3-128 of the XXH3-128 of each 32 MiB of it, in hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub fn digest(path: &Path, threads: usize) -> io::Result<String> {
    let (blocks, next) = (std::fs::metadata(path)?.len().div_ceil(BLOCK), AtomicU64::new(0));
    let hash_blocks = || -> io::Result<Vec<(u64, u128)>> {
        let (mut file, mut buffer, mut done) = (File::open(path)?, vec![0; BUFFER], Vec::new());
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                return Ok(done);
            }
            file.seek(SeekFrom::Start(block * BLOCK))?;
            done.push((block, hash_block((&mut file).take(BLOCK), &mut buffer)?));
        }
    };
    let mut all = std::thread::scope(|scope| {
        // Where no more threads can be had, those that there are do it all.
        let spawn = |_| std::thread::Builder::new().name("hash".into()).spawn_scoped(scope, hash_blocks).ok();
        let others: Vec<_> = (1..(threads as u64).min(blocks)).map_while(spawn).collect();
        let mut all = hash_blocks()?;
        for other in others {
            let lost = |_| Err(io::Error::other("a thread that read it died"));
            all.extend(other.join().unwrap_or_else(lost)?);
        }
        io::Result::Ok(all)
    })?;
    all.sort_unstable();
    Ok(of_blocks(all.into_iter().map(|(_, hash)| hash)))
}

/// The digest of a file whose blocks have these.
fn of_blocks(hashes: impl Iterator<Item = u128>) -> String {
    let hashes: Vec<u8> = hashes.flat_map(u128::to_le_bytes).collect();
    format!("{:032x}", xxh3_128(&hashes))
}

fn hash_block(mut block: impl Read, buffer: &mut [u8]) -> io::Result<u128> {
    let mut hash = Xxh3::new();
    loop {
        match block.read(buffer)? {
            0 => return Ok(hash.digest128()),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// Writes, and finds the [`digest`] of what was written.
pub struct DigestWriter<W> {
    out: W,
    /// Of the block that is not full.
    block: Xxh3,
    in_block: u64,
    hashes: Vec<u128>,
}

impl<W: Write> DigestWriter<W> {
    /// A writer to `out`, with nothing written yet.
    pub fn new(out: W) -> Self {
        DigestWriter { out, block: Xxh3::new(), in_block: 0, hashes: Vec::new() }
    }

    /// Hands everything on, and gives the digest of it.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> io::Result<String> {
        self.out.flush()?;
        let rest = (self.in_block > 0).then(|| self.block.digest128());
        Ok(of_blocks(self.hashes.into_iter().chain(rest)))
    }
}

impl<W: Write> Write for DigestWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(BLOCK - self.in_block).unwrap_or(usize::MAX);
        let written = self.out.write(&bytes[..bytes.len().min(room)])?;
        self.block.update(&bytes[..written]);
        self.in_block += written as u64;
        if self.in_block == BLOCK {
            self.hashes.push(self.block.digest128());
            self.block.reset();
            self.in_block = 0;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn time_stands_for_content_only_where_it_is_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.fa");
        let text = vec![b'A'; 2 * BLOCK as usize + 5];
        std::fs::write(&path, &text).unwrap();
        let ids = [1, 2, 5].map(|threads| FileId::read(&path, threads).unwrap());
        assert!(ids.iter().all(|id| *id == ids[0]), "whatever the number of threads");
        let id = &ids[0];
        let is_of = |text: &[u8], seconds| {
            std::fs::write(&path, text).unwrap();
            let (modified, nanos) = (id.modified.0 as u64 + seconds, id.modified.1 as u32);
            let time = SystemTime::UNIX_EPOCH + Duration::new(modified, nanos);
            File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            id.is_of(&path, 3).unwrap()
        };
        assert!(is_of(&text, 0) && is_of(&text, 1));
        for at in [0, BLOCK as usize, text.len() - 1] {
            let mut other = text.clone();
            other[at] = b'C';
            assert!(!is_of(&other, 1), "{at}");
            assert_eq!(is_of(&other, 0), at == BLOCK as usize, "parts are read: the first and last bytes, and some");
        }
        assert!(!is_of(&text[1..], 0));
        let with = |at: usize| {
            let mut other = text.clone();
            other[at] = b'C';
            std::fs::write(&path, other).unwrap();
            FileId::read(&path, 2).unwrap()
        };
        assert_ne!(with(0).blocks_xxh3_128, with(BLOCK as usize).blocks_xxh3_128, "blocks have places");
        let old = FileId { modified: (1, 0), ..id.clone() };
        let set_old = |text: &[u8]| {
            std::fs::write(&path, text).unwrap();
            File::options()
                .append(true)
                .open(&path)
                .unwrap()
                .set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1))
        };
        set_old(&text[1..]).unwrap();
        assert!(!old.is_of(&path, 1).unwrap());
        set_old(&[&text[1..], b"C"].concat()).unwrap();
        assert!(!old.is_of(&path, 1).unwrap(), "a time that was made up says nothing");
        assert!(FileId::read(&dir.path().join("none"), 1).is_err());
    }

    #[test]
    fn what_is_written_has_the_digest_of_the_file() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        for length in [0, 1, BLOCK as usize - 1, BLOCK as usize, BLOCK as usize + 1, 2 * BLOCK as usize + 7] {
            let text: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let mut out = DigestWriter::new(File::create(&path).unwrap());
            let (begin, end) = text.split_at(length / 3);
            out.write_all(begin).unwrap();
            out.write_all(end).unwrap();
            assert_eq!(out.finish().unwrap(), digest(&path, 2).unwrap(), "{length} bytes");
            assert_eq!(std::fs::read(&path).unwrap(), text);
        }
    }
}
