//! What stays of reads is dealt as if the files held nothing else: trimmed, with read structures, by workers, from
//! pipes and over ranks, as a naive dealer has it.
//!
//! Input: four bytes that choose how (see [`Plan`]), then the text; a byte 0xff parts it into the texts of two files.
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;
use zerohop_fuzz::dealing::{MAX_READ_BASES, Manner, Threads, compare, deal_over_prepared, deal_prepared};
use zerohop_fuzz::files::{Pipe, Regular};
use zerohop_fuzz::naive::{self, Layout, Read};
use zerohop_fuzz::{may_be_sam, take};
use zerohop_input::{Barcodes, OpenLane, TrimOptions, Trimming};
use zerohop_model::error::Error;
use zerohop_trim::{Counts, FirstReads, Outcome, Span, Trimmer};

/// Options of fastp that say by themselves what is done, whatever the first reads are.
const OPTIONS: [&str; 5] = [
    "-G -A -Q -l 3",
    "-g -A -l 5 -q 20",
    "--cut_right --cut_window_size 2 -G -A -L",
    "-f 1 -t 2 -x -G -A",
    "-G -A -Q -L",
];
/// Bases of the UMI and bases that are skipped, of both reads.
const STRUCTURES: [Option<[[usize; 2]; 2]>; 4] =
    [None, Some([[2, 0], [2, 0]]), Some([[1, 1], [0, 2]]), Some([[0, 3], [0, 1]])];

/// What the first bytes of an input choose.
struct Plan {
    layout: Layout,
    manner: Manner,
    trimming: Option<TrimOptions>,
    structures: Option<[[usize; 2]; 2]>,
    ranks: usize,
}

impl Plan {
    fn read(data: &mut &[u8]) -> Self {
        let [shape, law, options, ranks] = take(data);
        let layout = [Layout::Single, Layout::Pairs, Layout::Interleaved][usize::from(shape) % 3];
        let structures = STRUCTURES[usize::from(ranks >> 2) % STRUCTURES.len()];
        let words = OPTIONS.get(usize::from(options) % (OPTIONS.len() + 1));
        Plan {
            layout,
            manner: Manner {
                interleaved: layout == Layout::Interleaved,
                closes_past: [0, 1, 20, 400, 5000, 1 << 40][usize::from(law) % 6],
                workers: 1 + usize::from(shape >> 2) % 3,
                sampled: shape & 0x80 != 0,
            },
            trimming: words.map(|words| TrimOptions::parse(words.split(' ')).unwrap()),
            structures,
            ranks: 1 + usize::from(ranks) % 3,
        }
    }

    fn prepare(&self, lane: OpenLane) -> Result<OpenLane, zerohop_model::error::InputError> {
        let lane = match self.structures {
            None => lane,
            Some(structures) => {
                let words = |[umi, skipped]: [usize; 2]| {
                    let part =
                        |bases: usize, letter: &str| if bases > 0 { format!("{bases}{letter}") } else { String::new() };
                    format!("{}{}+T", part(umi, "M"), part(skipped, "S"))
                };
                let mates = if self.layout == Layout::Single { 1 } else { 2 };
                let structures = structures.into_iter().take(mates).map(|structure| words(structure).parse().unwrap());
                lane.with_barcodes(&Barcodes { structures: structures.collect(), umis_in_names: false })?
            }
        };
        match &self.trimming {
            Some(options) => lane.with_trimming(&Trimming { options: options.clone(), has_statistics: true }),
            None => Ok(lane),
        }
    }

    /// A fragment without its barcodes; `None` if it is too short, or lacks a mate.
    fn without_barcodes(&self, mut fragment: Vec<Read>) -> Option<Vec<Read>> {
        let Some(structures) = self.structures else { return Some(fragment) };
        if self.layout == Layout::Interleaved && fragment.len() < 2 {
            return None;
        }
        let (mut umis, mut qualities) = (Vec::new(), Vec::new());
        for (read, [umi, skipped]) in fragment.iter_mut().zip(structures) {
            let qual = read.qual.as_mut()?;
            if read.seq.len() < umi + skipped {
                return None;
            }
            if umi > 0 {
                umis.push(read.seq[..umi].to_vec());
                qualities.push(qual[..umi].to_vec());
            }
            read.seq.drain(..umi + skipped);
            qual.drain(..umi + skipped);
        }
        if umis.is_empty() {
            return Some(fragment);
        }
        let fields = [b"RX:Z:".to_vec(), umis.join(&b'-'), b"\tQX:Z:".to_vec(), qualities.join(&b' ')].concat();
        for read in &mut fragment {
            let own = std::mem::take(&mut read.comment);
            read.comment = if own.is_empty() { fields.clone() } else { [own, fields.clone()].join(&b'\t') };
        }
        Some(fragment)
    }

    /// What stays of a fragment.
    fn kept(&self, trimmer: &Trimmer, mut fragment: Vec<Read>) -> Option<Vec<Read>> {
        let of = |read: &Read| (read.seq.clone(), read.qual.clone().unwrap_or_default());
        let texts: Vec<_> = fragment.iter().map(of).collect();
        let reads: Vec<_> = texts.iter().map(|(seq, qual)| zerohop_trim::Read::new(seq, qual)).collect();
        let spans: Vec<Span> = match reads[..] {
            [one, two] => match trimmer.pair([one, two], &mut Counts::default()) {
                Outcome::Kept(spans) => spans.to_vec(),
                Outcome::Dropped(_) => return None,
            },
            [one, ..] => match trimmer.single(one, &mut Counts::default()) {
                Outcome::Kept(span) => vec![span],
                Outcome::Dropped(_) => return None,
            },
            [] => return None,
        };
        for (read, span) in fragment.iter_mut().zip(spans) {
            read.seq = read.seq[span.range()].to_vec();
            read.qual = read.qual.as_ref().map(|qual| qual[span.range()].to_vec());
        }
        Some(fragment)
    }

    /// The chunks of what stays; `None` where anything is wrong.
    fn chunks(&self, texts: &[Vec<u8>]) -> Option<naive::Chunks> {
        let fragments = naive::fragments(texts, self.layout, MAX_READ_BASES)?;
        let fragments: Vec<_> =
            fragments.into_iter().map(|fragment| self.without_barcodes(fragment)).collect::<Option<_>>()?;
        let kept = match &self.trimming {
            None => fragments,
            Some(options) => {
                let is_paired = self.layout != Layout::Single;
                let trimmer = Trimmer::new(options.clone(), is_paired, &FirstReads::default(), &[]);
                fragments.into_iter().filter_map(|fragment| self.kept(&trimmer, fragment)).collect()
            }
        };
        Some(naive::cut(kept, self.manner.closes_past))
    }
}

zerohop_fuzz::target!(|data: &[u8]| {
    let threads = Threads::now();
    let mut rest = data;
    let plan = Plan::read(&mut rest);
    let (one, two) = match rest.iter().position(|&b| b == 0xff) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, rest),
    };
    let files = if plan.layout == Layout::Pairs { 2 } else { 1 };
    let texts: Vec<Vec<u8>> = [one, two].into_iter().take(files).map(<[u8]>::to_vec).collect();
    // FASTA has no qualities: it is refused, or not dealt again.
    if texts.iter().any(|text| may_be_sam(text) || !text.starts_with(b"@")) {
        return;
    }
    let expected = plan.chunks(&texts);
    let compare = |what: &str, found: Result<naive::Chunks, Error>| compare(what, &found, expected.as_ref());
    let prepare = |lane| plan.prepare(lane);
    let plain: Vec<Regular> = texts.iter().map(|text| Regular::new(text)).collect();
    let paths: Vec<&Path> = plain.iter().map(Regular::path).collect();
    compare("plain", deal_prepared(&paths, plan.manner, &prepare));
    compare("plain over ranks", deal_over_prepared(&paths, plan.manner, plan.ranks, &prepare));
    let pipes: Vec<Pipe> = texts.into_iter().map(Pipe::new).collect();
    compare("a pipe", deal_prepared(&pipes.iter().map(Pipe::path).collect::<Vec<_>>(), plan.manner, &prepare));
    drop(pipes);
    threads.wait();
});
