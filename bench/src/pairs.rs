//! Read pairs drawn from a reference. Their names say where they are from:
//! `sim.N:contig:pos1:strand1:pos2:strand2`, with N and the leftmost positions counted from 1; both mates share it.
//!
//! Fragment lengths are normal. Errors are substitutions, at a rate that may rise along the read. Qualities have four
//! values, as newer sequencers write them: `F` mostly, `:` and `,` in between, and `,` or `#` on most of the wrong
//! bases. With insertions and deletions in the sample, positions are still those of the reference.

use crate::fasta::Contig;
use crate::mutate::Shifts;
use crate::random::Random;
use crate::{mutate, reverse_complement};
use std::io::{self, Write};

/// A fragment may hold this many `N`; others are drawn again.
const MOST_UNKNOWN: usize = 10;
const MOST_TRIES: usize = 1_000;

/// What to draw.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many pairs.
    pub pairs: u64,
    /// Bases of a read.
    pub length: usize,
    /// Mean length of a fragment, reads included.
    pub insert: f64,
    /// Standard deviation of that length.
    pub deviation: f64,
    /// Share of wrong bases at the start of a read.
    pub error: f64,
    /// Share of wrong bases at its end: it rises evenly.
    pub error_at_end: f64,
    /// Share of bases in which the sample differs from the reference.
    pub snp: f64,
    /// Share of bases behind which the sample has an insertion or a deletion, of 1 to 6 bases.
    pub indels: f64,
    /// Same seed, same reads.
    pub seed: u64,
}

/// Why no reads could be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No contig holds a read.
    #[error("no contig has {0} bases: reads of that length cannot be drawn from it")]
    NoContig(usize),
    /// Nearly all bases are N.
    #[error("the reference is nearly all N")]
    AllUnknown,
    /// The output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Puts variants into `contigs` and writes the pairs to `out1` and `out2` as FASTQ.
///
/// # Errors
/// When the reference is too short or all N, and those of the outputs.
pub fn write(
    contigs: &mut Vec<Contig>,
    options: &Options,
    out1: &mut impl Write,
    out2: &mut impl Write,
) -> Result<(), Error> {
    let mut random = Random::new(options.seed);
    contigs.retain(|contig| contig.sequence.len() >= options.length.max(1));
    let mut of_reference = Vec::new();
    for contig in contigs.iter_mut() {
        mutate::substitute(&mut contig.sequence, options.snp, &mut random);
        of_reference.push(mutate::insert_and_delete(&mut contig.sequence, options.indels, &mut random));
    }
    let mut sampler = Sampler::new(contigs, &of_reference, options, random)?;
    let mut reads = [Read::default(), Read::default()];
    for number in 1..=options.pairs {
        let fragment = sampler.fragment()?;
        sampler.read_mates(&fragment, &mut reads);
        let name = fragment.name(number, options.length);
        reads[0].write(&name, out1)?;
        reads[1].write(&name, out2)?;
    }
    out1.flush()?;
    out2.flush()?;
    Ok(())
}

/// Where a pair comes from.
struct Fragment<'c> {
    contig: &'c Contig,
    of_reference: &'c Shifts,
    start: usize,
    length: usize,
    /// Whether the first mate is the right one, on the reverse strand.
    flipped: bool,
}

impl Fragment<'_> {
    fn bases(&self) -> &[u8] {
        &self.contig.sequence[self.start..self.start + self.length]
    }

    fn name(&self, number: u64, read_length: usize) -> String {
        let starts = [self.start, self.start + self.length - read_length];
        let [left, right] = starts.map(|start| self.of_reference.position(start) + 1);
        let contig = &self.contig.name;
        if self.flipped {
            format!("sim.{number}:{contig}:{right}:-:{left}:+")
        } else {
            format!("sim.{number}:{contig}:{left}:+:{right}:-")
        }
    }
}

#[derive(Default)]
struct Read {
    bases: Vec<u8>,
    qualities: Vec<u8>,
}

impl Read {
    fn write(&self, name: &str, out: &mut impl Write) -> io::Result<()> {
        for part in [b"@", name.as_bytes(), b"\n", &self.bases, b"\n+\n", &self.qualities, b"\n"] {
            out.write_all(part)?;
        }
        Ok(())
    }
}

struct Sampler<'c> {
    contigs: &'c [Contig],
    of_reference: &'c [Shifts],
    /// Number of the first base of each contig.
    starts: Vec<usize>,
    bases: usize,
    options: &'c Options,
    random: Random,
}

impl<'c> Sampler<'c> {
    fn new(
        contigs: &'c [Contig],
        of_reference: &'c [Shifts],
        options: &'c Options,
        random: Random,
    ) -> Result<Self, Error> {
        let mut bases = 0;
        let mut starts = Vec::new();
        for contig in contigs {
            starts.push(bases);
            bases += contig.sequence.len();
        }
        if bases == 0 {
            return Err(Error::NoContig(options.length));
        }
        Ok(Sampler { contigs, of_reference, starts, bases, options, random })
    }

    fn fragment(&mut self) -> Result<Fragment<'c>, Error> {
        for _ in 0..MOST_TRIES {
            let fragment = self.any_fragment();
            if fragment.bases().iter().filter(|&&base| base == b'N').count() <= MOST_UNKNOWN {
                return Ok(fragment);
            }
        }
        Err(Error::AllUnknown)
    }

    /// Contigs are drawn by their length; a fragment longer than its contig is cut to it.
    fn any_fragment(&mut self) -> Fragment<'c> {
        let base = self.random.below(self.bases);
        let number = self.starts.partition_point(|&start| start <= base) - 1;
        let (contig, of_reference) = (&self.contigs[number], &self.of_reference[number]);
        let wanted = self.random.normal(self.options.insert, self.options.deviation).round();
        let length = (wanted.max(0.0) as usize).clamp(self.options.length, contig.sequence.len());
        let start = self.random.below(contig.sequence.len() - length + 1);
        Fragment { contig, of_reference, start, length, flipped: self.random.chance(0.5) }
    }

    fn read_mates(&mut self, fragment: &Fragment, reads: &mut [Read; 2]) {
        let (bases, length) = (fragment.bases(), self.options.length);
        let [left, right] = reads;
        let (left, right) = if fragment.flipped { (right, left) } else { (left, right) };
        left.bases.clear();
        left.bases.extend_from_slice(&bases[..length]);
        right.bases.clear();
        right.bases.extend_from_slice(&bases[bases.len() - length..]);
        reverse_complement(&mut right.bases);
        self.sequence(left);
        self.sequence(right);
    }

    /// Gives `read` its qualities and its errors.
    fn sequence(&mut self, read: &mut Read) {
        let length = read.bases.len();
        read.qualities.clear();
        read.qualities.resize(length, b'F');
        let mut at = self.random.failures(0.06);
        while at < length {
            read.qualities[at] = if self.random.chance(0.5) { b':' } else { b',' };
            at += 1 + self.random.failures(0.06);
        }
        let Options { error, error_at_end, .. } = *self.options;
        let most = error.max(error_at_end);
        let mut at = self.random.failures(most);
        while at < length {
            let rate = error + (error_at_end - error) * at as f64 / length as f64;
            if rate == most || self.random.chance(rate / most) {
                read.bases[at] = self.random.other_base(read.bases[at]);
                read.qualities[at] = [b',', b',', b'#', b'F'][self.random.below(4)];
            }
            at += 1 + self.random.failures(most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::generate;

    fn options() -> Options {
        Options {
            pairs: 500,
            length: 100,
            insert: 300.0,
            deviation: 30.0,
            error: 0.0,
            error_at_end: 0.0,
            snp: 0.0,
            indels: 0.0,
            seed: 9,
        }
    }

    fn simulate(contigs: &[Contig], options: &Options) -> [String; 2] {
        let (mut out1, mut out2) = (Vec::new(), Vec::new());
        write(&mut contigs.to_vec(), options, &mut out1, &mut out2).unwrap();
        [out1, out2].map(|out| String::from_utf8(out).unwrap())
    }

    fn records(text: &str) -> Vec<(&str, &str, &str)> {
        let lines: Vec<&str> = text.lines().collect();
        lines.chunks(4).map(|record| (record[0], record[1], record[3])).collect()
    }

    #[test]
    fn names_tell_the_truth() {
        let contigs = generate(50_000, 4);
        let [one, two] = simulate(&contigs, &options());
        for ((name, bases1, quality), (name2, bases2, _)) in records(&one).into_iter().zip(records(&two)) {
            assert_eq!((name, quality.len()), (name2, 100));
            let parts: Vec<&str> = name.split(':').collect();
            let contig = contigs.iter().find(|contig| contig.name == parts[1]).unwrap();
            for (bases, position, strand) in [(bases1, parts[2], parts[3]), (bases2, parts[4], parts[5])] {
                let start = position.parse::<usize>().unwrap() - 1;
                let mut expected = contig.sequence[start..start + 100].to_vec();
                if strand == "-" {
                    reverse_complement(&mut expected);
                }
                assert_eq!(bases.as_bytes(), expected);
            }
            assert_ne!(parts[3], parts[5]);
        }
        assert_eq!(records(&one).len(), 500);
    }

    #[test]
    fn the_seed_decides() {
        let contigs = generate(20_000, 4);
        assert_eq!(simulate(&contigs, &options()), simulate(&contigs, &options()));
        assert_ne!(simulate(&contigs, &options()), simulate(&contigs, &Options { seed: 10, ..options() }));
    }

    #[test]
    fn errors_come_at_their_rate() {
        let contigs = [Contig { name: "a".into(), sequence: vec![b'A'; 10_000] }];
        let [one, two] = simulate(&contigs, &Options { error: 0.02, error_at_end: 0.02, ..options() });
        let wrong = |text: &str, right| {
            records(text)
                .iter()
                .flat_map(|record| record.1.chars())
                .filter(|&base| base != right && base != 'T' && base != 'A')
                .count()
        };
        let errors = wrong(&one, 'A') + wrong(&two, 'A');
        // of the wrong bases two in three are neither A nor T
        assert!((1_150..1_550).contains(&errors), "{errors}");
    }

    #[test]
    fn errors_rise_along_the_read() {
        let contigs = [Contig { name: "a".into(), sequence: vec![b'A'; 10_000] }];
        let [one, _] = simulate(&contigs, &Options { error_at_end: 0.1, ..options() });
        let wrong = |bases: &str| bases.bytes().filter(|&base| base != bases.as_bytes()[0]).count();
        let halves = records(&one).iter().fold((0, 0), |(first, second), record| {
            let (start, end) = record.1.split_at(50);
            (first + wrong(start), second + wrong(end))
        });
        assert!(2 * halves.0 < halves.1 && halves.0 > 300, "{halves:?}");
    }

    /// Most reads have no indel, and so the bases of the reference.
    #[test]
    fn names_are_of_the_reference_behind_indels_too() {
        let contigs = generate(50_000, 4);
        let [one, _] = simulate(&contigs, &Options { indels: 0.001, ..options() });
        let is_equal = |(name, bases, _): &(&str, &str, &str)| {
            let parts: Vec<&str> = name.split(':').collect();
            let contig = contigs.iter().find(|contig| contig.name == parts[1]).unwrap();
            let mut bases = bases.as_bytes().to_vec();
            if parts[3] == "-" {
                reverse_complement(&mut bases);
            }
            contig.sequence[parts[2].parse::<usize>().unwrap() - 1..].starts_with(&bases)
        };
        let equal = records(&one).iter().filter(|record| is_equal(record)).count();
        assert!((430..480).contains(&equal), "{equal}");
    }

    #[test]
    fn says_why_it_cannot() {
        let mut out = (Vec::new(), Vec::new());
        let mut short = vec![Contig { name: "a".into(), sequence: b"ACGT".to_vec() }];
        assert!(matches!(write(&mut short, &options(), &mut out.0, &mut out.1), Err(Error::NoContig(100))));
        let mut unknown = vec![Contig { name: "a".into(), sequence: vec![b'N'; 1_000] }];
        assert!(matches!(write(&mut unknown, &options(), &mut out.0, &mut out.1), Err(Error::AllUnknown)));
    }

    #[test]
    fn a_contig_shorter_than_the_insert_gives_reads() {
        let contigs = [Contig { name: "a".into(), sequence: b"ACGGT".repeat(25) }];
        assert_eq!(records(&simulate(&contigs, &options())[0]).len(), 500);
    }
}
