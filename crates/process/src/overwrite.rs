//! What a command reads is not what it writes: the one rule that keeps inputs from being destroyed.
//!
//! Every command lists its inputs (the index that it uses among them, once it is found) and its outputs. [`apart`]
//! refuses an output that is one of the inputs, by device and inode, so under any name, through links too.
//! [`replaceable`] refuses to write over a file that holds something else than the command writes there.

use crate::file::number_of_open_file;
use crate::system::LIBRARY_MAGIC;
use flate2::read::MultiGzDecoder;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How much of a file is looked at to tell what it holds, in bytes.
const LOOKED_AT: u64 = 1 << 18;
/// How many links are followed to a file that is not there, as many as Linux follows.
const MOST_LINKS: usize = 40;
/// What a library that 'zerohop mpi' built has in its table of names.
const OF_OUR_LIBRARY: &[u8] = b"zh_version";

/// Why an output must not be written over the file that is there.
#[derive(Debug, thiserror::Error)]
pub enum OverwriteError {
    /// An output cannot be written: the words say why.
    #[error("{0}")]
    Refused(String),
    /// The file that is there cannot be read.
    #[error("{}: it exists, and cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What a file is, whatever its name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FileIdentity {
    /// A regular file or a pipe, by device and inode.
    There(u64, u64),
    /// A file that would be made: device and inode of its folder, and its name there.
    ToBeMade(u64, u64, OsString),
}

/// What `path` is; none for a device or a folder, and for what cannot be made either.
fn identity(path: &Path) -> Option<FileIdentity> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = path.metadata() {
            let is_one = found.is_file() || found.file_type().is_fifo();
            return is_one.then(|| FileIdentity::There(found.dev(), found.ino()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match path.read_link() {
            Ok(to) => path = folder.join(to),
            Err(_) => {
                let folder = folder.metadata().ok()?;
                return Some(FileIdentity::ToBeMade(folder.dev(), folder.ino(), path.file_name()?.to_owned()));
            }
        }
    }
    None
}

/// The same, where `-` is `standard`, the name of an open file.
fn identity_with(path: &Path, standard: &str) -> Option<FileIdentity> {
    identity(if path == Path::new("-") { Path::new(standard) } else { path })
}

/// Whether both name one regular file; hard links are files of their own here, for nothing is lost by reading both.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| path.canonicalize().ok().filter(|file| file.is_file());
    file(one).is_some_and(|one| file(other) == Some(one))
}

/// Refuses outputs that would destroy an input or each other, or go into the same pipe. `-` is standard input or
/// standard output.
///
/// # Errors
/// [`OverwriteError::Refused`].
pub fn apart<'i, 'o>(
    inputs: impl IntoIterator<Item = &'i PathBuf>,
    outputs: impl IntoIterator<Item = &'o PathBuf>,
) -> Result<(), OverwriteError> {
    let inputs: Vec<FileIdentity> = inputs.into_iter().filter_map(|path| identity_with(path, "/dev/stdin")).collect();
    let mut before: Vec<(FileIdentity, &PathBuf)> = Vec::new();
    for path in outputs {
        let Some(file) = identity_with(path, "/dev/stdout") else { continue };
        if inputs.contains(&file) {
            return Err(OverwriteError::Refused(format!(
                "{} is an input and cannot be the output too",
                path.display()
            )));
        }
        if let Some((_, other)) = before.iter().find(|(other, _)| *other == file) {
            let is_standard = other.as_path() == Path::new("-");
            let what =
                if is_standard { "is standard output, which is an output already" } else { "was given as two outputs" };
            return Err(OverwriteError::Refused(format!("{} {what}", path.display())));
        }
        before.push((file, path));
    }
    Ok(())
}

/// Whether these are lines of six numbers; a file without records has none.
fn is_crai(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_number = |field: &[u8]| {
        let digits = field.strip_prefix(b"-").unwrap_or(field);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    let mut fields = line.split(|&byte| byte == b'\t');
    head.is_empty() || fields.clone().count() == 6 && fields.all(is_number)
}

/// What an output holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Alignments: SAM, BAM or CRAM.
    Records,
    /// Mappings: PAF.
    Paf,
    /// A table of two columns, a name and a number.
    Numbers,
    /// An index of BAM or CRAM: BAI, CSI or CRAI.
    Index,
    /// Metrics as Picard writes them.
    Metrics,
    /// Tables of fgbio's GroupReadsByUmi.
    UmiMetrics,
    /// What samtools or mosdepth says of records, or an index of that.
    Report,
    /// JSON.
    Json,
    /// A page in HTML.
    Page,
    /// Reads in FASTQ.
    Fastq,
    /// Reads in FASTQ, FASTA or BAM.
    Reads,
    /// The library that 'zerohop mpi' builds.
    Library,
}

impl Kind {
    /// In words that go on after "it does not hold".
    fn words(self) -> &'static str {
        match self {
            Kind::Records => "SAM, BAM or CRAM",
            Kind::Paf => "PAF",
            Kind::Numbers => "a table of names and numbers",
            Kind::Index => "an index of BAM or CRAM",
            Kind::Metrics => "metrics of Picard",
            Kind::UmiMetrics => "a table of UMIs",
            Kind::Report => "a report of samtools, mosdepth, Picard or MethylDackel",
            Kind::Json => "JSON",
            Kind::Page => "an HTML page",
            Kind::Fastq => "FASTQ",
            Kind::Reads => "FASTQ, FASTA or BAM",
            Kind::Library => "a library that 'zerohop mpi' built",
        }
    }

    /// Whether what begins with `head`, inflated, may be of this kind.
    fn begins(self, head: &[u8]) -> bool {
        let text = head.trim_ascii_start();
        let starts = |word: &[u8]| text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word);
        match self {
            Kind::Records => head.starts_with(b"BAM\x01") || head.starts_with(b"CRAM") || is_sam(head),
            Kind::Paf => is_paf(head),
            Kind::Numbers => is_table_of_numbers(head),
            Kind::Index => head.starts_with(b"BAI\x01") || head.starts_with(b"CSI\x01") || is_crai(head),
            Kind::Metrics => starts(b"## htsjdk.samtools.metrics"),
            Kind::UmiMetrics => starts(b"family_size\t") || starts(b"accepted_sam_records\t"),
            Kind::Report => is_report(head),
            // BGZF of no reads, too: no file but a compressed one is looked at that holds nothing.
            Kind::Reads => head.is_empty() || head.starts_with(b"BAM\x01") || starts(b">") || Kind::Fastq.begins(head),
            Kind::Json => starts(b"{") || starts(b"["),
            Kind::Page => starts(b"<!doctype html") || starts(b"<html"),
            Kind::Fastq => head.starts_with(b"@") && !is_sam(head),
            Kind::Library => {
                head.starts_with(LIBRARY_MAGIC)
                    && head.windows(OF_OUR_LIBRARY.len()).any(|window| window == OF_OUR_LIBRARY)
            }
        }
    }
}

/// The fields of the first line of a text.
fn first_fields(text: &[u8]) -> Vec<&[u8]> {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.split(|&byte| byte == b'\t').collect()
}

fn is_paf(text: &[u8]) -> bool {
    let fields = first_fields(text);
    let is_number = |at: usize| fields[at].iter().all(u8::is_ascii_digit) && !fields[at].is_empty();
    fields.len() >= 12
        && matches!(fields[4], b"+" | b"-" | b"*")
        && [1, 2, 3, 6, 7, 8, 9, 10, 11].into_iter().all(is_number)
}

fn is_table_of_numbers(text: &[u8]) -> bool {
    let is_number = |field: &[u8]| std::str::from_utf8(field).is_ok_and(|field| field.parse::<f64>().is_ok());
    matches!(first_fields(text)[..], [_, number] if is_number(number))
}

/// Whether these are the first bytes of `samtools stats`, `flagstat`, `idxstats` or `coverage`, of a file of mosdepth,
/// or of its index, of Picard or MethylDackel: a table whose last column is a number, but for those with a heading.
fn is_report(text: &[u8]) -> bool {
    let heading = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has_heading = heading.starts_with(b"## htsjdk.samtools.metrics")
        || heading.starts_with(b"# This file was produced by samtools stats")
        || heading.ends_with(b" in total (QC-passed reads + QC-failed reads)")
        || heading.starts_with(b"#rname\t")
        || heading.starts_with(b"chrom\tlength\t")
        || heading.starts_with(b"#chrom\tstart\tend\tregion\t")
        || heading.starts_with(b"track type=\"bedGraph\"")
        || heading.starts_with(b"chrBase\tchr\tbase\t")
        || text.starts_with(b"CSI\x01");
    // Or bounds of it: `4:100`, `100:inf`.
    let is_number = |field: &[u8]| {
        let mut bounds = std::str::from_utf8(field).unwrap_or_default().split(':');
        bounds.all(|bound| bound.parse::<f64>().is_ok())
    };
    let fields = first_fields(text);
    has_heading || text.is_empty() || matches!(fields[..], [_, _, .., last] if fields.len() < 6 && is_number(last))
}

/// Whether a text begins with a line of a SAM header, or with a record.
fn is_sam(text: &[u8]) -> bool {
    let fields = first_fields(text);
    let is_header = matches!(fields[0], [b'@', one, two] if one.is_ascii_uppercase() && two.is_ascii_uppercase());
    let is_number = |at: usize| fields[at].iter().all(u8::is_ascii_digit) && !fields[at].is_empty();
    fields.len() > 1 && is_header || fields.len() >= 11 && [1, 3, 4].into_iter().all(is_number)
}

/// Refuses to write over a file that holds something else than `kind`: it was named by mistake. What is not there, is
/// empty, or is no regular file may be written to.
///
/// # Errors
/// [`OverwriteError`]; a file that cannot be read is refused too, for nobody knows what it holds.
pub fn replaceable(path: &Path, kind: Kind) -> Result<(), OverwriteError> {
    // What is written to an open file comes behind what is there.
    let is_open = path == Path::new("-") || number_of_open_file(path).is_some();
    if is_open || path.metadata().map_or(true, |found| !found.is_file() || found.len() == 0) {
        return Ok(());
    }
    let head = head(path).map_err(|source| OverwriteError::Unreadable { path: path.to_owned(), source })?;
    if kind.begins(&head) {
        return Ok(());
    }
    Err(OverwriteError::Refused(format!(
        "{} exists and does not hold {}: remove it first, or name another file",
        path.display(),
        kind.words()
    )))
}

/// The first bytes of a file, inflated if it is in gzip.
fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut head)?;
    if !head.starts_with(&[0x1f, 0x8b]) {
        return Ok(head);
    }
    let mut inflated = Vec::new();
    // What is damaged, or goes on behind what was read, is an error after the first bytes, which are enough.
    let _ = MultiGzDecoder::new(&head[..]).take(LOOKED_AT).read_to_end(&mut inflated);
    Ok(inflated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_under_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("reads"), "x").unwrap();
        std::fs::hard_link(path("reads"), path("hard")).unwrap();
        std::os::unix::fs::symlink("reads", path("soft")).unwrap();
        std::os::unix::fs::symlink(dir.path(), path("folder")).unwrap();
        let refused = |output: PathBuf| apart([&path("reads")], [&output]).is_err();
        for name in ["reads", "./reads", "hard", "soft", "folder/reads"] {
            assert!(refused(path(name)), "{name}");
        }
        assert!(!refused(path("other")) && !refused(PathBuf::from("/dev/null")));
        assert!(
            apart([], [&path("new"), &path("folder/new")]).is_err(),
            "two outputs are one file that is not there yet"
        );
        apart([], [&PathBuf::from("/dev/null"), &PathBuf::from("/dev/null")]).unwrap();
        for (name, to) in [("link", "new"), ("folder/link 2", "link"), ("circle", "circle")] {
            std::os::unix::fs::symlink(to, path(name)).unwrap();
        }
        assert!(apart([], [&path("link"), &path("link 2")]).is_err(), "two links to one file that is not there yet");
        assert!(apart([], [&path("link 2"), &path("new")]).is_err());
        apart([], [&path("circle"), &path("new")]).unwrap();
    }

    #[test]
    fn contents_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("there");
        let (sam, record, fastq) = ("@HD\tVN:1.6\n", "r\t4\t*\t0\t0\t*\t*\t0\t0\tA\t#\n", "@r\nA\n+\n#\n");
        let (json, html) = ("\n{\"a\": 1}", "<!DOCTYPE html>\n<html>");
        let texts = [
            (sam, Some(Kind::Records)),
            (record, Some(Kind::Records)),
            ("BAM\u{1}", Some(Kind::Records)),
            (fastq, Some(Kind::Fastq)),
            ("BAI\u{1}", Some(Kind::Index)),
            ("CSI\u{1}", Some(Kind::Index)),
            (json, Some(Kind::Json)),
            (html, Some(Kind::Page)),
            ("\u{7f}ELF zh_version", Some(Kind::Library)),
            ("r/1\t150\t0\t150\t-\tchr1\t5386\t10\t160\t150\t150\t255\n", Some(Kind::Paf)),
            ("r\t1500\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\trl:i:0\n", Some(Kind::Paf)),
            ("chr1\t0.500000\nchr2\tNaN\n", Some(Kind::Numbers)),
            ("\u{7f}ELF", None),
            (">contig\nACGT\n", None),
            ("a\tb\tc\td\te\tf\tg\th\ti\tj\tk\n", None),
            ("\n", None),
        ];
        let all =
            [Kind::Records, Kind::Paf, Kind::Numbers, Kind::Index, Kind::Json, Kind::Page, Kind::Fastq, Kind::Library];
        for (text, holds) in texts {
            for packed in [false, true] {
                let mut file = File::create(&path).unwrap();
                match packed {
                    false => std::io::Write::write_all(&mut file, text.as_bytes()).unwrap(),
                    true => {
                        let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
                        std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
                        gzip.finish().unwrap();
                    }
                }
                for kind in all {
                    assert_eq!(replaceable(&path, kind).is_ok(), holds == Some(kind), "{text:?} as {kind:?}");
                }
            }
        }
        File::create(&path).unwrap();
        replaceable(&path, Kind::Records).unwrap();
        replaceable(&dir.path().join("new"), Kind::Json).unwrap();
        replaceable(Path::new("/dev/null"), Kind::Json).unwrap();
    }
}
