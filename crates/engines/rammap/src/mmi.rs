//! The index of minimap2 (`.mmi`; mm_idx_dump of minimap2 2.31): all of it is checked, then turned into what rammap
//! makes an index from.
//!
//! Layout, little-endian: `MMI\2`; w, k, the bits of a bucket's number, the number of sequences and flags, of 32 bits
//! each; of each sequence the length of its name (8 bits), the name and its bases (32 bits); of each bucket the number
//! of positions (32 bits), the positions (64 bits each), the number of keys (32 bits), and of each key itself and its
//! value (64 bits each); the bases, eight to 32 bits. Where the lowest bit of a key is set, its value is its only
//! position; else the value has the place among the positions of the bucket in its upper half, and their number in its
//! lower one.

use crate::error::RammapIndexError;
use crate::parameters::IndexParameters;
use crate::payload::{MOST_POSITIONS, PayloadWriter, bucket_bits, receive};
use rammap::align::index::Index;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zerohop_input::reference::wrong_name;
use zerohop_model::error::shown;
use zerohop_model::record::Contig;

/// The first bytes.
pub(crate) const MAGIC: [u8; 4] = *b"MMI\x02";
/// Flags: runs of one base count as one (`-H`), there are no bases, there are no names.
const HOMOPOLYMERS: u32 = 1;
const NO_BASES: u32 = 2;
const NO_NAMES: u32 = 4;
/// Bits of the number of a bucket at most: more than any minimap2 takes by default, and little memory.
const MOST_BITS: u32 = 24;
/// Bases of 32 bits.
const BASES_OF_WORD: u64 = 8;
/// Bytes that are read at once.
const BUFFER: u64 = 1 << 20;

/// An index of minimap2, of which all before the buckets was read.
pub(crate) struct Mmi {
    path: PathBuf,
    parameters: IndexParameters,
    contigs: Vec<Contig>,
    bucket_bits: u32,
    /// Where the buckets begin, and where the file ends.
    buckets_at: u64,
    length: u64,
}

/// What was found when all of it was read.
struct Checked {
    /// Where each bucket starts.
    buckets: Vec<u64>,
    /// Keys of all buckets.
    keys: u64,
    /// Where the bases start, and in how many words they are.
    bases_at: u64,
    words: u64,
}

/// A bucket: its positions, and its keys with their values.
struct MmiBucket {
    positions: Vec<u64>,
    keys: Vec<[u64; 2]>,
}

impl MmiBucket {
    /// The positions of a key; none if they are not there.
    fn of(&self, [key, value]: &[u64; 2]) -> Option<(u64, std::borrow::Cow<'_, [u64]>)> {
        if key & 1 == 1 {
            return Some((key >> 1, vec![*value].into()));
        }
        let (start, count) = ((value >> 32) as usize, (value & u64::from(u32::MAX)) as usize);
        let positions = self.positions.get(start..start.checked_add(count)?)?;
        (count > 0).then_some((key >> 1, positions.into()))
    }
}

/// Reads parts of the file, and says what is wrong with them.
struct MmiReader<'m> {
    path: &'m Path,
    file: BufReader<File>,
    at: u64,
    length: u64,
}

impl<'m> MmiReader<'m> {
    /// Opens it; so many bytes are read at once.
    fn open(path: &'m Path, buffer: u64) -> Result<Self, RammapIndexError> {
        let unread = RammapIndexError::unread(path);
        let file = File::open(path).map_err(unread)?;
        let length = file.metadata().map_err(unread)?.len();
        Ok(MmiReader { path, file: BufReader::with_capacity(buffer.min(BUFFER) as usize, file), at: 0, length })
    }

    fn go_to(&mut self, at: u64) -> Result<(), RammapIndexError> {
        self.file.seek(SeekFrom::Start(at)).map_err(RammapIndexError::unread(self.path))?;
        self.at = at;
        Ok(())
    }

    fn wrong(&self, what: &str) -> RammapIndexError {
        let what = format!("it is damaged before byte {} ({what})", self.at);
        RammapIndexError::UnusableMmi { path: self.path.to_owned(), what }
    }

    /// So many bytes; asked for after it is known that they are there.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, RammapIndexError> {
        if self.at + count > self.length {
            let what = format!("it ends at byte {}, before the index does: it is truncated or damaged", self.length);
            return Err(RammapIndexError::UnusableMmi { path: self.path.to_owned(), what });
        }
        let mut bytes = vec![0; count as usize];
        self.file.read_exact(&mut bytes).map_err(RammapIndexError::unread(self.path))?;
        self.at += count;
        Ok(bytes)
    }

    fn half(&mut self) -> Result<u32, RammapIndexError> {
        Ok(self.halves(1)?[0])
    }

    /// Numbers of 32 bits.
    fn halves(&mut self, count: u64) -> Result<Vec<u32>, RammapIndexError> {
        let bytes = self.bytes(count * 4)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    /// The same of many, some at a time.
    fn each_of_halves(
        &mut self,
        count: u64,
        mut take: impl FnMut(&[u32]) -> Result<(), RammapIndexError>,
    ) -> Result<(), RammapIndexError> {
        let mut left = count;
        while left > 0 {
            let some = left.min(BUFFER);
            take(&self.halves(some)?)?;
            left -= some;
        }
        Ok(())
    }

    /// Numbers of 64 bits.
    fn words(&mut self, count: u64) -> Result<Vec<u64>, RammapIndexError> {
        let bytes = self.bytes(count * 8)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    fn bucket(&mut self) -> Result<MmiBucket, RammapIndexError> {
        let count = self.half()?;
        let positions = self.words(count.into())?;
        let count = self.half()?;
        let keys = self.words(u64::from(count) * 2)?.as_chunks::<2>().0.to_vec();
        Ok(MmiBucket { positions, keys })
    }
}

/// Whether the file at `path` begins as an index of minimap2 does.
pub(crate) fn is_mmi(path: &Path) -> bool {
    let mut first = [0; 4];
    // Not of a pipe, which could be read only once.
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok()) && first == MAGIC
}

impl Mmi {
    /// Opens it, and reads all that comes before the buckets.
    ///
    /// # Errors
    /// A file that cannot be read, has no bases or no names, or is damaged.
    pub(crate) fn open(path: &Path) -> Result<Self, RammapIndexError> {
        let unusable = |what: &str| RammapIndexError::UnusableMmi { path: path.to_owned(), what: what.to_owned() };
        let mut reader = MmiReader::open(path, BUFFER)?;
        if reader.bytes(4)? != MAGIC {
            return Err(unusable("it is not an index of minimap2"));
        }
        let head = reader.halves(5)?;
        let [w, k, bucket_bits, count, flags] = head[..] else { return Err(reader.wrong("its head")) };
        let (k, w) = (k as usize, w as usize);
        if !(1..=28).contains(&k) || !(1..=255).contains(&w) || bucket_bits > MOST_BITS.min(2 * k as u32) {
            return Err(reader.wrong("-k, -w or --bucket-bits is out of range"));
        }
        if flags & (NO_BASES | NO_NAMES) != 0 {
            return Err(unusable("it holds no bases or no names of the reference (--idx-no-seq)"));
        }
        let (mut contigs, mut names) = (Vec::new(), HashSet::new());
        for _ in 0..count {
            let length = reader.bytes(1)?[0];
            let name = reader.bytes(length.into())?;
            let bases = reader.half()?;
            let name = String::from_utf8_lossy(&name).into_owned();
            let contig = Contig::new(name.clone(), bases.into());
            if let Some(what) = wrong_name(&name).or_else(|| contig.too_long()) {
                return Err(reader.wrong(&what));
            }
            if !names.insert(name.clone()) {
                return Err(unusable(&format!("two sequences of it have the name '{}'", shown(name.as_bytes()))));
            }
            contigs.push(contig);
        }
        let parameters = IndexParameters { k, w, homopolymers: flags & HOMOPOLYMERS != 0 };
        let (buckets_at, length) = (reader.at, reader.length);
        Ok(Mmi { path: path.to_owned(), parameters, contigs, bucket_bits, buckets_at, length })
    }

    /// What it was made with.
    pub(crate) fn parameters(&self) -> IndexParameters {
        self.parameters
    }

    /// The sequences of its reference.
    pub(crate) fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    /// Its length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Loads it into memory of the calling thread's placement, and says how many bytes it takes there.
    ///
    /// # Errors
    /// A file that cannot be read, has several parts, or is damaged: keys, positions or lengths that cannot be.
    pub(crate) fn load(&self) -> Result<(Index, u64), RammapIndexError> {
        let (checked, mut memory) = (self.check()?, 0);
        let index = receive(|sender| {
            memory = self.convert(&checked, sender.writer())?;
            Ok::<_, RammapIndexError>(())
        })?;
        Ok((index, memory))
    }

    /// Reads all of it, and looks whether it can be.
    fn check(&self) -> Result<Checked, RammapIndexError> {
        let mut reader = MmiReader::open(&self.path, BUFFER)?;
        reader.go_to(self.buckets_at)?;
        let largest = 1u64 << (2 * self.parameters.k as u32 - self.bucket_bits);
        let (mut buckets, mut keys, mut positions) = (Vec::new(), 0, 0);
        for _ in 0..1u64 << self.bucket_bits {
            buckets.push(reader.at);
            let bucket = reader.bucket()?;
            let mut distinct = HashSet::with_capacity(bucket.keys.len());
            for entry in &bucket.keys {
                let (key, of_key) = bucket.of(entry).ok_or_else(|| reader.wrong("a key without positions"))?;
                if key >= largest || !of_key.iter().all(|position| self.has(*position)) {
                    return Err(reader.wrong("a minimizer that is nowhere in the reference"));
                }
                if !distinct.insert(key) {
                    return Err(reader.wrong("a key that is there twice"));
                }
                positions += of_key.len() as u64;
            }
            keys += bucket.keys.len() as u64;
        }
        if positions > MOST_POSITIONS {
            return Err(reader.wrong("more than 2^32 minimizers, which is more than rammap can hold"));
        }
        let bases_at = reader.at;
        let words = self.contigs.iter().map(|contig| contig.length).sum::<u64>().div_ceil(BASES_OF_WORD);
        self.check_end(&mut reader, bases_at + words * 4)?;
        reader.go_to(bases_at)?;
        let is_base = |word: &u32| (0..8).all(|base| word >> (4 * base) & 0xf <= 4);
        let mut are_bases = true;
        reader.each_of_halves(words, |some| {
            are_bases &= some.iter().all(is_base);
            Ok(())
        })?;
        match are_bases {
            true => Ok(Checked { buckets, keys, bases_at, words }),
            false => Err(reader.wrong("a base that is none")),
        }
    }

    /// Writes what rammap reads, from what was checked: keys first, then positions, then bases.
    fn convert(&self, checked: &Checked, out: impl Write) -> Result<u64, RammapIndexError> {
        let unread = RammapIndexError::unread(&self.path);
        // Buckets are not read in their order.
        let bucket_bytes = (checked.bases_at - self.buckets_at) >> self.bucket_bits;
        let mut reader = MmiReader::open(&self.path, bucket_bytes)?;
        let bits = bucket_bits(checked.keys).min(self.bucket_bits);
        let mut writer = PayloadWriter::begin(out, self.parameters, &self.contigs, bits).map_err(unread)?;
        let buckets = |of: usize| (of..checked.buckets.len()).step_by(1 << bits);
        for of in 0..1usize << bits {
            let mut keys = Vec::new();
            for number in buckets(of) {
                reader.go_to(checked.buckets[number])?;
                let bucket = reader.bucket()?;
                for (key, positions) in bucket.keys.iter().filter_map(|entry| bucket.of(entry)) {
                    let hash = key << self.bucket_bits | number as u64;
                    keys.push((hash >> bits, positions.len() as u32));
                }
            }
            writer.bucket(&keys).map_err(unread)?;
        }
        writer.begin_positions().map_err(unread)?;
        for number in (0..1usize << bits).flat_map(buckets) {
            reader.go_to(checked.buckets[number])?;
            let bucket = reader.bucket()?;
            for (_, positions) in bucket.keys.iter().filter_map(|entry| bucket.of(entry)) {
                writer.positions(&positions).map_err(unread)?;
            }
        }
        reader.go_to(checked.bases_at)?;
        writer.begin_bases(checked.words).map_err(unread)?;
        reader.each_of_halves(checked.words, |some| writer.bases(some).map_err(unread))?;
        writer.end().map_err(unread)
    }

    /// Whether a position (its contig, the last base of the k-mer, its strand) is in the reference.
    fn has(&self, position: u64) -> bool {
        let contig = self.contigs.get((position >> 32) as usize);
        let last = (position & u64::from(u32::MAX)) >> 1;
        last + 1 >= self.parameters.k as u64 && contig.is_some_and(|contig| last < contig.length)
    }

    /// Refuses a file that does not end where the index does.
    fn check_end(&self, reader: &mut MmiReader<'_>, end: u64) -> Result<(), RammapIndexError> {
        let unusable = |what: String| RammapIndexError::UnusableMmi { path: self.path.clone(), what };
        if end == self.length {
            return Ok(());
        }
        if end > self.length {
            return Err(unusable(format!("it ends at byte {}, before the index does: it is truncated", self.length)));
        }
        reader.go_to(end)?;
        if self.length - end >= 4 && reader.bytes(4)? == MAGIC {
            let what = "it has several parts (-I of minimap2): reads would be aligned to each part alone";
            return Err(unusable(what.to_owned()));
        }
        Err(unusable(format!("{} bytes stand behind the index: it is damaged", self.length - end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_same, fasta, file, mmi, twin};
    use fastrand::Rng;

    #[test]
    fn the_index_of_minimap2_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        for (seed, (k, w, homopolymers, bits)) in
            [(15, 10, false, 6), (19, 5, true, 0), (6, 3, false, 12)].into_iter().enumerate()
        {
            let parameters = IndexParameters { k, w, homopolymers };
            let text = fasta(&[3000, 1, 800, 1200], seed as u64);
            let path = file(folder.path(), "ref.mmi", &mmi(&text, parameters, bits));
            let read = Mmi::open(&path).unwrap();
            assert_eq!((read.parameters(), read.contigs().len()), (parameters, 4));
            assert_same(&twin(&text, parameters), &read.load().unwrap().0, &text);
        }
    }

    #[test]
    fn damage_is_an_error_or_an_index_but_never_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let whole = mmi(&fasta(&[300, 200, 300], 5), IndexParameters::default(), 3);
        let mut rng = Rng::with_seed(2);
        let read = |bytes: &[u8]| {
            let path = file(folder.path(), "ref.mmi", bytes);
            Mmi::open(&path).and_then(|mmi| mmi.load()).map(|_| ()).map_err(|error| error.to_string())
        };
        let refused = (0..1000).filter(|_| {
            let (mut bytes, at) = (whole.clone(), rng.usize(..whole.len()));
            bytes[at] ^= 1 << rng.u8(..8);
            read(&bytes).is_err()
        });
        let refused = refused.count();
        assert!(refused > 500, "{refused}");
        for length in (0..whole.len()).step_by(17) {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        assert!(read(&[&whole[..], &whole].concat()).unwrap_err().contains("several parts"));
        assert!(read(&[&whole[..], b"x"].concat()).unwrap_err().contains("1 bytes stand behind"));
    }
}
