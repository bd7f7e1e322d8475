//! What is looked at of an index that another program made, before the library reads it: the library ends the process
//! where a file is not what it expects, and reads beyond its memory where a file says so.

use crate::contigs;
use crate::files::{ALT, BwaIndexError, ENDINGS, check_line, damaged, path, text, unreadable};
use crate::fm::index_bytes;
use rayon::prelude::*;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes before the blocks of the FM-index.
const HEADER: usize = 48;
/// Bytes of a block, and suffixes in it.
const BLOCK: usize = 64;
/// Blocks that are looked at together.
const RUN: usize = 1 << 14;

/// Looks at sizes, sums and places, with so many threads, so that the library stays inside of what it has.
///
/// # Errors
/// A file that is missing, or is not what it should be.
pub(crate) fn check(reference: &Path, threads: usize) -> Result<(), BwaIndexError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| unreadable(reference)(io::Error::other(error)))?;
    pool.install(|| check_files(reference))
}

fn check_files(reference: &Path) -> Result<(), BwaIndexError> {
    let [fm, pac, ann, amb] = ENDINGS.map(|ending| path(reference, ending));
    let (bases, contigs) = check_ann(&ann)?;
    check_amb(&amb, bases, contigs)?;
    check_pac(&pac, bases)?;
    check_fm(&fm, bases)
}

/// The numbers at the beginning of a line.
fn numbers<const N: usize>(line: Option<&[u8]>) -> Option<[u64; N]> {
    let line = std::str::from_utf8(line?).ok()?;
    let mut fields = line.split(' ');
    let mut found = [0; N];
    for number in &mut found {
        *number = fields.next()?.parse().ok()?;
    }
    Some(found)
}

/// Contigs: they follow one another. Gives the bases of all, and how many there are.
pub(crate) fn check_ann(path: &Path) -> Result<(u64, u64), BwaIndexError> {
    let text = text(path)?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let first = || damaged(path, "the first line is not three numbers");
    let [bases, contigs, _seed] = numbers(lines.next()).ok_or_else(first)?;
    let mut end = 0;
    for number in 1..=contigs {
        let wrong = |what: &str| damaged(path, format!("contig {number}: {what}"));
        let name = lines.next().ok_or_else(|| wrong("it is missing"))?;
        if !name.starts_with(b"0 ") || name.len() < 3 || name[2] == b' ' {
            return Err(wrong("it has no name"));
        }
        let [start, length, _holes] = numbers(lines.next()).ok_or_else(|| wrong("it has no place"))?;
        if start != end || length > i32::MAX as u64 {
            return Err(wrong("it does not follow the one before"));
        }
        end += length;
    }
    match end == bases && contigs > 0 && lines.all(<[u8]>::is_empty) {
        true => Ok((bases, contigs)),
        false => Err(damaged(path, format!("its contigs have {end} bases together, not {bases}"))),
    }
}

/// Looks at the list of contigs: whether the library can read its lines. What is no list is found elsewhere.
///
/// # Errors
/// A name or a comment that is too long.
pub(crate) fn check_lines(reference: &Path) -> Result<(), BwaIndexError> {
    let path = &path(reference, ENDINGS[2]);
    let text = text(path)?;
    for line in text.split(|byte| *byte == b'\n').skip(1).step_by(2) {
        let line = line.strip_prefix(b"0 ").unwrap_or(line);
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        check_line(path, &line[..end], line.get(end + 1..).unwrap_or_default())?;
    }
    Ok(())
}

/// Looks at the file of ALT contigs, if there is one: whether the library takes its names.
///
/// # Errors
/// A name that is too long.
pub(crate) fn check_alt(reference: &Path) -> Result<(), BwaIndexError> {
    let path = &path(reference, ALT);
    if !path.exists() {
        return Ok(());
    }
    let text = text(path)?;
    let is_long = |line: &&[u8]| contigs::alt_name(line).len() > contigs::ALT_NAME;
    match text.split_inclusive(|byte| *byte == b'\n').position(|line| is_long(&line)) {
        Some(line) => Err(damaged(path, format!("the name in line {} is longer than any contig's", line + 1))),
        None => Ok(()),
    }
}

/// Replaced bases: runs in order.
pub(crate) fn check_amb(path: &Path, bases: u64, contigs: u64) -> Result<(), BwaIndexError> {
    let text = text(path)?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let [all, count, holes] =
        numbers(lines.next()).ok_or_else(|| damaged(path, "the first line is not three numbers"))?;
    if (all, count) != (bases, contigs) {
        return Err(damaged(path, "it is of another reference than the file of contigs"));
    }
    let mut end = 0;
    for number in 1..=holes {
        let wrong = || damaged(path, format!("run {number} is missing or out of order"));
        let [start, length] = numbers(lines.next()).ok_or_else(wrong)?;
        let next = start.checked_add(length).filter(|next| start >= end && *next <= bases);
        end = next.ok_or_else(wrong)?;
    }
    Ok(())
}

/// Bases: as many as the contigs have.
pub(crate) fn check_pac(path: &Path, bases: u64) -> Result<(), BwaIndexError> {
    let file = File::open(path).map_err(unreadable(path))?;
    let length = file.metadata().map_err(unreadable(path))?.len();
    let wanted = bases / 4 + 2;
    if length != wanted {
        return Err(damaged(path, format!("it has {length} bytes, not {wanted}")));
    }
    let mut last = [0];
    file.read_exact_at(&mut last, length - 1).map_err(unreadable(path))?;
    match u64::from(last[0]) == bases % 4 {
        true => Ok(()),
        false => Err(damaged(path, "its last byte is not the number of bases in the one before")),
    }
}

/// The FM-index: its size, and that each block counts what the blocks before it hold, so that a search stays inside;
/// and that all places are some.
fn check_fm(path: &Path, bases: u64) -> Result<(), BwaIndexError> {
    let file = File::open(path).map_err(unreadable(path))?;
    let length = file.metadata().map_err(unreadable(path))?.len();
    let suffixes = 2 * bases + 1;
    if length != index_bytes(bases) {
        return Err(damaged(path, format!("it has {length} bytes, not {}", index_bytes(bases))));
    }
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0).map_err(unreadable(path))?;
    let header: [u64; 6] = bytemuck::pod_read_unaligned(&header);
    if header[0] != suffixes {
        return Err(damaged(path, format!("it is of {} suffixes, not {suffixes}", header[0])));
    }
    let less = &header[1..];
    if less[0] != 0 || less[4] != suffixes - 1 || less.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(damaged(path, "its numbers of bases are no sums"));
    }
    let whole = read_number(&file, path, length - 8)?;
    if whole >= suffixes {
        return Err(damaged(path, "it has no suffix that is the whole text"));
    }
    check_blocks(&file, path, suffixes, whole, less)?;
    check_places(&file, path, suffixes)
}

fn read_number(file: &File, path: &Path, at: u64) -> Result<u64, BwaIndexError> {
    let mut number = [0; 8];
    file.read_exact_at(&mut number, at).map_err(unreadable(path))?;
    Ok(u64::from_le_bytes(number))
}

/// Counts and bits of all blocks.
fn check_blocks(file: &File, path: &Path, suffixes: u64, whole: u64, less: &[u64]) -> Result<(), BwaIndexError> {
    let blocks = (suffixes / BLOCK as u64 + 1) as usize;
    (0..blocks.div_ceil(RUN)).into_par_iter().try_for_each(|run| {
        let first = run * RUN;
        // The first of the next run, too: its counts are those at the end of this run.
        let count = (blocks - first).min(RUN + 1);
        let mut bytes = vec![0; count * BLOCK];
        file.read_exact_at(&mut bytes, (HEADER + first * BLOCK) as u64).map_err(unreadable(path))?;
        let blocks_here: Vec<[u64; 8]> =
            bytes.as_chunks::<BLOCK>().0.iter().map(|block| bytemuck::pod_read_unaligned(block)).collect();
        for (i, block) in blocks_here.iter().enumerate() {
            let number = first + i;
            let (counts, bits) = (&block[..4], &block[4..]);
            let start = (number * BLOCK) as u64;
            let here = suffixes.saturating_sub(start).min(BLOCK as u64) as u32;
            let wrong = || damaged(path, format!("block {number} does not fit the one behind it"));
            let is_whole_here = (start..start + u64::from(here)).contains(&whole);
            let set = bits.iter().fold(0, |all, bits| all | bits);
            let sum: u32 = bits.iter().map(|bits| bits.count_ones()).sum();
            if sum != here - u32::from(is_whole_here) || set.count_ones() != sum {
                return Err(wrong());
            }
            let after = |base: usize| counts[base].wrapping_add(u64::from(bits[base].count_ones()));
            let fits = |base: usize| match blocks_here.get(i + 1) {
                Some(next) => next[base] == after(base),
                None if number + 1 == blocks => after(base) == less[base + 1] - less[base],
                None => true,
            };
            if number == 0 && counts.iter().any(|count| *count != 0) || !(0..4).all(fits) {
                return Err(wrong());
            }
        }
        Ok(())
    })
}

/// Places of every eighth suffix.
fn check_places(file: &File, path: &Path, suffixes: u64) -> Result<(), BwaIndexError> {
    let (blocks, places) = (suffixes / BLOCK as u64 + 1, suffixes / 8 + 1);
    let high_at = HEADER as u64 + blocks * BLOCK as u64;
    let low_at = high_at + places;
    let run = (RUN * BLOCK) as u64;
    (0..places.div_ceil(run)).into_par_iter().try_for_each(|number| {
        let first = number * run;
        let count = (places - first).min(run) as usize;
        let (mut high, mut low) = (vec![0; count], vec![0; 4 * count]);
        file.read_exact_at(&mut high, high_at + first).map_err(unreadable(path))?;
        file.read_exact_at(&mut low, low_at + 4 * first).map_err(unreadable(path))?;
        let place = |(high, low): (&u8, &[u8; 4])| u64::from(*high) << 32 | u64::from(u32::from_le_bytes(*low));
        match high.iter().zip(low.as_chunks::<4>().0).map(place).all(|place| place < suffixes) {
            true => Ok(()),
            false => Err(damaged(path, "a suffix begins behind the end")),
        }
    })
}
