//! Indexes in the form of bwa, made by naive sorting.

use super::*;
use crate::fm;
use proptest::prelude::*;
use tempfile::TempDir;

/// The files of bwa's index of a text with one contig, in a folder.
struct BwaFiles {
    folder: TempDir,
}

/// Rows of which `.bwt` has sums, and symbols in a number of it.
const SUMS: usize = 128;
const PACKED: usize = 16;

/// The text and the places of its suffixes in their order, the empty one first.
fn sorted(bases: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let text: Vec<u8> = bases.iter().copied().chain(bases.iter().rev().map(|base| 3 - base)).collect();
    let mut places: Vec<usize> = (0..=text.len()).collect();
    places.sort_by_key(|place| &text[*place..]);
    (text, places)
}

impl BwaFiles {
    /// With a place for each `interval` rows.
    fn new(bases: &[u8], interval: usize) -> Self {
        let (text, places) = sorted(bases);
        let whole = places.iter().position(|place| *place == 0).unwrap() as u64;
        let symbols: Vec<u8> = places.iter().filter_map(|place| place.checked_sub(1)).map(|at| text[at]).collect();
        let less = |base: u8| text.iter().filter(|other| **other < base).count() as u64;
        let header = [whole, less(1), less(2), less(3), less(4)].map(u64::to_le_bytes).concat();

        let (mut bwt, mut counts) = (header.clone(), [0u64; 4]);
        for record in symbols.chunks(SUMS) {
            bwt.extend(counts.map(u64::to_le_bytes).concat());
            for packed in record.chunks(PACKED) {
                let add = |number, (base, i): (&u8, u32)| number | u32::from(*base) << (30 - 2 * i);
                bwt.extend(packed.iter().zip(0..).fold(0, add).to_le_bytes());
            }
            record.iter().for_each(|base| counts[usize::from(*base)] += 1);
        }
        bwt.extend(counts.map(u64::to_le_bytes).concat());

        let sampled = places.iter().step_by(interval).skip(1).flat_map(|place| (*place as u64).to_le_bytes());
        let numbers = [interval as u64, text.len() as u64].map(u64::to_le_bytes).concat();
        let sa = header.into_iter().chain(numbers).chain(sampled).collect();

        let pack = |bases: &[u8]| bases.iter().zip(0..).fold(0, |byte, (base, i)| byte | base << (6 - 2 * i));
        let rest = (bases.len() % 4) as u8;
        let pac: Vec<u8> = bases.chunks(4).map(pack).chain((rest == 0).then_some(0)).chain([rest]).collect();
        let ann = format!("{} 1 11\n0 a (null)\n0 {} 0\n", bases.len(), bases.len()).into_bytes();
        let amb = format!("{} 1 0\n", bases.len()).into_bytes();

        let files = BwaFiles { folder: tempfile::tempdir().unwrap() };
        for (ending, content) in ENDINGS.into_iter().zip([bwt, sa, pac, ann, amb]) {
            std::fs::write(files.path(ending), content).unwrap();
        }
        files
    }

    fn reference(&self) -> PathBuf {
        self.folder.path().join("r.fa")
    }

    fn path(&self, ending: &str) -> PathBuf {
        path(&self.reference(), ending)
    }

    fn convert(&self) -> Result<Vec<u8>, BwaIndexError> {
        let index = BwaIndex::open(&self.reference())?;
        let files = index.check(&self.reference())?;
        let mut out = Vec::new();
        index.convert(&files.pac)?.write(&mut out).unwrap();
        Ok(out)
    }

    /// What is said if a file of it is changed.
    fn said(&self, ending: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let content = std::fs::read(self.path(ending)).unwrap();
        let mut changed = content.clone();
        change(&mut changed);
        std::fs::write(self.path(ending), changed).unwrap();
        let said = self.convert().unwrap_err().to_string();
        std::fs::write(self.path(ending), content).unwrap();
        said.replace(&self.folder.path().display().to_string(), "")
    }
}

fn ours(bases: &[u8]) -> Vec<u8> {
    let pack = |bases: &[u8]| bases.iter().enumerate().fold(0, |byte, (at, base)| byte | base << (6 - 2 * at));
    let (packed, mut out): (Vec<u8>, _) = (bases.chunks(4).map(pack).collect(), Vec::new());
    fm::write(fm::Strands::new(&packed, bases.len()), 2, &|_| (), &mut out).unwrap();
    out
}

fn random(count: usize, mut seed: u32) -> Vec<u8> {
    let next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 30) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// A text and, behind it, its reverse complement: both strands are the same.
fn palindrome(half: &[u8]) -> Vec<u8> {
    half.iter().copied().chain(half.iter().rev().map(|base| 3 - base)).collect()
}

#[test]
fn the_index_is_that_of_sorting_whatever_the_length() {
    let bases = random(300, 3);
    for length in 1..=bases.len() {
        assert_eq!(BwaFiles::new(&bases[..length], 32).convert().unwrap(), ours(&bases[..length]), "{length} bases");
    }
    for length in [4095, 4096, 4097] {
        let bases = random(length, 5);
        assert!(BwaFiles::new(&bases, 32).convert().unwrap() == ours(&bases), "{length} bases");
    }
}

#[test]
fn repeats_and_palindromes_make_no_difference() {
    for base in 0..4 {
        for length in [1, 2, 31, 32, 33, 63, 64, 65, 500] {
            let bases = vec![base; length];
            assert_eq!(BwaFiles::new(&bases, 32).convert().unwrap(), ours(&bases), "{length} times {base}");
        }
    }
    for (unit, count) in [(1, 1), (3, 20), (64, 4), (500, 3)] {
        let repeated = random(unit, 7).repeat(count);
        for bases in [palindrome(&repeated), repeated] {
            assert!(BwaFiles::new(&bases, 32).convert().unwrap() == ours(&bases), "{count} times {unit} bases");
        }
    }
}

#[test]
fn places_may_be_nearer_or_further_apart() {
    let bases = random(2_000, 11);
    for interval in [1, 2, 4, 8, 16, 64, 1024, 4096] {
        assert!(BwaFiles::new(&bases, interval).convert().unwrap() == ours(&bases), "each {interval}");
    }
}

/// Blocks that several tasks make.
#[test]
fn the_index_does_not_depend_on_threads() {
    let mut bases = random(150_000, 13);
    bases.extend_from_within(20_000..60_000);
    let (files, expected) = (BwaFiles::new(&bases, 32), ours(&bases));
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| files.convert()).unwrap() == expected, "{threads} threads");
    }
}

#[test]
fn damage_is_told_with_the_file_and_what_is_wrong() {
    let files = BwaFiles::new(&random(1_000, 17), 32);
    let number =
        |at: usize, number: u64| move |file: &mut Vec<u8>| file[at..at + 8].copy_from_slice(&number.to_le_bytes());
    let damaged = "it is damaged, or not of an index of bwa 0.6 or later";
    let cases = [
        (files.said("bwt", |file| file.truncate(30)), "/r.fa.bwt", "(it has 30 bytes)"),
        (files.said("bwt", |file| file.truncate(700)), "/r.fa.bwt", "(it has 700 bytes, not 1084)"),
        (files.said("bwt", number(0, 0)), "/r.fa.bwt", "(its header is wrong)"),
        (files.said("bwt", number(0, 2001)), "/r.fa.bwt", "(its header is wrong)"),
        (files.said("bwt", number(32, u64::MAX)), "/r.fa.bwt", "(its header is wrong)"),
        (files.said("bwt", number(0, 1)), "/r.fa.sa", "(it is not of the text of .bwt)"),
        (files.said("sa", number(40, 0)), "/r.fa.sa", "(it has a place for each 0 rows)"),
        (files.said("sa", number(40, 33)), "/r.fa.sa", "(it has a place for each 33 rows)"),
        (files.said("sa", number(40, 16)), "/r.fa.sa", "(it has 552 bytes, not 1056)"),
        (files.said("sa", number(40, 1 << 63)), "/r.fa.sa", "(it has 552 bytes, not 56)"),
        (files.said("sa", number(56, 2000)), "/r.fa.sa", "(row 32 begins behind the end)"),
        (files.said("bwt", |file| file[75] ^= 1), "/r.fa.bwt", "(the sums at base 128 are not those of its bases)"),
        (files.said("bwt", |file| file[44] ^= 1), "/r.fa.bwt", "(the sums at base 0 are not those of its bases)"),
        (files.said("ann", |file| file[0] = b'3'), "/r.fa.ann", "(its contigs have 1000 bases together, not 3000)"),
        (files.said("amb", |file| file[0] = b'2'), "/r.fa.amb", "(it is of another reference than the file of"),
        (files.said("pac", |file| file.truncate(200)), "/r.fa.pac", "(it has 200 bytes, not 252)"),
    ];
    for (said, file, what) in cases {
        assert!(said.starts_with(&format!("{file}: {damaged} {what}")), "{said}");
    }
    for said in [files.said("sa", |file| file[56] ^= 1), files.said("pac", |file| file[100] ^= 4)] {
        assert!(said.contains("are not of one text"), "{said}");
    }
    let both_strands = |file: &mut Vec<u8>| *file = b"2000 1 11\n0 a (null)\n0 1000 0\n".to_vec();
    let said = files.said("ann", both_strands);
    assert!(said.starts_with("/r.fa.pac: 'bwa index' has not finished (it holds both strands)"), "{said}");
    std::fs::remove_file(files.path("sa")).unwrap();
    let said = files.convert().unwrap_err().to_string();
    assert!(said.contains("r.fa.sa: 'bwa index' has not finished (it does not exist)"), "{said}");
}

#[test]
fn old_and_foreign_ones_are_refused() {
    let bases = random(1_000, 19);
    let files = BwaFiles::new(&bases, 32);
    let numbers: [u32; 5] = [17, 250, 500, 750, 1_000];
    let old = [numbers.map(u32::to_le_bytes).concat(), vec![0; 4 * 63 + 16 * 9]].concat();
    let said = files.said("bwt", |file| *file = old);
    assert!(said.contains("(bwa 0.5 or an older one made it)"), "{said}");
    let text: String = bases.iter().map(|base| char::from(b"ACGT"[usize::from(*base)])).collect();
    std::fs::write(files.reference(), format!(">a\n{text}\n")).unwrap();
    files.convert().unwrap();
    for (contig, text) in [("b", text.clone()), ("a", text.replacen("ACG", "ATG", 1)), ("a", text[1..].to_owned())] {
        std::fs::write(files.reference(), format!(">{contig}\n{text}\n")).unwrap();
        let said = files.convert().unwrap_err().to_string();
        assert!(said.contains("r.fa.bwt: it was made from another reference"), "{said}");
    }
}

#[test]
fn names_with_64_come_first() {
    let files = BwaFiles::new(&[0, 1, 2], 32);
    assert_eq!(prefix(&files.reference()), Some(files.reference()));
    std::fs::write(files.path("64.bwt"), "").unwrap();
    assert_eq!(prefix(&files.reference()), Some(files.path("64")));
    assert_eq!(prefix(&files.folder.path().join("other.fa")), None);
}

proptest! {
    #[test]
    fn the_index_is_that_of_sorting(
        bases in prop::collection::vec(0u8..4, 1..400),
        copies in 1usize..4,
        is_palindrome in any::<bool>(),
        interval in 0u32..8,
    ) {
        let repeated = bases.repeat(copies);
        let bases = if is_palindrome { palindrome(&repeated) } else { repeated };
        prop_assert!(BwaFiles::new(&bases, 1 << interval).convert().unwrap() == ours(&bases));
    }

    /// What is made of a damaged index is an error, or the same index: no panic, and no walk without an end.
    #[test]
    fn damage_makes_no_other_index(
        bases in prop::collection::vec(0u8..4, 1..400),
        (ending, at, bit) in (0usize..3, any::<prop::sample::Index>(), 0u8..8),
    ) {
        let (files, expected) = (BwaFiles::new(&bases, 32), ours(&bases));
        let path = files.path(ENDINGS[ending]);
        let mut content = std::fs::read(&path).unwrap();
        let at = at.index(content.len());
        content[at] ^= 1 << bit;
        std::fs::write(&path, content).unwrap();
        prop_assert!(files.convert().map_or(true, |index| index == expected));
    }
}
