//! Input as most aligners take it: from front to back, by whoever holds the reader, with more or less of the work done
//! while holding it (the O, D, B and L parsing of Langmead et al., "Scaling read aligners to hundreds of threads on
//! general-purpose processors", Bioinformatics 2019).
//!
//! - [`Parsing::Original`] (O): the next fragment is found and parsed;
//! - [`Parsing::Deferred`] (D): the bytes of the next fragment are taken; they are parsed outside;
//! - [`Parsing::Batch`] (B): the same for a number of fragments at once;
//! - [`Parsing::Block`] (L): the next block of a blocked file is taken, without looking at it.
//!
//! Each is an [`Emit`](zerohop_model::source::Emit): what a thread does under a lock, or the emitter of the farm
//! without one.

use crate::blocked::{BlockParser, BlockTaker, Sidecar};
use crate::serial::{ParsedAlready, RecordTaker, SerialText, Timed, fastq_texts};
use std::fs::File;
use std::path::{Path, PathBuf};
use zerohop_input::fastq_parser;
use zerohop_model::error::InputError;
use zerohop_model::source::{Deal, Lane, Parse};

/// How much is done by whoever holds the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsing {
    /// O: one fragment is found and parsed.
    Original,
    /// D: one fragment is found.
    Deferred,
    /// B: this many fragments are found; at least 1.
    Batch(usize),
    /// L: one block is taken.
    Block,
}

/// The lane of `files`, one or two with the mates in step, whose chunks are taken one after the other. Chunks are what
/// `parsing` says, wherever an engine would cut them.
///
/// # Errors
/// Files that cannot be opened, or hold something else than FASTQ; for [`Parsing::Block`] a file that was not blocked.
pub fn deal_serially(files: &[PathBuf], parsing: Parsing, max_read_bases: usize) -> Result<Lane, InputError> {
    let texts = fastq_texts(files, "can be taken one after the other", max_read_bases)?;
    let parser = fastq_parser(files, max_read_bases);
    let (fragments, under_lock, outside): (_, Option<Box<dyn Parse>>, Box<dyn Parse>) = match parsing {
        Parsing::Original => (1, Some(parser), Box::new(ParsedAlready)),
        Parsing::Deferred => (1, None, parser),
        Parsing::Batch(fragments) => (fragments.max(1), None, parser),
        Parsing::Block => return deal_blocks(files, parser),
    };
    let taker = RecordTaker::new(texts, fragments, under_lock);
    Ok(Lane { deal: Deal::Emit(Box::new(Timed::new(taker))), parser: outside })
}

fn deal_blocks(files: &[PathBuf], parser: Box<dyn Parse>) -> Result<Lane, InputError> {
    let sidecars: Vec<Sidecar> = files.iter().map(|path| sidecar_of(path)).collect::<Result<_, _>>()?;
    if let ([one, two], Some(path)) = (&sidecars[..], files.get(1))
        && (one.reads_per_block, one.reads) != (two.reads_per_block, two.reads)
    {
        let what = "its blocks hold other reads than those of its mates: block both files in one go";
        return Err(InputError::new(path, what));
    }
    // The bytes as they lie in the files: blocks that are compressed are inflated by whoever parses them.
    let text = |path: &PathBuf| -> Result<SerialText, InputError> {
        let raw = File::open(path).map_err(|error| InputError::new(path, format!("cannot open: {error}")))?;
        Ok(SerialText::new(path.clone(), Box::new(raw), 0))
    };
    let texts = files.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let taker = BlockTaker::new(texts.into_iter().zip(sidecars.iter().cloned()).collect());
    let parser = BlockParser::new(parser, files.iter().cloned().zip(sidecars).collect());
    Ok(Lane { deal: Deal::Emit(Box::new(Timed::new(taker))), parser: Box::new(parser) })
}

fn sidecar_of(path: &Path) -> Result<Sidecar, InputError> {
    Sidecar::of(path)?.ok_or_else(|| {
        let what = format!(
            "it is not blocked, for there is no {}: 'zerohop-lab block' makes one",
            Sidecar::path(path).display()
        );
        InputError::new(path, what)
    })
}
