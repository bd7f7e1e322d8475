//! Reads that were not aligned, as reads again: FASTQ, or BAM without positions. They are those of the fragments of
//! which no read is aligned; on request also pairs of which one is.

use crate::bam;
use crate::sam_line::{BamPlace, Fields};
use crate::tags::RecordContext;
use std::path::{Path, PathBuf};
use zerohop_bgzf::BlockCompressor;
use zerohop_model::chunk::Chunk;
use zerohop_model::complement;
use zerohop_model::error::{Error, shown};
use zerohop_model::record::{FIRST, LAST, MATE_UNMAPPED, PAIRED, QC_FAIL, REVERSE, UNMAPPED, is_primary};
use zerohop_model::sink::OfRead;

/// Where reads go that were not aligned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unaligned {
    /// The file, or two for the first and the second mates of pairs: regular ones.
    pub paths: Vec<PathBuf>,
    /// The format of the file.
    pub format: ReadsFormat,
    /// Whether pairs go there if one mate is not aligned; otherwise only if neither is.
    pub any_mate: bool,
}

/// The format of a file of reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadsFormat {
    /// FASTQ.
    Fastq,
    /// Text in blocks (BGZF), which gzip can read.
    FastqGz {
        /// 0 to 9, as for [`crate::Format::Bam`].
        level: u8,
    },
    /// BAM.
    Bam {
        /// Of the compression, 0 to 9.
        level: u8,
    },
}

impl ReadsFormat {
    /// That of a file with this name; none if its suffix promises another one.
    ///
    /// ```
    /// use zerohop_output::ReadsFormat;
    /// assert_eq!(ReadsFormat::of_name("x.fq.gz".as_ref(), 6), Some(ReadsFormat::FastqGz { level: 6 }));
    /// assert_eq!(ReadsFormat::of_name("x.sam".as_ref(), 6), None);
    /// ```
    pub fn of_name(path: &Path, level: u8) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match () {
            () if ends(&[".bam"]) => Some(ReadsFormat::Bam { level }),
            () if ends(&[".fq.gz", ".fastq.gz"]) => Some(ReadsFormat::FastqGz { level }),
            () if ends(&[".fq", ".fastq"]) => Some(ReadsFormat::Fastq),
            () => None,
        }
    }

    /// What a file ends with.
    pub(crate) fn end_marker(self) -> &'static [u8] {
        match self {
            ReadsFormat::Fastq => b"",
            ReadsFormat::FastqGz { .. } | ReadsFormat::Bam { .. } => &zerohop_bgzf::END_MARKER,
        }
    }

    fn compressor(self) -> Option<BlockCompressor> {
        match self {
            ReadsFormat::Fastq => None,
            ReadsFormat::FastqGz { level } | ReadsFormat::Bam { level } => Some(BlockCompressor::new(level)),
        }
    }
}

/// A read, as it was sequenced.
struct SequencedRead<'a> {
    fields: Fields<'a>,
    /// The header line of FASTQ.
    header: &'a [u8],
    comment: &'a [u8],
    has_qualities: bool,
}

/// Writes the reads of one worker's chunks.
pub(crate) struct UnalignedEncoder {
    any_mate: bool,
    is_bam: bool,
    compressor: Option<BlockCompressor>,
    /// What goes to each file.
    raw: Vec<Vec<u8>>,
    /// Scratch: a header line; bases and qualities.
    header: Vec<u8>,
    bases: (Vec<u8>, Vec<u8>),
}

impl UnalignedEncoder {
    pub(crate) fn new(wanted: &Unaligned) -> Self {
        UnalignedEncoder {
            any_mate: wanted.any_mate,
            is_bam: matches!(wanted.format, ReadsFormat::Bam { .. }),
            compressor: wanted.format.compressor(),
            raw: vec![Vec::new(); wanted.paths.len()],
            header: Vec::new(),
            bases: (Vec::new(), Vec::new()),
        }
    }

    pub(crate) fn begin(&mut self) {
        self.raw.iter_mut().for_each(Vec::clear);
    }

    /// Whether it takes a fragment whose records have these flags. One without records was not aligned.
    pub(crate) fn wants(&self, flags: impl Iterator<Item = u16>) -> bool {
        let (mut records, mut unmapped, mut is_paired) = (0, 0, false);
        for flags in flags.filter(|flags| is_primary(*flags)) {
            records += 1;
            unmapped += u32::from(flags & UNMAPPED != 0);
            is_paired |= flags & PAIRED != 0;
        }
        let is_one_missing = is_paired && records == 1;
        unmapped == records || self.any_mate && (unmapped > 0 || is_one_missing)
    }

    /// Takes the reads of a fragment of a chunk.
    ///
    /// # Errors
    /// [`Error::Record`] if BAM cannot hold one.
    pub(crate) fn add(&mut self, context: &RecordContext<'_>, chunk: &Chunk, fragment: usize) -> Result<(), Error> {
        let reads = chunk.fragment(fragment);
        for (mate, read) in reads.reads().enumerate() {
            let flags = match (reads.mate.is_some(), mate) {
                (false, _) => UNMAPPED,
                (true, 0) => PAIRED | UNMAPPED | MATE_UNMAPPED | FIRST,
                (true, _) => PAIRED | UNMAPPED | MATE_UNMAPPED | LAST,
            };
            let flags = flags | if read.failed_filters { QC_FAIL } else { 0 };
            self.header.clear();
            self.header.extend_from_slice(chunk.header(fragment, mate));
            if chunk.comments_are_fields && !read.comment.is_empty() {
                self.header.push(b'\t');
                self.header.extend_from_slice(read.comment);
            }
            let fields = fields(read.name, flags, read.seq, read.qual.unwrap_or_default());
            let header = std::mem::take(&mut self.header);
            let has_qualities = read.qual.is_some();
            let put =
                self.put(context, &SequencedRead { fields, header: &header, comment: read.comment, has_qualities });
            self.header = header;
            put?;
        }
        Ok(())
    }

    /// Takes the other mate of a record of this read. The program wrote none of it, for it has no bases.
    ///
    /// # Errors
    /// [`Error::Record`] if BAM cannot hold it.
    pub(crate) fn add_mate_without_bases(
        &mut self,
        context: &RecordContext<'_>,
        record: &Fields<'_>,
        OfRead { pair_flags, has_qualities, .. }: OfRead<'_>,
    ) -> Result<(), Error> {
        let flags = pair_flags ^ (FIRST | LAST) | UNMAPPED | MATE_UNMAPPED;
        let fields = fields(record.name, flags, &[], &[]);
        self.put(context, &SequencedRead { fields, header: record.name, comment: &[], has_qualities })
    }

    /// Takes a read from the primary record that a program wrote of it.
    ///
    /// # Errors
    /// [`Error::Record`] if BAM cannot hold it; [`Error::Damaged`] if its qualities are lost.
    pub(crate) fn add_record(
        &mut self,
        context: &RecordContext<'_>,
        record: &Fields<'_>,
        OfRead { comment, failed_filters, has_qualities, pair_flags }: OfRead<'_>,
    ) -> Result<(), Error> {
        let own_qual = qualities(record, has_qualities)?;
        let flags = record.flags & QC_FAIL
            | pair_flags
            | UNMAPPED
            | if pair_flags & PAIRED != 0 { MATE_UNMAPPED } else { 0 }
            | if failed_filters { QC_FAIL } else { 0 };
        let (mut seq, mut qual) = std::mem::take(&mut self.bases);
        seq.clear();
        qual.clear();
        match record.flags & REVERSE {
            0 => {
                seq.extend_from_slice(record.seq);
                qual.extend_from_slice(own_qual);
            }
            _ => {
                seq.extend(complement::CODES.reversed(record.seq));
                qual.extend(own_qual.iter().rev());
            }
        }
        let header = if comment.is_empty() { record.name.to_vec() } else { [record.name, comment].join(&b'\t') };
        let fields = fields(record.name, flags, &seq, &qual);
        let put = self.put(context, &SequencedRead { fields, header: &header, comment, has_qualities });
        self.bases = (seq, qual);
        put
    }

    fn put(&mut self, context: &RecordContext<'_>, read: &SequencedRead<'_>) -> Result<(), Error> {
        let Fields { seq, qual, flags, .. } = read.fields;
        let raw = match &mut self.raw[..] {
            [_, second] if flags & LAST != 0 => second,
            [first, ..] => first,
            [] => return Ok(()),
        };
        if self.is_bam {
            return bam::put_read(context, &read.fields, read.comment, raw);
        }
        let has_qualities = read.has_qualities;
        raw.push(if has_qualities { b'@' } else { b'>' });
        raw.extend_from_slice(read.header);
        raw.push(b'\n');
        raw.extend_from_slice(seq);
        raw.push(b'\n');
        if has_qualities {
            raw.extend_from_slice(b"+\n");
            raw.extend_from_slice(qual);
            raw.push(b'\n');
        }
        Ok(())
    }

    /// The bytes of the chunk for a file, the first of which is 0, in `out`, which is empty.
    ///
    /// # Errors
    /// [`Error::Internal`] if compression fails.
    pub(crate) fn finish(&mut self, file: usize, mut out: Vec<u8>) -> Result<Vec<u8>, Error> {
        let raw = self.raw.get(file).map_or(&[][..], Vec::as_slice);
        match &mut self.compressor {
            Some(compressor) => compressor.compress(raw, &mut out)?,
            None => out.extend_from_slice(raw),
        }
        Ok(out)
    }
}

/// The qualities of the read that a program's record is of: none of FASTA, whatever the program has made up.
fn qualities<'a>(record: &Fields<'a>, has_qualities: bool) -> Result<&'a [u8], Error> {
    match (has_qualities, record.qual.len(), record.seq.len()) {
        (false, ..) => Ok(&[]),
        // In SAM it looks like none.
        (true, 0, 1) => Ok(b"*"),
        (true, qualities, bases) if qualities == bases => Ok(record.qual),
        _ => {
            let what = "the aligner's record lacks the qualities of its read: the read cannot be written as it was";
            Err(Error::Damaged { read: shown(record.name), what: what.to_owned() })
        }
    }
}

fn fields<'a>(name: &'a [u8], flags: u16, seq: &'a [u8], qual: &'a [u8]) -> Fields<'a> {
    let (place, mate_place) = (BamPlace::NONE, BamPlace::NONE);
    Fields { name, flags, place, mapq: 0, cigar: &[], mate_place, template_length: 0, seq, qual }
}
