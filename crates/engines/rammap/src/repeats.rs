//! How much memory mapping a read takes: nearly all of it are the anchors, one for each place of each minimizer that
//! is not too frequent. A look at parts of the read tells how many there will be.

use rammap::align::index::Index;
use rammap::align::map::MapOptions;
use rammap::align::sketch::{Minimizer, sketch_sequence};

/// Bytes of an anchor: itself, chained, and in the arrays of chaining (measured:
/// bench/runs/2026-11-28-xeon-satellites).
const BYTES_OF_ANCHOR: f64 = 100.0;
/// A read that takes no more is not counted: any worker may map one.
const LITTLE: f64 = (64 << 20) as f64;
/// Of so many bases one part is looked at, of so many.
const EVERY: usize = 16 << 10;
const PART: usize = 512;

/// Bytes that mapping `read` takes beside what every worker has; 0 for few. The same for any thread and copy.
pub(crate) fn bytes_of(index: &Index, map: &MapOptions, read: &[u8], minimizers: &mut Vec<Minimizer>) -> u64 {
    // Of w k-mers in a row 2 / (w + 1) are minimizers (Roberts et al. 2004).
    let most = 2.0 / (index.window_size as f64 + 1.0) * map.seeding.mid_occ as f64 + most_of_frequent(map);
    if read.len() as f64 * most * BYTES_OF_ANCHOR <= LITTLE {
        return 0;
    }
    let (mut anchors, mut seen) = (0.0, 0);
    for part in read.chunks(EVERY).map(|of| &of[..of.len().min(PART)]) {
        anchors += anchors_of(index, map, part, minimizers);
        seen += part.len();
    }
    match anchors / seen as f64 * read.len() as f64 * BYTES_OF_ANCHOR {
        few if few <= LITTLE => 0,
        many => many as u64,
    }
}

/// Anchors per base of minimizers that are too frequent, of which minimap2 takes the least frequent one in each
/// `occ_dist` bases (`-e`), if it is not more frequent than that.
fn most_of_frequent(map: &MapOptions) -> f64 {
    match map.seeding.occ_dist {
        ..=0 => 0.0,
        distance => map.seeding.max_max_occ as f64 / f64::from(distance),
    }
}

/// About how many anchors a part of a read has.
fn anchors_of(index: &Index, map: &MapOptions, part: &[u8], minimizers: &mut Vec<Minimizer>) -> f64 {
    sketch_sequence(part, part.len(), index.window_size, index.kmer_size, 0, index.homopolymer_compressed, minimizers);
    let (mut anchors, mut least_frequent) = (0.0, f64::INFINITY);
    for minimizer in minimizers.iter() {
        let count = index.get_range(minimizer.x >> 8).map_or(0, |(start, end)| end - start) as usize;
        match count <= map.seeding.mid_occ {
            true => anchors += count as f64,
            false => least_frequent = least_frequent.min(count as f64),
        }
    }
    match least_frequent {
        f64::INFINITY => anchors,
        count => anchors + count.min(most_of_frequent(map) * part.len() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rammap;
    use crate::tests::{contigs_of, engine, fasta};
    use rammap::align::seed::{SeedScratch, collect_seed_hits};

    /// The naive twin: all anchors of a read.
    fn anchors(engine: &Rammap, read: &[u8]) -> usize {
        let (index, map) = (&engine.index, &engine.map);
        let (mut minimizers, mut anchors, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let (window, k, is_hpc) = (index.window_size, index.kmer_size, index.homopolymer_compressed);
        sketch_sequence(read, read.len(), window, k, 0, is_hpc, &mut minimizers);
        let mut scratch = SeedScratch::new();
        collect_seed_hits(map, index, read.len(), &minimizers, &mut anchors, &mut places, None, &mut scratch);
        anchors.len()
    }

    #[test]
    fn reads_of_repeats_take_what_their_anchors_do_and_others_nothing() {
        let repeat = contigs_of(&fasta(&[2000], 5))[0].1.repeat(150);
        let unique = contigs_of(&fasta(&[100_000], 6))[0].1.clone();
        let text = [b">repeat\n", &repeat[..], b"\n>unique\n", &unique, b"\n"].concat();
        let half = [&repeat[..60_000], &unique[..40_000]].concat();
        for options in ["-x map-ont -f 1000", "-x map-hifi -f 1000", "-x map-pb -f 1000", "-x map-ont"] {
            let engine = engine(&text, options);
            let estimate = |read: &[u8]| bytes_of(&engine.index, &engine.map, read, &mut Vec::new());
            assert_eq!(estimate(&unique), 0, "{options}");
            for read in [&repeat[500..120_500], &half] {
                let wanted = anchors(&engine, read) as f64 * BYTES_OF_ANCHOR;
                let found = estimate(read) as f64;
                if wanted > 2.0 * LITTLE {
                    assert!((0.6..1.7).contains(&(found / wanted)), "{options}: {found} {wanted}");
                } else {
                    assert!(found < 4.0 * LITTLE, "{options}: {found} {wanted}");
                }
            }
            assert!(options == "-x map-ont" || estimate(&repeat[500..120_500]) > 0, "{options}");
        }
    }
}
