//! Lines of SAM that a program wrote, through the encoders: damage is told in words, and what is sound comes out the
//! same as when the record is ours.

#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::path::PathBuf;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::chunk::{Chunk, ReadSpans, Span};
use zerohop_model::error::Error;
use zerohop_model::record::{CigarOp, Contig, Locus, Tag, TagValue};
use zerohop_model::sink::{Encoder, OfRead, Sink};
use zerohop_output::{Comments, FileSink, Format, Header, OutputSpec, ReadGroup, ReadsFormat, Unaligned};

const BAM: Format = Format::Bam { level: 0 };

fn sink(format: Format, comments: Comments) -> FileSink {
    let contig = |name: &str, length| Contig::new(name, length);
    let header = Header {
        contigs: vec![contig("c1", 1 << 30), contig("HLA-A*01:01", 500), contig("c=3", 7)],
        read_groups: vec![ReadGroup::parse(r"@RG\tID:g\tSM:s").unwrap()],
        ..Header::default()
    };
    // The second lane has no read group.
    let lane_groups = vec![Some(0), None];
    let spec = OutputSpec::new(Some(PathBuf::from("/dev/null")), format, header);
    let spec = OutputSpec { lane_groups, comments, ..spec };
    FileSink::create(spec).unwrap()
}

fn of(comment: &[u8]) -> OfRead<'_> {
    OfRead { comment, ..OfRead::default() }
}

/// What an encoder makes of one chunk.
fn encode(
    sink: &FileSink,
    lane: u32,
    put: impl FnOnce(&mut dyn Encoder) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let mut encoder = sink.encoder();
    encoder.begin(lane, Vec::new());
    put(&mut *encoder)?;
    encoder.finish()
}

fn encode_line(format: Format, line: &[u8]) -> Result<Vec<u8>, Error> {
    encode(&sink(format, Comments::None), 1, |encoder| encoder.line(line, OfRead::default(), true))
}

const SOUND: [&str; 11] = ["r/x@1", "99", "c1", "100", "60", "2S3M", "=", "200", "-105", "ACGTN", "IIII*"];

/// The sound line, with one column replaced and optional fields.
fn line_with(column: usize, text: &str, optional: &str) -> String {
    let mut columns = SOUND;
    columns[column] = text;
    columns.join("\t") + optional
}

#[test]
fn sound_lines_are_taken_as_they_are() {
    let optional =
        "\tNM:i:-3\tXA:A:*\tde:f:-0.5e-3\tMD:Z:\tXH:H:1aE3\tXB:B:c,-128,127\tXC:B:I,4294967295\tXD:B:f,+1,.5\tXE:B:S";
    let lines = [
        SOUND.join("\t"),
        line_with(0, "*", optional),
        line_with(1, "65535", "\tx1:Z:a b"),
        line_with(2, "*", ""),
        line_with(2, "HLA-A*01:01", ""),
        line_with(3, "2147483647", ""),
        line_with(4, "255", ""),
        line_with(5, "*", ""),
        line_with(5, "268435455D5=0I9N1H2P", ""),
        line_with(6, "c=3", ""),
        line_with(7, "0", ""),
        line_with(8, "2147483647", ""),
        line_with(9, "=.nRy", ""),
        line_with(10, "*", "\tNM:i:4294967295"),
        "r\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*".to_owned(),
        "r\t256\tc1\t1\t0\t7M\t*\t0\t0\t*\t*\tNM:i:0".to_owned(),
        "r\t4\t*\t0\t0\t*\t*\t0\t0\tA\t*".to_owned(),
    ];
    for line in lines {
        assert_eq!(encode_line(Format::Sam, line.as_bytes()).unwrap(), format!("{line}\n").into_bytes());
        encode_line(BAM, line.as_bytes()).unwrap();
    }
}

#[test]
fn damage_is_told_in_words() {
    let cut = SOUND[..10].join("\t");
    let cases: Vec<(String, &str)> = vec![
        (String::new(), "it is an empty line"),
        ("r1".into(), "it has 1 of the 11 fields that every record has"),
        (cut.clone(), "it has 10 of the 11 fields"),
        (cut.clone() + "\t", "its QUAL is empty"),
        (cut + "\tIII", "it has 5 bases but 3 qualities"),
        (line_with(0, "", ""), "its QNAME is empty"),
        (line_with(0, "@r", ""), "its QNAME starts with '@'"),
        (line_with(0, "a b", ""), "its QNAME 'a b' holds a character that SAM does not allow"),
        (line_with(0, "a\u{7f}", ""), r"its QNAME 'a\x7f' holds"),
        (line_with(1, "", ""), "its FLAG is '', not a number from 0 to 65535"),
        (line_with(1, "65536", ""), "its FLAG is '65536', not a number"),
        (line_with(1, "-1", ""), "its FLAG is '-1', not a number"),
        (line_with(1, "0x4", ""), "its FLAG is '0x4', not a number"),
        (line_with(2, "c2", ""), "its RNAME is 'c2', which the header does not name"),
        (line_with(2, "=", ""), "its RNAME is '=', which"),
        (line_with(2, "", ""), "its RNAME is '', which"),
        (line_with(3, "2147483648", ""), "its POS is '2147483648', not a number from 0 to 2147483647"),
        (line_with(3, "99999999999999999999999", ""), "its POS is '9999"),
        (line_with(4, "256", ""), "its MAPQ is '256', not a number from 0 to 255"),
        (line_with(5, "", ""), "its CIGAR '' is not valid"),
        (line_with(5, "5", ""), "its CIGAR '5' is not valid"),
        (line_with(5, "M5", ""), "its CIGAR 'M5' is not valid"),
        (line_with(5, "5Q", ""), "its CIGAR '5Q' is not valid"),
        (line_with(5, "5M268435456D", ""), "its CIGAR '5M268435456D' is not valid"),
        (line_with(5, "4M", ""), "its CIGAR '4M' stands for 4 bases, but it has 5"),
        (line_with(5, "2S2M1D", ""), "stands for 4 bases, but it has 5"),
        (line_with(6, "c2", ""), "its RNEXT is 'c2', which the header does not name"),
        (line_with(7, "x", ""), "its PNEXT is 'x', not a number from 0 to 2147483647"),
        (line_with(8, "2147483648", ""), "its TLEN is '2147483648', not a number from -2147483648 to"),
        (line_with(8, "-", ""), "its TLEN is '-', not"),
        (line_with(9, "", ""), "its SEQ is empty"),
        (line_with(9, "ACG-T", ""), "its SEQ 'ACG-T' holds a character that is not a base"),
        (line_with(9, "*", ""), "it has 0 bases but 5 qualities"),
        (line_with(10, "III I", ""), "its QUAL holds a character that is not a quality"),
        (line_with(10, "IIIII\r", ""), "its QUAL holds a character that is not a quality"),
        (line_with(10, "IIIII\n", ""), "its QUAL holds a character that is not a quality"),
        (line_with(10, "IIIIII", ""), "it has 5 bases but 6 qualities"),
        (line_with(0, &"long".repeat(60), "\tN"), "'N' is not TAG:TYPE:VALUE"),
    ];
    let fields = [
        "",
        "NM",
        "NM:i",
        "NM:i:",
        "NM:i:x",
        "NM:i:--1",
        "NM:i:4294967296",
        "NM:i:-2147483649",
        "NM:i:1.5",
        "N:i:1",
        "1M:i:1",
        "N_:i:1",
        "NMi:1",
        "NM:q:1",
        "NM:I:1",
        "XA:A:",
        "XA:A: ",
        "XA:A:ab",
        "XF:f:",
        "XF:f:1x",
        "XF:f:1,5",
        "XZ:Z:a\u{1}",
        "XZ:Z:\u{e4}",
        "XZ:Z:a\r",
        "XH:H:1",
        "XH:H:1G",
        "XB:B",
        "XB:B:",
        "XB:B:x,1",
        "XB:B:c1",
        "XB:B:c,",
        "XB:B:c,1,,2",
        "XB:B:c,128",
        "XB:B:C,-1",
        "XB:B:s,40000",
        "XB:B:S,65536",
        "XB:B:i,2147483648",
        "XB:B:I,-1",
        "XB:B:f,x",
        "XB:B:A,1",
    ];
    let said = |line: &str, format| match encode_line(format, line.as_bytes()) {
        Err(error @ Error::Damaged { .. }) => error.to_string(),
        other => panic!("{}: {other:?}", line.escape_debug()),
    };
    for format in [Format::Sam, BAM] {
        for (line, words) in &cases {
            let said = said(line, format);
            assert!(said.contains(words), "{}: {said}", line.escape_debug());
            assert!(said.len() < 250 && said.bytes().all(|b| (b' '..=b'~').contains(&b)), "{}", said.escape_debug());
        }
        for field in fields {
            for optional in [format!("\t{field}"), format!("\tNM:i:1\t{field}"), format!("\t{field}\tNM:i:1")] {
                let said = said(&line_with(0, "r", &optional), format);
                let quoted = field.as_bytes().escape_ascii();
                assert!(
                    said.contains(&format!("read 'r': the aligner's record is not valid SAM: '{quoted}' is not")),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn a_line_may_end_anywhere_and_hold_anything() {
    let line = line_with(0, "r", "\tNM:i:-3\tXA:A:x\tde:f:-0.5e-3\tXH:H:1aE3\tXB:B:c,-1,7").into_bytes();
    let sinks = [sink(Format::Sam, Comments::None), sink(BAM, Comments::None)];
    let mut encoders = sinks.each_ref().map(|sink| sink.encoder());
    let mut agree = |line: &[u8]| {
        let [sam, bam] =
            encoders.each_mut().map(|encoder| encoder.line(line, OfRead::default(), true).map_err(|e| e.to_string()));
        assert_eq!(sam, bam, "{}", line.escape_ascii());
    };
    for end in 0..=line.len() {
        agree(&line[..end]);
    }
    for at in 0..line.len() {
        for byte in 0..=255 {
            let mut changed = line.clone();
            changed[at] = byte;
            agree(&changed);
        }
    }
}

#[test]
fn the_read_group_is_added_and_takes_the_place_of_another() {
    let [sam, bam] = [sink(Format::Sam, Comments::AsTheyStand), sink(BAM, Comments::AsTheyStand)];
    let made = |lane, optional: &str, comment: &[u8]| {
        let line = line_with(0, "r", optional);
        let ours = |sink| encode(sink, lane, |encoder| encoder.line(line.as_bytes(), of(comment), true)).unwrap();
        let text = ours(&sam);
        // What was written once is the same in BAM, and written again.
        let again = encode(&bam, lane, |encoder| encoder.line(text.trim_ascii_end(), of(comment), true));
        assert_eq!(again.unwrap(), ours(&bam));
        String::from_utf8(text).unwrap().strip_prefix(&line_with(0, "r", "")).unwrap().to_owned()
    };
    assert_eq!(made(0, "", b""), "\tRG:Z:g\n");
    assert_eq!(made(0, "\tNM:i:1", b"BC:Z:A"), "\tNM:i:1\tRG:Z:g\tBC:Z:A\n");
    assert_eq!(made(0, "\tRG:Z:g\tNM:i:1", b"BC:Z:A"), "\tRG:Z:g\tNM:i:1\tBC:Z:A\n");
    assert_eq!(made(0, "\tRG:Z:other\tNM:i:1", b"BC:Z:A"), "\tNM:i:1\tRG:Z:g\tBC:Z:A\n");
    assert_eq!(made(0, "\tXR:Z:RG:Z:x", b""), "\tXR:Z:RG:Z:x\tRG:Z:g\n");
    assert_eq!(made(1, "\tNM:i:1", b""), "\tNM:i:1\n");
    assert_eq!(made(1, "\tRG:Z:other\tNM:i:1", b""), "\tRG:Z:other\tNM:i:1\n");
    assert_eq!(made(1, "\tRG:Z:other\tNM:i:1", b"RG:Z:g\tBC:Z:A"), "\tNM:i:1\tRG:Z:g\tBC:Z:A\n");
}

#[test]
fn base_modifications_are_for_records_with_all_bases() {
    let comment = b"MM:Z:C+m,0;\tRX:Z:A\tML:B:C,200\tMN:i:4\tMm:Z:C+m,0;\tMl:B:C,200";
    let made = |comments, flags, cigar: &str, bases: &str| {
        let columns = ["r", flags, "c1", "7", "60", cigar, "*", "0", "0", bases, "*"];
        let line = columns.join("\t");
        let texts = [Format::Sam, BAM].map(|format| {
            encode(&sink(format, comments), 1, |encoder| encoder.line(line.as_bytes(), of(comment), true)).unwrap()
        });
        let shown = |text: &[u8], key: &[u8]| text.windows(key.len()).any(|part| part == key);
        let [sam, bam] = texts.map(|text| [b"MM", b"ML", b"MN", b"Mm", b"Ml", b"RX"].map(|key| shown(&text, key)));
        assert_eq!(sam, bam);
        sam
    };
    for (cigar, bases) in [("4M", "ACGT"), ("1S3M", "ACGT"), ("2M1D2M", "ACGT")] {
        assert_eq!(made(Comments::OfBam, "0", cigar, bases), [true; 6], "{cigar}");
    }
    for (cigar, bases) in [("1H3M", "CGT"), ("3M1H", "ACG"), ("4M", "*")] {
        for comments in [Comments::OfBam, Comments::AsTheyStand] {
            assert_eq!(made(comments, "256", cigar, bases), [false, false, false, false, false, true], "{cigar}");
        }
    }
    assert_eq!(made(Comments::OfBam, "4", "*", "*"), [true; 6], "a read without bases");
}

#[test]
fn a_failed_line_leaves_nothing() {
    for format in [Format::Sam, BAM] {
        let sink = sink(format, Comments::None);
        let alone =
            encode(&sink, 0, |encoder| encoder.line(SOUND.join("\t").as_bytes(), OfRead::default(), true)).unwrap();
        let both = encode(&sink, 0, |encoder| {
            encoder.line(line_with(0, "r", "\tNM:i:1\tNM:i:x").as_bytes(), OfRead::default(), true).unwrap_err();
            encoder.line(SOUND.join("\t").as_bytes(), OfRead::default(), true)
        });
        assert_eq!(both.unwrap(), alone);
    }
}

#[test]
fn what_bam_cannot_hold_is_said() {
    let said = |line: String| encode_line(BAM, line.as_bytes()).unwrap_err().to_string();
    assert!(said(line_with(0, &"r".repeat(255), "")).contains("more than 254 bytes, which BAM cannot hold: write SAM"));
    let wide = "268435455N1M".repeat(40_000);
    let line = format!("r\t0\tc1\t1\t0\t{wide}\t*\t0\t0\t*\t*");
    assert!(said(line.clone()).contains("65,535 CIGAR operations"));
    encode_line(Format::Sam, line.as_bytes()).unwrap();
}

/// What becomes of a read that was not aligned, of these columns SEQ and QUAL.
fn read_of(folder: &std::path::Path, has_qualities: bool, flags: &str, columns: [&str; 2]) -> Result<String, Error> {
    let unaligned = Unaligned { paths: vec![folder.join("rest.fq")], format: ReadsFormat::Fastq, any_mate: false };
    let spec = OutputSpec::new(Some(PathBuf::from("/dev/null")), Format::Sam, Header::default());
    let sink = FileSink::create(OutputSpec { unaligned: Some(unaligned), ..spec })?;
    let mut encoder = sink.encoder();
    encoder.begin(0, Vec::new());
    let line = ["r", flags, "*", "0", "0", "*", "*", "0", "0", columns[0], columns[1]].join("\t");
    encoder.line(line.as_bytes(), OfRead { has_qualities, ..OfRead::default() }, true)?;
    encoder.finish()?;
    Ok(String::from_utf8(encoder.finish_beside(0, Vec::new())?).unwrap())
}

#[test]
fn a_read_that_was_not_aligned_has_qualities_where_it_had_some() {
    let folder = tempfile::tempdir().unwrap();
    for (has_qualities, flags, columns, wanted) in [
        (true, "4", ["AC", "I*"], "@r\nAC\n+\nI*\n"),
        (true, "20", ["AC", "I*"], "@r\nGT\n+\n*I\n"),
        (true, "4", ["A", "*"], "@r\nA\n+\n*\n"),
        (true, "4", ["*", "*"], "@r\n\n+\n\n"),
        // bowtie2, hisat2 and bowtie make qualities up.
        (false, "4", ["AC", "II"], ">r\nAC\n"),
        (false, "20", ["A", "I"], ">r\nT\n"),
        (false, "4", ["AC", "*"], ">r\nAC\n"),
        (false, "4", ["*", "*"], ">r\n\n"),
    ] {
        assert_eq!(read_of(folder.path(), has_qualities, flags, columns).unwrap(), wanted);
    }
    let lost = read_of(folder.path(), true, "4", ["AC", "*"]).unwrap_err();
    assert!(lost.to_string().contains("'r'") && lost.to_string().contains("lacks the qualities"), "{lost}");
}

#[derive(Debug, Clone)]
enum Value {
    Int(i64),
    Text(Vec<u8>),
}

#[derive(Debug, Clone)]
struct Made {
    name: Vec<u8>,
    numbers: (u16, u8, i32),
    loci: [Option<Locus>; 2],
    cigar: Vec<CigarOp>,
    bases: Vec<(u8, u8)>,
    /// Whether SEQ and QUAL are there.
    has: (bool, bool),
    tags: Vec<([u8; 2], Value)>,
    comment: String,
}

fn made() -> impl Strategy<Value = Made> {
    let locus = || option::of((0u32..3, 0..i32::MAX as u32).prop_map(|(contig, position)| Locus { contig, position }));
    let op =
        (0u32..60, select(&CigarOp::LETTERS[..])).prop_map(|(length, letter)| CigarOp::new(length, letter).unwrap());
    // Each length of a list that a test should see, the longest rarely.
    let cigar = prop_oneof![10 => vec(op.clone(), 0..12), 1 => Just(vec![CigarOp::new(1, b'N').unwrap(); 65_536])];
    let key = (select(&b"XYZab"[..]), select(&b"XYZab019"[..])).prop_map(|(a, b)| [a, b]);
    let small =
        prop_oneof![-40_000i64..70_000, -(1i64 << 31)..1 << 32, select(vec![-129i64, -128, 127, 255, 256, -32769])];
    let value = prop_oneof![small.prop_map(Value::Int), vec(b' '..=b'~', 0..20).prop_map(Value::Text)];
    let comment =
        select(vec!["", "BC:Z:AC", "XF:f:1.5e-3\tXH:H:1A", "XB:B:s,-3,4\tXB:B:f,-1.25,3e8", "XA:A:;\tXI:i:+7"]);
    let bases = vec((select(&b"ACGTNacgtn=.RYSWKMBDHV"[..]), b'!'..=b'~'), 2..80);
    let name = "[!-?A-~][!-~]{0,253}".prop_map(String::into_bytes);
    (
        name,
        any::<(u16, u8, i32)>(),
        [locus(), locus()],
        cigar,
        bases,
        any::<(bool, bool)>(),
        vec((key, value), 0..8),
        comment,
    )
        .prop_map(|(name, numbers, loci, cigar, bases, has, tags, comment)| Made {
            name,
            numbers,
            loci,
            cigar,
            bases,
            has,
            tags,
            comment: comment.into(),
        })
}

impl Made {
    /// The read and its alignment; its bases are repeated or cut until there are as many as its CIGAR says.
    fn chunk(&self) -> (Chunk, Alignments) {
        let clipped = |op: &&CigarOp| op.letter() == b'H';
        let ends = match &self.cigar[..] {
            [first, .., last] => vec![first, last],
            _ => Vec::new(),
        };
        let said = self.cigar.iter().filter(|op| op.consumes_query()).chain(ends.into_iter().filter(clipped));
        let said: usize = said.map(|op| op.length() as usize).sum();
        let count = if self.cigar.is_empty() { self.bases.len() } else { said };
        let with = |has: bool| self.bases.iter().cycle().take(if has { count } else { 0 });
        // One quality that is '*' would be none.
        let has_qual = self.has == (true, true) && count != 1;
        let mut chunk = Chunk::default();
        let text = &mut chunk.text[0].bytes;
        let mut put = |bytes: &mut dyn Iterator<Item = u8>| {
            let start = text.len() as u32;
            text.extend(bytes);
            Span { start, end: text.len() as u32 }
        };
        let spans = ReadSpans {
            text: 0,
            name: put(&mut self.name.iter().copied()),
            comment: put(&mut self.comment.bytes()),
            seq: put(&mut with(self.has.0).map(|base| base.0)),
            qual: has_qual.then(|| put(&mut with(true).map(|base| base.1))),
            failed_filters: false,
        };
        chunk.push(spans, None);
        let value = |value| match value {
            &Value::Int(number) => TagValue::Int(number),
            Value::Text(text) => TagValue::Text(text),
        };
        let tags = self.tags.iter().map(|(key, v)| Tag { key: *key, value: value(v) });
        let (flags, mapq, template_length) = self.numbers;
        let [locus, mate_locus] = self.loci;
        let mut alignments = Alignments::default();
        let alignment =
            Alignment { mate: 0, flags, locus, mapq, mate_locus, template_length, has_no_bases: flags & 0x100 != 0 };
        alignments.push(alignment, self.cigar.iter().copied(), tags);
        alignments.end_fragment();
        (chunk, alignments)
    }
}

proptest! {
    #[test]
    fn a_record_of_ours_comes_back_as_a_line(made in vec(made(), 1..4), lane in 0u32..2) {
        let [sam, bam] = [sink(Format::Sam, Comments::AsTheyStand), sink(BAM, Comments::AsTheyStand)];
        for made in &made {
            let (chunk, alignments) = made.chunk();
            let ours = |sink| encode(sink, lane, |encoder| encoder.encode(&chunk, &alignments)).unwrap();
            let text = ours(&sam);
            // What we added is in the line already.
            let line = &text[..text.len() - 1];
            let theirs = |sink| encode(sink, lane, |encoder| encoder.line(line, OfRead::default(), true)).unwrap();
            assert_eq!(theirs(&sam).escape_ascii().to_string(), text.escape_ascii().to_string());
            assert_eq!(theirs(&bam), ours(&bam));
        }
    }
}

#[test]
fn what_samtools_does_not_read_is_noted_and_written_as_it_is() {
    let notes = |format, comments, name: &str, comment: &[u8]| {
        let sink = sink(format, comments);
        let line = line_with(0, name, "");
        let written = encode(&sink, 1, |encoder| encoder.line(line.as_bytes(), of(comment), true));
        if format == Format::Sam {
            assert!(written.unwrap().starts_with(line.as_bytes()));
        }
        sink.notes()
    };
    let long = "r".repeat(255);
    assert!(notes(Format::Sam, Comments::AsTheyStand, &long[1..], b"BC:Z:A\tXI:i:1").is_empty());
    assert!(notes(Format::Sam, Comments::None, "r", b"1:N:0:ACGT").is_empty(), "it is not written");
    assert!(notes(BAM, Comments::None, &long, b"").is_empty(), "that is an error");
    assert!(notes(Format::Sam, Comments::None, &long, b"")[0].contains("254"));
    assert!(notes(Format::Sam, Comments::AsTheyStand, "r", b"1:N:0:ACGT")[0].contains("-C"));
    assert_eq!(notes(Format::Sam, Comments::AsTheyStand, &long, b"1:N:0:ACGT").len(), 2);
}
