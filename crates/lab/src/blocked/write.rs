//! Writes blocks.

use super::{Blocking, Coding, LINES, Sidecar, block_digest, padding_place, spaces_before};
use crate::serial::{SerialText, fastq_texts};
use std::io::Write;
use std::path::PathBuf;
use zerohop_input::fastq_parser;
use zerohop_model::chunk::{Chunk, Text};
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::Parse;

/// Appends data to a buffer as BGZF members.
pub type Compress<'c> = dyn FnMut(&[u8], &mut Vec<u8>) -> Result<(), Error> + 'c;

/// The file that is being written.
struct Blocked<'o, 'c> {
    out: &'o mut dyn Write,
    compress: Option<&'o mut Compress<'c>>,
    packed: Vec<u8>,
    sidecar: Sidecar,
    digest: u64,
}

/// Writes the reads of `input` to `out` in blocks, compressed if `compress` is given, and says what was written.
///
/// # Errors
/// What reading says; damaged reads; reads that do not fit a block; what `failed` makes of an error of the output.
pub fn block(
    input: &mut BlockInput,
    blocking: Blocking,
    out: &mut dyn Write,
    compress: Option<&mut Compress<'_>>,
    failed: &dyn Fn(std::io::Error) -> Error,
) -> Result<Sidecar, Error> {
    let coding = if compress.is_some() { Coding::Bgzf } else { Coding::Plain };
    let sidecar = Sidecar::new(coding, blocking.bytes, blocking.reads);
    let mut blocked = Blocked { out, compress, packed: Vec::new(), sidecar, digest: 0 };
    let (mut text, mut chunk) = (Text::default(), Chunk::default());
    loop {
        text.bytes.clear();
        let reads = input.text.take_records(blocking.reads, &mut text)?;
        if reads == 0 {
            break;
        }
        // The parser changes what it parses.
        chunk.text[0].clone_from(&text);
        input.parser.parse(&mut chunk)?;
        blocked.add(&mut text, reads).map_err(|why| match why {
            BlockRefusal::TooLarge(bytes) => {
                let (first, last) = (text.first_record + 1, text.first_record + reads as u64);
                let what = format!(
                    "reads {first} to {last} have {bytes} bytes and do not fit a block of {}: give larger blocks, or \
                     fewer reads for each",
                    blocking.bytes
                );
                Error::from(input.text.fault(what))
            }
            BlockRefusal::Output(error) => failed(error),
            BlockRefusal::Other(error) => error,
        })?;
    }
    // Nothing but blank lines is left.
    blocked.sidecar.blank = String::from_utf8_lossy(input.text.look(1)?).into_owned();
    blocked.sidecar.original_bytes += blocked.sidecar.blank.len() as u64;
    blocked.sidecar.digest = format!("{:016x}", blocked.digest);
    if coding == Coding::Bgzf {
        blocked.out.write_all(&zerohop_bgzf::END_MARKER).map_err(failed)?;
        blocked.sidecar.file_bytes += zerohop_bgzf::END_MARKER.len() as u64;
    }
    blocked.out.flush().map_err(failed)?;
    Ok(blocked.sidecar)
}

/// Why a block was not written.
enum BlockRefusal {
    TooLarge(usize),
    Output(std::io::Error),
    Other(Error),
}

impl Blocked<'_, '_> {
    fn add(&mut self, text: &mut Text, reads: usize) -> Result<(), BlockRefusal> {
        let bytes = &mut text.bytes;
        let sidecar = &mut self.sidecar;
        sidecar.original_bytes += bytes.len() as u64;
        sidecar.reads += reads as u64;
        sidecar.ends_added = missing_ends(bytes, reads);
        bytes.extend(std::iter::repeat_n(b'\n', sidecar.ends_added));
        let Some(padding) = sidecar.block_bytes.checked_sub(bytes.len()) else {
            return Err(BlockRefusal::TooLarge(bytes.len()));
        };
        let place = padding_place(bytes);
        let own = spaces_before(bytes, place);
        if own > 0 {
            sidecar.own_spaces.push((sidecar.blocks, own));
        }
        bytes.splice(place..place, std::iter::repeat_n(b' ', padding));
        self.digest = self.digest.wrapping_add(block_digest(sidecar.blocks, bytes));
        sidecar.blocks += 1;
        let written: &[u8] = match &mut self.compress {
            None => bytes,
            Some(compress) => {
                self.packed.clear();
                compress(bytes, &mut self.packed).map_err(BlockRefusal::Other)?;
                &self.packed
            }
        };
        sidecar.file_bytes += written.len() as u64;
        self.out.write_all(written).map_err(BlockRefusal::Output)
    }
}

/// Line ends that the last of so many reads lacks.
fn missing_ends(text: &[u8], reads: usize) -> usize {
    (LINES * reads).saturating_sub(memchr::memchr_iter(b'\n', text).count())
}

/// A file of reads that will be blocked.
pub struct BlockInput {
    pub(super) text: SerialText,
    /// Of single reads.
    pub(super) parser: Box<dyn Parse>,
}

/// Opens `files`, one or two with the mates in step, to be blocked.
///
/// # Errors
/// Files that cannot be opened, or hold something else than FASTQ.
pub fn inputs(files: &[PathBuf], max_read_bases: usize) -> Result<Vec<BlockInput>, InputError> {
    let texts = fastq_texts(files, "can be blocked", max_read_bases)?;
    let parsers = files.chunks(1).map(|file| fastq_parser(file, max_read_bases));
    Ok(texts.into_iter().zip(parsers).map(|(text, parser)| BlockInput { text, parser }).collect())
}

impl BlockInput {
    /// Gives the size of every record, in bytes, to `each`.
    ///
    /// # Errors
    /// What reading says.
    pub fn for_each_size(mut self, mut each: impl FnMut(usize)) -> Result<(), InputError> {
        let mut text = Text::default();
        while self.text.take_records(1, &mut text)? > 0 {
            each(text.bytes.len() + missing_ends(&text.bytes, 1));
            text.bytes.clear();
        }
        Ok(())
    }
}
