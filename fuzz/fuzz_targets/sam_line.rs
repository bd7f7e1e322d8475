//! A line that an aligner wrote is refused, or becomes a record: the same line as SAM, and as BAM a record from which
//! the line is made again. No line that is refused leaves anything behind.
//!
//! Input: a byte that chooses the read group and whether there is a comment, then lines.
#![cfg_attr(fuzzing, no_main)]

use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::PathBuf;
use std::sync::LazyLock;
use zerohop_fuzz::coding::END_MARKER;
use zerohop_fuzz::take;
use zerohop_model::sink::{Encoder, OfRead, Sink};
use zerohop_output::{Comments, FileSink, Format, Header, OutputSpec, ReadGroup};

const BAM: Format = Format::Bam { level: 0 };
const CONTIGS: [&str; 2] = ["c", "c=*2"];
const COMMENT: &[u8] = b"BC:Z:AC";

static SINKS: LazyLock<[FileSink; 2]> = LazyLock::new(|| [Format::Sam, BAM].map(sink));

/// A sink whose encoders are used, but into which nothing is written.
fn sink(format: Format) -> FileSink {
    let lines: String = CONTIGS.map(|name| format!("@SQ\tSN:{name}\tLN:9\n")).concat();
    let header = Header::from_program(lines.as_bytes()).unwrap();
    let header = header.with_read_groups(vec![ReadGroup::parse(r"@RG\tID:g").unwrap()]).unwrap();
    let lane_groups = vec![None, Some(0)];
    let spec = OutputSpec::new(Some(PathBuf::from("/dev/null")), format, header);
    let spec = OutputSpec { lane_groups, comments: Comments::AsTheyStand, ..spec };
    FileSink::create(spec).unwrap()
}

/// What becomes of the lines that are taken, and which these are.
fn encode(encoder: &mut dyn Encoder, lane: u32, lines: &[&[u8]], comment: &[u8]) -> (Vec<u8>, Vec<bool>) {
    encoder.begin(lane, Vec::new());
    let taken =
        lines.iter().map(|line| encoder.line(line, OfRead { comment, ..OfRead::default() }, true).is_ok()).collect();
    (encoder.finish().unwrap(), taken)
}

fn inflate(bgzf: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // Where no record was taken there are no blocks, which is no gzip.
    MultiGzDecoder::new(&*[bgzf, &END_MARKER].concat()).read_to_end(&mut out).unwrap();
    out
}

/// Takes `N` bytes that must be there.
fn need<const N: usize>(data: &mut &[u8]) -> [u8; N] {
    data.split_off(..N).unwrap().try_into().unwrap()
}

fn need_i32(data: &mut &[u8]) -> i32 {
    i32::from_le_bytes(need(data))
}

/// The columns of the lines that BAM's records stand for, read from the specification (SAMv1, section 4.2).
fn lines_of(mut bam: &[u8]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    while !bam.is_empty() {
        let size = need_i32(&mut bam) as usize;
        lines.push(line_of(bam.split_off(..size).unwrap()));
    }
    lines
}

fn line_of(mut record: &[u8]) -> Vec<String> {
    let data = &mut record;
    let contig = |number: i32| if number < 0 { "*" } else { CONTIGS[number as usize] };
    let (own, position) = (need_i32(data), i64::from(need_i32(data)) + 1);
    let [name_length, mapq, _, _] = need(data);
    let (operations, flags) = (u16::from_le_bytes(need(data)), u16::from_le_bytes(need(data)));
    let (bases, mate, mate_position) = (need_i32(data) as usize, need_i32(data), i64::from(need_i32(data)) + 1);
    let template_length = need_i32(data);
    let name = data.split_off(..usize::from(name_length)).unwrap().strip_suffix(b"\0").unwrap();
    let cigar: String = (0..operations)
        .map(|_| u32::from_le_bytes(need(data)))
        .map(|op| format!("{}{}", op >> 4, char::from(b"MIDNSHP=X"[(op & 15) as usize])))
        .collect();
    let packed = data.split_off(..bases.div_ceil(2)).unwrap();
    let code = |i: usize| packed[i / 2] >> (4 * ((i + 1) % 2)) & 15;
    let seq: String = (0..bases).map(|i| char::from(b"=ACMGRSVTWYHKDBN"[usize::from(code(i))])).collect();
    let qual = data.split_off(..bases).unwrap();
    let qual =
        if qual.starts_with(&[0xff]) { "" } else { &*qual.iter().map(|q| char::from(q + 33)).collect::<String>() };
    let star = |text: &str| if text.is_empty() { "*".to_owned() } else { text.to_owned() };
    let mut columns = vec![
        String::from_utf8(name.to_vec()).unwrap(),
        flags.to_string(),
        contig(own).to_owned(),
        position.to_string(),
        mapq.to_string(),
        star(&cigar),
        contig(mate).to_owned(),
        mate_position.to_string(),
        template_length.to_string(),
        star(&seq),
        star(qual),
    ];
    while !data.is_empty() {
        columns.push(field_of(data));
    }
    columns
}

fn field_of(data: &mut &[u8]) -> String {
    let [a, b, kind] = need(data).map(char::from);
    let value = match kind {
        'A' => format!("A:{}", char::from(need::<1>(data)[0])),
        'Z' | 'H' => {
            let end = data.iter().position(|&b| b == 0).unwrap();
            let text = data.split_off(..end).unwrap();
            need::<1>(data);
            format!("{kind}:{}", str::from_utf8(text).unwrap())
        }
        'B' => {
            let [kind] = need(data);
            let numbers: String = (0..need_i32(data)).map(|_| format!(",{}", number_of(data, kind))).collect();
            format!("B:{}{numbers}", char::from(kind))
        }
        'f' => format!("f:{}", number_of(data, b'f')),
        _ => format!("i:{}", number_of(data, kind as u8)),
    };
    format!("{a}{b}:{value}")
}

fn number_of(data: &mut &[u8], kind: u8) -> String {
    match kind {
        b'c' => i8::from_le_bytes(need(data)).to_string(),
        b'C' => u8::from_le_bytes(need(data)).to_string(),
        b's' => i16::from_le_bytes(need(data)).to_string(),
        b'S' => u16::from_le_bytes(need(data)).to_string(),
        b'i' => i32::from_le_bytes(need(data)).to_string(),
        b'I' => u32::from_le_bytes(need(data)).to_string(),
        b'f' => float(f32::from_le_bytes(need(data))),
        _ => panic!("no type: {kind}"),
    }
}

/// All digits, so that the number is made of it again.
fn float(value: f32) -> String {
    let sign = if value.is_nan() && value.is_sign_negative() { "-" } else { "" };
    format!("{sign}{:?}", f64::from(value))
}

/// The columns of a line as they come out of BAM: numbers as they are written mostly, bases in upper case.
fn normal(line: &[u8]) -> Vec<String> {
    let mut columns: Vec<String> = str::from_utf8(line).unwrap().split('\t').map(str::to_owned).collect();
    for i in [1, 3, 4, 7, 8] {
        columns[i] = columns[i].parse::<i64>().unwrap().to_string();
    }
    let operations = columns[5].split_inclusive(|c: char| !c.is_ascii_digit());
    columns[5] = match &*columns[5] {
        "*" => "*".to_owned(),
        _ => operations
            .map(|op| op.split_at(op.len() - 1))
            .map(|(n, c)| n.parse::<u32>().unwrap().to_string() + c)
            .collect(),
    };
    if columns[6] == "=" {
        columns[6] = columns[2].clone();
    }
    if columns[9] != "*" {
        let base = |c: char| if "=ACMGRSVTWYHKDBN".contains(c) { c } else { 'N' };
        columns[9] = columns[9].to_ascii_uppercase().chars().map(base).collect();
    }
    for field in &mut columns[11..] {
        let float = |text: &str| float(text.parse::<f64>().unwrap() as f32);
        let (key, value) = field.split_at(5);
        match &field.as_bytes()[3..] {
            [b'i', ..] => *field = format!("{key}{}", value.parse::<i64>().unwrap()),
            [b'f', ..] => *field = format!("{key}{}", float(value)),
            [b'B', _, kind, ..] => {
                let whole = |text: &str| text.parse::<i64>().unwrap().to_string();
                let number = |text| format!(",{}", if *kind == b'f' { float(text) } else { whole(text) });
                *field =
                    format!("{key}{}{}", char::from(*kind), value.split(',').skip(1).map(number).collect::<String>());
            }
            _ => {}
        }
    }
    columns
}

zerohop_fuzz::target!(|data: &[u8]| {
    let mut rest = data;
    let [how] = take(&mut rest);
    let (lane, comment) = (u32::from(how & 1), if how & 2 == 0 { &b""[..] } else { COMMENT });
    let lines: Vec<&[u8]> = rest.split(|&b| b == b'\n').collect();
    let [mut to_sam, mut to_bam] = SINKS.each_ref().map(|sink| sink.encoder());
    let (text, taken) = encode(&mut *to_sam, lane, &lines, comment);

    // SAM: each line, and behind it what the output adds; the group of the lane takes the place of another.
    let mut expected = Vec::new();
    for line in lines.iter().zip(&taken).filter_map(|(line, taken)| taken.then_some(line)) {
        let fields: Vec<&[u8]> = line.split(|&b| b == b'\t').collect();
        let (columns, optional) = fields.split_at(11);
        let written = optional.iter().find(|field| field.starts_with(b"RG:Z:"));
        let is_other = lane == 1 && written.is_some_and(|group| *group != b"RG:Z:g");
        let kept = optional.iter().filter(|field| !(is_other && field.starts_with(b"RG:"))).copied();
        let kept: Vec<&[u8]> = columns.iter().copied().chain(kept).collect();
        let has_group = kept.iter().skip(11).any(|field| field.starts_with(b"RG:"));
        expected.extend_from_slice(&kept.join(&b'\t'));
        expected.extend_from_slice(if lane == 1 && !has_group { b"\tRG:Z:g" } else { b"" });
        let has_barcode = kept.iter().skip(11).any(|field| field.starts_with(b"BC:"));
        expected.extend_from_slice(if comment.is_empty() || has_barcode { b"" } else { b"\tBC:Z:AC" });
        expected.push(b'\n');
    }
    assert!(text == expected, "{} instead of {}", text.escape_ascii(), expected.escape_ascii());

    // BAM: the same lines, but for what it cannot hold.
    let holds = |line: &[u8]| line.iter().position(|&b| b == b'\t').is_some_and(|name| name <= 254);
    let (bam, taken_too) = encode(&mut *to_bam, lane, &lines, comment);
    for ((line, &sam), &bam) in lines.iter().zip(&taken).zip(&taken_too) {
        assert_eq!(sam && holds(line), bam, "{}", line.escape_ascii());
    }
    let records = inflate(&bam);
    let again = lines_of(&records);
    let ours = text.split_inclusive(|&b| b == b'\n').filter(|line| holds(line)).map(|line| &line[..line.len() - 1]);
    let ours: Vec<Vec<String>> = ours.map(normal).collect();
    assert_eq!(again, ours, "BAM says something else");

    // What was made of BAM again is taken, and makes the same BAM.
    let again: Vec<String> = again.iter().map(|columns| columns.join("\t")).collect();
    let again: Vec<&[u8]> = again.iter().map(String::as_bytes).collect();
    let (bam_again, taken) = encode(&mut *to_bam, 0, &again, b"");
    assert!(taken.iter().all(|taken| *taken), "a line made of BAM is refused");
    assert!(inflate(&bam_again) == records, "other BAM from a line made of BAM");
});
