//! Against sorting suffixes and counting one by one, and against sorting all at once.

use super::*;
use proptest::prelude::*;

/// Four bases a byte.
fn pack(bases: &[u8]) -> Vec<u8> {
    bases.chunks(4).map(|four| four.iter().enumerate().fold(0, |byte, (i, base)| byte | base << (6 - 2 * i))).collect()
}

/// A palindrome.
fn both_strands(bases: &[u8]) -> Vec<u8> {
    bases.iter().copied().chain(bases.iter().rev().map(|base| 3 - base)).collect()
}

/// By what it says: `places` are those of all suffixes in their order.
fn file(text: &[u8], places: &[usize]) -> Vec<u8> {
    let before: Vec<Option<u8>> = places.iter().map(|place| place.checked_sub(1).map(|at| text[at])).collect();
    let mut out = (places.len() as u64).to_le_bytes().to_vec();
    for base in 0..5 {
        out.extend((text.iter().filter(|other| **other < base).count() as u64).to_le_bytes());
    }
    let mut counts = [0u64; 4];
    for block in 0..places.len() / 64 + 1 {
        let start = (block * 64).min(before.len());
        let here = &before[start..before.len().min(start + 64)];
        out.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
        for base in 0..4u8 {
            let bits =
                here.iter().enumerate().filter(|(_, other)| **other == Some(base)).map(|(i, _)| 1u64 << (63 - i));
            let bits = bits.sum::<u64>();
            counts[usize::from(base)] += u64::from(bits.count_ones());
            out.extend(bits.to_le_bytes());
        }
    }
    let sampled = places.iter().step_by(8);
    out.extend(sampled.clone().map(|place| (place >> 32) as u8));
    out.extend(sampled.flat_map(|place| (*place as u32).to_le_bytes()));
    out.extend((places.iter().position(|place| *place == 0).unwrap() as u64).to_le_bytes());
    out
}

fn naive(bases: &[u8]) -> Vec<u8> {
    let text = both_strands(bases);
    let mut places: Vec<usize> = (0..=text.len()).collect();
    places.sort_by_key(|place| &text[*place..]);
    file(&text, &places)
}

/// All suffixes sorted at once.
fn at_once(bases: &[u8]) -> Vec<u8> {
    let text = both_strands(bases);
    let sorted = libsais::SuffixArrayConstruction::for_text(&text).in_owned_buffer32().single_threaded().run().unwrap();
    let places = sorted.suffix_array().iter().map(|place| *place as usize);
    file(&text, &[text.len()].into_iter().chain(places).collect::<Vec<usize>>())
}

fn by_blocks(bases: &[u8], sizes: Sizes, threads: u16) -> Vec<u8> {
    let packed = pack(bases);
    let mut out = Vec::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build().unwrap();
    let text = Strands::new(&packed, bases.len());
    pool.install(|| make(text, sizes, &|_| (), &mut out)).unwrap();
    out
}

fn random(mut seed: u32, count: usize) -> Vec<u8> {
    let next = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 30) as u8
    });
    next.take(count).collect()
}

/// Long enough for several threads, with repeats.
#[test]
fn the_file_does_not_depend_on_threads() {
    let mut bases = random(1, 200_000);
    bases.extend_from_within(50_000..120_000);
    bases.extend([3; 5_000]);
    let all = at_once(&bases);
    for threads in [1, 2, 3, 8] {
        let mut out = Vec::new();
        write(Strands::new(&pack(&bases), bases.len()), threads, &|_| (), &mut out).unwrap();
        assert!(out == all, "{threads} threads");
        let sizes = Sizes { block: 70_001, spacing: 1_000, anchors: 333 };
        assert!(by_blocks(&bases, sizes, threads as u16) == all, "{threads} threads, blocks");
    }
}

/// Texts in which comparisons go far beyond a block, and searches for ranks fail.
#[test]
fn long_repeats_are_right() {
    let repeat = |unit: &[u8], count: usize| unit.repeat(count);
    let twice = repeat(&random(3, 30_000), 2);
    let mut inside = random(4, 20_000);
    inside.extend([0; 40_000]);
    inside.extend(random(5, 20_000));
    let texts = [
        vec![0; 60_000],
        vec![3; 60_001],
        repeat(&[0, 3], 30_000),
        repeat(&[0, 1, 2], 20_000),
        repeat(&random(2, 171), 400),
        both_strands(&random(6, 30_000)),
        repeat(&both_strands(&random(7, 5_000)), 4),
        twice,
        inside,
    ];
    for (number, bases) in texts.iter().enumerate() {
        let all = at_once(bases);
        for block in [3_000, 17_777, 60_000, 1 << 20] {
            let sizes = Sizes { block, spacing: 500, anchors: 1_000 };
            assert!(by_blocks(bases, sizes, 2) == all, "text {number}, blocks of {block}");
        }
    }
}

/// Around the ends of lines, blocks of the file and bytes of packed bases.
#[test]
fn every_length_is_right() {
    for count in (1..70).chain(120..135).chain(250..262) {
        let bases = random(count as u32, count);
        for block in [1, 7, 64, 100, 1_000] {
            let sizes = Sizes { block, spacing: 10, anchors: 16 };
            assert!(by_blocks(&bases, sizes, 1) == naive(&bases), "{count} bases, blocks of {block}");
        }
    }
}

#[test]
fn steps_are_told() {
    let (packed, told) = (pack(&random(1, 5_000)), std::sync::Mutex::new(Vec::new()));
    write(Strands::new(&packed, 5_000), 1, &|step| told.lock().unwrap().push(step), std::io::sink()).unwrap();
    assert_eq!(told.into_inner().unwrap(), [Step::Block { number: 1, count: 1 }, Step::Places]);
}

/// Random bases, few kinds of them, repeats and palindromes.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let unit = || prop_oneof![prop::collection::vec(0u8..4, 1..40), prop::collection::vec(0u8..2, 1..40)];
    let part = (unit(), 1usize..12, any::<bool>()).prop_map(|(unit, count, is_palindrome)| {
        let part = unit.repeat(count);
        if is_palindrome { both_strands(&part) } else { part }
    });
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn the_file_is_that_of_naive_sorting(
        bases in texts(),
        block in 1usize..60,
        spacing in 1usize..30,
        anchors in 1usize..100,
    ) {
        let out = by_blocks(&bases, Sizes { block, spacing, anchors }, 2);
        prop_assert_eq!(out.len() as u64, index_bytes(bases.len() as u64));
        prop_assert!(out == naive(&bases));
    }
}
