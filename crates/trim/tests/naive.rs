//! Trimming against a naive twin: it copies reads, and tries every place, letter by letter.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use zerohop_model::complement::CALLS;
use zerohop_trim::{
    AdapterOptions, AdapterSequence, Counts, EndOptions, FirstReads, LengthFilter, Options, Outcome, OverlapOptions,
    PolyG, PolyGOptions, QualityFilter, Read, Reason, Trimmer, Window, WindowOptions,
};

/// A read that is cut by copying.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Naive {
    bases: Vec<u8>,
    qualities: Vec<u8>,
    front: usize,
}

impl Naive {
    fn keep(&mut self, from: usize, to: usize) {
        self.bases = self.bases[from..to].to_vec();
        self.qualities = self.qualities[from..to].to_vec();
        self.front += from;
    }

    fn len(&self) -> usize {
        self.bases.len()
    }
}

/// What the naive twin counts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    adapter_reads: u64,
    adapter_bases: u64,
    poly_x: [(u64, u64); 4],
    insert: Option<usize>,
}

/// Whether the mean of a window is at least this.
fn is_good(qualities: &[u8], quality: u32) -> bool {
    let sum: usize = qualities.iter().map(|&quality| usize::from(quality) - 33).sum();
    sum >= qualities.len() * quality as usize
}

/// The bases that stay when fixed cuts and windows are done: from and to.
fn ends(read: &Naive, ends: &EndOptions, windows: &WindowOptions) -> Option<(usize, usize)> {
    let (length, mut from, tail) = (read.len(), ends.front as usize, ends.tail as usize);
    if length < from + tail {
        return None;
    }
    let mut to = length - tail;
    let any = windows.front.or(windows.tail).or(windows.right).is_some();
    let fits = |from: usize, window: Window| from + tail + (window.size as usize) < length;
    if let Some(window) = windows.front {
        if !fits(from, window) {
            return None;
        }
        let size = window.size as usize;
        let last = length - tail - size;
        let good = (from..last).find(|&at| is_good(&read.qualities[at..at + size], window.quality)).unwrap_or(last);
        from = if good > 0 { good + size - 1 } else { 0 };
        from += read.bases[from..].iter().take_while(|&&base| base == b'N').count();
    }
    if let Some(window) = windows.right {
        if !fits(from, window) {
            return None;
        }
        let size = window.size as usize;
        let bad = (from..length - tail - size).find(|&at| !is_good(&read.qualities[at..at + size], window.quality));
        if let Some(bad) = bad {
            let good = |quality: &&u8| u32::from(**quality) >= 33 + window.quality;
            to = bad + read.qualities[bad..length - 1].iter().take_while(good).count();
        }
    } else if let Some(window) = windows.tail {
        if !fits(from, window) {
            return None;
        }
        let size = window.size as usize;
        // Windows by their ends.
        let good = (from + size + 1..=length - tail)
            .rev()
            .find(|&end| is_good(&read.qualities[end - size..end], window.quality))
            .unwrap_or(from + size);
        to = if good < length { good - size + 1 } else { good };
        to -= read.bases[..to].iter().rev().take_while(|&&base| base == b'N').count();
    }
    if any && (to <= from || from + 1 >= length) { None } else { Some((from, to)) }
}

fn poly_g(read: &mut Naive, least: usize) {
    let tail = |length: usize| &read.bases[read.len() - length..];
    let others = |length: usize| tail(length).iter().filter(|&&base| base != b'G').count();
    let ends = |length: &usize| others(*length) > 5 || others(*length) > length / 8 && *length >= least;
    let seen = (1..=read.len()).find(ends);
    // Of the tail at which it ends the last base is looked at, too.
    let (compared, counted) = seen.map_or((read.len(), read.len()), |length| (length - 1, length));
    if compared >= least && !read.bases.is_empty() {
        let first = tail(counted).iter().position(|&base| base == b'G');
        read.keep(0, first.map_or(read.len() - 1, |first| read.len() - counted + first));
    }
}

fn poly_x(read: &mut Naive, least: usize, told: &mut Told) {
    let tail = |length: usize| &read.bases[read.len() - length..];
    let of = |length: usize, letter: u8| tail(length).iter().filter(|&&base| base == letter || base == b'N').count();
    let is_tail = |length: usize| b"ATCG".iter().any(|&letter| length - of(length, letter) <= (length / 8).min(5));
    let end = (1..=read.len()).find(|&length| !is_tail(length) && (length > 8 || length + 1 >= least));
    let length = end.unwrap_or(read.len());
    if end.unwrap_or(read.len() + 1) < least {
        return;
    }
    let most = b"ATCG".iter().map(|&letter| of(length, letter)).max().unwrap();
    let letter = b"ATCG".iter().position(|&letter| of(length, letter) == most).unwrap();
    let cut = tail(length).iter().position(|&base| base == b"ATCG"[letter]).map_or(0, |at| length - at);
    told.poly_x[letter].0 += 1;
    told.poly_x[letter].1 += cut as u64;
    read.keep(0, read.len() - cut);
}

/// Where the second read begins in the first, if that is not negative, and how many bases lie on each other.
fn overlap(one: &[u8], two: &[u8], options: &OverlapOptions) -> Option<(isize, usize)> {
    let two: Vec<u8> = CALLS.reversed(two).collect();
    let share = f64::from(options.differences_percent) / 100.0;
    let is_overlap = |one: &[u8], two: &[u8]| {
        let length = one.len().min(two.len());
        let differences = (0..length.min(50)).filter(|&at| one[at] != two[at]).count();
        differences <= (options.differences as usize).min((length as f64 * share) as usize)
    };
    let required = options.required as usize;
    let forward = (0..one.len()).take_while(|at| at + required < one.len()).find(|&at| is_overlap(&one[at..], &two));
    let backward = || (0..two.len()).take_while(|at| at + required < two.len()).find(|&at| is_overlap(one, &two[at..]));
    match forward {
        Some(at) => Some((at as isize, (one.len() - at).min(two.len()))),
        None => backward().map(|at| (-(at as isize), one.len().min(two.len() - at))),
    }
}

/// Whether two texts agree but for so many letters if one letter of the first is left out, neither its first nor its
/// last.
fn agree_with_gap(longer: &[u8], other: &[u8], letters: isize) -> bool {
    (1..other.len()).any(|gap| {
        let without = [&longer[..gap], &longer[gap + 1..]].concat();
        without.iter().zip(other).filter(|(one, other)| one != other).count() as isize <= letters
    })
}

/// Cuts off an adapter.
fn adapter(read: &mut Naive, adapter: &[u8], least: usize, told: &mut Told) -> bool {
    let (length, letters) = (read.len() as isize, adapter.len() as isize);
    let least = least as isize;
    if letters < least {
        return false;
    }
    let first = if letters >= 16 {
        -4
    } else if letters >= 12 {
        -3
    } else if letters >= 8 {
        -2
    } else {
        0
    };
    let plain = (first..length - least).find(|&place| {
        let compared = (length - place).min(letters);
        let differs = |&at: &isize| place + at >= 0 && adapter[at as usize] != read.bases[(place + at) as usize];
        (0..compared).filter(differs).count() as isize <= compared / 8
    });
    let inserted = || {
        (0..length - least - 1).find(|&place| {
            let compared = (length - place - 1).min(letters) as usize;
            agree_with_gap(&read.bases[..compared + 1], &adapter[..compared], compared as isize / 8 - 1)
        })
    };
    let deleted = || {
        (0..length - least).find(|&place| {
            let compared = (length - place).min(letters - 1) as usize;
            agree_with_gap(&adapter[..compared + 1], &read.bases[..compared], compared as isize / 8 - 1)
        })
    };
    let Some(place) = plain.or_else(inserted).or_else(deleted) else { return false };
    told.adapter_bases += if place < 0 { letters + place } else { length - place } as u64;
    read.keep(0, place.max(0) as usize);
    true
}

fn failure(read: &Naive, options: &Options) -> Option<Reason> {
    let length = read.len();
    if length == 0 {
        return Some(Reason::TooShort);
    }
    if let Some(filter) = options.quality {
        let bad = read.qualities.iter().filter(|&&quality| quality < filter.qualified + 33).count();
        let sum: usize = read.qualities.iter().map(|&quality| usize::from(quality - 33)).sum();
        let n = read.bases.iter().filter(|&&base| base == b'N').count();
        let is_bad = bad as f64 > f64::from(filter.unqualified_percent) * length as f64 / 100.0;
        if is_bad || sum / length < usize::from(filter.mean) {
            return Some(Reason::LowQuality);
        }
        if n > usize::from(filter.n_bases) {
            return Some(Reason::TooManyN);
        }
    }
    if let Some(filter) = options.length {
        if length < filter.required as usize {
            return Some(Reason::TooShort);
        }
        if filter.limit > 0 && length > filter.limit as usize {
            return Some(Reason::TooLong);
        }
    }
    let changes = read.bases.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_simple = |least: &u8| length < 2 || (changes as f64 / (length - 1) as f64) < f64::from(*least) / 100.0;
    options.complexity.filter(is_simple).map(|_| Reason::LowComplexity)
}

/// What becomes of one read or of two.
fn naive(options: &Options, listed: &[String], reads: &[Naive]) -> (Result<Vec<Naive>, Reason>, Told) {
    let mut told = Told::default();
    let cut = |(read, by): (&Naive, &EndOptions)| {
        let (from, to) = ends(read, by, &options.windows)?;
        let mut read = read.clone();
        read.keep(from, to);
        Some(read)
    };
    let cut: Vec<Option<Naive>> = reads.iter().zip(&options.ends).map(cut).collect();
    if cut.iter().any(Option::is_none) {
        let failures =
            cut.iter().map(|read| read.as_ref().map_or(Some(Reason::TooShort), |read| failure(read, options)));
        return (Err(failures.flatten().max().unwrap()), told);
    }
    let mut reads: Vec<Naive> = cut.into_iter().flatten().collect();
    if options.poly_g.when == PolyG::Always {
        reads.iter_mut().for_each(|read| poly_g(read, options.poly_g.least as usize));
    }
    let found = (reads.len() == 2).then(|| overlap(&reads[0].bases, &reads[1].bases, &options.overlap));
    let fronts: Vec<usize> = reads.iter().map(|read| read.front).collect();
    told.insert = found.map(|found| {
        let size = found.map_or(512, |(begins, length)| match begins {
            1.. => reads[0].len() + reads[1].len() - length + fronts[0] + fronts[1],
            _ => length + fronts[0] + fronts[1],
        });
        size.min(512)
    });
    let mut is_dimer = false;
    if let Some(adapters) = &options.adapters {
        let mut trimmed = vec![false; reads.len()];
        match found.flatten() {
            Some((begins, length)) if begins < 0 => {
                for mate in 0..2 {
                    let kept = reads[mate].len().min(length + fronts[1 - mate]);
                    told.adapter_bases += (reads[mate].len() - kept) as u64;
                    reads[mate].keep(0, kept);
                    trimmed[mate] = true;
                }
            }
            _ => {
                for (mate, read) in reads.iter_mut().enumerate() {
                    if let AdapterSequence::Given(sequence) = &adapters.sequences[mate] {
                        trimmed[mate] = adapter(read, sequence.as_bytes(), 4, &mut told);
                    }
                }
            }
        }
        let least = if listed.len() > 256 {
            6
        } else if listed.len() > 16 {
            5
        } else {
            4
        };
        for (read, trimmed) in reads.iter_mut().zip(&mut trimmed) {
            for sequence in listed {
                *trimmed |= adapter(read, sequence.as_bytes(), least, &mut told);
            }
        }
        told.adapter_reads = trimmed.iter().filter(|trimmed| **trimmed).count() as u64;
        let is_short = |most: u32| reads.iter().all(|read| read.len() <= most as usize);
        is_dimer = told.adapter_reads > 0 && adapters.dimer_length.is_some_and(is_short);
    }
    for (read, by) in reads.iter_mut().zip(&options.ends) {
        if let Some(least) = options.poly_x {
            poly_x(read, least as usize, &mut told);
        }
        if by.longest > 0 {
            read.keep(0, read.len().min(by.longest as usize));
        }
    }
    let failure = reads.iter().filter_map(|read| failure(read, options)).max();
    let failure = if is_dimer { Some(Reason::AdapterDimer) } else { failure };
    (failure.map_or(Ok(reads), Err), told)
}

/// What the crate says.
fn trimmed(options: &Options, listed: &[String], reads: &[Naive]) -> (Result<Vec<Naive>, Reason>, Told) {
    let trimmer = Trimmer::new(options.clone(), reads.len() == 2, &FirstReads::default(), listed);
    let mut counts = Counts::default();
    let inputs: Vec<Read<'_>> = reads.iter().map(|read| Read::new(&read.bases, &read.qualities)).collect();
    let outcome = match inputs[..] {
        [one, two] => match trimmer.pair([one, two], &mut counts) {
            Outcome::Kept(spans) => Ok(spans.to_vec()),
            Outcome::Dropped(failed) => Err(failed.reason()),
        },
        _ => match trimmer.single(inputs[0], &mut counts) {
            Outcome::Kept(span) => Ok(vec![span]),
            Outcome::Dropped(failed) => Err(failed.reason()),
        },
    };
    let kept = outcome.map(|spans| {
        let naive = |(read, span): (&Read<'_>, _)| {
            let part = read.within(span);
            let front = span.start as usize;
            Naive { bases: part.bases().to_vec(), qualities: part.qualities().to_vec(), front }
        };
        inputs.iter().zip(spans).map(naive).collect()
    });
    let told = Told {
        adapter_reads: counts.adapter_reads,
        adapter_bases: counts.adapter_bases,
        poly_x: counts.poly_x.map(|amount| (amount.reads, amount.bases)),
        insert: counts.inserts.iter().position(|pairs| *pairs > 0),
    };
    (kept, told)
}

const ADAPTERS: [&str; 7] = [
    "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA",
    "AGATCGGAAGAG",
    "CTGTCTCTTATACACATCT",
    "AGATCG",
    "AGATCGGA",
    "GGGGGGGGGGAAAA",
    "AGATCGGAAGAGCACACGTCTGAACTCCAGTCACATCACGATCTCGTATGCCGTCTTCTGCTTGAAAAAAAAAA",
];

/// How a read of an insert is made.
#[derive(Debug, Clone)]
struct Making {
    length: usize,
    adapter: &'static str,
    /// Places at which a letter stands instead.
    changes: Vec<(Index, u8)>,
    /// The length of a tail of one letter.
    tail: (usize, u8),
    /// Qualities, and how many bases have each in a row.
    qualities: Vec<(u8, usize)>,
    /// A base that is left out.
    gap: Option<Index>,
}

impl Making {
    fn read(self, insert: &[u8], behind: &[u8]) -> Naive {
        let mut bases = [insert, self.adapter.as_bytes(), behind].concat();
        bases.truncate(self.length);
        let start = bases.len().saturating_sub(self.tail.0);
        bases[start..].fill(self.tail.1);
        if !bases.is_empty() {
            for (at, letter) in self.changes {
                let at = at.index(bases.len());
                bases[at] = letter;
            }
            self.gap.map(|at| bases.remove(at.index(bases.len())));
        }
        let runs = self.qualities.into_iter().flat_map(|(quality, run)| std::iter::repeat_n(quality + 33, run));
        let qualities = runs.take(bases.len()).collect();
        Naive { bases, qualities, front: 0 }
    }
}

fn making() -> impl Strategy<Value = Making> {
    let letter = prop_oneof![9 => select(&b"ACGTN"[..]), 1 => select(&b"acgtRS"[..])];
    let tail = prop_oneof![3 => Just(0), 1 => 5..40usize];
    (
        prop_oneof![5 => 0..200usize, 1 => 180..540usize],
        select(&ADAPTERS[..]),
        prop::collection::vec((any::<Index>(), letter), 0..8),
        (tail, select(&b"ACGT"[..])),
        prop::collection::vec((2..42u8, 3..40usize), 200..201),
        prop::option::weighted(0.2, any::<Index>()),
    )
        .prop_map(|(length, adapter, changes, tail, qualities, gap)| Making {
            length,
            adapter,
            changes,
            tail,
            qualities,
            gap,
        })
}

/// Mates of an insert, with adapters, tails, errors, one gap, and letters of any kind in some.
fn mates() -> impl Strategy<Value = Vec<Naive>> {
    let bases = |lengths| prop::collection::vec(select(&b"ACGT"[..]), lengths);
    (bases(0..350), [making(), making()], bases(540..541)).prop_map(|(insert, makings, behind)| {
        let turned: Vec<u8> = CALLS.reversed(&insert).collect();
        let inserts = [insert, turned];
        inserts.iter().zip(makings).map(|(insert, making)| making.read(insert, &behind)).collect()
    })
}

fn options() -> impl Strategy<Value = Options> {
    let window =
        || prop::option::weighted(0.3, (1..12u32, 1..31u32).prop_map(|(size, quality)| Window { size, quality }));
    let end =
        || {
            let small = || prop_oneof![3 => Just(0), 1 => 0..20u32];
            (small(), small(), prop_oneof![3 => Just(0), 1 => 1..150u32])
                .prop_map(|(front, tail, longest)| EndOptions { front, tail, longest })
        };
    let sequence = || {
        prop_oneof![
            1 => Just(AdapterSequence::Auto),
            3 => select(&ADAPTERS[..]).prop_map(|sequence| AdapterSequence::Given(sequence.to_owned())),
        ]
    };
    let adapters = (sequence(), sequence(), prop::option::of(0..12u32)).prop_map(|(one, two, dimer_length)| {
        AdapterOptions { sequences: [one, two], fasta: None, detect_for_pairs: false, dimer_length }
    });
    let quality = (0..40u8, 0..101u8, select(vec![0, 0, 20, 30]), 0..8u8).prop_map(
        |(qualified, unqualified_percent, mean, n_bases)| QualityFilter {
            qualified,
            unqualified_percent,
            mean,
            n_bases,
        },
    );
    let length = (0..60u32, select(vec![0, 0, 100])).prop_map(|(required, limit)| LengthFilter { required, limit });
    let overlap = (select(vec![30, 30, 10, 0, 50]), 0..9u32, select(vec![20, 20, 5, 40])).prop_map(
        |(required, differences, differences_percent)| OverlapOptions { required, differences, differences_percent },
    );
    let poly = (any::<bool>(), 1..15u32, prop::option::of(1..15u32));
    (
        prop::option::weighted(0.8, adapters),
        (end(), end()),
        (window(), window(), window()),
        poly,
        prop::option::weighted(0.5, quality),
        prop::option::weighted(0.5, length),
        prop::option::weighted(0.3, 0..101u8),
        overlap,
    )
        .prop_map(|(adapters, ends, (front, tail, right), poly, quality, length, complexity, overlap)| Options {
            adapters,
            ends: [ends.0, ends.1],
            windows: WindowOptions { front, tail, right },
            poly_g: PolyGOptions { when: if poly.0 { PolyG::Always } else { PolyG::Never }, least: poly.1 },
            poly_x: poly.2,
            quality,
            length,
            complexity,
            overlap,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn pairs_and_reads_are_trimmed_as_the_naive_twin_does(
        options in options(),
        mates in mates(),
        listed in prop::collection::vec(select(&ADAPTERS[..]), 0..3),
    ) {
        let listed: Vec<String> = listed.into_iter().map(str::to_owned).collect();
        prop_assert_eq!(trimmed(&options, &listed, &mates), naive(&options, &listed, &mates));
        prop_assert_eq!(trimmed(&options, &listed, &mates[..1]), naive(&options, &listed, &mates[..1]));
    }

    /// Most options off, so that it is adapters that decide.
    #[test]
    fn adapters_are_found_as_the_naive_twin_does(
        mates in mates(),
        one in select(&ADAPTERS[..]),
        many in any::<bool>(),
    ) {
        let given = AdapterSequence::Given(one.to_owned());
        let adapters = AdapterOptions { sequences: [given.clone(), given], ..AdapterOptions::default() };
        let options = Options { adapters: Some(adapters), quality: None, length: None, ..Options::default() };
        let listed = if many { ADAPTERS.repeat(3) } else { Vec::new() };
        let listed: Vec<String> = listed.into_iter().map(str::to_owned).collect();
        for mates in [&mates[..], &mates[..1], &mates[1..]] {
            prop_assert_eq!(trimmed(&options, &listed, mates), naive(&options, &listed, mates));
        }
    }

    /// Reads that begin with an adapter with a gap: elsewhere fastp finds none.
    #[test]
    fn gaps_are_found_as_the_naive_twin_does(
        adapter in select(&ADAPTERS[..]),
        (gap, inserted) in (1..40usize, prop::option::of(select(&b"ACGT"[..]))),
        changes in prop::collection::vec((0..40usize, select(&b"ACGT"[..])), 0..4),
        behind in prop::collection::vec(select(&b"ACGT"[..]), 40..41),
        length in 0..100usize,
    ) {
        let mut bases = [adapter.as_bytes(), &behind].concat();
        match inserted {
            Some(base) => bases.insert(gap, base),
            None => drop(bases.remove(gap)),
        }
        changes.into_iter().for_each(|(at, base)| bases[at] = base);
        bases.truncate(length);
        let read = Naive { qualities: vec![b'I'; bases.len()], bases, front: 0 };
        let given = AdapterSequence::Given(adapter.to_owned());
        let adapters = AdapterOptions { sequences: [given.clone(), given], ..AdapterOptions::default() };
        let options = Options { adapters: Some(adapters), quality: None, length: None, ..Options::default() };
        prop_assert_eq!(trimmed(&options, &[], std::slice::from_ref(&read)), naive(&options, &[], &[read]));
    }
}
