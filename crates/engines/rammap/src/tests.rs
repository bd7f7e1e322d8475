//! What several modules need: small references, and the index of minimap2 written by hand.

use crate::Rammap;
use crate::build::{IndexParts, of_read};
use crate::options::RammapOptions;
use crate::parameters::IndexParameters;
use fastrand::Rng;
use rammap::align::index::Index;
use rammap::align::sketch::sketch_sequence;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_model::record::Contig;

/// Bytes of FASTA with contigs of these lengths; one repeats another, and some bases are N, U or small letters.
pub(crate) fn fasta(lengths: &[usize], seed: u64) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let mut text = Vec::new();
    let mut last = Vec::new();
    for (number, &length) in lengths.iter().enumerate() {
        let mut bases: Vec<u8> = (0..length).map(|_| b"ACGT"[rng.usize(..4)]).collect();
        if number % 3 == 2 {
            last.truncate(length);
            bases[..last.len()].copy_from_slice(&last);
        }
        for _ in 0..length / 100 {
            bases[rng.usize(..length)] = b"NURacgtuAAAA"[rng.usize(..12)];
        }
        text.extend_from_slice(format!(">c{number} of some length\n").as_bytes());
        bases.chunks(60).for_each(|line| text.extend_from_slice(&[line, b"\n"].concat()));
        last = bases;
    }
    text
}

/// The contigs of [`fasta`], as minimap2 reads them.
pub(crate) fn contigs_of(fasta: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = String::from_utf8(fasta.to_vec()).unwrap();
    let of = |contig: &str| {
        let (header, bases) = contig.split_once('\n').unwrap();
        let name = header.split(' ').next().unwrap().to_owned();
        (name, bases.bytes().filter(|byte| *byte != b'\n').map(of_read).collect())
    };
    text.split('>').skip(1).map(of).collect()
}

/// rammap's own index, which one thread makes.
pub(crate) fn twin(fasta: &[u8], IndexParameters { k, w, homopolymers }: IndexParameters) -> Index {
    Index::build(contigs_of(fasta), w, k, homopolymers, usize::MAX)
}

/// The engine with that index.
pub(crate) fn engine(fasta: &[u8], options: &str) -> Rammap {
    let options = RammapOptions::parse(options).unwrap();
    let contigs = contigs_of(fasta).iter().map(|(name, bases)| Contig::new(name, bases.len() as u64)).collect();
    Rammap::new(twin(fasta, options.index), 0, contigs, Arc::new(options)).unwrap()
}

/// A file that holds a text, in a folder.
pub(crate) fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Builds the index of a file with so many threads.
pub(crate) fn parts(reference: &Path, parameters: IndexParameters, threads: usize) -> IndexParts {
    IndexParts::build(reference, parameters, threads, &|| (), &|_| ()).unwrap()
}

/// Every minimizer of these contigs has the same places in both, and all bases are the same.
pub(crate) fn assert_same(one: &Index, other: &Index, fasta: &[u8]) {
    assert_eq!(one.packed_seqs, other.packed_seqs);
    let names = |index: &Index| -> Vec<(String, usize, u64)> {
        index.seqs.iter().map(|seq| (seq.name.clone(), seq.len, seq.offset)).collect()
    };
    assert_eq!(names(one), names(other));
    for (hash, _) in minimizers(fasta, one.window_size, one.kmer_size, one.homopolymer_compressed) {
        assert_eq!(one.get(hash), other.get(hash), "{hash}");
    }
    for part in [0.5, 0.01, 0.0002] {
        assert_eq!(one.cal_mid_occ(part, 1, 1_000_000), other.cal_mid_occ(part, 1, 1_000_000));
    }
}

/// Hashes and positions of all contigs.
fn minimizers(fasta: &[u8], w: usize, k: usize, homopolymers: bool) -> BTreeMap<u64, Vec<u64>> {
    let (mut all, mut found) = (BTreeMap::<u64, Vec<u64>>::new(), Vec::new());
    for (number, (_, bases)) in contigs_of(fasta).iter().enumerate() {
        sketch_sequence(bases, bases.len(), w, k, number, homopolymers, &mut found);
        found.iter().for_each(|minimizer| all.entry(minimizer.x >> 8).or_default().push(minimizer.y));
    }
    all
}

/// The index file of minimap2, by hand.
pub(crate) fn mmi(fasta: &[u8], IndexParameters { k, w, homopolymers }: IndexParameters, bits: u32) -> Vec<u8> {
    let contigs = contigs_of(fasta);
    let mut file = b"MMI\x02".to_vec();
    for number in [w as u32, k as u32, bits, contigs.len() as u32, u32::from(homopolymers)] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    for (name, bases) in &contigs {
        file.push(name.len() as u8);
        file.extend_from_slice(name.as_bytes());
        file.extend_from_slice(&(bases.len() as u32).to_le_bytes());
    }
    let all = minimizers(fasta, w, k, homopolymers);
    for bucket in 0..1u64 << bits {
        let (mut positions, mut keys) = (Vec::new(), Vec::new());
        for (hash, places) in all.iter().filter(|(hash, _)| *hash & ((1 << bits) - 1) == bucket) {
            let key = hash >> bits << 1;
            match places[..] {
                [place] => keys.push([key | 1, place]),
                _ => {
                    keys.push([key, (positions.len() as u64) << 32 | places.len() as u64]);
                    positions.extend(places);
                }
            }
        }
        let halves = |number: usize| (number as u32).to_le_bytes();
        file.extend_from_slice(&halves(positions.len()));
        positions.iter().for_each(|position: &u64| file.extend_from_slice(&position.to_le_bytes()));
        file.extend_from_slice(&halves(keys.len()));
        keys.as_flattened().iter().for_each(|number| file.extend_from_slice(&number.to_le_bytes()));
    }
    let words = &twin(fasta, IndexParameters { k, w, homopolymers }).packed_seqs;
    words.iter().for_each(|word| file.extend_from_slice(&word.to_le_bytes()));
    file
}
