//! One worker: reads in, records or lines of PAF out.

use crate::build::of_read;
use crate::records::Recorder;
use crate::room::Worker;
use crate::{Rammap, paf, repeats};
use rammap::align::extend::AlignmentContext;
use rammap::align::jump::jump_split;
use rammap::align::map::{AlignFlags, MapContext};
use rammap::align::pipeline::{OutputConfig, process_query};
use rammap::align::sketch::Minimizer;
use zerohop_model::alignment::{Alignments, Letters, Names};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, shown};
use zerohop_model::index::Product;
use zerohop_model::mapper::Mapper;

/// Bytes of scratch that a worker keeps for the next read; what a read took beyond that goes back to the system.
const KEPT: usize = 64 << 20;

/// One worker, with scratch of its own.
pub(crate) struct RammapMapper<'e> {
    engine: &'e Rammap,
    wanted: OutputConfig,
    alignment: AlignmentContext,
    seeds: MapContext,
    recorder: Recorder,
    /// A read as minimap2 looks at it, where it has other letters.
    bases: Vec<u8>,
    /// Minimizers of a part of a read.
    minimizers: Vec<Minimizer>,
    worker: Worker,
}

impl<'e> RammapMapper<'e> {
    pub(crate) fn new(engine: &'e Rammap) -> Self {
        let shown = &engine.options.shown;
        let wanted = OutputConfig {
            do_cigar: shown.cigar,
            do_cs: shown.cs.is_some(),
            cs_long: shown.cs == Some(true),
            do_md: shown.md,
            do_ds: shown.ds,
            eqx: shown.eqx,
            output_sam: false,
            rg_id: None,
            split_mode: false,
        };
        RammapMapper {
            engine,
            wanted,
            alignment: AlignmentContext::new(),
            seeds: MapContext::new(),
            recorder: Recorder::default(),
            bases: Vec::new(),
            minimizers: Vec::new(),
            worker: engine.room.join(),
        }
    }

    /// Adds what is found of a read.
    ///
    /// # Errors
    /// A name that is no UTF-8, which no reader lets through.
    fn read(&mut self, name: &[u8], read: &[u8], out: &mut Alignments) -> Result<(), Error> {
        let Rammap { index, map, options, annotation, .. } = self.engine;
        let bases = match read.iter().all(|base| b"ACGTN".contains(base)) {
            true => read,
            false => {
                self.bases.clear();
                self.bases.extend(read.iter().map(|base| of_read(*base)));
                &self.bases
            }
        };
        let odd = |_| Error::Record { read: shown(name), mate: 0, what: "its name is no text".to_owned() };
        let hashed = std::str::from_utf8(name).map_err(odd)?;
        let much = repeats::bytes_of(index, map, bases, &mut self.minimizers);
        // Until the read is mapped and its scratch is given back.
        let _room = (much > 0).then(|| self.worker.take(much));
        let (alignment, seeds) = (&mut self.alignment, &mut self.seeds);
        let junctions = annotation.junctions.as_ref();
        let mut query = process_query(map, index, hashed, bases, alignment, seeds, junctions, &self.wanted);
        if let Some(jumps) = annotation.jumps.as_ref().filter(|_| map.flags.contains(AlignFlags::SPLICE)) {
            for result in &mut query.results {
                jump_split(index, map, &self.wanted, bases.len(), bases, result, jumps);
            }
        }
        match options.product {
            Product::Paf => paf::add((name, bases.len()), &query, (index, map, &options.shown), out),
            _ => self.recorder.add(&query, bases.len(), (index, &options.shown), out),
        }
        self.give_back();
        Ok(())
    }

    /// Scratch that one long or repetitive read took is not kept.
    fn give_back(&mut self) {
        if self.seeds.anchors.capacity() * size_of::<Minimizer>() > KEPT {
            self.seeds = MapContext::new();
        }
        if self.alignment.target_buf.capacity() > KEPT {
            self.alignment = AlignmentContext::new();
        }
    }
}

impl Mapper for RammapMapper<'_> {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        out.show_letters(Letters::Paired);
        out.show_names(Names::Whole);
        for (index, fragment) in chunk.fragments().enumerate() {
            if fragment.mate.is_some() {
                let what = "it has a mate, and rammap aligns single reads: give each file as one of single reads, or \
                            use --engine strobealign or --engine bwa-mem";
                let read = shown(fragment.first.name);
                return Err(Error::Record { read, mate: 1, what: what.to_owned() });
            }
            self.read(chunk.name_with_number(index, 0), fragment.first.seq, out)?;
            out.end_fragment();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{contigs_of, engine, fasta};
    use fastrand::Rng;
    use rammap::align::pipeline::{ReadInfo, align_and_format_query};
    use zerohop_model::complement;
    use zerohop_model::record::{Contig, TagValue};

    /// Reads with errors, of either strand, in one or two pieces; some are short, or of letters that are no base.
    fn reads(text: &[u8], count: usize, rng: &mut Rng) -> Vec<Vec<u8>> {
        let contigs = contigs_of(text);
        let piece = |rng: &mut Rng| -> Vec<u8> {
            let (_, bases) = &contigs[rng.usize(..contigs.len())];
            let length = rng.usize(..bases.len().min(2500));
            let start = rng.usize(..=bases.len() - length);
            let piece = &bases[start..start + length];
            match rng.bool() {
                true => piece.to_vec(),
                false => complement::CODES.reversed(piece).collect(),
            }
        };
        let read = |_| {
            let pieces = [piece(rng), if rng.u8(..3) == 0 { piece(rng) } else { Vec::new() }].concat();
            let rate = [0.0, 0.01, 0.1][rng.usize(..3)];
            let with_error = |base: u8, rng: &mut Rng| match rng.f64() / rate {
                near if near < 0.3 => vec![],
                near if near < 0.6 => vec![base, b"ACGT"[rng.usize(..4)]],
                near if near < 0.95 => vec![b"ACGT"[rng.usize(..4)]],
                near if near < 1.0 => vec![b"NURYK"[rng.usize(..5)]],
                _ => vec![base],
            };
            pieces.into_iter().flat_map(|base| with_error(base, rng)).collect()
        };
        (0..count).map(read).collect()
    }

    /// A record as a line, without SEQ, QUAL and RG.
    fn lines(name: &str, out: &Alignments, contigs: &[Contig]) -> Vec<String> {
        let line = |aligned: zerohop_model::alignment::Aligned<'_>| {
            let alignment = aligned.alignment;
            let place =
                alignment.locus.map_or(("*", 0), |locus| (&*contigs[locus.contig as usize].name, locus.position + 1));
            let cigar: String =
                aligned.cigar.iter().map(|op| format!("{}{}", op.length(), char::from(op.letter()))).collect();
            let cigar = if cigar.is_empty() { "*" } else { &cigar };
            let (flags, mapq) = (alignment.flags, alignment.mapq);
            let mut line = format!("{name}\t{flags}\t{}\t{}\t{mapq}\t{cigar}", place.0, place.1);
            for tag in aligned.tags() {
                let text = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
                let value = match tag.value {
                    TagValue::Int(value) => format!("i:{value}"),
                    TagValue::Character(value) => format!("A:{}", char::from(value)),
                    TagValue::Text(value) => format!("Z:{}", text(value)),
                    TagValue::Decimal(value) => format!("f:{}", text(value)),
                    _ => continue,
                };
                line.push_str(&format!("\t{}:{value}", text(&tag.key)));
            }
            line
        };
        out.fragment(0).map(line).collect()
    }

    #[test]
    fn records_are_those_that_rammap_writes_itself() {
        let text = fasta(&[9000, 5000, 4000], 11);
        for (options, reads_of) in [
            ("-x map-ont", 60),
            ("-x map-hifi --MD", 40),
            ("-x splice --cs", 40),
            ("-x lr:hq --eqx --secondary-seq --ds", 40),
            ("-x map-pb --secondary=no --cs=long", 20),
            ("-x asm5 --no-hash-name", 20),
        ] {
            let engine = engine(&text, options);
            let mut mapper = RammapMapper::new(&engine);
            let wanted = OutputConfig { output_sam: true, ..mapper.wanted.clone() };
            let mut map = engine.map.clone();
            map.flags.set(AlignFlags::SECONDARY_SEQ, engine.options.shown.bases_of_secondary);
            map.flags.set(AlignFlags::NO_PRINT_2ND, engine.options.shown.no_secondary);
            let (mut rng, mut out, mut records) = (Rng::with_seed(3), Alignments::default(), 0);
            for (number, bases) in reads(&text, reads_of, &mut rng).into_iter().enumerate() {
                let name = format!("read {number}");
                out.clear();
                mapper.read(name.as_bytes(), &bases, &mut out).unwrap();
                out.end_fragment();
                let bases: Vec<u8> = bases.into_iter().map(of_read).collect();
                let info = ReadInfo { qname: &name, qseq: &bases, qual: None, comment: None, n_seg: 1, seg_idx: 0 };
                let (mut alignment, mut seeds) = (AlignmentContext::new(), MapContext::new());
                let (theirs, _) =
                    align_and_format_query(&map, &engine.index, &info, &mut alignment, &mut seeds, None, None, &wanted);
                let theirs: Vec<String> = theirs
                    .lines()
                    .map(|line| {
                        let fields: Vec<&str> = line.split('\t').collect();
                        [&fields[..6], &fields[11..]].concat().join("\t")
                    })
                    .collect();
                assert_eq!(lines(&name, &out, &engine.contigs), theirs, "{options}");
                records += theirs.len();
            }
            assert!(records > reads_of, "{options}: {records}");
        }
    }

    #[test]
    fn a_pair_is_refused_by_name() {
        let engine = engine(&fasta(&[500], 1), "");
        let mut chunk = Chunk::default();
        chunk.push(Default::default(), Some(Default::default()));
        let error = RammapMapper::new(&engine).map(&chunk, &mut Alignments::default()).unwrap_err().to_string();
        assert!(error.contains("rammap aligns single reads"), "{error}");
    }
}
