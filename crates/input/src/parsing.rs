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
use crate::lane::OpenLane;
use crate::parse::Parser;
use crate::serial::{ParsedAlready, RecordTaker, Timed};
use std::path::Path;
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

impl OpenLane {
    /// Makes it lane number `lane` of a run, whose chunks are taken one after the other. Chunks are what `parsing`
    /// says, wherever an engine would cut them.
    ///
    /// # Errors
    /// FASTA or interleaved reads; for [`Parsing::Block`] a file that was not blocked.
    pub fn deal_serially(self, lane: u32, parsing: Parsing, max_read_bases: usize) -> Result<Lane, InputError> {
        self.refuse_all_but_fastq("can be taken one after the other")?;
        let parser = self.parser(max_read_bases);
        if parsing == Parsing::Block {
            return self.deal_blocks(lane, parser);
        }
        let texts = self.serial_texts(max_read_bases)?;
        let (fragments, under_lock) = match parsing {
            Parsing::Original => (1, Some(parser.clone())),
            Parsing::Batch(fragments) => (fragments.max(1), None),
            Parsing::Deferred | Parsing::Block => (1, None),
        };
        let taker = RecordTaker::new(lane, texts, fragments, under_lock);
        let parser: Box<dyn Parse> =
            if parsing == Parsing::Original { Box::new(ParsedAlready) } else { Box::new(parser) };
        Ok(Lane { deal: Deal::Emit(Box::new(Timed::new(taker))), parser })
    }

    fn deal_blocks(self, lane: u32, parser: Parser) -> Result<Lane, InputError> {
        let sidecars: Vec<Sidecar> = self.paths().map(|path| sidecar_of(path)).collect::<Result<_, _>>()?;
        if let ([one, two], Some(path)) = (&sidecars[..], self.paths().nth(1))
            && (one.reads_per_block, one.reads) != (two.reads_per_block, two.reads)
        {
            let what = "its blocks hold other reads than those of its mates: block both files in one go";
            return Err(InputError::new(path, what));
        }
        let texts = self.block_texts()?;
        let taker = BlockTaker::new(lane, texts, &sidecars);
        let parser = BlockParser::new(parser, &sidecars);
        Ok(Lane { deal: Deal::Emit(Box::new(Timed::new(taker))), parser: Box::new(parser) })
    }
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
