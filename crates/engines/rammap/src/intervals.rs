//! Files that options name: introns (`--junc-bed`, `-j`, `--pass1`), scores of splice sites (`--spsc`) and alternate
//! contigs (`--alt`), as minimap2 reads them. Lines of contigs that the reference lacks are passed over, but a file of
//! introns or splice sites that has no others is refused.

use crate::options::OptionFiles;
use rammap::align::index::Index;
use rammap::align::jump::{JumpDb, JumpJunc};
use rammap::align::junc::{BedInterval, JunctionDb, SpscContig, max_spsc_bonus};
use rammap::align::map::MapOptions;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use zerohop_input::{inflated, read_fault};
use zerohop_model::error::InputError;

/// What introns of a list are worth: JUNC_ANNO of rammap for those that are known, JUNC_MISC for those of a first pass.
const KNOWN: u16 = 1;
const OF_FIRST_PASS: u16 = 2;
/// Introns of a first pass with a lower score (column 5) are left out, as by minimap2 (`mm_idx_jjump_read`): in what
/// `--write-junc` writes that is how usual the bases at both ends are, up to 6.
const LEAST_SCORE: i32 = 5;
/// Scores of splice sites are kept in 7 bits, with this one for 0.
const SCORE_OFFSET: i32 = 64;

/// What files that options name say of the reference.
#[derive(Default)]
pub(crate) struct Annotation {
    pub(crate) junctions: Option<JunctionDb>,
    pub(crate) jumps: Option<JumpDb>,
    /// Numbers of contigs that are alternates of others.
    pub(crate) alternates: Vec<usize>,
}

/// The contigs of the reference: their numbers, and how many bases they have.
struct Contigs<'i> {
    numbers: HashMap<&'i str, usize>,
    lengths: Vec<usize>,
    /// Lines of the file that is read: of these contigs, and of others.
    lines: Cell<[u64; 2]>,
}

impl Contigs<'_> {
    /// The number of the contig that a line names.
    fn of_line(&self, name: &str) -> Option<usize> {
        let number = self.numbers.get(name).copied();
        let [known, other] = self.lines.get();
        self.lines.set(if number.is_some() { [known + 1, other] } else { [known, other + 1] });
        number
    }

    /// Refuses a file of which all lines are of other contigs.
    fn check_lines(&self, path: &Path) -> Result<(), InputError> {
        match self.lines.take() {
            [0, other] if other > 0 => {
                let what = "no line names a contig of the reference: are the names the same in both, or chr1 and 1?";
                Err(InputError::new(path, what.to_owned()))
            }
            _ => Ok(()),
        }
    }
}

/// A line of BED, of at least three columns.
struct BedLine<'l> {
    contig: usize,
    start: i32,
    end: i32,
    columns: Vec<&'l str>,
}

impl BedLine<'_> {
    fn score(&self) -> Option<i32> {
        self.columns.get(4).and_then(|score| score.parse().ok())
    }

    fn strand(&self) -> i32 {
        match self.columns.get(5) {
            Some(&"+") => 1,
            Some(&"-") => -1,
            _ => 0,
        }
    }

    /// The introns of a line: what lies between the blocks of BED12, or all of a line with fewer columns.
    fn introns(&self) -> Result<Vec<(i32, i32)>, String> {
        let (Some(sizes), Some(starts)) = (self.columns.get(10), self.columns.get(11)) else {
            return Ok(vec![(self.start, self.end)]);
        };
        let numbers = |text: &str| -> Option<Vec<i32>> {
            text.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().ok()).collect()
        };
        let count = self.columns[9].parse::<usize>().ok();
        let (Some(count), Some(sizes), Some(starts)) = (count, numbers(sizes), numbers(starts)) else {
            return Err("its blocks (columns 10 to 12) are no numbers".to_owned());
        };
        if sizes.len() < count || starts.len() < count {
            return Err(format!("it has fewer than {count} blocks, as column 10 has it"));
        }
        let blocks = || sizes.iter().zip(&starts).take(count);
        let is_inside = |(size, start): (&i32, &i32)| {
            let end = i64::from(self.start) + i64::from(*start) + i64::from(*size);
            *size >= 0 && *start >= 0 && end <= i64::from(self.end)
        };
        if !blocks().all(is_inside) {
            return Err("a block (columns 11 and 12) is not between columns 2 and 3".to_owned());
        }
        let ends = blocks().map(|(size, start)| self.start.saturating_add(*start).saturating_add(*size));
        let next = blocks().skip(1).map(|(_, start)| self.start.saturating_add(*start));
        Ok(ends.zip(next).filter(|(end, next)| end < next).collect())
    }
}

impl Annotation {
    /// Reads the files.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is wrong.
    pub(crate) fn read(files: &OptionFiles, index: &Index, map: &MapOptions) -> Result<Self, InputError> {
        let contigs = &Contigs {
            numbers: index.seqs.iter().map(|seq| &*seq.name).zip(0..).collect(),
            lengths: index.seqs.iter().map(|seq| seq.len).collect(),
            lines: Cell::default(),
        };
        let mut annotation = Annotation::default();
        if let Some(path) = &files.junctions {
            annotation.junctions = Some(JunctionDb::Bed(junctions(path, contigs)?));
        }
        if let Some(path) = &files.scores {
            annotation.junctions = Some(JunctionDb::Spsc(scores(path, files.score_scale, contigs, map)?));
        }
        let jumps = [(&files.jumps, KNOWN, None), (&files.jumps_of_first_pass, OF_FIRST_PASS, Some(LEAST_SCORE))];
        for (path, flag, least) in jumps {
            let Some(path) = path else { continue };
            let found = self::jumps(path, contigs, (flag, least))?;
            let all =
                annotation.jumps.get_or_insert_with(|| JumpDb { junctions: vec![Vec::new(); contigs.lengths.len()] });
            // Merging sorts them.
            all.merge(&JumpDb { junctions: found });
        }
        if let Some(path) = &files.alternates {
            each_line(path, |line| {
                annotation.alternates.extend(line.split_whitespace().next().and_then(|name| contigs.numbers.get(name)));
                Ok(())
            })?;
        }
        Ok(annotation)
    }
}

/// Hands on the lines of a file, plain or gzip.
fn each_line(path: &Path, mut take: impl FnMut(&str) -> Result<(), String>) -> Result<(), InputError> {
    let open = |error| InputError::new(path, format!("cannot open: {error}"));
    let mut text = Vec::new();
    inflated(File::open(path).map_err(open)?)
        .and_then(|mut file| file.read_to_end(&mut text))
        .map_err(|error| read_fault(path, &error))?;
    let mut byte = 0;
    for (record, line) in (1..).zip(text.split_inclusive(|&byte| byte == b'\n')) {
        let fault = |what: String| InputError::new(path, what).at(record, byte);
        let words = std::str::from_utf8(line.trim_ascii_end()).map_err(|_| fault("it is not text".to_owned()))?;
        take(words).map_err(fault)?;
        byte += line.len() as u64;
    }
    Ok(())
}

/// Hands on the lines of BED that are of a contig of the reference.
fn each_of_bed(
    path: &Path,
    contigs: &Contigs<'_>,
    mut take: impl FnMut(BedLine<'_>) -> Result<(), String>,
) -> Result<(), InputError> {
    each_line(path, |line| {
        if line.is_empty() || ["#", "track", "browser"].iter().any(|begin| line.starts_with(begin)) {
            return Ok(());
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, start, end, ..] = columns[..] else {
            return Err("a line of BED has three columns or more, separated by tabs".to_owned());
        };
        let Some(contig) = contigs.of_line(name) else { return Ok(()) };
        let place = |text: &str| text.parse::<i32>().map_err(|_| format!("'{text}' is not a place in a contig"));
        let (start, end) = (place(start)?, place(end)?);
        let length = contigs.lengths[contig];
        match start >= 0 && start < end {
            true if end as usize <= length => take(BedLine { contig, start, end, columns }),
            true => Err(format!("it ends at {end}, and {name} has {length} bases")),
            false => Err(format!("it ends at {end}, and begins at {start}")),
        }
    })?;
    contigs.check_lines(path)
}

/// Introns, for `--junc-bed`: blocks of BED12 lie beside them, other lines are one each. One that is there twice counts
/// once.
fn junctions(path: &Path, contigs: &Contigs<'_>) -> Result<Vec<Vec<BedInterval>>, InputError> {
    let mut all = vec![Vec::new(); contigs.lengths.len()];
    each_of_bed(path, contigs, |line| {
        let strand = line.strand();
        all[line.contig].extend(line.introns()?.into_iter().map(|(start, end)| BedInterval { start, end, strand }));
        Ok(())
    })?;
    for of_contig in &mut all {
        of_contig.sort_by_key(|interval: &BedInterval| (interval.start, interval.end));
        of_contig.dedup_by_key(|interval| (interval.start, interval.end));
    }
    Ok(all)
}

/// Introns, for `-j` and `--pass1`: each from its left to its right end, and back.
fn jumps(
    path: &Path,
    contigs: &Contigs<'_>,
    (flag, least): (u16, Option<i32>),
) -> Result<Vec<Vec<JumpJunc>>, InputError> {
    let mut all = vec![Vec::new(); contigs.lengths.len()];
    each_of_bed(path, contigs, |line| {
        let score = line.score();
        if least.is_some_and(|least| score.unwrap_or(-1) < least) {
            return Ok(());
        }
        let (count, strand) = (score.filter(|score| *score >= 0).unwrap_or(1), line.strand() as i16);
        for (left, right) in line.introns()? {
            let jump = |left_pos, right_pos| JumpJunc { left_pos, right_pos, count, strand, flag };
            all[line.contig].extend([jump(left, right), jump(right, left)]);
        }
        Ok(())
    })?;
    Ok(all)
}

/// Scores of splice sites: contig, place, strand, D or A for donor and acceptor, score (`mm_idx_spsc_read`).
fn scores(path: &Path, scale: f32, contigs: &Contigs<'_>, map: &MapOptions) -> Result<Vec<SpscContig>, InputError> {
    let lengths = &contigs.lengths;
    let most = max_spsc_bonus(map.scoring.gap_open2, map.scoring.gap_open).min(SCORE_OFFSET - 1);
    let mut all = vec![SpscContig::default(); lengths.len() * 2];
    each_line(path, |line| {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, place, strand, kind, score, ..] = columns[..] else {
            return Err("a splice site has five columns, separated by tabs".to_owned());
        };
        let Some(contig) = contigs.of_line(name) else { return Ok(()) };
        let number = |text: &str| text.parse::<i32>().map_err(|_| format!("'{text}' is not a number"));
        let (place, score) = (number(place)?, number(score)?);
        let (Some(is_reverse), Some(is_acceptor)) = (which(strand, ["+", "-"]), which(kind, ["D", "A"])) else {
            return Err("column 3 must be + or -, and column 4 D or A".to_owned());
        };
        if place <= 0 || place as usize >= lengths[contig] {
            return Ok(());
        }
        let scaled = match scale > 0.0 && scale < 1.0 {
            true => (f64::from(score) * f64::from(scale) + if score > 0 { 0.499 } else { -0.499 }) as i32,
            false => score,
        };
        let kept = (scaled.clamp(-most, most) + SCORE_OFFSET) as u64;
        let entry = (place as u64) << 8 | kept << 1 | u64::from(is_acceptor);
        all[contig * 2 + usize::from(is_reverse)].entries.push(entry);
        Ok(())
    })?;
    contigs.check_lines(path)?;
    all.iter_mut().for_each(|contig| contig.entries.sort_unstable());
    Ok(all)
}

/// Whether `text` is the second of two words; none if it is neither.
fn which(text: &str, words: [&str; 2]) -> Option<bool> {
    words.iter().position(|word| *word == text).map(|at| at == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::IndexParameters;
    use crate::tests::{fasta, file, twin};

    fn read(files: OptionFiles) -> Result<Annotation, String> {
        let index = twin(&fasta(&[900, 800], 1), IndexParameters::default());
        Annotation::read(&files, &index, &MapOptions::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn introns_lie_between_blocks_and_count_once() {
        let folder = tempfile::tempdir().unwrap();
        let twelve = "c1\t10\t110\tt\t7\t-\t10\t110\t0\t3\t10,20,10,\t0,40,90,\n";
        let text = format!("# a list\n{twelve}c0\t5\t50\tx\t1\t+\nother\tx\ty\n{twelve}");
        let path = Some(file(folder.path(), "a.bed", text.as_bytes()));
        let all = read(OptionFiles { junctions: path.clone(), ..OptionFiles::default() }).unwrap();
        let Some(JunctionDb::Bed(junctions)) = all.junctions else { panic!() };
        let of = |contig: usize| -> Vec<(i32, i32, i32)> {
            junctions[contig].iter().map(|interval| (interval.start, interval.end, interval.strand)).collect()
        };
        assert_eq!((of(0), of(1)), (vec![(5, 50, 1)], vec![(20, 50, -1), (70, 100, -1)]));
        // Of a first pass one with a score of seven stays. A line of fewer columns is one intron.
        let jumps = |files| read(files).unwrap().jumps.unwrap().junctions.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(jumps(OptionFiles { jumps_of_first_pass: path.clone(), ..OptionFiles::default() }), [0, 4]);
        assert_eq!(jumps(OptionFiles { jumps: path, ..OptionFiles::default() }), [2, 4]);
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for (text, what) in [
            ("c0\t1\n", "record 1 (byte 0): a line of BED has three columns"),
            ("c0\t1\t9\nc0\tx\t9\n", "record 2 (byte 7): 'x' is not a place"),
            ("c0\t9\t9\n", "it ends at 9"),
            ("c0\t1\t9\tt\t0\t+\t1\t9\t0\t2\t1,\t0,\n", "fewer than 2 blocks"),
            ("c0\t1\t9\tt\t0\t+\t1\t9\t0\t2\t1,2,\t-7,3,\n", "is not between columns 2 and 3"),
            ("c0\t1\t9\tt\t0\t+\t1\t9\t0\t2\t1,2,\t0,7,\n", "is not between columns 2 and 3"),
            ("c0\t1\t901\n", "it ends at 901, and c0 has 900 bases"),
            ("chr0\t1\t9\n# c0\nchr1\t2\t3\n", "no line names a contig of the reference"),
        ] {
            let path = Some(file(folder.path(), "a.bed", text.as_bytes()));
            let error = read(OptionFiles { junctions: path, ..OptionFiles::default() }).err().unwrap();
            assert!(error.contains(what), "{error}");
        }
        let path = Some(file(folder.path(), "s.tsv", b"c0\t5\t+\tX\t3\n"));
        let error = read(OptionFiles { scores: path, ..OptionFiles::default() }).err().unwrap();
        assert!(error.contains("column 4 D or A"), "{error}");
        let path = Some(file(folder.path(), "alt.txt", b"c1 x\nnone\n"));
        assert_eq!(read(OptionFiles { alternates: path, ..OptionFiles::default() }).unwrap().alternates, [1]);
    }
}
