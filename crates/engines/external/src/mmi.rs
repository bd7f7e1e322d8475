//! The header of minimap2's index files (`mm_idx_dump` in its index.c).

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What such a file begins with.
const MAGIC: &[u8; 4] = b"MMI\x02";
/// The flag of homopolymer compression.
const HOMOPOLYMERS: u32 = 1;

/// The options among `given`, with their values, with which the index was not made, and what it was made with instead;
/// both as words. None if there are no such options, or if the file is not an index of minimap2, which says so itself
/// then.
pub(crate) fn differing(index: &Path, given: &[(String, String)]) -> Option<(String, String)> {
    let [window, kmer, _bucket_bits, _contigs, flags] = header(index)?;
    let mut words = Vec::new();
    for (option, value) in given {
        let number = match &**option {
            "-k" => kmer,
            "-w" => window,
            "-H" if flags & HOMOPOLYMERS == 0 => {
                words.push(("no -H".to_owned(), "-H".to_owned()));
                continue;
            }
            _ => continue,
        };
        if value.parse() != Ok(number) {
            words.push((format!("{option} {number}"), format!("{option} {value}")));
        }
    }
    let (made_with, given): (Vec<String>, Vec<String>) = words.into_iter().unzip();
    (!given.is_empty()).then(|| (made_with.join(" "), given.join(" ")))
}

/// Window, k-mer, bits of a bucket, number of contigs, flags.
fn header(index: &Path) -> Option<[u32; 5]> {
    let mut bytes = [0; 24];
    File::open(index).and_then(|mut file| file.read_exact(&mut bytes)).ok()?;
    let (magic, numbers) = bytes.split_first_chunk()?;
    let (numbers, _) = numbers.as_chunks();
    (magic == MAGIC).then(|| std::array::from_fn(|i| u32::from_le_bytes(numbers[i])))
}
