//! An index of minimap2 is refused, or read: never a panic, nor memory beyond a few times the file's own size. What is
//! read maps a read.
//!
//! Input: a file, behind its first four bytes.
#![cfg_attr(fuzzing, no_main)]

use zerohop_engine_rammap::Provider;
use zerohop_fuzz::files::Regular;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::index::{IndexProvider, Wanted};

/// The first bytes.
const MAGIC: &[u8] = b"MMI\x02";

zerohop_fuzz::target!(|data: &[u8]| {
    let file = Regular::new(&[MAGIC, data].concat());
    let wanted = Wanted { reference: file.path(), mean_read_length: 0, anew: false, arguments: "" };
    let Ok(source) = Provider.find(&wanted) else { return };
    let Ok(engine) = source.make(1, Box::new(|| ())) else { return };
    assert!(!engine.contigs().iter().any(|contig| contig.name.is_empty()));
    let (mut chunk, mut out) = (Chunk::default(), Alignments::default());
    chunk.push(Default::default(), None);
    engine.mapper().map(&chunk, &mut out).unwrap();
    assert_eq!(out.fragments(), 1);
});
