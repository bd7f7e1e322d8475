//! Tests of the whole path against its naive twin: the crate's own functions, called as its `map_chunk` calls them.

use crate::{IndexParameters, ReferenceBuilder, Strobealign, StrobealignOptions};
use fastrand::Rng;
use strobealign::aligner::Aligner;
use strobealign::chain::get_sorted_chains;
use strobealign::chainer::Chainer;
use strobealign::details::Details;
use strobealign::insertsize::InsertSizeDistribution;
use strobealign::io::record::SequenceRecord;
use strobealign::io::sam::SamRecord;
use strobealign::modes::align::{SamOutput, align_paired_end_read, align_single_end_read};
use strobealign::refseq::ContigPosition;
use zerohop_model::alignment::{Aligned, Alignment, Alignments};
use zerohop_model::chunk::{Chunk, ReadSpans, Span};
use zerohop_model::engine::Engine;
use zerohop_model::record::{self, Contig, Locus, TagValue};

/// What is compared of a record.
type Shown = (Alignment, String, Vec<(String, i64)>);

fn base(random: &mut Rng) -> u8 {
    b"ACGT"[random.usize(..4)]
}

/// Contigs of random bases, with repeats that are alike but not the same, in both orientations, and a low-complexity
/// stretch.
fn contigs(random: &mut Rng, lengths: &[usize]) -> Vec<Vec<u8>> {
    let repeat: Vec<u8> = (0..600).map(|_| base(random)).collect();
    let reverse = strobealign::revcomp::reverse_complement(&repeat);
    let contig = |&length: &usize| {
        let mut bases: Vec<u8> = (0..length).map(|_| base(random)).collect();
        for at in (0..length.saturating_sub(2000)).step_by(1500) {
            let source = if random.bool() { &repeat } else { &reverse };
            let divergence = random.usize(..4);
            for (to, &from) in bases[at..].iter_mut().zip(source) {
                *to = if random.usize(..100) < divergence { base(random) } else { from };
            }
        }
        if length > 5000 {
            bases[3000..3300].fill(b'A');
        }
        bases
    };
    lengths.iter().map(contig).collect()
}

/// A read of this stretch with errors.
fn read_of(random: &mut Rng, stretch: &[u8], is_reverse: bool) -> Vec<u8> {
    let errors = [0, 0, 1, 3, 8][random.usize(..5)];
    let mut read = stretch.to_vec();
    for _ in 0..errors {
        let at = random.usize(..read.len());
        match random.usize(..6) {
            0 => drop(read.remove(at)),
            1 => read.insert(at, base(random)),
            2 => read[at] = b'N',
            _ => read[at] = base(random),
        }
    }
    if random.usize(..8) == 0 {
        let cut = random.usize(..40);
        read[..cut].fill_with(|| base(random));
    }
    if is_reverse { strobealign::revcomp::reverse_complement(&read) } else { read }
}

/// Mates of a pair, which mostly lie as they should.
fn pair(random: &mut Rng, contigs: &[Vec<u8>]) -> [Vec<u8>; 2] {
    let contig = &contigs[random.usize(..contigs.len())];
    if contig.len() < 1200 || random.usize(..20) == 0 {
        return [80, 30].map(|length| (0..length).map(|_| base(random)).collect());
    }
    let (length, insert) = (150 - random.usize(..4) * 25, random.usize(200..600));
    let start = random.usize(..contig.len() - 1000);
    let (first, second) = (&contig[start..start + length], &contig[start + insert..start + insert + length]);
    let faces = random.usize(..15) > 0;
    let (mut first, mut second) = (read_of(random, first, false), read_of(random, second, faces));
    if random.usize(..15) == 0 {
        second = (0..100).map(|_| base(random)).collect();
    }
    if random.bool() {
        std::mem::swap(&mut first, &mut second);
    }
    [first, second]
}

fn chunk_of(fragments: &[[Vec<u8>; 2]], is_paired: bool) -> Chunk {
    let mut chunk = Chunk::default();
    let span = |seq: &[u8], bytes: &mut Vec<u8>| {
        let start = bytes.len() as u32;
        bytes.extend_from_slice(seq);
        ReadSpans { seq: Span { start, end: bytes.len() as u32 }, ..ReadSpans::default() }
    };
    for [first, second] in fragments {
        let bytes = &mut chunk.text[0].bytes;
        let (first, second) = (span(first, bytes), is_paired.then(|| span(second, bytes)));
        chunk.push(first, second);
    }
    chunk
}

fn shown(aligned: &Aligned<'_>) -> Shown {
    let cigar = aligned.cigar.iter().map(|op| format!("{}{}", op.length(), char::from(op.letter()))).collect();
    let tag = |tag: record::Tag<'_>| match tag.value {
        TagValue::Int(value) => (String::from_utf8_lossy(&tag.key).into_owned(), value),
        other => panic!("{other:?}"),
    };
    (aligned.alignment, cigar, aligned.tags().map(tag).collect())
}

fn their_shown(sam: &SamRecord, is_paired: bool) -> Shown {
    let contig = |name: &Option<String>| name.as_ref().map(|name| name.parse::<u32>().unwrap());
    let own = contig(&sam.reference_name);
    let mate = if sam.mate_reference_name.as_deref() == Some("=") { own } else { contig(&sam.mate_reference_name) };
    let locus = |contig: Option<u32>, position: Option<ContigPosition>| {
        contig.zip(position).map(|(contig, position)| Locus { contig, position: position.0 })
    };
    let alignment = Alignment {
        mate: u8::from(is_paired && sam.flags & record::LAST != 0),
        flags: sam.flags,
        locus: locus(own, sam.pos),
        mapq: sam.mapq,
        mate_locus: locus(mate, sam.mate_pos),
        template_length: sam.template_len.unwrap_or(0),
        has_no_bases: sam.flags & record::SECONDARY != 0,
    };
    let mut tags = Vec::new();
    let mut add = |key: &str, value: i64| tags.push((key.to_owned(), value));
    sam.edit_distance.into_iter().for_each(|value| add("NM", i64::from(value)));
    sam.alignment_score.into_iter().for_each(|value| add("AS", i64::from(value)));
    if let Some(Details { chain, align, .. }) = &sam.details {
        add("na", chain.n_chains as i64);
        add("al", align.tried_alignment as i64);
        add("ga", align.gapped as i64);
        add("X0", align.best_alignments as i64);
        if is_paired {
            add("mr", align.mate_rescue as i64);
        }
    }
    (alignment, sam.cigar.as_ref().map(ToString::to_string).unwrap_or_default(), tags)
}

/// The records of the crate's functions.
fn theirs(engine: &Strobealign, fragments: &[[Vec<u8>; 2]], is_paired: bool) -> Vec<Vec<Shown>> {
    let (options, k) = (&engine.options, engine.tables.k());
    let reference = engine.reference.as_theirs();
    let index = engine.tables.as_theirs(&reference.starts);
    let chainer = Chainer::new(k, options.chaining.clone());
    let aligner = match options.use_ssw {
        true => Aligner::new_ssw_only(options.scores),
        false => Aligner::new(options.scores, k, options.bandwidth),
    };
    let output = SamOutput::new(options.details, options.eqx, None, false);
    let (mut rng, mut insert_sizes) = (Rng::with_seed(0), InsertSizeDistribution::new());
    let record = |seq: &[u8]| SequenceRecord::new(String::new(), None, seq.to_vec(), None);
    let (rescue_distance, strategy) = (engine.mapping.rescue_distance, engine.mapping.mcs_strategy);
    let mut all = Vec::new();
    for [first, second] in fragments {
        let chain =
            |seq: &[u8], rng: &mut Rng| get_sorted_chains(seq, &index, &chainer, rescue_distance, strategy, rng);
        let (mut chains, details, hits) = chain(first, &mut rng);
        let records = if is_paired {
            let (mate_chains, mate_details, mate_hits) = chain(second, &mut rng);
            align_paired_end_read(
                &record(first),
                &record(second),
                &reference,
                &engine.mapping,
                &output,
                &index.parameters,
                &mut insert_sizes,
                [hits, mate_hits],
                [details, mate_details],
                &mut [chains, mate_chains],
                &aligner,
                &mut rng,
            )
            .0
        } else {
            align_single_end_read(
                &record(first),
                &index,
                &reference,
                &engine.mapping,
                &output,
                hits,
                details,
                &mut chains,
                &aligner,
                &mut rng,
            )
            .0
        };
        let is_left_out = options.only_mapped && !records.iter().any(SamRecord::is_mapped);
        let kept = records.iter().filter(|_| !is_left_out);
        all.push(kept.map(|sam| their_shown(sam, is_paired)).collect());
    }
    all
}

/// Compares all records of random reads, mapped with these options.
fn check(options: &str, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let contigs = contigs(&mut random, &[40_000, 25, 9_000, 0, 20_000]);
    let mut builder = ReferenceBuilder::default();
    contigs.iter().for_each(|bases| builder.push(bases));
    let named = |(i, bases): (usize, &Vec<u8>)| Contig::new(format!("c{i}"), bases.len() as u64);
    let reference = builder.build(contigs.iter().enumerate().map(named).collect()).unwrap();
    let options_ = StrobealignOptions::parse(options).unwrap();
    let parameters = IndexParameters::new(&options_, 150).unwrap();
    let engine = Strobealign::build(reference, &parameters, 2, |_| {}).unwrap().with_options(options_);
    let fragments: Vec<_> = (0..700).map(|_| pair(&mut random, &contigs)).collect();
    for is_paired in [true, false] {
        let theirs = theirs(&engine, &fragments, is_paired);
        let (mut mapper, mut out) = (engine.mapper(), Alignments::default());
        // Twice, as memory is used again.
        for _ in 0..2 {
            out.clear();
            mapper.map(&chunk_of(&fragments, is_paired), &mut out).unwrap();
            assert_eq!(out.fragments(), fragments.len());
            for (i, theirs) in theirs.iter().enumerate() {
                let ours: Vec<Shown> = out.fragment(i).map(|aligned| shown(&aligned)).collect();
                assert_eq!(&ours, theirs, "fragment {i}, seed {seed}, options '{options}', paired {is_paired}");
            }
        }
    }
}

#[test]
fn records_are_those_of_the_crate() {
    (0..3).for_each(|seed| check("", seed));
}

#[test]
fn with_options_that_decide_what_is_looked_for() {
    for options in [
        "--mcs rescue",
        "--mcs off",
        "--mcs first-strobe",
        "-R 0",
        "-R 20 -f 0.3",
        "-S 0.1 -M 3",
        "-H 3 --gd 0.5 --gl 0.2 --vp 0.3 --mw 0.2 --mr 40",
        "-k 16 -s 12",
        "-b 8 --aux-len 40",
        "-b 20 --aux-len 63",
        "-P noisy",
    ] {
        check(options, 10);
    }
}

#[test]
fn with_options_that_decide_what_is_written() {
    for options in [
        "--details --eqx",
        "-N 5 --details",
        "-N 2 --st 0.5 -U",
        "--ssw --details",
        "-A 1 -B 4 -O 6 -E 1 -L 5",
        "-A 3 -B 1 -O 2 -E 2 -L 0",
        "-U --bw 8",
    ] {
        check(options, 20);
    }
}
