//! Writes the index: from that of bwa, if there is one of the reference, and otherwise by sorting suffixes, which takes
//! more time and memory.

use crate::digests::Digests;
use crate::files::{ALT, BwaIndexError, ENDINGS, IndexKind, check_line, path, unreadable};
use crate::fm::{self, Step};
use crate::from_bwa::{self, BwaIndex, ContigFiles, ConvertedIndex};
use crate::sequences::Sequences;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use zerohop_input::identity::{DigestWriter, FileId};
use zerohop_model::index::{IndexError, MakingNews, SavedIndex, Told};
use zerohop_process::{NewFile, WriteError};

/// Writes the index of `reference` with so many threads; says what it does to `told`.
///
/// # Errors
/// A reference that cannot be read, files that cannot be written.
pub(crate) fn save(
    reference: &Path,
    kind: IndexKind,
    threads: usize,
    told: Told<'_>,
) -> Result<SavedIndex, IndexError> {
    // Before it is read: a change of it meanwhile is noticed later.
    let id = FileId::read(reference, threads).map_err(unreadable(reference)).map_err(IndexError::failed)?;
    let of_bwa = match kind {
        IndexKind::Plain => from_bwa::prefix(reference),
        IndexKind::Bisulfite => None,
    };
    let Some(prefix) = of_bwa else { return sort((reference, id), kind, threads, told) };
    match convert(reference, &prefix, threads) {
        Ok((files, converted)) => write_converted(reference, id, &prefix, (&files, &converted)),
        Err(error) => {
            let words = format!("bwa's index is not used, and the suffixes are sorted: {}.", reason(&error));
            told(MakingNews::Note(&words));
            sort((reference, id), kind, threads, told)
        }
    }
}

/// The index by sorting.
fn sort(
    (reference, id): (&Path, FileId),
    kind: IndexKind,
    threads: usize,
    told: Told<'_>,
) -> Result<SavedIndex, IndexError> {
    told(MakingNews::Step("reading the reference"));
    let mut sequences = Sequences::read(reference).map_err(IndexError::failed)?;
    sequences
        .names()
        .try_for_each(|(name, comment)| check_line(reference, name, comment))
        .map_err(IndexError::failed)?;
    let bases = sequences.bases() as u64;
    let mut files = Vec::new();
    if let Some(original) = kind.original(reference) {
        files.extend(packed(&sequences, &original)?);
        sequences = sequences.converted();
    }
    let prefix = kind.prefix(reference);
    files.extend(packed(&sequences, &prefix)?);
    let step = |step: Step| match step {
        Step::Block { number, count } => told(MakingNews::Step(&format!("block {number} of {count}"))),
        Step::Places => told(MakingNews::Step("places, and writing it")),
    };
    files.push(written(path(&prefix, ENDINGS[0]), |out| fm::write(sequences.strands(), threads, &step, out))?);
    complete((reference, id), kind, files, None)?;
    Ok(SavedIndex::built(kind.estimated_bytes(bases)))
}

/// Writes the bases, and what is said of them, into files that begin with `prefix`.
fn packed(sequences: &Sequences, prefix: &Path) -> Result<[Written; 3], IndexError> {
    Ok([
        written(path(prefix, ENDINGS[1]), |out| sequences.write_pac(out))?,
        written(path(prefix, ENDINGS[2]), |out| sequences.write_ann(out))?,
        written(path(prefix, ENDINGS[3]), |out| sequences.write_amb(out))?,
    ])
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
    let new = [
        written(path(reference, ENDINGS[1]), |out| out.write_all(&files.pac))?,
        written(path(reference, ENDINGS[2]), |out| out.write_all(&files.ann))?,
        written(path(reference, ENDINGS[3]), |out| out.write_all(&files.amb))?,
        written(path(reference, ENDINGS[0]), |out| converted.write(out))?,
    ];
    let (from, to) = (path(prefix, ALT), path(reference, ALT));
    let (mut alt, mut notes) = (None, Vec::new());
    if from.exists() && !to.exists() {
        let text = crate::files::text(&from).map_err(IndexError::failed)?;
        alt = Some(written(to.clone(), |out| out.write_all(&text))?.file);
        notes.push(format!("{}: it was copied to {}.", from.display(), to.display()));
    }
    complete((reference, id), IndexKind::Plain, new.into(), alt)?;
    let made_from = Some(path(prefix, from_bwa::ENDINGS[0]));
    Ok(SavedIndex { made_from, notes, ..SavedIndex::built(converted.bytes() + files.pac.len() as u64) })
}

/// Gives all files their names, that of the FM-index last, and that with their digests.
fn complete(
    (reference, id): (&Path, FileId),
    kind: IndexKind,
    files: Vec<Written>,
    alt: Option<NewFile>,
) -> Result<(), IndexError> {
    let digests: Vec<_> = files.iter().map(|written| (written.path.clone(), written.digest.clone())).collect();
    let digests = Digests::new((reference, id), &digests);
    let digests = written(Digests::path(reference, kind), |out| digests.write(out))?;
    let files = alt.into_iter().chain(files.into_iter().chain([digests]).map(|written| written.file)).collect();
    zerohop_process::complete_all(files).map_err(IndexError::failed)
}

/// A file of the index under a temporary name, with its digest.
struct Written {
    path: PathBuf,
    file: NewFile,
    digest: String,
}

fn written(
    path: PathBuf,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<Written, IndexError> {
    let file = NewFile::create(&path).map_err(IndexError::failed)?;
    let mut out = DigestWriter::new(BufWriter::new(file.file()));
    let digest =
        write(&mut out).and_then(|()| out.finish()).map_err(WriteError::of(&path)).map_err(IndexError::failed)?;
    Ok(Written { path, file, digest })
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
