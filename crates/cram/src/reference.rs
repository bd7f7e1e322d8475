//! The reference, as htslib reads contigs at any place of it. Nothing beside the FASTA is used: where its contigs lie
//! is seen when it is read, so no index can be of another file.

use crate::hts::HtsRefused;
use crate::md5::Md5;
use crate::system::{OPEN_FILES, in_memory};
use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerohop_model::error::{Error, InputError};
use zerohop_model::record::Contig;

/// Bytes that are written to memory together.
const BUFFER: usize = 1 << 20;

/// The reference that CRAM is encoded against: its FASTA, and where the bases of each contig lie in it.
#[derive(Debug)]
pub struct CramReference {
    /// The FASTA that was given.
    path: PathBuf,
    /// Where it is to be found, if that is not its path.
    uri: Option<String>,
    /// What is read: that FASTA, or its bases in memory.
    bases: File,
    contigs: Vec<ReferenceContig>,
}

/// Where a contig lies, and what it is.
#[derive(Debug, Default)]
struct ReferenceContig {
    name: String,
    /// In bases.
    length: u64,
    /// Where its first base is, in bytes.
    offset: u64,
    bases_of_line: u64,
    bytes_of_line: u64,
    /// Of its bases; empty if it was not wanted.
    md5: String,
    /// Whether it holds `.`, `-` or `*`.
    has_gaps: bool,
    /// How many of its bases are not known: N or `.`.
    unknown: u64,
}

/// A line of FASTA, as it lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes, with what ends it.
    pub bytes: u64,
}

/// Collects the contigs of a reference.
#[derive(Debug)]
pub struct CramReferenceBuilder {
    contigs: Vec<ReferenceContig>,
    md5: Option<Md5>,
    copy: Option<BufWriter<File>>,
    /// Bytes that were copied.
    copied: u64,
    /// The line before, if it is of the same contig and has bases: how many, and its bytes.
    line_before: Option<(u64, u64)>,
    /// Whether the lines of each contig are of equal length, but for its last one.
    has_equal_lines: bool,
}

impl CramReferenceBuilder {
    /// For a reference that is read with M5 of its contigs or without, from its file or from a copy in memory.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(with_md5: bool, in_memory: bool) -> io::Result<Self> {
        let no_memory = |HtsRefused(what): HtsRefused| io::Error::other(what);
        let md5 = with_md5.then(Md5::new).transpose().map_err(no_memory)?;
        let copy = in_memory.then(crate::system::in_memory).transpose()?;
        let copy = copy.map(|file| BufWriter::with_capacity(BUFFER, file));
        Ok(CramReferenceBuilder { contigs: Vec::new(), md5, copy, copied: 0, line_before: None, has_equal_lines: true })
    }

    /// Begins the contig `name`; the lines that follow are its bases.
    pub fn begin(&mut self, name: &str) {
        self.end_contig();
        self.contigs.push(ReferenceContig {
            name: name.to_owned(),
            length: 0,
            offset: 0,
            bases_of_line: 0,
            bytes_of_line: 0,
            md5: String::new(),
            has_gaps: false,
            unknown: 0,
        });
    }

    /// A line of its bases, in capital letters.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn push(&mut self, bases: &[u8], place: LinePlace) -> io::Result<()> {
        let Some(contig) = self.contigs.last_mut() else { return Ok(()) };
        let line = (bases.len() as u64, place.bytes);
        if bases.is_empty() {
            // What follows it lies elsewhere than equal lines would.
            self.line_before = self.line_before.map(|_| (0, place.bytes));
            return Ok(());
        }
        match self.line_before {
            None => (contig.offset, contig.bases_of_line, contig.bytes_of_line) = (place.offset, line.0, line.1),
            Some(before) => self.has_equal_lines &= before == (contig.bases_of_line, contig.bytes_of_line),
        }
        self.has_equal_lines &= line.0 <= contig.bases_of_line;
        self.line_before = Some(line);
        contig.length += line.0;
        contig.has_gaps |= bases.iter().fold(false, |any, base| any | !base.is_ascii_alphabetic());
        contig.unknown += unknown(bases);
        self.md5.iter_mut().for_each(|md5| md5.add(bases));
        self.copied += line.0;
        self.copy.as_mut().map_or(Ok(()), |copy| copy.write_all(bases))
    }

    fn end_contig(&mut self) {
        self.line_before = None;
        if let Some(contig) = self.contigs.last_mut() {
            contig.md5 = self.md5.as_mut().map(Md5::take).unwrap_or_default();
            if self.copy.is_some() {
                // A contig of the copy is one line.
                (contig.offset, contig.bases_of_line) = (self.copied - contig.length, contig.length);
                contig.bytes_of_line = contig.length;
            }
        }
    }

    /// The reference that was read from `path`. None if it can only be read from a copy in memory, and there is none:
    /// its lines are not of equal length, or it holds `.`, `-` or `*`, which htslib reads from lines as other bytes.
    ///
    /// # Errors
    /// A file that cannot be opened; too little memory.
    pub fn finish(mut self, path: &Path) -> io::Result<Option<CramReference>> {
        self.end_contig();
        let bases = match self.copy {
            Some(copy) => copy.into_inner()?,
            None if self.has_equal_lines && !self.contigs.iter().any(|contig| contig.has_gaps) => File::open(path)?,
            None => return Ok(None),
        };
        Ok(Some(CramReference { path: path.to_owned(), uri: None, bases, contigs: self.contigs }))
    }
}

/// A reference under a name for htslib.
#[derive(Debug)]
pub(crate) struct NamedReference {
    /// What htslib opens.
    pub(crate) name: CString,
    /// The index that it opens with it: to be kept until it has.
    _index: File,
}

impl CramReference {
    /// A name under which htslib finds the contigs for which `wanted` holds.
    pub(crate) fn named(&self, wanted: impl Fn(&str, u64) -> bool) -> Result<NamedReference, HtsRefused> {
        let no_memory = |_| HtsRefused("get memory for an index");
        let mut index = in_memory().map_err(no_memory)?;
        let contigs = self.contigs.iter().filter(|contig| contig.length > 0 && wanted(&contig.name, contig.length));
        let line = |contig: &ReferenceContig| {
            let ReferenceContig { name, length, offset, bases_of_line, bytes_of_line, .. } = contig;
            format!("{name}\t{length}\t{offset}\t{bases_of_line}\t{bytes_of_line}\n")
        };
        let text: String = contigs.map(line).collect();
        // (Where a descriptor is opened anew, its place may be shared.)
        index.write_all(text.as_bytes()).and_then(|()| index.rewind()).map_err(no_memory)?;
        (&self.bases).rewind().map_err(|_| HtsRefused("go to the beginning of the reference"))?;
        let [bases, of_index] = [&self.bases, &index].map(|file| format!("zerohop:{OPEN_FILES}/{}", file.as_raw_fd()));
        let name = CString::new(format!("{bases}##idx##{of_index}")).map_err(|_| HtsRefused("name the reference"))?;
        Ok(NamedReference { name, _index: index })
    }

    /// The same, which readers of CRAM are to find there (UR of @SQ).
    #[must_use]
    pub fn found_at(self, uri: Option<String>) -> Self {
        CramReference { uri, ..self }
    }

    /// Where readers of CRAM find it: its absolute path, if nothing else was said. None if that is no text of a header.
    pub(crate) fn uri(&self) -> Option<String> {
        let path = || std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone()).to_str().map(str::to_owned);
        self.uri.clone().or_else(path).filter(|uri| !uri.contains(char::is_control))
    }

    /// The path of the FASTA.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lengths of the contigs, by their names.
    pub(crate) fn lengths(&self) -> HashMap<&str, u64> {
        self.contigs.iter().map(|contig| (&*contig.name, contig.length)).collect()
    }

    /// The M5 of each contig, by its name.
    pub(crate) fn digests(&self) -> HashMap<&str, &str> {
        self.contigs.iter().map(|contig| (&*contig.name, &*contig.md5)).collect()
    }

    /// Which of these contigs hold `.`, `-` or `*`.
    pub(crate) fn have_gaps(&self, contigs: &[Contig]) -> Vec<bool> {
        let gaps: HashMap<&str, bool> = self.contigs.iter().map(|contig| (&*contig.name, contig.has_gaps)).collect();
        contigs.iter().map(|contig| gaps.get(&*contig.name).copied().unwrap_or(false)).collect()
    }

    /// Refuses it if it is not the reference of these contigs.
    pub(crate) fn check(&self, contigs: &[Contig]) -> Result<(), Error> {
        let fault = |what: String| Error::from(InputError::new(&self.path, what));
        let lengths = self.lengths();
        for Contig { name, length, .. } in contigs {
            match lengths.get(&**name) {
                Some(0) => {
                    return Err(fault(format!("contig '{name}' has no bases, and CRAM cannot hold it: leave it out")));
                }
                Some(found) if found == length => {}
                Some(found) => {
                    return Err(fault(format!(
                        "contig '{name}' has {found} bases here, but {length} in the index of the aligner: give the \
                         FASTA that the index was made of, or make the index anew"
                    )));
                }
                None => {
                    return Err(fault(format!(
                        "contig '{name}' of the aligner's index is not in this FASTA: give the FASTA that the index \
                         was made of, or make the index anew"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Bases of the contigs of a header, out of a reference.
#[derive(Debug)]
pub struct ContigBases {
    path: PathBuf,
    bases: File,
    /// In the order of the header.
    contigs: Vec<ReferenceContig>,
}

impl CramReference {
    /// Those of these contigs.
    ///
    /// # Errors
    /// It is not the reference of these contigs.
    pub fn into_contigs(self, contigs: &[Contig]) -> Result<ContigBases, Error> {
        let with_bases: Vec<Contig> = contigs.iter().filter(|contig| contig.length > 0).cloned().collect();
        self.check(&with_bases)?;
        let CramReference { path, bases, contigs: own, .. } = self;
        let mut by_name: HashMap<String, ReferenceContig> =
            own.into_iter().map(|contig| (contig.name.clone(), contig)).collect();
        let contig = |contig: &Contig| by_name.remove(&*contig.name).unwrap_or_default();
        let contigs = contigs.iter().map(contig).collect();
        Ok(ContigBases { path, bases, contigs })
    }
}

impl ContigBases {
    /// How many bases a contig has.
    pub fn length(&self, contig: u32) -> u32 {
        self.contigs.get(contig as usize).map_or(0, |contig| contig.length as u32)
    }

    /// How many bases all contigs have.
    pub fn all_bases(&self) -> u64 {
        self.contigs.iter().map(|contig| contig.length).sum()
    }

    /// How many bases of all contigs are known: not N or `.`.
    pub fn known_bases(&self) -> u64 {
        self.contigs.iter().map(|contig| contig.length - contig.unknown).sum()
    }

    /// Appends the bases at these positions, from 0, as far as the contig has them, as they stand in the file.
    ///
    /// # Errors
    /// [`Error::Input`]: what the system says.
    pub fn read(&self, contig: u32, positions: Range<u32>, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(contig) = self.contigs.get(contig as usize) else { return Ok(()) };
        let ReferenceContig { length, offset, bases_of_line, bytes_of_line, .. } = *contig;
        let (start, end) = (u64::from(positions.start).min(length), u64::from(positions.end).min(length));
        if start >= end {
            return Ok(());
        }
        let place = |at: u64| offset + at / bases_of_line * bytes_of_line + at % bases_of_line;
        let mut lines = vec![0; (place(end - 1) + 1 - place(start)) as usize];
        let fault = |e: io::Error| InputError::new(&self.path, format!("it cannot be read: {e}"));
        self.bases.read_exact_at(&mut lines, place(start)).map_err(fault)?;
        // What ends a line lies between its bases and those of the next.
        let (mut at, mut rest) = (start, &*lines);
        while at < end {
            let of_line = (bases_of_line - at % bases_of_line).min(end - at);
            out.extend_from_slice(&rest[..of_line as usize]);
            at += of_line;
            rest = rest.get((of_line + bytes_of_line - bases_of_line) as usize..).unwrap_or_default();
        }
        Ok(())
    }
}

/// How many of these bases, in capital letters, are not known.
fn unknown(bases: &[u8]) -> u64 {
    /// So many can be counted in a byte.
    const IN_A_BYTE: usize = 128;
    let count = |some: &[u8]| some.iter().fold(0u8, |count, &base| count + u8::from(base == b'N' || base == b'.'));
    bases.chunks(IN_A_BYTE).map(|some| u64::from(count(some))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference that lines of contigs make; none if it cannot be read from its file.
    fn built(contigs: &[&[&str]], in_memory: bool) -> Option<CramReference> {
        let mut builder = CramReferenceBuilder::new(true, in_memory).unwrap();
        let mut offset = 0;
        for lines in contigs {
            builder.begin("c");
            offset += 3;
            for line in *lines {
                let bases = line.trim_ascii_end().as_bytes();
                builder.push(bases, LinePlace { offset, bytes: line.len() as u64 }).unwrap();
                offset += line.len() as u64;
            }
        }
        builder.finish(Path::new("/dev/null")).unwrap()
    }

    #[test]
    fn lines_of_equal_length_are_read_from_the_file() {
        let place = |lines: &[&str]| {
            let reference = built(&[lines], false)?;
            let ReferenceContig { length, offset, bases_of_line, bytes_of_line, .. } = reference.contigs[0];
            Some((length, offset, bases_of_line, bytes_of_line))
        };
        assert_eq!(place(&["ACG\n", "TTT\n", "AA\n"]), Some((8, 3, 3, 4)));
        assert_eq!(place(&["ACG\r\n", "TTT\r\n", "A"]), Some((7, 3, 3, 5)));
        assert_eq!(place(&["\n", "ACG\n", "A\n", "\n", "\n"]), Some((4, 4, 3, 4)), "blank lines around");
        assert_eq!(place(&["ACGTACGT"]), Some((8, 3, 8, 8)));
        for odd in [
            &["ACG\n", "TT\n", "AA\n"][..],
            &["ACG\n", "TTTT\n"],
            &["ACG\n", "TTT\r\n", "AA\n"],
            &["ACG\n", "\n", "AA\n"],
            &["AC\r\n", "TTT\n"],
            &["ACG\n", "T.T\n"],
        ] {
            assert_eq!(place(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn bases_are_read_across_lines() {
        let path = std::env::temp_dir().join(format!("zerohop-cram-{}.fa", std::process::id()));
        std::fs::write(&path, ">b\nacgt\nTTAA\nG\n>a\r\nCCC\r\nCAG\r\n").unwrap();
        let mut builder = CramReferenceBuilder::new(false, false).unwrap();
        let b = [(&b"ACGT"[..], 3, 5), (b"TTAA", 8, 5), (b"G", 13, 2)];
        let a = [(&b"CCC"[..], 19, 5), (b"CAG", 24, 5)];
        builder.begin("b");
        b.into_iter().for_each(|(bases, offset, bytes)| builder.push(bases, LinePlace { offset, bytes }).unwrap());
        builder.begin("a");
        a.into_iter().for_each(|(bases, offset, bytes)| builder.push(bases, LinePlace { offset, bytes }).unwrap());
        let contigs = [("a", 6), ("none", 0), ("b", 9)].map(|(name, length)| Contig::new(name, length));
        let reference = builder.finish(&path).unwrap().unwrap();
        let bases = reference.into_contigs(&contigs).unwrap();
        std::fs::remove_file(&path).unwrap();
        let read = |contig: u32, positions: Range<u32>| {
            let mut out = Vec::new();
            bases.read(contig, positions, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!([read(2, 0..9), read(2, 3..5), read(2, 8..20), read(2, 9..12)], ["acgtTTAAG", "tT", "G", ""]);
        assert_eq!([read(0, 0..6), read(0, 2..4), read(1, 0..5), read(7, 0..5)], ["CCCCAG", "CC", "", ""]);
        assert_eq!([bases.length(0), bases.length(1), bases.length(2)], [6, 0, 9]);
    }

    #[test]
    fn a_copy_has_a_line_of_each_contig() {
        let reference = built(&[&["AC\n", "\n", "-.*TT\r\n"], &["GG\n"]], true).unwrap();
        let mut all = [0; 9];
        reference.bases.read_exact_at(&mut all, 0).unwrap();
        assert_eq!(&all, b"AC-.*TTGG");
        let places: Vec<_> = reference.contigs.iter().map(|c| (c.offset, c.length, c.has_gaps)).collect();
        assert_eq!(places, [(0, 7, true), (7, 2, false)]);
        let digests: Vec<&str> = reference.contigs.iter().map(|contig| &*contig.md5).collect();
        assert_eq!(digests, ["dd8627b60aed44d35e17e95cb2b9928b", "86d8d92aba9ecf9bbf89f69cb3e49588"]);
    }
}
