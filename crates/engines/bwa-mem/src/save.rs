//! Writes the index: from that of bwa, if there is one of the reference, and otherwise by sorting suffixes, which takes
//! more time and memory.

use crate::digests::{self, Digests};
use crate::files::{ALT, BwaIndexError, ENDINGS, check_line, path, unreadable};
use crate::fm::{self, Step};
use crate::from_bwa::{self, BwaIndex, ContigFiles, ConvertedIndex};
use crate::sequences::Sequences;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use zerohop_input::identity::{DigestWriter, FileId};
use zerohop_model::index::{IndexError, MakingNews, SavedIndex, Told};
use zerohop_process::{NewFile, WriteError};

/// Writes the index of `reference` with so many threads; says what it does to `told`.
///
/// # Errors
/// A reference that cannot be read, files that cannot be written.
pub(crate) fn save(reference: &Path, threads: usize, told: Told<'_>) -> Result<SavedIndex, IndexError> {
    // Before it is read: a change of it meanwhile is noticed later.
    let id = FileId::read(reference, threads).map_err(unreadable(reference)).map_err(IndexError::failed)?;
    let Some(prefix) = from_bwa::prefix(reference) else { return sort(reference, id, threads, told) };
    match convert(reference, &prefix, threads) {
        Ok((files, converted)) => write_converted(reference, id, &prefix, (&files, &converted)),
        Err(error) => {
            let words = format!("bwa's index is not used, and the suffixes are sorted: {}.", reason(&error));
            told(MakingNews::Note(&words));
            sort(reference, id, threads, told)
        }
    }
}

/// The index by sorting.
fn sort(reference: &Path, id: FileId, threads: usize, told: Told<'_>) -> Result<SavedIndex, IndexError> {
    told(MakingNews::Step("reading the reference"));
    let sequences = Sequences::read(reference).map_err(IndexError::failed)?;
    sequences
        .names()
        .try_for_each(|(name, comment)| check_line(reference, name, comment))
        .map_err(IndexError::failed)?;
    let pac = written(reference, ENDINGS[1], |out| sequences.write_pac(out))?;
    let ann = written(reference, ENDINGS[2], |out| sequences.write_ann(out))?;
    let amb = written(reference, ENDINGS[3], |out| sequences.write_amb(out))?;
    let step = |step: Step| match step {
        Step::Block { number, count } => told(MakingNews::Step(&format!("block {number} of {count}"))),
        Step::Places => told(MakingNews::Step("places, and writing it")),
    };
    let fm = written(reference, ENDINGS[0], |out| fm::write(sequences.strands(), threads, &step, out))?;
    complete(reference, id, [fm, pac, ann, amb], None)?;
    let bases = sequences.bases() as u64;
    Ok(SavedIndex::built(fm::index_bytes(bases) + bases / 4))
}

/// The index of bwa in the library's form, if it is one of the reference.
fn convert(reference: &Path, prefix: &Path, threads: usize) -> Result<(ContigFiles, ConvertedIndex), BwaIndexError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| unreadable(prefix)(io::Error::other(error)))?;
    let index = BwaIndex::open(prefix)?;
    let files = index.check(reference)?;
    let converted = pool.install(|| index.convert(&files.pac))?;
    Ok((files, converted))
}

fn write_converted(
    reference: &Path,
    id: FileId,
    prefix: &Path,
    (files, converted): (&ContigFiles, &ConvertedIndex),
) -> Result<SavedIndex, IndexError> {
    let pac = written(reference, ENDINGS[1], |out| out.write_all(&files.pac))?;
    let ann = written(reference, ENDINGS[2], |out| out.write_all(&files.ann))?;
    let amb = written(reference, ENDINGS[3], |out| out.write_all(&files.amb))?;
    let fm = written(reference, ENDINGS[0], |out| converted.write(out))?;
    let (from, to) = (path(prefix, ALT), path(reference, ALT));
    let (mut alt, mut notes) = (None, Vec::new());
    if from.exists() && !to.exists() {
        let text = crate::files::text(&from).map_err(IndexError::failed)?;
        alt = Some(written(reference, ALT, |out| out.write_all(&text))?.0);
        notes.push(format!("{}: it was copied to {}.", from.display(), to.display()));
    }
    complete(reference, id, [fm, pac, ann, amb], alt)?;
    let made_from = Some(path(prefix, from_bwa::ENDINGS[0]));
    Ok(SavedIndex { made_from, notes, ..SavedIndex::built(converted.bytes() + files.pac.len() as u64) })
}

/// Gives all files their names, those of the index in the order of [`ENDINGS`], and that with their digests.
fn complete(
    reference: &Path,
    id: FileId,
    files: [(NewFile, String); 4],
    alt: Option<NewFile>,
) -> Result<(), IndexError> {
    let [(fm, fm_digest), (pac, pac_digest), (ann, ann_digest), (amb, amb_digest)] = files;
    let digests = Digests::new(id, [fm_digest, pac_digest, ann_digest, amb_digest]);
    let (digests, _) = written(reference, digests::ENDING, |out| digests.write(out))?;
    let files = [pac, ann, amb].into_iter().chain(alt).chain([fm, digests]).collect();
    zerohop_process::complete_all(files).map_err(IndexError::failed)
}

/// Writes a file of the index, under a temporary name; gives its digest, too.
fn written(
    reference: &Path,
    ending: &str,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(NewFile, String), IndexError> {
    let path = path(reference, ending);
    let file = NewFile::create(&path).map_err(IndexError::failed)?;
    let mut out = DigestWriter::new(BufWriter::new(file.file()));
    let digest =
        write(&mut out).and_then(|()| out.finish()).map_err(WriteError::of(&path)).map_err(IndexError::failed)?;
    Ok((file, digest))
}

/// Why the index of bwa is not used, without what to do then.
fn reason(error: &BwaIndexError) -> String {
    match error {
        BwaIndexError::DamagedOfBwa { path, what } => {
            format!("{} is damaged, or not of an index of bwa 0.6 or later ({what})", path.display())
        }
        BwaIndexError::Unfinished { path, what } => {
            format!("'bwa index' has not finished ({}: {what})", path.display())
        }
        BwaIndexError::Stale { path } => {
            format!("{} was made from another reference, or the reference has changed since", path.display())
        }
        other => other.to_string(),
    }
}
