//! The reference as bwa packs it: two bits a base, what is no A, C, G or T replaced by a random base, and two files of
//! text that say which contigs there are (`.ann`) and where bases were replaced (`.amb`). The same bytes as `bwa index`
//! writes.

use crate::fm::Strands;
use std::io::{self, Write};
use std::iter::Peekable;
use std::ops::Range;
use std::path::Path;
use zerohop_input::reference::{Piece, read};
use zerohop_model::error::InputError;

/// bwa's seed of the random bases; `.ann` names it, too.
const SEED: u32 = 11;
/// Bases that are converted at once.
const CONVERTED_AT_ONCE: usize = 1 << 16;

/// The sequences of a reference.
#[derive(Debug, Default)]
pub struct Sequences {
    /// All bases, one after the other: 0 to 3 for A, C, G and T. Four a byte, the first in the highest bits.
    packed: Vec<u8>,
    /// How many have been read.
    bases: usize,
    contigs: Vec<AnnotatedContig>,
    holes: Vec<Hole>,
    random: Random,
    /// The letter before, if it is of the same contig.
    last: Option<u8>,
}

#[derive(Debug)]
struct AnnotatedContig {
    name: Vec<u8>,
    comment: Vec<u8>,
    /// Where it starts, in bases from the start of the first contig.
    start: usize,
    holes: usize,
}

/// A run of the same letter that is no base.
#[derive(Debug)]
struct Hole {
    start: usize,
    length: usize,
    letter: u8,
}

impl Sequences {
    /// Reads FASTA: plain, gzip or BGZF, by content.
    ///
    /// # Errors
    /// A file that cannot be read, or is not a reference.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let mut sequences = Sequences::default();
        read(path, |piece| match piece {
            Piece::Contig { name, comment } => sequences.begin(name, comment),
            Piece::Bases(letters) => sequences.push(letters),
        })?;
        sequences.packed.shrink_to_fit();
        Ok(sequences)
    }

    /// The sequences in which seeds of bisulfite reads are found, as bwa-mem3 makes them (`meth_index_build`): of each
    /// contig one where every G is A, called r and its name, and one where every C is T, called f and its name.
    pub fn converted(&self) -> Sequences {
        let mut converted = Sequences { packed: Vec::with_capacity(self.packed.len() * 2 + 1), ..Default::default() };
        let ends = self.contigs.iter().skip(1).map(|contig| contig.start).chain([self.bases]);
        let mut holes = self.holes.iter().peekable();
        for (contig, end) in self.contigs.iter().zip(ends) {
            let own = holes.clone();
            for (letter, letters) in [(b'r', b"ACAT"), (b'f', b"ATGT")] {
                converted.begin(&[&[letter], &contig.name[..]].concat(), b"");
                holes = own.clone();
                self.push_converted(contig.start..end, &mut holes, letters, &mut converted);
            }
        }
        converted
    }

    /// Adds these places, of which the first holes are some, with these letters for the bases.
    fn push_converted<'h>(
        &self,
        places: Range<usize>,
        holes: &mut Peekable<impl Iterator<Item = &'h Hole>>,
        letters: &[u8; 4],
        to: &mut Sequences,
    ) {
        let mut text = Vec::new();
        let mut at = places.start;
        while at < places.end {
            let hole = holes.next_if(|hole| hole.start < places.end);
            let bases = at..hole.map_or(places.end, |hole| hole.start);
            let base = |at: usize| letters[usize::from(self.packed[at / 4] >> (6 - 2 * (at % 4)) & 3)];
            for start in bases.clone().step_by(CONVERTED_AT_ONCE) {
                text.clear();
                text.extend((start..bases.end.min(start + CONVERTED_AT_ONCE)).map(base));
                to.push(&text);
            }
            at = bases.end;
            if let Some(Hole { length, letter, .. }) = hole {
                (0..*length).for_each(|_| to.push(&[letter.to_ascii_uppercase()]));
                at += length;
            }
        }
    }

    /// How many bases all sequences have.
    pub fn bases(&self) -> usize {
        self.bases
    }

    /// All bases, and their reverse complement.
    pub fn strands(&self) -> Strands<'_> {
        Strands::new(&self.packed, self.bases)
    }

    /// Names of all contigs, and what is behind them.
    pub fn names(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.contigs.iter().map(|contig| (&*contig.name, &*contig.comment))
    }

    fn begin(&mut self, name: &[u8], comment: &[u8]) {
        let start = self.bases;
        self.contigs.push(AnnotatedContig { name: name.to_owned(), comment: comment.to_owned(), start, holes: 0 });
        self.last = None;
    }

    fn push(&mut self, mut letters: &[u8]) {
        self.packed.reserve(letters.len() / 4 + 1);
        loop {
            if self.bases.is_multiple_of(4)
                && let Some((four, behind)) = letters.split_first_chunk()
                && let Some(byte) = pack(*four)
            {
                self.packed.push(byte);
                self.bases += 4;
                self.last = Some(four[3]);
                letters = behind;
                continue;
            }
            let Some((letter, behind)) = letters.split_first() else { break };
            self.push_one(*letter);
            letters = behind;
        }
    }

    fn push_one(&mut self, letter: u8) {
        let at = self.bases;
        let base = self.take(letter).unwrap_or_else(|| (self.random.next() & 3) as u8);
        let bits = base << (6 - 2 * (at % 4));
        match self.packed.last_mut() {
            Some(byte) if !at.is_multiple_of(4) => *byte |= bits,
            _ => self.packed.push(bits),
        }
    }

    /// The next letter: the number of a base, or another letter, which is part of a hole.
    fn take(&mut self, letter: u8) -> Option<u8> {
        let base = code(letter);
        if base.is_none() {
            self.hole(letter);
        }
        self.last = Some(letter);
        self.bases += 1;
        base
    }

    /// Whether these files, `.pac`, `.ann` and `.amb`, are of the reference at `path`. Replaced bases and comments may
    /// be other ones.
    ///
    /// # Errors
    /// As for [`Sequences::read`].
    pub fn are_packed(path: &Path, pac: &[u8], ann: &[u8], amb: &[u8]) -> Result<bool, InputError> {
        let (mut sequences, mut same) = (Sequences::default(), true);
        read(path, |piece| match piece {
            Piece::Contig { name, comment } => sequences.begin(name, comment),
            Piece::Bases(letters) => same &= sequences.is_next(letters, pac),
        })?;
        let (mut own_ann, mut own_amb) = (Vec::new(), Vec::new());
        let written = sequences.write_ann(&mut own_ann).and_then(|()| sequences.write_amb(&mut own_amb));
        Ok(same && written.is_ok() && own_amb == amb && without_comments(&own_ann).eq(without_comments(ann)))
    }

    /// Whether the next letters are those that stand there in `.pac`.
    fn is_next(&mut self, letters: &[u8], pac: &[u8]) -> bool {
        let packed = |at: usize| pac.get(at / 4).map(|byte| byte >> (6 - 2 * (at % 4)) & 3);
        letters.iter().fold(true, |same, letter| {
            let at = self.bases;
            same & self.take(*letter).is_none_or(|base| packed(at) == Some(base))
        })
    }

    /// A run goes on as long as the letter is the same, in the same case.
    fn hole(&mut self, letter: u8) {
        match self.holes.last_mut() {
            Some(hole) if self.last == Some(letter) => hole.length += 1,
            _ => {
                self.holes.push(Hole { start: self.bases, length: 1, letter });
                if let Some(contig) = self.contigs.last_mut() {
                    contig.holes += 1;
                }
            }
        }
    }

    /// Writes `.pac`: four bases a byte, the first in the highest bits; then, where the last byte is full, a zero; then
    /// how many bases the last byte holds.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_pac(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(&self.packed)?;
        let rest = (self.bases % 4) as u8;
        out.write_all(if rest == 0 { &[0, 0] } else { std::slice::from_ref(&rest) })
    }

    /// Writes `.ann`.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_ann(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "{} {} {SEED}", self.bases, self.contigs.len())?;
        let ends = self.contigs.iter().skip(1).map(|contig| contig.start).chain([self.bases]);
        for (contig, end) in self.contigs.iter().zip(ends) {
            let comment: &[u8] = if contig.comment.is_empty() { b"(null)" } else { &contig.comment };
            out.write_all(&[b"0 ", &contig.name[..], b" ", comment, b"\n"].concat())?;
            writeln!(out, "{} {} {}", contig.start, end - contig.start, contig.holes)?;
        }
        Ok(())
    }

    /// Writes `.amb`.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_amb(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "{} {} {}", self.bases, self.contigs.len(), self.holes.len())?;
        for Hole { start, length, letter } in &self.holes {
            writeln!(out, "{start} {length} {}", char::from(*letter))?;
        }
        Ok(())
    }
}

/// The lines of `.ann`, of those with names up to the name.
fn without_comments(ann: &[u8]) -> impl Iterator<Item = &[u8]> {
    ann.split(|byte| *byte == b'\n').enumerate().map(|(number, line)| {
        let end = line.iter().enumerate().filter(|(_, byte)| **byte == b' ').nth(1).map_or(line.len(), |(at, _)| at);
        if number % 2 == 1 { &line[..end] } else { line }
    })
}

/// The number of a base; none for other letters.
fn code(letter: u8) -> Option<u8> {
    let code = CODES[usize::from(letter)];
    (code < 4).then_some(code)
}

/// Four bases in a byte; none if one of the letters is no base.
fn pack(letters: [u8; 4]) -> Option<u8> {
    let [a, b, c, d] = letters.map(|letter| CODES[usize::from(letter)]);
    (a | b | c | d < 4).then_some(a << 6 | b << 4 | c << 2 | d)
}

/// The numbers of bases; 4 for other letters.
const CODES: [u8; 256] = {
    let (mut codes, mut base) = ([4; 256], 0);
    while base < 4 {
        codes[b"ACGT"[base] as usize] = base as u8;
        codes[b"acgt"[base] as usize] = base as u8;
        base += 1;
    }
    codes
};

/// `srand48` and `lrand48` of POSIX: 48 bits, of which the upper 31 are given.
#[derive(Debug)]
struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Random(u64::from(SEED) << 16 | 0x330e)
    }
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = (self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(0xb)) & ((1 << 48) - 1);
        self.0 >> 17
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `bwa index` 0.7.17 writes for this reference.
    #[test]
    fn the_files_are_those_of_bwa() {
        let mut sequences = Sequences::default();
        sequences.begin(b"a", b"first one");
        sequences.push(b"ACGTNN");
        sequences.push(b"Nnac");
        sequences.begin(b"b", b"");
        sequences.push(b"NRRTT");
        let (mut ann, mut amb, mut pac) = (Vec::new(), Vec::new(), Vec::new());
        sequences.write_ann(&mut ann).unwrap();
        sequences.write_amb(&mut amb).unwrap();
        sequences.write_pac(&mut pac).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(text(ann), "15 2 11\n0 a first one\n0 10 2\n0 b (null)\n10 5 2\n");
        assert_eq!(text(amb), "15 2 4\n4 3 N\n7 1 n\n10 1 N\n11 2 R\n");
        assert_eq!((pac.len(), pac[0], pac[4]), (5, 0b00_01_10_11, 3));
    }

    #[test]
    fn converted_sequences_are_those_of_converted_fasta() {
        let of = |texts: &[(&[u8], &[u8])]| {
            let mut sequences = Sequences::default();
            for (name, bases) in texts {
                sequences.begin(name, b"");
                sequences.push(bases);
            }
            let (mut pac, mut ann, mut amb) = (Vec::new(), Vec::new(), Vec::new());
            sequences.write_pac(&mut pac).unwrap();
            sequences.write_ann(&mut ann).unwrap();
            sequences.write_amb(&mut amb).unwrap();
            (sequences, pac, ann, amb)
        };
        let mut rng = fastrand::Rng::with_seed(7);
        let mut contig =
            |length: usize| -> Vec<u8> { (0..length).map(|_| b"ACGTACGTACGTNNnnRacgt"[rng.usize(..21)]).collect() };
        let contigs = [contig(5000), b"NNN".to_vec(), contig(31), b"NACGTN".to_vec()];
        let names: [&[u8]; 4] = [b"one", b"two", b"three", b"four"];
        let originals: Vec<(&[u8], &[u8])> = names.into_iter().zip(contigs.iter().map(Vec::as_slice)).collect();
        let change = |bases: &[u8], from: u8, to: u8| -> Vec<u8> {
            bases.to_ascii_uppercase().iter().map(|base| if *base == from { to } else { *base }).collect()
        };
        let wanted: Vec<(Vec<u8>, Vec<u8>)> = originals
            .iter()
            .flat_map(|(name, bases)| {
                [(b'r', b'G', b'A'), (b'f', b'C', b'T')]
                    .map(|(letter, from, to)| ([&[letter], *name].concat(), change(bases, from, to)))
            })
            .collect();
        let wanted: Vec<(&[u8], &[u8])> = wanted.iter().map(|(name, bases)| (&name[..], &bases[..])).collect();
        let (_, pac, ann, amb) = of(&wanted);
        let converted = of(&originals).0.converted();
        let (mut own_pac, mut own_ann, mut own_amb) = (Vec::new(), Vec::new(), Vec::new());
        converted.write_pac(&mut own_pac).unwrap();
        converted.write_ann(&mut own_ann).unwrap();
        converted.write_amb(&mut own_amb).unwrap();
        assert!((own_pac, own_ann, own_amb) == (pac, ann, amb));
    }

    #[test]
    fn files_of_another_reference_are_told() {
        let file = |text: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, text).unwrap();
            file
        };
        let text = ">a first one\nACGTNN\nNnac\n>b\nNRRTT\n";
        let sequences = Sequences::read(file(text).path()).unwrap();
        let (mut ann, mut amb, mut pac) = (Vec::new(), Vec::new(), Vec::new());
        sequences.write_ann(&mut ann).unwrap();
        sequences.write_amb(&mut amb).unwrap();
        sequences.write_pac(&mut pac).unwrap();
        let are_packed = |text: &str| Sequences::are_packed(file(text).path(), &pac, &ann, &amb).unwrap();
        assert!(are_packed(text) && are_packed(&text.replace("first one", "one")));
        let changes = [("AC", "AG"), ("AC", "NC"), ("RR", "RC"), ("RR", "RY"), (">b", ">c"), ("TT", "T"), ("Nn", "NN")];
        for (from, to) in changes {
            assert!(!are_packed(&text.replace(from, to)), "{from} {to}");
        }
        assert!(!are_packed(&text.replace("\n>b\n", "")), "contigs");
        assert!(!are_packed(&format!("{text}ACGTACGTAGTA")), "longer");
        // Another program may replace what is no base by others.
        let mut other = pac.clone();
        other[1] ^= 1;
        assert!(Sequences::are_packed(file(text).path(), &other, &ann, &amb).unwrap());
    }

    #[test]
    fn a_full_last_byte_is_followed_by_a_zero() {
        let mut sequences = Sequences::default();
        sequences.begin(b"a", b"");
        sequences.push(b"ACGT");
        let mut pac = Vec::new();
        sequences.write_pac(&mut pac).unwrap();
        assert_eq!(pac, [0b00_01_10_11, 0, 0]);
    }
}
