//! CRAM, written and read: whatever bytes a reference has, and in whatever way a file is damaged. The process that
//! reads is this program, started again, so it has a `main` of its own.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::io::Read;
use std::path::{Path, PathBuf};
use zerohop_cram::{Cram, END_MARKER, RecordOrder, Version, as_bam};
use zerohop_input::reference::{check_fasta, for_cram};
use zerohop_model::record::Contig;

fn main() {
    zerohop_input::convert_if_asked();
    let folder = tempfile::tempdir().unwrap();
    references(folder.path());
    damage(folder.path());
    no_references(folder.path());
    println!("test result: ok. CRAM of all references and all damage is as it should be");
}

/// Bases of reads.
const READ: usize = 40;

/// A record of BAM: all of the read matches, or not, from `start` on.
fn record(number: usize, start: usize, bases: &[u8]) -> Vec<u8> {
    let code = |base: u8| b"=ACMGRSVTWYHKDBN".iter().position(|letter| *letter == base).unwrap() as u8;
    let name = format!("read{number}\0");
    let mut bam = Vec::new();
    [0i32, start as i32].iter().for_each(|number| bam.extend_from_slice(&number.to_le_bytes()));
    bam.extend_from_slice(&[name.len() as u8, 60, 0, 0, 1, 0, 0, 0]);
    [bases.len() as i32, -1, -1, 0].iter().for_each(|number| bam.extend_from_slice(&number.to_le_bytes()));
    bam.extend_from_slice(name.as_bytes());
    bam.extend_from_slice(&((bases.len() as u32) << 4).to_le_bytes());
    bam.extend(bases.chunks(2).map(|two| code(two[0]) << 4 | two.get(1).map_or(0, |base| code(*base))));
    bam.resize(bam.len() + bases.len(), 30);
    [&(bam.len() as u32).to_le_bytes()[..], &bam].concat()
}

/// Reads along a contig, as they are: what no read can have is A in them.
fn reads(contig: &[u8]) -> Vec<Vec<u8>> {
    let known = |base: &u8| if b"ACGTNRYMK".contains(base) { *base } else { b'A' };
    (0..contig.len() - READ).step_by(7).map(|at| contig[at..at + READ].iter().map(known).collect()).collect()
}

/// A file of CRAM of these reads, with the reference in `fasta`.
fn cram(fasta: &Path, length: usize, reads: &[Vec<u8>], version: Version, order: RecordOrder) -> Vec<u8> {
    let contigs = [Contig::new("a", length as u64)];
    let header = format!("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:{length}\n");
    let reference = for_cram(fasta, true).unwrap();
    let cram = Cram::new((&header, &contigs), &reference, (version, 5, order)).unwrap();
    let (mut encoder, mut file) = (cram.encoder(), cram.beginning().to_vec());
    for (number, bases) in reads.iter().enumerate() {
        encoder.add(&record(number, 7 * number, bases)).unwrap();
    }
    encoder.finish(&mut file).unwrap();
    file.extend_from_slice(&END_MARKER);
    file
}

/// What CRAM is as BAM, inflated; or what is said of it.
fn read(cram: Vec<u8>, fasta: Option<&Path>) -> Result<Vec<u8>, String> {
    let mut bam = Vec::new();
    let read = as_bam(std::io::Cursor::new(cram), fasta.map(PathBuf::from)).unwrap().read_to_end(&mut bam);
    let mut inflated = Vec::new();
    read.map_err(|error| error.to_string())?;
    zerohop_input::inflated(&bam[..]).unwrap().read_to_end(&mut inflated).unwrap();
    Ok(inflated)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Writes bases as lines of FASTA.
type Write = fn(&[u8]) -> Vec<u8>;

/// How a reference may be written.
const FORMS: [(&str, Write); 6] = [
    ("lines of 60", |bases| bases.chunks(60).flat_map(|line| [line, b"\n"].concat()).collect()),
    ("lines of Windows", |bases| bases.chunks(60).flat_map(|line| [line, b"\r\n"].concat()).collect()),
    ("one line", |bases| [bases, b"\n"].concat()),
    ("no end", <[u8]>::to_vec),
    ("odd lines", |bases| bases.chunks(61).flat_map(|line| [line, &b"\n\n"[..line.len() % 2 + 1]].concat()).collect()),
    ("small letters", |bases| [&b"\n"[..], &bases.to_ascii_lowercase(), b"\n\n"].concat()),
];

/// Bytes that may stand in a reference, with the MD5 of the contig that `contig` makes of them by `samtools dict`.
const BASES: [(&[u8], &str); 4] = [
    (b"ACGT", "c17777ed329c2d3e730001cf357ab058"),
    (b"ACGTacgtUuNnRYKMSWBDHVrykmswbdhvXIQ", "9bc992a71912b88c1ef689f7d3a674b3"),
    (b"AC.GT-AC*GTN", "e4739775ef8caf85ffc0d2c1c296dde7"),
    (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*-.", "b37ba4a3b66908f3957d77fed35adad8"),
];

fn contig(letters: &[u8]) -> Vec<u8> {
    let middle = (0..400).map(|i| letters[i % letters.len()]);
    b"ACGGTTCA"
        .iter()
        .copied()
        .cycle()
        .take(1500)
        .chain(middle)
        .chain(b"TTGCA".iter().copied().cycle().take(600))
        .collect()
}

fn references(folder: &Path) {
    for (letters, md5) in BASES {
        let bases = contig(letters);
        let reads = reads(&bases.to_ascii_uppercase());
        for (form, write) in FORMS {
            let fasta = folder.join("ref.fa");
            std::fs::write(&fasta, [&b">a of all\n"[..], &write(&bases)].concat()).unwrap();
            // An index of something else.
            std::fs::write(folder.join("ref.fa.fai"), "a\t2500\t700\t50\t51\n").unwrap();
            for version in [Version::V3_0, Version::V3_1] {
                for order in [RecordOrder::Coordinate, RecordOrder::Other] {
                    let what = format!("{md5}, {form}, {version:?}, {order:?}");
                    let read = read(cram(&fasta, bases.len(), &reads, version, order), Some(&fasta));
                    let bam = read.unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(contains(&bam, format!("\tM5:{md5}\tUR:{}\n", fasta.display()).as_bytes()), "{what}: M5");
                    for (number, bases) in reads.iter().enumerate() {
                        // But for the place, of which reading makes nothing.
                        let record = record(number, 0, bases);
                        assert!(contains(&bam, &record[36..]), "{what}: {number}");
                    }
                }
            }
        }
    }
}

fn damage(folder: &Path) {
    let bases = contig(b"ACGT");
    let [fasta, other_bases, other_contigs, none] =
        ["ref.fa", "bases.fa", "contigs.fa", "none.fa"].map(|name| folder.join(name));
    std::fs::write(&fasta, [&b">a\n"[..], &bases, b"\n"].concat()).unwrap();
    let mut changed = bases.clone();
    changed[1600..1700].fill(b'G');
    std::fs::write(&other_bases, [&b">a\n"[..], &changed, b"\n"].concat()).unwrap();
    std::fs::write(&other_contigs, [&b">b\n"[..], &bases, b"\n"].concat()).unwrap();
    let reads = reads(&bases);
    let whole = cram(&fasta, bases.len(), &reads, Version::V3_0, RecordOrder::Coordinate);
    let header = {
        let reference = for_cram(&fasta, true).unwrap();
        let text = format!("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:{}\n", bases.len());
        let contigs = [Contig::new("a", bases.len() as u64)];
        Cram::new((&text, &contigs), &reference, (Version::V3_0, 5, RecordOrder::Coordinate))
            .unwrap()
            .beginning()
            .to_vec()
    };
    assert!(whole.starts_with(&header));
    let container = header.len();
    assert!(read(whole.clone(), Some(&fasta)).is_ok());
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut cram = whole.clone();
        change(&mut cram);
        cram
    };
    let again = "get the file again";
    let record = "record 1 of all in it, or what follows, ";
    let give = "give the reference that the reads were aligned to as REF, or convert the file to BAM with 'samtools \
                view -b -T REFERENCE'";
    let shown = |path: &Path| path.display().to_string();
    let damaged = format!("{record}is damaged: its checksum (CRC32) differs: {again}");
    let cases = [
        (
            "cut in a container",
            with(&|cram| cram.truncate(container + 300)),
            &fasta,
            format!("{record}is cut off: the file is truncated: {again}"),
        ),
        (
            "cut in the header",
            with(&|cram| cram.truncate(header.len() / 2)),
            &fasta,
            format!("it ends in the middle of its header: it is truncated: {again}"),
        ),
        (
            "without the end",
            with(&|cram| cram.truncate(cram.len() - END_MARKER.len())),
            &fasta,
            format!("it lacks the end-of-file container of CRAM: it is truncated: {again}"),
        ),
        ("another version", with(&|cram| cram[4] = 9), &fasta, format!("its header is damaged: {again}")),
        ("a byte of the last block", with(&|cram| *cram.iter_mut().rev().nth(50).unwrap() ^= 1), &fasta, damaged),
        (
            "a later version",
            with(&|cram| cram[4] = 5),
            &fasta,
            "its version of CRAM is not 1, 2 or 3: a newer samtools may convert it to BAM ('samtools view -b')"
                .to_owned(),
        ),
        (
            "another reference",
            whole.clone(),
            &other_bases,
            format!(
                "{record}was aligned to another reference, which has other bases at a:1-2497 ({} was tried): {give}",
                shown(&other_bases)
            ),
        ),
        (
            "other contigs",
            whole.clone(),
            &other_contigs,
            format!(
                "{record}needs the reference that they were aligned to ({} has other contigs): {give}",
                shown(&other_contigs)
            ),
        ),
        (
            "no reference",
            whole.clone(),
            &none,
            format!(
                "{record}needs the reference that they were aligned to ({}: cannot open: No such file or directory (os \
                 error 2)): {give}",
                shown(&none)
            ),
        ),
    ];
    // It is not found where the header says, either.
    let moved = folder.join("moved");
    std::fs::rename(&fasta, &moved).unwrap();
    for (what, cram, reference, wanted) in cases {
        let reference = if *reference == fasta { &moved } else { reference };
        let said = read(cram, Some(reference)).err();
        assert_eq!(said.as_deref(), Some(&*wanted), "{what}");
    }
    // No byte that changed changes a read: htslib does not look at what it does not need.
    let bam = read(whole.clone(), Some(&moved)).unwrap();
    for at in (0..whole.len()).step_by(23) {
        let read = read(with(&|cram| cram[at] ^= 4), Some(&moved));
        assert!(read.is_err() || at < container || read.as_ref() == Ok(&bam), "byte {at} changed what is read");
    }
}

fn no_references(folder: &Path) {
    let said = |name: &str, text: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        let early = check_fasta(&path, "CRAM needs the reference").err().map(|error| error.what);
        (early, for_cram(&path, true).err().map(|error| error.what))
    };
    let no_sequence = Some("the reference holds no sequence".to_owned());
    assert_eq!(said("empty.fa", b""), (no_sequence.clone(), no_sequence.clone()));
    assert_eq!(said("blank.fa", b"\n\r\n"), (None, no_sequence));
    let (early, late) = said("index.mmi", b"MMI\x02");
    assert_eq!(early.as_deref(), Some("it is not FASTA; CRAM needs the reference: give its FASTA"));
    assert!(late.is_some());
    for odd in (33..127u8).filter(|byte| !byte.is_ascii_alphabetic() && !b"*-.>".contains(byte)) {
        let (early, late) = said("odd.fa", &[b">a\nAC", &[odd][..], b"G\n"].concat());
        let wanted = format!("sequence 'a' holds '{}', which is not a base", odd.escape_ascii());
        assert_eq!((early, late), (None, Some(wanted)));
    }
    let dash = for_cram(Path::new("-"), true).unwrap_err().what;
    assert_eq!(dash, "the reference must be a file, plain or gzip: it is read more than once");
}
