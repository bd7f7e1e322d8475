//! Bad input: for each fault one exact line on standard error, exit status 1, and nothing left that looks complete; as
//! SAM and BAM, with one worker and three, plain, gzip and BGZF. Also inputs that look as if something else was meant.

use crate::table::{Case, Code, Inputs, Said, bgzf, data, first_records, gzip, many, words};

/// What is said of these files of reads; a command that takes them, behind `align`.
struct Fault {
    files: Vec<(&'static str, Vec<u8>)>,
    arguments: String,
    line: String,
}

impl Fault {
    fn of_one(text: &[u8], line: impl Into<String>) -> Self {
        Fault { files: vec![("1.fq", text.to_vec())], arguments: "../ref.fa 1.fq".to_owned(), line: line.into() }
    }

    fn of_two(one: &[u8], two: &[u8], line: impl Into<String>) -> Self {
        let files = vec![("1.fq", one.to_vec()), ("2.fq", two.to_vec())];
        Fault { files, arguments: "../ref.fa 1.fq 2.fq".to_owned(), line: line.into() }
    }
}

/// Each fault as it is, with each format and number of threads.
fn in_one_coding(inputs: &Inputs, cases: &mut Vec<Case>, fault: &Fault, code: Code) {
    let files: Vec<(&str, Vec<u8>)> = fault.files.iter().map(|(name, text)| (*name, code(text))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    let folder = inputs.folder(&files);
    for (format, threads) in [("sam", 1), ("sam", 3), ("bam", 1), ("bam", 3)] {
        let output = format!("../out/{}.{format}", cases.len());
        let arguments = words(&format!("align -t {threads} -o {output} {}", fault.arguments));
        let said = Said::Exactly(format!("error: {}\n", fault.line));
        cases.push(Case { folder: folder.clone(), arguments, status: 1, said });
    }
}

fn check(faults: &[Fault], codings: &[Code]) {
    let (inputs, mut cases) = (Inputs::new(), Vec::new());
    for fault in faults {
        codings.iter().for_each(|code| in_one_coding(&inputs, &mut cases, fault, *code));
    }
    inputs.check(&cases);
}

/// The same names in three folders: what a file is, is found out by its content.
const CODINGS: [Code; 3] = [<[u8]>::to_vec, gzip, bgzf];
const AS_IT_IS: [Code; 1] = [<[u8]>::to_vec];
const CUT_OFF: &str = "the file ends in the middle of this record: it is truncated";

#[test]
fn odd_records() {
    let good = data("phix.1.fastq");
    let before = first_records(&good, 3);
    let no_plus = "its third line does not start with '+': a record of FASTQ has four lines";
    let no_start = "a record must start with '@', but here is";
    let rows: Vec<(&[u8], String)> = vec![
        (b"@x\nACGT\n+\n###\n", ", read 'x': 4 bases but 3 qualities".into()),
        (b"@x\nACGT\n+\n#####\n@y\nA\n+\n#\n", ", read 'x': 4 bases but 5 qualities".into()),
        (b"@x\nACGT\n####\n@y\nACGT\n+\n####\n", format!(", read 'x': {no_plus}")),
        (b"@x y\nACGT\nACGT\n+\n########\n", format!(", read 'x': {no_plus}")),
        (b"@x\nAC1T\n+\n####\n", ", read 'x': its sequence holds '1', which is not a base".into()),
        (b"@x\nAC\xffT\n+\n####\n", ", read 'x': its sequence holds '\\xff', which is not a base".into()),
        (b"@x\nACG \n+\n####\n", ", read 'x': its sequence holds ' ', which is not a base".into()),
        (
            b"@x\nACGT\n+\n## #\n",
            ", read 'x': its qualities hold a character that is not a quality (allowed are '!' to '~')".into(),
        ),
        (
            b"@x\x1b[31m\x07\nACGT\n+\n####\n",
            ", read 'x\\x1b[31m\\x07': its name holds '\\x1b', which SAM does not allow".into(),
        ),
        (b"@\nACGT\n+\n####\n", ": the read has no name".into()),
        (b"@ x\nACGT\n+\n####\n", ": the read has no name".into()),
        (b"\n@x\nACGT\n+\n####\n", format!(": {no_start} an empty line")),
        (b"ACGT\n+\n####\n", format!(": {no_start} 'A'")),
        (b">x\nACGT\n", format!(": {no_start} '>'")),
        (b"@x", format!(", read 'x': {CUT_OFF}")),
        (b"@x\n", format!(", read 'x': {CUT_OFF}")),
        (b"@x\nAC", format!(", read 'x': {CUT_OFF}")),
        (b"@x\nACGT\n", format!(", read 'x': {CUT_OFF}")),
        (b"@x\nACGT\n+", format!(", read 'x': {CUT_OFF}")),
        (b"@x\nACGT\n+\n", format!(", read 'x': {CUT_OFF}")),
        (b"@x\nACGT\n+\n##", ", read 'x': 4 bases but 2 qualities".into()),
    ];
    let fault = |(text, what): &(&[u8], String)| {
        Fault::of_one(&[before, text].concat(), format!("1.fq: record 4 (byte {}){what}", before.len()))
    };
    check(&rows.iter().map(fault).collect::<Vec<_>>(), &CODINGS);
}

#[test]
fn mates_that_are_not_in_step() {
    let [one, two] = ["phix.1.fastq", "phix.2.fastq"].map(data);
    let count = one.iter().filter(|b| **b == b'\n').count() / 4;
    let what = "they are not the two files of one run, or one of them is truncated";
    let shorter = first_records(&two, count - 1);
    let of = |reads: usize, file: &str, other: &str| {
        format!("{file}: the file has {reads} reads, but its mate file {other} has more: {what}")
    };
    let mut faults = vec![
        Fault::of_two(&one, shorter, of(count - 1, "2.fq", "1.fq")),
        Fault::of_two(shorter, &one, of(count - 1, "1.fq", "2.fq")),
        Fault::of_two(&one, b"", of(0, "2.fq", "1.fq")),
    ];
    // One line too many, in either file: the place is told, and not that the other file is shorter.
    for at in [1, 2, count / 2, count] {
        let stray = |text: &[u8]| {
            let before = first_records(text, at).len();
            ([&text[..before], b"stray\n", &text[before..]].concat(), before)
        };
        let what = "a record must start with '@', but here is 's'";
        let line = |file: &str, byte: usize| format!("{file}: record {} (byte {byte}): {what}", at + 1);
        let ((with, byte), (with_two, byte_two)) = (stray(&one), stray(&two));
        faults.push(Fault::of_two(&with, &two, line("1.fq", byte)));
        faults.push(Fault::of_two(&one, &with_two, line("2.fq", byte_two)));
        if at < count {
            faults.push(Fault::of_one(&with, line("1.fq", byte)));
        }
    }
    check(&faults, &CODINGS);
}

#[test]
fn files_that_hold_no_reads() {
    let not = "1.fq: record 1 (byte 0): not FASTQ, FASTA, BAM, SAM or CRAM: it starts with";
    let bzip2 = "1.fq: record 1 (byte 0): it is compressed by bzip2; zerohop inflates gzip and BGZF: 'bzip2 -dc FILE' \
                 inflates it, and '-' reads standard input";
    let sam = "1.fq: record 1 of all in it, or what follows, is damaged or truncated, or is on a contig, and the \
               header has no @SQ line";
    let faults = [
        Fault::of_one(b"Dear reader\n", format!("{not} 'D'")),
        Fault::of_one(b"\x7fELF\x02\x01", format!("{not} '\\x7f'")),
        Fault::of_one(&[0; 3000], format!("{not} '\\x00'")),
        Fault::of_one(b"\n@x\nA\n+\n#\n", format!("{not} '\\n'")),
        Fault::of_one(b"BAM", format!("{not} 'B'")),
        Fault::of_one(b"BZh91AY&SY", bzip2),
        Fault::of_one(b"@HD\tVN:1.6\n@SQ\tSN:a\tLN:9\nr\t4\t*\n", sam),
    ];
    check(&faults, &CODINGS);
}

/// The same bytes, but one.
fn flipped(bytes: &[u8], from_end: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = bytes.len() - from_end;
    bytes[at] ^= 0x41;
    bytes
}

#[test]
fn damaged_compression() {
    let good = data("phix.1.fastq");
    let whole = gzip(&good);
    let truncated = "1.fq: the compressed data end early: the file is truncated";
    let checksum = "1.fq: the compressed data are damaged: corrupt gzip stream does not have a matching checksum";
    let ends = [3, 10, 11, 100, whole.len() / 2, whole.len() - 9, whole.len() - 8, whole.len() - 1];
    let mut faults: Vec<Fault> = ends.iter().map(|end| Fault::of_one(&whole[..*end], truncated)).collect();
    faults.extend([6, 1].map(|from_end| Fault::of_one(&flipped(&whole, from_end), checksum)));
    faults.push(Fault::of_one(&bgzf(&good)[..1000], truncated));
    check(&faults, &AS_IT_IS);
}

/// Deep in a file of several chunks, so that workers are busy when it is found.
#[test]
fn an_odd_record_deep_in_a_file() {
    let [one, two] = [1, 2].map(many);
    let (before, with) = (first_records(&one, 8000).len(), first_records(&one, 8001).len());
    let deep = [&one[..before], b"@x\nACGT\n+\n###\n", &one[with..]].concat();
    let line = format!("1.fq: record 8001 (byte {before}), read 'x': 4 bases but 3 qualities");
    check(&[Fault::of_one(&deep, &*line), Fault::of_two(&deep, &two, &*line)], &CODINGS);
}

#[test]
fn mates_that_are_not_in_step_deep_in_a_file() {
    let [one, two] = [1, 2].map(many);
    let count = one.iter().filter(|b| **b == b'\n').count() / 4;
    let what = "they are not the two files of one run, or one of them is truncated";
    let shorter = first_records(&two, count - 1);
    let of = |file: &str, other: &str| {
        format!("{file}: the file has {} reads, but its mate file {other} has more: {what}", count - 1)
    };
    let faults = [Fault::of_two(&one, shorter, of("2.fq", "1.fq")), Fault::of_two(shorter, &one, of("1.fq", "2.fq"))];
    check(&faults, &CODINGS);
}

#[test]
fn a_mate_of_another_name() {
    let [one, two] = ["phix.1.fastq", "phix.2.fastq"].map(data);
    let (before, with) = (first_records(&two, 1).len(), first_records(&two, 2).len());
    let name_end = before + two[before..].iter().position(|b| *b == b'\n').unwrap();
    let other = [&two[..before], b"@other", &two[name_end..with], &two[with..]].concat();
    let header = &one[first_records(&one, 1).len() + 1..];
    let name = header.split(|b| b" /\n".contains(b)).next().unwrap();
    let line = format!(
        "2.fq: record 2 (byte {before}), read 'other': its name differs from that of its mate, '{}' in 1.fq: the files \
         are not in step",
        String::from_utf8_lossy(name)
    );
    check(&[Fault::of_two(&one, &other, line)], &CODINGS);
}

#[test]
fn reads_that_are_too_long() {
    let good = data("phix.1.fastq");
    let (before, behind) = good.split_at(first_records(&good, 3).len());
    let fault = |bases: usize| {
        let read = format!("@long and a comment\n{}\n+\n{}\n", "A".repeat(bases), "#".repeat(bases));
        let line = format!(
            "1.fq: record 4 (byte {}), read 'long': the read has more than 1048576 bases, the longest that the engine \
             can take: leave it out, or take another --engine",
            before.len()
        );
        Fault::of_one(&[before, read.as_bytes(), behind].concat(), line)
    };
    check(&[(1 << 20) + 1, 9_000_000].map(fault), &CODINGS);
}

/// Where what was inflated until then is more than is read ahead.
#[test]
fn compression_that_is_damaged_deep_in_a_file() {
    let text = many(1);
    let (whole, length) = (gzip(&text), text.len());
    let truncated = format!("1.fq: byte {length}: the compressed data end early: the file is truncated");
    let checksum = format!(
        "1.fq: byte {length}: the compressed data are damaged: corrupt gzip stream does not have a matching checksum"
    );
    let mut faults: Vec<Fault> =
        [8, 1].iter().map(|left| Fault::of_one(&whole[..whole.len() - left], &*truncated)).collect();
    faults.push(Fault::of_one(&flipped(&whole, 6), checksum));
    let whole = bgzf(&text);
    let last = *blocks(&whole).iter().rev().nth(1).unwrap();
    let inside = format!("1.fq: the file ends inside a BGZF block: it is truncated (at compressed offset {last})");
    let ends = [last + 1, last + 17, last + 18, last + 2000, whole.len() - 29];
    faults.extend(ends.map(|end| Fault::of_one(&whole[..end], &*inside)));
    // The checksum stands in front of the length, and both in front of the end marker.
    let rows = [
        (
            whole.len() - 28 - 5,
            format!(
                "a BGZF block does not match its checksum (CRC): the file is damaged (at compressed offset {last})"
            ),
        ),
        (last + 1000, format!("the compressed data of a BGZF block are damaged (at compressed offset {last})")),
        (
            last,
            format!(
                "trailing garbage follows the compressed data, from compressed offset {last} on: if nothing is \
                 missing, keep the first {last} bytes alone ('head -c {last}'); otherwise the file is damaged: get it \
                 again"
            ),
        ),
    ];
    faults.extend(rows.map(|(at, what)| Fault::of_one(&flipped(&whole, whole.len() - at), format!("1.fq: {what}"))));
    check(&faults, &AS_IT_IS);
}

/// The offset of each block.
fn blocks(bgzf: &[u8]) -> Vec<usize> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bgzf.len() {
        all.push(at);
        at += usize::from(u16::from_le_bytes([bgzf[at + 16], bgzf[at + 17]])) + 1;
    }
    all
}

fn of_reference(bytes: &[u8], what: &str) -> Fault {
    let files = vec![("bad.fa", bytes.to_vec()), ("good.fq", data("phix.1.fastq"))];
    Fault { files, arguments: "bad.fa good.fq".to_owned(), line: format!("bad.fa: {what}") }
}

#[test]
fn odd_references() {
    let none = "the reference holds no sequence";
    let rows: [(&[u8], &str); 9] = [
        (b">a\nACGT\n>b\nAC\n>a c\nAC\n", "record 3 (byte 14): two sequences have the name 'a'"),
        (b"", none),
        (b"\n\n", none),
        (b">a\n>b\n", none),
        (b">a\nACGT\nAC1T\n", "record 1 (byte 8): sequence 'a' holds '1', which is not a base"),
        (b">a\nAC GT\n", "record 1 (byte 3): sequence 'a' holds ' ', which is not a base"),
        (b">\nACGT\n", "record 1 (byte 0): a sequence has no name"),
        (b">a\xc3\xa9\nACGT\n", "record 1 (byte 0): the name 'a\u{e9}' holds '\\xc3', which SAM does not allow"),
        (b"ACGT\n", "record 1 (byte 0): not FASTA: it must start with '>', but starts with 'A'"),
    ];
    check(&rows.map(|(text, what)| of_reference(text, what)), &CODINGS);
    let reads = data("phix.1.fastq");
    let what = "1.fq: record 1 (byte 0): not FASTA: it must start with '>', but starts with '@': the reference comes \
                first, then the reads";
    let swapped = Fault { arguments: "1.fq 2.fq".to_owned(), ..Fault::of_two(&reads, &reads, what) };
    let reference = data("phix.fasta");
    let faults = [
        swapped,
        of_reference(&gzip(&reference)[..1000], "the compressed data end early: the file is truncated"),
        of_reference(
            &flipped(&bgzf(&reference), 28 + 6),
            "the compressed data are damaged: corrupt gzip stream does not have a matching checksum",
        ),
    ];
    check(&faults, &AS_IT_IS);
}

#[test]
fn files_that_are_not_there() {
    let none = "cannot open: No such file or directory (os error 2)";
    let reads = data("phix.1.fastq");
    let fault =
        |(arguments, line): (&str, String)| Fault { arguments: arguments.to_owned(), ..Fault::of_one(&reads, line) };
    let faults = [
        ("../ref.fa none.fq", format!("none.fq: {none}")),
        ("../ref.fa 1.fq none.fq", format!("none.fq: {none}")),
        ("../ref.fa 1.fq --reads none.fq", format!("none.fq: {none}")),
        ("none.fa 1.fq", format!("none.fa: {none}")),
        ("../ref.fa ../out", "../out: is a directory, not a file of reads".to_owned()),
        ("../ref.fa 1.fq ../out", "../out: is a directory, not a file of reads".to_owned()),
        ("../out 1.fq", "../out: is a directory, not a reference in FASTA".to_owned()),
    ];
    check(&faults.map(fault), &AS_IT_IS);
}

/// Of SAM no byte is said; BAM of it is refused in the same words.
#[test]
fn mates_that_do_not_follow_one_another() {
    let header = "@HD\tVN:1.6\tSO:unsorted\n";
    let read = |name: &str, flags: u16| format!("{name}\t{flags}\t*\t0\t0\t*\t*\t0\t0\tACGTACGTAC\t##########\n");
    let records = [("a", 77), ("b", 77), ("b", 141), ("c", 4), ("a", 141)].map(|(name, flags)| read(name, flags));
    let line = "1.fq: record 5, read 'a': its mate is in the file, but not next to it. 'samtools collate -o NEW.bam \
                FILE' puts mates next to each other";
    check(&[Fault::of_one(format!("{header}{}", records.concat()).as_bytes(), line.to_owned())], &AS_IT_IS);
}

/// The run goes well, and a note says what was perhaps not meant.
#[test]
fn inputs_that_look_as_if_something_else_was_meant() {
    let inputs = Inputs::new();
    let record = |name: &str| format!("@{name}\nACGTACGTACGTACGTACGT\n+\n####################\n");
    let all = |names: &[&str]| names.iter().map(|name| record(name)).collect::<String>().into_bytes();
    let singles = all(&["a", "b", "c"]);
    let pairs = all(&["a/1", "a/2", "b/1", "b/2"]);
    let firsts = all(&["a/1", "b/1"]);
    let folder = inputs.folder(&[
        ("single.fq", &singles),
        ("again.fq", &singles),
        ("pairs.fq", &pairs),
        ("firsts.fq", &firsts),
        ("none.fq", b""),
        ("dot_1.fq", &all(&["a.1", "b.1"])),
        ("dot_2.fq", &all(&["a.2", "b.2"])),
        ("slash_2.fq", &all(&["a/2", "b/2"])),
        ("slash_1.fq", &firsts),
        ("comment_1.fq", &all(&["a 1:N:0:ACGT", "b 1:N:0:ACGT"])),
        ("comment_2.fq", &all(&["a 2:N:0:ACGT", "b 2:N:0:ACGT"])),
    ]);
    let none_aligned = "note: No read was aligned: is ../ref.fa their reference?\n";
    let copies = "single.fq and again.fq begin with the same read, 'a': is one a copy of the other?";
    let rows = [
        (
            "pairs.fq",
            format!("note: pairs.fq: its first two reads have the same name: are they pairs (-p)?\n{none_aligned}"),
        ),
        ("-p pairs.fq", none_aligned.to_owned()),
        (
            "-p single.fq",
            format!("{none_aligned}note: No two neighbours have the same name: with -p all reads were single ones.\n"),
        ),
        ("single.fq again.fq", format!("note: {copies}\n{none_aligned}")),
        ("single.fq --reads none.fq --reads again.fq", format!("note: Lane 2 (none.fq) has no reads.\n{none_aligned}")),
        (
            "none.fq",
            "note: There were no reads. Where they come through a pipe: did the program before zerohop fail?\n"
                .to_owned(),
        ),
    ];
    let case = |(arguments, said): &(&str, String)| Case {
        folder: folder.clone(),
        arguments: words(&format!("align -q -o /dev/null ../ref.fa {arguments}")),
        status: 0,
        said: Said::Exactly(said.clone()),
    };
    inputs.check(&rows.iter().map(case).collect::<Vec<_>>());
}
