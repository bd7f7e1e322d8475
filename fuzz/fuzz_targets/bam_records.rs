//! Reads come out of records of BAM, however damaged, as a naive parser finds them. Files and dealing are left to the
//! target `bam`, so that hundreds of times as many records can be tried here.
//!
//! Input: a byte that chooses how, then the records, or what records are made of.
#![cfg_attr(fuzzing, no_main)]

use std::collections::HashMap;
use zerohop_fuzz::coding::{BLOCK, bgzf};
use zerohop_fuzz::dealing::{MAX_READ_BASES, parse};
use zerohop_fuzz::files::Regular;
use zerohop_fuzz::naive_bam::{self, Lane};
use zerohop_fuzz::{Random, take};
use zerohop_input::{Carried, LaneSpec, OpenLane};
use zerohop_model::chunk::Chunk;
use zerohop_model::directed::Directed;
use zerohop_model::engine::Cut;
use zerohop_model::source::Parse;

/// One read group and no contig.
const HEADER: &[u8] = b"BAM\x01\x09\0\0\0@RG\tID:g\n\0\0\0\0";

/// What the reads of a lane are: bit 0 says that they are pairs, bit 1 that they have no qualities.
fn lane(kind: usize) -> (Lane, Box<dyn Parse>) {
    let (is_paired, lacks_qualities) = (kind & 1 != 0, kind & 2 != 0);
    let first = [u8::from(is_paired), 0, 0, 0, 1 | if lacks_qualities { 0x80 } else { 0 }, 0];
    let file = [HEADER, &naive_bam::records(&[&first[..], &[0x10, 30]].concat())].concat();
    let file = Regular::new(&bgzf(&file, BLOCK, 1, true, &mut Random::new(1)));
    let spec = LaneSpec { files: vec![file.path().to_owned()], interleaved: false };
    let directed = Directed::new(&["cd".into(), "aq".into()], &[]).unwrap();
    let carried = Carried { comments: true, read_groups: true, pairs_alone: None, programs: HashMap::new(), directed };
    let opened = OpenLane::open(&spec).unwrap().carrying(carried);
    assert_eq!((opened.is_paired(), opened.is_fasta()), (is_paired, Some(lacks_qualities)));
    let parser = opened.deal(0, Cut::at(1), MAX_READ_BASES, 1).unwrap().parser;
    let (read_groups, reversed) = (vec![b"g".to_vec()], vec![*b"cd", *b"aq"]);
    (Lane { is_paired: None, lacks_qualities, read_groups, reversed, max_read_bases: MAX_READ_BASES }, parser)
}

zerohop_fuzz::target!(|data: &[u8]| {
    let mut rest = data;
    let [how] = take(&mut rest);
    let records = if how & 4 == 0 { rest.to_vec() } else { naive_bam::records(rest) };
    // A parser remembers the reads without mates.
    let (lane, parser) = &lane(usize::from(how) % 4);
    let mut chunk = Chunk::default();
    chunk.text[0].bytes = records.clone();
    let found = parse(&**parser, &mut chunk);
    match (found, naive_bam::fragments(&records, lane)) {
        (Ok(found), Some(expected)) => assert_eq!(found, expected.concat()),
        (Err(_), None) => {}
        (Ok(_), None) => panic!("faulty records are taken"),
        (Err(error), Some(_)) => panic!("records without a fault are refused: {error}"),
    }
});
