//! Of several processes that make parts of one output, each keeps what it has read of its own in a file. One process
//! takes up the parts of all: it makes the reports.
//!
//! A file has part after part: its number, its bytes (8 bytes each, little-endian), and these. Numbers in them take one
//! byte for 7 bits, the low ones first; of places that ascend, each is the distance to the one before.

use crate::codec::{put, put_ascending, take, take_ascending};
use crate::depth::Edges;
use crate::mosdepth::LinesSpec;
use crate::order::ReadPart;
use crate::spec::ReportSpec;
use crate::stats::PlacedRead;
use crate::sums::Sums;
use crate::visitor::{Seen, TakesParts, lock};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use zerohop_model::error::Error;
use zerohop_output::{Visit, Visitors};

/// Bytes before those of a part.
const HEAD: usize = 16;

/// What one process of several finds of the parts that it makes.
pub struct RankReports {
    seen: Seen,
    file: Mutex<File>,
    path: PathBuf,
}

impl RankReports {
    /// Of no records yet; parts are kept in a new file.
    ///
    /// # Errors
    /// [`Error::Kept`]: it cannot be written.
    pub fn new(spec: &ReportSpec, path: &Path) -> Result<Self, Error> {
        let file = Mutex::new(File::create(path).map_err(|source| fault(path, source))?);
        let lines = LinesSpec::new(spec.mosdepth.clone(), spec.contigs.clone());
        Ok(RankReports { seen: Seen::new(lines, spec), file, path: path.to_owned() })
    }

    /// The sums, for [`crate::Reports::add_sums`], when all parts of this process are made and all visitors are gone.
    ///
    /// # Errors
    /// [`Error::Kept`]: the file cannot be written.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        lock(&self.file).sync_data().map_err(|source| fault(&self.path, source))?;
        serde_json::to_vec(&self.seen.into_sums().2).map_err(|error| Error::Internal(error.to_string()))
    }
}

impl Visitors for RankReports {
    fn visitor(&self) -> Box<dyn Visit + '_> {
        Box::new(self.seen.visitor(self))
    }
}

impl TakesParts for RankReports {
    fn take(&self, number: usize, part: ReadPart, _: &mut Sums) -> Result<(), Error> {
        let mut bytes = vec![0; HEAD];
        write_part(&part, &mut bytes);
        let length = (bytes.len() - HEAD) as u64;
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        bytes[8..HEAD].copy_from_slice(&length.to_le_bytes());
        lock(&self.file).write_all(&bytes).map_err(|source| fault(&self.path, source))
    }
}

/// Parts that several processes have kept.
pub struct KeptParts {
    files: Vec<(PathBuf, File)>,
    /// Of each part, in which file it lies, from which byte on, and how many.
    parts: BTreeMap<usize, (usize, u64, u64)>,
}

impl KeptParts {
    /// Those in some files.
    ///
    /// # Errors
    /// [`Error::Kept`]: a file cannot be read.
    pub fn open(paths: Vec<PathBuf>) -> Result<Self, Error> {
        let mut kept = KeptParts { files: Vec::new(), parts: BTreeMap::new() };
        for path in paths {
            let read = |path: &Path| -> io::Result<(File, u64)> {
                let file = File::open(path)?;
                let bytes = file.metadata()?.len();
                Ok((file, bytes))
            };
            let (file, end) = read(&path).map_err(|source| fault(&path, source))?;
            let mut at = 0;
            while at < end {
                let mut head = [0; HEAD];
                file.read_exact_at(&mut head, at).map_err(|source| fault(&path, source))?;
                let [number, bytes] =
                    [0, 8].map(|from| head[from..].first_chunk().map_or(0, |it| u64::from_le_bytes(*it)));
                kept.parts.insert(number as usize, (kept.files.len(), at + HEAD as u64, bytes));
                at = at.saturating_add(HEAD as u64).saturating_add(bytes);
            }
            kept.files.push((path, file));
        }
        Ok(kept)
    }

    /// Part `number`.
    ///
    /// # Errors
    /// [`Error::Kept`]: it is not there, or damaged.
    pub(crate) fn read(&self, number: usize) -> Result<ReadPart, Error> {
        let missing = || Error::Internal(format!("part {number} of the reports was not kept"));
        let (file, at, bytes) = *self.parts.get(&number).ok_or_else(missing)?;
        let (path, file) = &self.files[file];
        // Not more than there is, whatever the file says.
        let length = file.metadata().map_err(|source| fault(path, source))?.len().saturating_sub(at);
        if bytes > length {
            return Err(fault(path, ErrorKind::UnexpectedEof.into()));
        }
        let mut all = vec![0; bytes as usize];
        file.read_exact_at(&mut all, at).map_err(|source| fault(path, source))?;
        let damaged = || fault(path, io::Error::new(ErrorKind::InvalidData, "what was kept of the reports is damaged"));
        let mut rest = &*all;
        read_part(&mut rest).filter(|_| rest.is_empty()).ok_or_else(damaged)
    }
}

fn fault(path: &Path, source: io::Error) -> Error {
    Error::Kept { folder: path.to_owned(), source }
}

fn write_part(part: &ReadPart, out: &mut Vec<u8>) {
    let ReadPart { places, edges, mates, gc, reads, pileup, calls } = part;
    put(out, places.start);
    put(out, places.end);
    edges.write(out);
    put_ascending(out, gc.iter().map(|(place, _)| *place));
    gc.iter().for_each(|(_, share)| out.extend_from_slice(&share.to_le_bytes()));
    put_ascending(out, reads.iter().map(|read| read.place));
    reads.iter().flat_map(|read| [read.bases, read.length]).for_each(|number| put(out, number.into()));
    mates.write(out);
    pileup.write(out);
    calls.write(out);
}

fn read_part(from: &mut &[u8]) -> Option<ReadPart> {
    let mut part = ReadPart { places: take(from)?..take(from)?, ..ReadPart::default() };
    part.edges = Edges::read(from)?;
    for place in take_ascending(from)? {
        part.gc.push((place, 0.0));
    }
    for (_, share) in &mut part.gc {
        let (bytes, rest) = from.split_first_chunk()?;
        (*share, *from) = (f32::from_le_bytes(*bytes), rest);
    }
    for place in take_ascending(from)? {
        part.reads.push(PlacedRead { place, bases: 0, length: 0 });
    }
    for read in &mut part.reads {
        let number = |from: &mut &[u8]| u32::try_from(take(from)?).ok();
        (read.bases, read.length) = (number(from)?, number(from)?);
    }
    part.mates = crate::mosdepth::Mates::read(from)?;
    part.pileup = crate::picard::Pileup::read(from)?;
    part.calls = crate::methyldackel::Calls::read(from)?;
    Some(part)
}
