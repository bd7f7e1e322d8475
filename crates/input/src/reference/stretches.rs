//! A reference in plain FASTA as a row of stretches, each of which a thread can read by itself.
//!
//! They are read twice: first the bases of each are counted ([`Stretches::count`]), so that it is known where they
//! belong ([`ReferenceLayout`]), then they are taken ([`Stretches::take`]). What is in any way odd is left to
//! [`super::read`], the naive twin, which says what is wrong with it.

use super::{is_base, wrong_name};
use crate::errors::read_fault;
use crate::header;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerohop_model::error::InputError;
use zerohop_model::record::Contig;

/// Bytes of a stretch, about: what each thread holds.
pub const STRETCH: u64 = 2 << 20;
/// A line that is longer than this may lie in several stretches. No header line is.
const LONG_LINE: u64 = 1 << 16;

/// The file, and where it is divided.
pub struct Stretches {
    path: PathBuf,
    file: File,
    /// Where stretches begin, in bytes, and whether inside a line.
    starts: Vec<(u64, bool)>,
    length: u64,
}

/// What a stretch holds.
pub struct Counted {
    /// Bases before its first header line: they belong to the contig before.
    first_bases: u64,
    /// The contigs that begin in it, with as many bases as it has of them.
    contigs: Vec<Contig>,
    ends_in_header: bool,
}

/// How many bases all stretches hold, and of which contigs.
pub struct ReferenceLayout {
    /// All contigs.
    pub contigs: Vec<Contig>,
    /// Which bases each stretch has, counted from the first base of the file.
    pub bases: Vec<Range<u64>>,
}

/// A line, or as much of one as lies in a stretch.
enum ReferenceLine<'t> {
    Header(&'t [u8]),
    Bases(&'t [u8]),
}

impl Stretches {
    /// Divides the file at `path` into stretches of about so many bytes ([`STRETCH`]). `None` if it is not plain, not a
    /// regular file, or cannot be opened.
    pub fn open(path: &Path, stretch: u64) -> Option<Self> {
        Stretches::divide(path, stretch).ok().flatten()
    }

    fn divide(path: &Path, stretch: u64) -> io::Result<Option<Self>> {
        // A pipe could be opened once only.
        if !std::fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut first = [0; 1];
        if file.read_at(&mut first, 0)? == 0 || first != *b">" {
            return Ok(None);
        }
        let mut starts = vec![(0, false)];
        let mut ahead = vec![0; stretch.min(LONG_LINE) as usize];
        for at in (stretch..length).step_by(stretch as usize) {
            // From the byte before: a line may begin right here.
            let read = file.read_at(&mut ahead, at - 1)?;
            match ahead[..read].iter().position(|&byte| byte == b'\n') {
                Some(newline) => starts.push((at + newline as u64, false)),
                // The last line of the file, which may be a header line, has no end.
                None if at - 1 + read as u64 == length => {}
                None => starts.push((at, true)),
            }
        }
        starts.retain(|&(start, _)| start < length);
        Ok(Some(Stretches { path: path.to_owned(), file, starts, length }))
    }

    /// The number of stretches.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Always false: a reference has at least one stretch.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Counts what stretch `i` holds. `None` if anything is odd.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn count(&self, i: usize) -> Result<Option<Counted>, InputError> {
        let text = self.text(i)?;
        let mut counted = Counted { first_bases: 0, contigs: Vec::new(), ends_in_header: false };
        for line in self.lines(i, &text) {
            match line {
                ReferenceLine::Header(header) => {
                    let (name, _) = header::split(header);
                    counted.contigs.push(Contig::new(String::from_utf8_lossy(name).into_owned(), 0));
                    counted.ends_in_header = true;
                }
                ReferenceLine::Bases(bases) if bases.iter().fold(true, |all, &byte| all & is_base(byte)) => {
                    let contig = counted.contigs.last_mut();
                    *contig.map_or(&mut counted.first_bases, |contig| &mut contig.length) += bases.len() as u64;
                    counted.ends_in_header = false;
                }
                ReferenceLine::Bases(_) => return Ok(None),
            }
        }
        counted.ends_in_header &= text.last() != Some(&b'\n');
        Ok(Some(counted))
    }

    /// What all stretches hold, of which these are the counts, in order. `None` if anything is odd.
    pub fn layout(&self, counted: Vec<Counted>) -> Option<ReferenceLayout> {
        let mut layout = ReferenceLayout { contigs: Vec::new(), bases: Vec::new() };
        let mut is_in_header = false;
        for (counted, &(_, is_in_line)) in counted.into_iter().zip(&self.starts) {
            if is_in_header && is_in_line {
                return None;
            }
            is_in_header = counted.ends_in_header;
            let start = layout.bases.last().map_or(0, |before| before.end);
            let bases = counted.first_bases + counted.contigs.iter().map(|contig| contig.length).sum::<u64>();
            layout.bases.push(start..start + bases);
            match layout.contigs.last_mut() {
                Some(contig) => contig.length += counted.first_bases,
                None if counted.first_bases > 0 => return None,
                None => {}
            }
            layout.contigs.extend(counted.contigs);
        }
        let names: HashSet<&str> = layout.contigs.iter().map(|contig| contig.name.as_str()).collect();
        let is_odd = |contig: &Contig| wrong_name(&contig.name).is_some() || contig.too_long().is_some();
        let is_plain = names.len() == layout.contigs.len() && !layout.contigs.iter().any(is_odd);
        (is_plain && layout.bases.iter().any(|bases| !bases.is_empty())).then_some(layout)
    }

    /// Hands the bases of stretch `i` to `take`, line by line.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn take(&self, i: usize, mut take: impl FnMut(&[u8])) -> Result<(), InputError> {
        let text = self.text(i)?;
        for line in self.lines(i, &text) {
            if let ReferenceLine::Bases(bases) = line {
                take(bases);
            }
        }
        Ok(())
    }

    /// What is said of a file whose bases were others when they were counted.
    pub fn changed(&self) -> InputError {
        InputError::new(&self.path, "the file changed while it was read: wait until it is complete, and try again")
    }

    /// Where stretch `i` ends.
    fn end(&self, i: usize) -> u64 {
        self.starts.get(i + 1).map_or(self.length, |&(start, _)| start)
    }

    fn text(&self, i: usize) -> Result<Vec<u8>, InputError> {
        let (start, _) = self.starts[i];
        let mut text = vec![0; (self.end(i) - start) as usize];
        match self.file.read_exact_at(&mut text, start) {
            Ok(()) => Ok(text),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Err(self.changed()),
            Err(e) => Err(read_fault(&self.path, &e)),
        }
    }

    fn lines<'t>(&self, i: usize, text: &'t [u8]) -> impl Iterator<Item = ReferenceLine<'t>> {
        let (_, mut is_in_line) = self.starts[i];
        let is_last = i + 1 == self.starts.len();
        text.split_inclusive(|&byte| byte == b'\n').map(move |line| {
            let is_whole = line.ends_with(b"\n") || is_last;
            let trimmed = if is_whole { line.trim_ascii_end() } else { line };
            match trimmed.strip_prefix(b">") {
                Some(header) if !std::mem::take(&mut is_in_line) => ReferenceLine::Header(header),
                _ => {
                    is_in_line = false;
                    ReferenceLine::Bases(trimmed)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Piece, read};
    use proptest::prelude::*;

    /// Contigs and bases, or that anything is odd.
    fn in_stretches(path: &Path, stretch: u64) -> Option<(Vec<Contig>, Vec<u8>)> {
        let stretches = Stretches::open(path, stretch)?;
        assert!(!stretches.is_empty());
        let counted: Option<Vec<_>> = (0..stretches.len()).map(|i| stretches.count(i).unwrap()).collect();
        let layout = stretches.layout(counted?)?;
        let mut all = Vec::new();
        for (i, bases) in layout.bases.iter().enumerate() {
            assert_eq!(bases.start, all.len() as u64);
            stretches.take(i, |line| all.extend_from_slice(line)).unwrap();
            assert_eq!(bases.end, all.len() as u64);
        }
        Some((layout.contigs, all))
    }

    /// A contig: its name, what follows that, bases to a line, and its bases.
    fn contig() -> impl Strategy<Value = String> {
        let name = prop_oneof![9 => "[a-z]{2}", 1 => Just("x".to_owned())];
        let comment = prop_oneof![Just(""), Just(" "), Just(" of N"), Just("\tACGTACGTACGTACGT")];
        let width = prop_oneof![Just(7usize), Just(60), Just(500)];
        let bases = prop_oneof![9 => "[ACGTNacgtn*.-]{0,900}", 1 => "[A-Z >1\r]{1,20}"];
        (name, comment, width, bases).prop_map(|(name, comment, width, bases)| {
            let lines: Vec<&[u8]> = bases.as_bytes().chunks(width).collect();
            format!(">{name}{comment}\n{}\n", String::from_utf8_lossy(&lines.join(&b'\n')))
        })
    }

    proptest! {
        #[test]
        fn stretches_hold_what_is_read_in_order(
            contigs in proptest::collection::vec(contig(), 1..6),
            is_of_windows in any::<bool>(),
            cut in 0usize..9,
            stretch in 40u64..400,
        ) {
            let text = contigs.concat();
            let text = if is_of_windows { text.replace('\n', "\r\n") } else { text };
            let text = &text.as_bytes()[..text.len().saturating_sub(cut)];
            let file = tempfile::NamedTempFile::new()?;
            std::fs::write(file.path(), text)?;
            let mut bases = Vec::new();
            let take = |piece: Piece<'_>| bases.extend_from_slice(piece.bases().unwrap_or_default());
            let in_order = read(file.path(), take).map(|contigs| (contigs, bases)).ok();
            // All is found but what is wrong: no header line is as long as a stretch.
            prop_assert_eq!(in_stretches(file.path(), stretch), in_order);
        }
    }

    #[test]
    fn a_header_line_without_an_end_lies_in_one_stretch() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = format!(">a\n{}\n>b {}", "ACGT\n".repeat(18), "x".repeat(20));
        std::fs::write(file.path(), text).unwrap();
        assert_eq!(in_stretches(file.path(), 100).unwrap().0.len(), 2);
    }

    #[test]
    fn what_is_not_plain_fasta_is_left_to_the_twin() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in [&b""[..], b"\n>a\nAC\n", b"\x1f\x8b", b"ACGT\n"] {
            std::fs::write(file.path(), text).unwrap();
            assert!(Stretches::open(file.path(), 100).is_none());
        }
        assert!(Stretches::open(Path::new("/dev/null"), 100).is_none());
        assert!(Stretches::open(Path::new("/nonexistent"), 100).is_none());
    }

    #[test]
    fn a_file_that_shrinks_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b">a\nACGT\nACGT\nACGT\n").unwrap();
        let stretches = Stretches::open(file.path(), 10).unwrap();
        std::fs::write(file.path(), b">a\nACGT\n").unwrap();
        let last = stretches.count(stretches.len() - 1).err().unwrap();
        assert!(last.to_string().contains("the file changed while it was read"), "{last}");
    }
}
