//! The encoder of one worker: records in the format of the output, packed as the output wants them.

use crate::keys::{KeyMaker, MOST_OF_NAME};
use crate::marking::Signer;
use crate::mate_tags::MateTags;
use crate::mates::Mate;
use crate::records::{Bases, EngineRecord, Shown, is_aligned};
use crate::sam_line::{Fields, LineParser, with_flag};
use crate::tags::{Comments, RecordContext, push_fields};
use crate::unaligned::UnalignedEncoder;
use crate::{bam, sam};
use zerohop_bgzf::BlockCompressor;
use zerohop_cram::record::Fixed;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, shown};
use zerohop_model::record::{FIRST, LAST, PAIRED, QC_FAIL, is_primary};
use zerohop_model::sink::{Elsewhere, Encoder, OfRead};
use zerohop_sort::push_frame;

/// How a record is written.
pub(crate) enum Form {
    /// As a line of text.
    Sam {
        /// What a line's optional fields would be in BAM.
        translated: Vec<u8>,
        /// Whether a comment of the chunk was looked at: those of one file are alike.
        has_looked: bool,
    },
    /// As BAM has it.
    Bam,
}

impl Form {
    pub(crate) const SAM: Self = Form::Sam { translated: Vec::new(), has_looked: false };

    /// Looks whether samtools can read a record.
    fn look(&mut self, context: &RecordContext<'_>, name: &[u8], comment: &[u8]) {
        let Form::Sam { translated, has_looked } = self else { return };
        if name.len() > bam::MAX_NAME {
            context.doubts.note_long_name();
        }
        if !*has_looked && context.comments == Comments::AsTheyStand && !comment.is_empty() {
            *has_looked = true;
            translated.clear();
            if push_fields(translated, comment).is_err() {
                context.doubts.note_odd_comment();
            }
        }
    }
}

/// What is made of the records of a chunk.
pub(crate) enum ChunkPacking<'h> {
    /// They are put one after the other.
    Plain,
    /// They are compressed into BGZF blocks that no other chunk shares.
    Blocks(BlockCompressor),
    /// They are encoded into containers of CRAM that no other chunk shares.
    Containers(Box<zerohop_cram::CramEncoder<'h>>),
    /// Each gets its key, to be sorted; and its signatures, if duplicates are looked for.
    Frames(KeyMaker<'h>, Option<Box<Signer<'h>>>),
}

impl<'h> ChunkPacking<'h> {
    pub(crate) fn frames(keys: KeyMaker<'h>, signer: Option<Signer<'h>>) -> Self {
        ChunkPacking::Frames(keys, signer.map(Box::new))
    }

    /// Appends a record, which `write` appends; `is_first` says whether it is the first of its fragment, and `text_of`
    /// what is in an optional field.
    fn put<'a>(
        &mut self,
        out: &mut Vec<u8>,
        (fields, is_first, mate): (&Fields<'a>, bool, Option<&'a Mate>),
        text_of: &dyn Fn([u8; 2]) -> Option<&'a [u8]>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            ChunkPacking::Plain | ChunkPacking::Blocks(_) | ChunkPacking::Containers(_) => write(out),
            ChunkPacking::Frames(keys, _) if !keys.takes(fields.name) => {
                let what = format!("its name has more than {MOST_OF_NAME} bytes, and cannot be sorted by it");
                Err(Error::Record { read: shown(fields.name), mate: usize::from(fields.flags & LAST != 0), what })
            }
            ChunkPacking::Frames(keys, signer) => {
                push_frame(out, keys.key(fields, mate, text_of)?, write)?;
                signer.as_mut().map_or(Ok(()), |signer| signer.note(fields, is_first, text_of))
            }
        }
    }
}

/// A line of a fragment that has not ended, and what it takes from its read.
struct Pending {
    line: Vec<u8>,
    comment: Vec<u8>,
    failed_filters: bool,
    has_qualities: bool,
    pair_flags: u16,
}

impl Pending {
    fn of_read(&self) -> OfRead<'_> {
        let Pending { failed_filters, has_qualities, pair_flags, .. } = *self;
        OfRead { comment: &self.comment, failed_filters, has_qualities, pair_flags }
    }
}

/// Whether reads that were not aligned are written, and bases that the engine does not show.
pub(crate) struct Beside {
    /// Whether they have records.
    pub(crate) shows_unaligned: bool,
    /// What takes them, too.
    pub(crate) unaligned: Option<UnalignedEncoder>,
    /// Whether all alignments have bases.
    pub(crate) bases_of_all: bool,
}

/// Writes records.
pub(crate) struct RecordEncoder<'h> {
    context: RecordContext<'h>,
    parser: LineParser<'h>,
    bases: Bases,
    form: Form,
    packing: ChunkPacking<'h>,
    /// Lines of a fragment that has not ended, if they are to tell of their mates.
    pending: Vec<Pending>,
    /// Whether fragments without an aligned read have records.
    shows_unaligned: bool,
    /// What takes reads that were not aligned, if something does.
    unaligned: Option<UnalignedEncoder>,
    elsewhere: Elsewhere,
    /// What is compressed at the end of the chunk, if it is.
    raw: Vec<u8>,
    out: Vec<u8>,
}

impl<'h> RecordEncoder<'h> {
    pub(crate) fn new(
        context: RecordContext<'h>,
        parser: LineParser<'h>,
        (form, packing): (Form, ChunkPacking<'h>),
        Beside { shows_unaligned, unaligned, bases_of_all }: Beside,
    ) -> Self {
        RecordEncoder {
            context,
            parser,
            bases: Bases::new(bases_of_all),
            form,
            packing,
            pending: Vec::new(),
            shows_unaligned,
            unaligned,
            elsewhere: Elsewhere::default(),
            raw: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Whether the lines of a fragment are looked at together.
    fn waits_for_fragment(&self) -> bool {
        self.context.mate_tags != MateTags::None || !self.shows_unaligned || self.unaligned.is_some()
    }

    fn write_line(
        &mut self,
        (line, of_read): (&[u8], OfRead<'_>),
        is_first: bool,
        mate: Option<&Mate>,
    ) -> Result<(), Error> {
        let comment = of_read.comment;
        if of_read.failed_filters
            && let Some(marked) = with_flag(line, QC_FAIL)
        {
            let of_read = OfRead { failed_filters: false, ..of_read };
            return self.write_line((&marked, of_read), is_first, mate);
        }
        let Self { context, form, packing, raw, out, .. } = self;
        let out = target(packing, raw, out);
        let line = self.parser.parse(line)?;
        let of_comment = |key| context.text_of_comment(comment, key);
        let is_other_group = |key| key == *b"RG" && context.is_other_group(line.text_of(key), comment);
        let text_of = |key| line.text_of(key).filter(|_| !is_other_group(key)).or_else(|| of_comment(key));
        form.look(context, line.fields.name, comment);
        packing.put(out, (&line.fields, is_first, mate), &text_of, |out| match form {
            Form::Sam { translated, .. } => sam::put_line(context, (&line, mate), comment, translated, out),
            Form::Bam => bam::put_line(context, (&line, mate), comment, out),
        })
    }

    /// Writes the lines of the fragment that ends here.
    fn write_pending(&mut self) -> Result<(), Error> {
        let lines = std::mem::take(&mut self.pending);
        let (mut mates, mut flags) = (Vec::new(), Vec::new());
        for Pending { line, pair_flags, .. } in &lines {
            let fields = self.parser.parse(line)?.fields;
            flags.push(fields.flags & !(PAIRED | FIRST | LAST) | pair_flags);
            mates.push(Mate::of_fields(&fields));
        }
        if let Some(unaligned) = &mut self.unaligned
            && !flags.is_empty()
            && unaligned.wants(flags.iter().copied())
        {
            // bowtie2 writes the mate that is aligned first, and none that has no bases.
            for mate in [0, LAST] {
                let at = (0..lines.len()).find(|at| is_primary(flags[*at]) && flags[*at] & LAST == mate);
                let pending = &lines[at.unwrap_or(0)];
                let fields = &self.parser.parse(&pending.line)?.fields;
                match at {
                    Some(_) => unaligned.add_record(&self.context, fields, pending.of_read())?,
                    None if pending.pair_flags & PAIRED != 0 => {
                        unaligned.add_mate_without_bases(&self.context, fields, pending.of_read())?;
                    }
                    None => continue,
                }
                self.elsewhere.unaligned += 1;
            }
        }
        if !self.shows_unaligned && !is_aligned(flags.iter().copied()) {
            self.elsewhere.not_shown += count_primary(flags.into_iter());
            return Ok(());
        }
        if self.context.mate_tags == MateTags::None {
            mates.fill(None);
        }
        let primary: Vec<usize> = (0..lines.len()).filter(|&at| mates[at].is_some()).collect();
        for (at, pending) in lines.iter().enumerate() {
            let mate = match primary[..] {
                [first, second] if self.context.mate_tags.are_for(flags[at]) => {
                    let is_of_first = flags[at] & LAST == flags[first] & LAST;
                    mates[if is_of_first { second } else { first }].as_ref()
                }
                _ => None,
            };
            self.write_line((&pending.line, pending.of_read()), at == 0, mate)?;
        }
        Ok(())
    }
}

/// Where records are appended.
fn target<'b>(packing: &ChunkPacking<'_>, raw: &'b mut Vec<u8>, out: &'b mut Vec<u8>) -> &'b mut Vec<u8> {
    match packing {
        ChunkPacking::Blocks(_) | ChunkPacking::Containers(_) => raw,
        ChunkPacking::Plain | ChunkPacking::Frames(..) => out,
    }
}

/// How many records with these flags are those of reads, not further alignments of them.
fn count_primary(flags: impl Iterator<Item = u16>) -> u64 {
    flags.filter(|flags| is_primary(*flags)).count() as u64
}

/// Records of BAM that lie one after the other.
fn records_of(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (fixed, _) = Fixed::split(bytes)?;
        let (record, rest) = bytes.split_at_checked(4 + usize::try_from(fixed.length).ok()?)?;
        bytes = rest;
        Some(record)
    })
}

impl Encoder for RecordEncoder<'_> {
    fn begin(&mut self, lane: u32, buffer: Vec<u8>) {
        self.context.lane = lane as usize;
        self.raw.clear();
        self.pending.clear();
        self.elsewhere = Elsewhere::default();
        self.unaligned.iter_mut().for_each(UnalignedEncoder::begin);
        self.out = buffer;
        if let Form::Sam { has_looked, .. } = &mut self.form {
            *has_looked = false;
        }
        if let ChunkPacking::Frames(keys, signer) = &mut self.packing {
            keys.begin(lane as usize);
            signer.iter_mut().for_each(|signer| signer.begin(lane as usize));
        }
    }

    fn encode(&mut self, chunk: &Chunk, alignments: &Alignments) -> Result<(), Error> {
        let Self { context, form, packing, raw, out, unaligned, elsewhere, shows_unaligned, .. } = self;
        for index in 0..chunk.len().min(alignments.fragments()) {
            let flags = || alignments.fragment(index).map(|aligned| aligned.alignment.flags);
            if let Some(unaligned) = unaligned
                && unaligned.wants(flags())
            {
                unaligned.add(context, chunk, index)?;
                elsewhere.unaligned += chunk.fragment(index).reads().count() as u64;
            }
            if !*shows_unaligned && !is_aligned(flags()) {
                elsewhere.not_shown += count_primary(flags());
            }
        }
        let out = target(packing, raw, out);
        let mut write = |record: &EngineRecord<'_>, out: &mut Vec<u8>| {
            form.look(context, record.fields.name, record.comment);
            match form {
                Form::Sam { .. } => {
                    sam::put(context, record, out);
                    Ok(())
                }
                Form::Bam => bam::put(context, record, out),
            }
        };
        let shown = Shown { mates: context.mate_tags, unaligned: self.shows_unaligned };
        self.bases.records(chunk, alignments, shown, |record| {
            let of_comment = |key| context.text_of_comment(record.comment, key);
            let text_of = |key| record.text_of(key).or_else(|| of_comment(key));
            packing.put(out, (&record.fields, record.is_first, record.mate), &text_of, |out| write(record, out))
        })
    }

    fn line(&mut self, line: &[u8], of_read: OfRead<'_>, is_first: bool) -> Result<(), Error> {
        let line = self.context.header.with_program(line);
        let line = &*line;
        if !self.waits_for_fragment() {
            return self.write_line((line, of_read), is_first, None);
        }
        if is_first {
            self.write_pending()?;
        }
        // Now, so that whose line it is can be told.
        self.parser.parse(line)?;
        let OfRead { comment, failed_filters, has_qualities, pair_flags } = of_read;
        let (line, comment) = (line.to_vec(), comment.to_vec());
        self.pending.push(Pending { line, comment, failed_filters, has_qualities, pair_flags });
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        self.write_pending()?;
        match &mut self.packing {
            ChunkPacking::Blocks(compressor) => compressor.compress(&self.raw, &mut self.out)?,
            ChunkPacking::Containers(encoder) => {
                records_of(&self.raw).try_for_each(|record| encoder.add(record))?;
                encoder.finish(&mut self.out)?;
            }
            ChunkPacking::Plain | ChunkPacking::Frames(_, None) => {}
            ChunkPacking::Frames(_, Some(signer)) => signer.end(&mut self.out)?,
        }
        Ok(std::mem::take(&mut self.out))
    }

    fn elsewhere(&self) -> Elsewhere {
        self.elsewhere
    }

    fn finish_beside(&mut self, file: usize, buffer: Vec<u8>) -> Result<Vec<u8>, Error> {
        self.unaligned.as_mut().map_or(Ok(Vec::new()), |unaligned| unaligned.finish(file, buffer))
    }
}
