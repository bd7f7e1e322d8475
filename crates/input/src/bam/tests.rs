use super::mark::{BamState, guess, mark};
use super::{BamHeader, BamParser, Beginning, First, SeenMates, SingleReads, first_read};
use crate::content::{Content, StretchStart};
use crate::parse::PairsAlone;
use proptest::prelude::*;
use std::sync::Arc;
use zerohop_model::chunk::{Chunk, Text};
use zerohop_model::directed::Directed;
use zerohop_model::source::Parse;

/// A record, as a test writes it.
#[derive(Debug, Clone)]
struct Made {
    name: String,
    flags: u16,
    seq: &'static [u8],
    quality: u8,
    cigar: Vec<u32>,
    fields: Vec<u8>,
}

impl Made {
    fn new(name: &str, flags: u16, seq: &'static [u8]) -> Self {
        Made { name: name.to_owned(), flags, seq, quality: 30, cigar: Vec::new(), fields: Vec::new() }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0; 4];
        [-1, -1].iter().for_each(|word: &i32| out.extend_from_slice(&word.to_le_bytes()));
        out.extend_from_slice(&[self.name.len() as u8 + 1, 0, 0, 0]);
        out.extend_from_slice(&(self.cigar.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&(self.seq.len() as u32).to_le_bytes());
        [-1, -1, 0].iter().for_each(|word: &i32| out.extend_from_slice(&word.to_le_bytes()));
        out.extend_from_slice(self.name.as_bytes());
        out.push(0);
        self.cigar.iter().for_each(|op| out.extend_from_slice(&op.to_le_bytes()));
        let code =
            |base: Option<&u8>| base.map_or(0, |base| b"=ACMGRSVTWYHKDBN".iter().position(|b| b == base).unwrap());
        out.extend(self.seq.chunks(2).map(|two| (code(two.first()) << 4 | code(two.get(1))) as u8));
        out.extend((0..self.seq.len()).map(|i| if self.quality == 255 { 255 } else { self.quality + i as u8 }));
        out.extend_from_slice(&self.fields);
        let size = out.len() as u32 - 4;
        out[..4].copy_from_slice(&size.to_le_bytes());
        out
    }
}

fn bytes_of(records: &[Made]) -> Vec<u8> {
    records.iter().flat_map(Made::bytes).collect()
}

fn taken() -> SingleReads {
    SingleReads::Taken(Arc::new(SeenMates::of("x.bam".into())))
}

fn parser(single_reads: SingleReads) -> BamParser {
    BamParser {
        path: "x.bam".into(),
        single_reads,
        lacks_qualities: false,
        max_read_bases: 10,
        read_groups: [b"g".to_vec()].into(),
        keeps_read_groups: true,
        programs: [("p".to_owned(), "p.1".to_owned())].into(),
        directed: Directed::default(),
        has_places: true,
    }
}

fn parse_with(parser: &BamParser, bytes: &[u8]) -> Result<Chunk, String> {
    let mut chunk = Chunk::default();
    chunk.text[0] = Text { bytes: bytes.to_vec(), first_record: 100, first_byte: 1000 };
    parser.parse(&mut chunk).map(|()| chunk).map_err(|e| e.to_string())
}

fn parse(records: &[Made]) -> Result<Chunk, String> {
    parse_with(&parser(taken()), &bytes_of(records))
}

#[test]
fn reads_are_as_they_were_sequenced() {
    let reverse = Made { flags: 0x10, fields: b"NMC\x01RXZAC\0MDZ5\0".to_vec(), ..Made::new("b/1", 0, b"AACGR") };
    let failed = Made { flags: 0x204, fields: b"RGZg\0PGZp\0".to_vec(), ..Made::new("c", 0, b"") };
    let secondary = Made { flags: 0x100, ..Made::new("b", 0, b"A") };
    let chunk = parse(&[Made::new("a", 4, b"ACGTN"), reverse, secondary, failed]).unwrap();
    let reads: Vec<_> = chunk.fragments().map(|fragment| fragment.first).collect();
    assert_eq!((reads[0].name, reads[0].seq, reads[0].qual), (&b"a"[..], &b"ACGTN"[..], Some(&b"?@ABC"[..])));
    assert_eq!((reads[1].name, reads[1].seq, reads[1].qual), (&b"b"[..], &b"YCGTT"[..], Some(&b"CBA@?"[..])));
    let comments = [&b""[..], b"RX:Z:AC", b"RG:Z:g\tPG:Z:p.1"];
    assert_eq!(reads.iter().map(|read| read.comment).collect::<Vec<_>>(), comments);
    assert_eq!(reads.iter().map(|read| read.failed_filters).collect::<Vec<_>>(), [false, false, true]);
    let text = "@a\nACGTN\n+\n?@ABC\n@b/1 RX:Z:AC\nYCGTT\n+\nCBA@?\n@c RG:Z:g\tPG:Z:p.1\n\n+\n\n";
    assert_eq!(chunk.text[0].bytes, text.as_bytes());
    assert_eq!(chunk.place(2, 0), (0, 103), "secondary records do not count");
}

#[test]
fn mates_come_in_any_order() {
    let records = [Made::new("a", 0x8d, b"C"), Made::new("a", 0x4d, b"A"), Made::new("b", 0x4d, b"G")];
    let chunk = parse(&[&records[..], &[Made::new("b", 0x8d, b"T")]].concat()).unwrap();
    let seqs: Vec<_> = chunk.fragments().map(|f| (f.first.seq, f.mate.unwrap().seq)).collect();
    assert_eq!(seqs, [(&b"A"[..], &b"C"[..]), (b"G", b"T")]);
}

#[test]
fn reads_without_qualities_are_as_in_fasta() {
    let parser = BamParser { lacks_qualities: true, ..parser(taken()) };
    let none = Made { quality: 255, ..Made::new("a", 4, b"ACG") };
    let chunk = parse_with(&parser, &none.bytes()).unwrap();
    assert_eq!((chunk.fragment(0).first.qual, &chunk.text[0].bytes[..]), (None, &b">a\nACG\n"[..]));
    assert!(
        parse_with(&parser, &Made::new("a", 4, b"ACG").bytes()).unwrap_err().contains("the reads before have none")
    );
    assert!(parse(&[none]).unwrap_err().contains("it has no qualities"));
}

#[test]
fn faults_name_record_byte_and_read() {
    let first = Made::new("a", 4, b"A");
    let at = format!("x.bam: record 102 (byte {})", 1000 + first.bytes().len());
    let fault = |made: Made| parse(&[first.clone(), made]).unwrap_err();
    let x = Made::new("x", 4, b"ACG");
    let with = |fields: &[u8]| Made { fields: fields.to_vec(), ..x.clone() };
    assert_eq!(
        fault(with(b"RGZother\0")),
        format!(
            "{at}, read 'x': its RG is 'other', which the header does not name: give the reads another read group (-R)"
        )
    );
    assert!(fault(with(b"RGAg")).contains("which the header does not name"), "an ID is text");
    assert!(fault(with(b"XX")).contains("read 'x': its field 'XX' is damaged"));
    assert!(fault(with(b"XXZa\x01\0")).contains("its field XX holds '\\x01'"));
    assert!(fault(Made { quality: 92, ..x.clone() }).contains("a quality of 94; the best that SAM allows is 93"));
    assert!(fault(Made { cigar: vec![1 << 4 | 5, 3 << 4], ..x.clone() }).contains("read 'x': it is hard-clipped"));
    assert!(fault(Made::new("*", 4, b"A")).contains("the read has no name"));
    assert!(fault(Made::new("x y", 4, b"A")).contains("its name holds ' '"));
    assert!(fault(Made::new("x", 4, b"ACGTACGTACG")).contains("more than 10 bases"));
    let bytes = [first.bytes(), x.bytes()].concat();
    for cut in [bytes.len() - 1, bytes.len() - 10, first.bytes().len() + 3] {
        let what = "the file ends in the middle of this record: it is truncated";
        assert_eq!(parse_with(&parser(taken()), &bytes[..cut]).unwrap_err(), format!("{at}: {what}"));
    }
}

#[test]
fn fields_of_aligned_reads_are_turned_back() {
    let directed = Directed::new(&["cd".to_owned()], &["E2".to_owned()]).unwrap();
    let parser = BamParser { directed, ..parser(taken()) };
    let fields = b"cdBC\x03\0\0\0\x01\x02\x03E2ZAAC\0RXZAC\0".to_vec();
    let comments = [0, 0x10].map(|flags| {
        let made = Made { fields: fields.clone(), ..Made::new("a", flags, b"AAC") };
        parse_with(&parser, &made.bytes()).unwrap().fragment(0).first.comment.to_vec()
    });
    assert_eq!(comments, [b"cd:B:C,1,2,3\tE2:Z:AAC\tRX:Z:AC", b"cd:B:C,3,2,1\tE2:Z:GTT\tRX:Z:AC"]);
}

#[test]
fn aligned_reads_without_all_their_bases_are_refused() {
    let refused = |cigar: Vec<u32>, seq: &'static [u8], fields: Vec<u8>| {
        parse(&[Made { cigar, fields, ..Made::new("a", 0, seq) }]).map(drop)
    };
    let long = |operation: u32| [&b"CGBI\x02\0\0\0"[..], &[3 << 4, operation].map(u32::to_le_bytes).concat()].concat();
    let stands_in = vec![3 << 4 | 4, 9 << 4 | 3];
    let text = b"CGZ.....\x05...\0".to_vec();
    assert_eq!(refused(stands_in.clone(), b"ACG", text), Ok(()), "text is no CIGAR");
    assert!(refused(vec![50 << 4], b"", vec![]).unwrap_err().contains("its bases are not in the file"));
    assert!(refused(stands_in.clone(), b"ACG", long(5)).unwrap_err().contains("it is hard-clipped"));
    assert_eq!(refused(stands_in, b"ACG", long(2)), Ok(()));
    assert_eq!(refused(vec![], b"", vec![]), Ok(()));
}

#[test]
fn the_first_read_says_what_all_are() {
    let none = |made: Made| Made { quality: 255, ..made };
    let text = bytes_of(&[
        Made::new("a", 0x900, b"ACG"),
        Made::new("b", 0x4d, b""),
        Made::new("b", 0x8d, b""),
        none(Made::new("c", 0x4d, b"A")),
    ]);
    let lacking = First { is_paired: true, lacks_qualities: true };
    assert_eq!(first_read(&text), Beginning::Known(lacking));
    let before = text.len() - none(Made::new("c", 0x4d, b"A")).bytes().len();
    let first = First { is_paired: true, lacks_qualities: false };
    assert_eq!(first_read(&text[..before]), Beginning::Open { first: Some(first), cut_off: 0 });
    let damaged = [0; 40];
    assert_eq!(first_read(&[&text[..before], &damaged].concat()), Beginning::Known(first));
    let secondary = Made::new("a", 0x100, b"ACG").bytes();
    assert_eq!(first_read(&secondary), Beginning::Open { first: None, cut_off: 0 });
    let cut_off = [&secondary[..], &secondary[..40]].concat();
    assert_eq!(first_read(&cut_off), Beginning::Open { first: None, cut_off: 40 });
    assert_eq!(first_read(&[&secondary[..], &damaged].concat()), Beginning::Damaged { left: 40 });
    assert_eq!(first_read(b""), Beginning::Open { first: None, cut_off: 0 });
}

/// Reads of one pair with this name, first and second.
fn pair(name: &str) -> [Made; 2] {
    [Made::new(name, 0x4d, b"A"), Made::new(name, 0x8d, b"C")]
}

#[test]
fn reads_without_a_mate_stand_among_pairs() {
    let [[a, b], [c, d]] = ["a", "b"].map(pair);
    let single = |name: &str| Made::new(name, 4, b"G");
    let seen = Arc::new(SeenMates::of("x.bam".into()));
    let parser = parser(SingleReads::Taken(Arc::clone(&seen)));
    let names = |records: &[Made]| {
        let chunk = parse_with(&parser, &bytes_of(records)).unwrap();
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        chunk.fragments().map(|f| (name(f.first.name), f.mate.is_some())).collect::<Vec<_>>()
    };
    let all = |names: &[(&str, bool)]| names.iter().map(|(name, is)| (name.to_string(), *is)).collect::<Vec<_>>();
    assert_eq!(names(&[a, b]), all(&[("a", true)]));
    assert_eq!(seen.note(), None, "pairs alone");
    assert_eq!(names(&[c.clone(), d, single("s"), single("t")]), all(&[("b", true), ("s", false), ("t", false)]));
    assert_eq!(seen.note().unwrap(), "x.bam holds 2 pairs and 2 single reads: each was aligned as such");
    // One mate before a pair, one between two single reads, one at the end.
    let [e, f] = pair("e");
    let lost = ["l", "m", "n"].map(|name| Made::new(name, 0x8d, b"T"));
    let [one, two, three] = lost.clone();
    let found = names(&[one, e, f, single("u"), two, single("u"), three]);
    assert_eq!(found, all(&[("l", false), ("e", true), ("u", false), ("m", false), ("u", false), ("n", false)]));
    let told = "x.bam holds 3 pairs and 7 single reads, of which 3 are of pairs whose other mate is not in the file: \
                each was aligned as such";
    assert_eq!(seen.note().unwrap(), told);
    // The mate of one of them comes later, in another chunk.
    let [mate, _] = pair("m");
    let apart = parse_with(&parser, &mate.bytes()).unwrap_err();
    let what = "x.bam: record 101 (byte 1000), read 'm': its mate is in the file, but not next to it";
    assert!(apart.starts_with(what) && apart.contains("samtools collate"), "{apart}");
}

#[test]
fn reads_without_a_mate_are_refused_where_they_must_be() {
    let [a, b] = ["a", "b"].map(pair);
    let single = Made::new("s", 4, b"G");
    let fault = |single_reads: SingleReads, records: &[&Made]| {
        let bytes: Vec<u8> = records.iter().flat_map(|made| made.bytes()).collect();
        parse_with(&parser(single_reads), &bytes).map(drop)
    };
    // Several processes share the reads.
    let paired = SingleReads::AsTheFirst { is_paired: true };
    assert_eq!(fault(paired.clone(), &[&a[0], &a[1]]), Ok(()));
    let no_mate = fault(paired.clone(), &[&a[0], &b[0], &b[1]]).unwrap_err();
    assert!(no_mate.starts_with("x.bam: record 101 (byte 1000), read 'a': its mate does not follow it"), "{no_mate}");
    assert!(fault(paired.clone(), &[&a[0], &a[1], &b[0]]).unwrap_err().contains("record 103"));
    let odd = fault(paired, &[&a[0], &a[1], &single]).unwrap_err();
    assert!(odd.contains("record 103") && odd.contains("it is a single read, and the reads before are pairs"), "{odd}");
    let alone = SingleReads::AsTheFirst { is_paired: false };
    assert_eq!(fault(alone.clone(), &[&single, &single]), Ok(()));
    let odd = fault(alone, &[&single, &a[0], &a[1]]).unwrap_err();
    assert!(
        odd.contains("record 102") && odd.contains("it is one of a pair, and the reads before are single"),
        "{odd}"
    );
    // Mates go into files of their own.
    assert_eq!(fault(SingleReads::Refused(PairsAlone::UnalignedByMate), &[&a[0], &a[1]]), Ok(()));
    for odd in [&single, &b[0]] {
        let no_mate = fault(SingleReads::Refused(PairsAlone::UnalignedByMate), &[&a[0], &a[1], odd]).unwrap_err();
        assert!(no_mate.contains("record 103") && no_mate.contains("a '%' in the name of --unaligned"), "{no_mate}");
    }
    // Names of their own, and too many of one.
    let apart = [Made::new("x.1", 0x4d, b"A"), Made::new("x.2", 0x8d, b"C"), Made::new("x.2", 0x4d, b"C")];
    for mates in [[&apart[0], &apart[1]], [&apart[1], &apart[0]]] {
        assert!(fault(taken(), &mates).unwrap_err().contains("its mate has another name, 'x."));
    }
    assert_eq!(fault(taken(), &[&apart[0], &apart[2]]), Ok(()), "two first mates");
    assert!(fault(taken(), &[&a[0], &a[0]]).unwrap_err().contains("which is the first and which the second"));
    let after_others = [&a[0], &a[1], &single, &a[0]];
    assert_eq!(fault(taken(), &after_others), Ok(()), "as in another chunk");
    let thrice = fault(taken(), &[&a[0], &a[1], &a[0], &a[1]]).unwrap_err();
    assert!(thrice.contains("more than two reads with this name"), "{thrice}");
}

#[test]
fn headers() {
    let header = |text: &[u8], contigs: &[(&str, i32)]| {
        let mut out = b"BAM\x01".to_vec();
        out.extend_from_slice(&(text.len() as i32).to_le_bytes());
        out.extend_from_slice(text);
        out.extend_from_slice(&(contigs.len() as i32).to_le_bytes());
        for (name, length) in contigs {
            out.extend_from_slice(&(name.len() as i32 + 1).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
            out.push(0);
            out.extend_from_slice(&length.to_le_bytes());
        }
        out
    };
    let text = b"@HD\tVN:1.6\n@RG\tID:g\tSM:s\n@CO\t@RG\tID:no\n@PG\tID:p\r\n\0\0";
    let bytes = header(text, &[("c", 5), ("d", 6)]);
    let read = BamHeader::of(&[&bytes[..], b"more"].concat()).unwrap().unwrap();
    assert_eq!((read.bytes, read.contigs, &read.read_groups[..]), (bytes.len(), 2, &[b"@RG\tID:g\tSM:s".to_vec()][..]));
    assert_eq!(read.read_group_ids(), [b"g".to_vec()].into());
    assert_eq!(read.history, [&b"@HD\tVN:1.6"[..], b"@CO\t@RG\tID:no", b"@PG\tID:p"]);
    for cut in 4..bytes.len() {
        assert_eq!(BamHeader::of(&bytes[..cut]), Ok(None), "{cut}");
    }
    let negative = [&bytes[..4], &(-1i32).to_le_bytes(), &bytes[8..]].concat();
    assert!(BamHeader::of(&negative).is_err());
}

/// Fragments of records, with alignments of other kinds between them.
fn fragments() -> impl Strategy<Value = Vec<Vec<Made>>> {
    let seq = prop::sample::select(vec![&b""[..], b"A", b"ACGTACGT"]);
    let fragment = (any::<bool>(), "[a-z]{1,9}", seq.clone(), seq, 0..4u8);
    proptest::collection::vec(fragment, 1..30).prop_map(|all| {
        let made = |(number, (is_pair, name, one, two, more)): (usize, (bool, String, _, _, u8))| {
            let name = format!("{name}{number}");
            let mut records = match is_pair {
                true => vec![Made::new(&name, 0x4d, one), Made::new(&name, 0x8d, two)],
                false => vec![Made::new(&name, 4, one)],
            };
            if more == 0 {
                records.insert(1, Made::new(&name, 0x900, b"ACGT"));
            }
            records
        };
        all.into_iter().enumerate().map(made).collect()
    })
}

/// Where fragments start, and the bases and reads before each.
fn naive(fragments: &[Vec<Made>]) -> Vec<(usize, u32, u32)> {
    let (mut at, mut bases, mut reads, mut out) = (0, 0, 0, Vec::new());
    for fragment in fragments {
        out.push((at, bases, reads));
        for made in fragment {
            at += made.bytes().len();
            if made.flags & 0x900 == 0 {
                (bases, reads) = (bases + made.seq.len() as u32, reads + 1);
            }
        }
    }
    out
}

proptest! {
    #[test]
    fn marks_of_pieces_add_up_to_the_naive_marks(
        fragments in fragments(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let text = bytes_of(&fragments.concat());
        let mut cuts: Vec<usize> = cuts.iter().map(|i| i.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let content = Content::Bam { header: 0, contigs: 0, first: None };
        let (mut state, mut bases, mut reads, mut found) = (content.start(), 0, 0, Vec::new());
        for cut in cuts.windows(2) {
            let (piece, rest) = (&text[cut[0]..cut[1]], &text[cut[1]..]);
            let behind = |bytes: usize| rest[..bytes.min(rest.len())].to_vec();
            // As if what lies before were not known; then it is.
            let known = match state {
                StretchStart::Records(state) => BamState { open: 0, ..state },
                StretchStart::Lines(_) => unreachable!(),
            };
            let mut marked = content.mark(piece, StretchStart::Records(known), behind);
            prop_assert!(marked.correct(StretchStart::Records(known), state));
            let directly = content.mark(piece, state, behind);
            prop_assert_eq!((&marked.marks, marked.after), (&directly.marks, directly.after));
            let marks = &marked.marks;
            let starts = (0..marks.starts.len()).map(|i| {
                (marks.starts[i] as usize + cut[0], marks.bases_before[i] + bases, marks.record_of(i) + reads)
            });
            found.extend(starts);
            (bases, reads) = (bases + marks.bases, reads + marks.records);
            prop_assert_eq!(marks.damaged_at, None);
            state = marked.after;
        }
        prop_assert_eq!(found, naive(&fragments));
        let is_at_end = matches!(state, StretchStart::Records(BamState { skip: 0, .. }));
        prop_assert!(is_at_end);
    }

    #[test]
    fn the_first_record_of_a_piece_is_found(fragments in fragments(), cut in any::<prop::sample::Index>()) {
        let text = bytes_of(&fragments.concat());
        let cut = cut.index(text.len());
        let mut starts = vec![0];
        fragments.iter().flatten().for_each(|made| starts.push(starts[starts.len() - 1] + made.bytes().len()));
        let first = starts.into_iter().find(|start| *start >= cut).unwrap();
        let found = guess(&text[cut..], 0);
        // Of less than a whole record nothing can be said.
        prop_assert!(found == (first - cut) as u64 || text.len() - first < 50, "{found} of {}", first - cut);
    }

    #[test]
    fn any_bytes_are_marked_and_parsed_without_harm(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        fragments in fragments(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut text = bytes_of(&fragments.concat());
        let at = at.index(text.len());
        let end = text.len().min(at + bytes.len());
        text.splice(at..end, bytes.iter().copied());
        for text in [&text, &bytes] {
            let marked = mark(text, BamState { skip: guess(text, 3), open: 0 }, |_| Some(Vec::new()));
            prop_assert!(marked.marks.starts.iter().all(|start| (*start as usize) < text.len()));
            let _ = parse_with(&parser(SingleReads::Refused(PairsAlone::UnalignedByMate)), text);
            let _ = parse_with(&parser(taken()), text);
        }
    }
}
