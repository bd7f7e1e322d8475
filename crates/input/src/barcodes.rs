//! UMIs and other barcodes of reads: they become optional fields, as `fgbio FastqToBam` has them, and the bases that a
//! read structure takes for barcodes are no bases of the read any more.

use crate::errors::fault_of;
use crate::{modifications, per_base};
use std::ops::Range;
use std::path::Path;
use zerohop_model::chunk::{Chunk, ReadSpans, Span, Text};
use zerohop_model::directed::Directed;
use zerohop_model::error::{Error, shown};
use zerohop_model::source::Parse;
use zerohop_umi::{ReadStructure, SegmentKind};

/// Where reads have barcodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Barcodes {
    /// The structure of the first read, and of the second; none if all bases are of the template.
    pub structures: Vec<ReadStructure>,
    /// Whether a UMI is in the name of the read, behind the seventh colon, as Illumina's programs write it.
    pub umis_in_names: bool,
}

/// Kinds of barcodes, with the fields for their bases and their qualities (SAM tags, "Barcodes").
const KINDS: [(SegmentKind, [u8; 2], [u8; 2]); 3] = [
    (SegmentKind::MolecularBarcode, *b"RX", *b"QX"),
    (SegmentKind::SampleBarcode, *b"BC", *b"QT"),
    (SegmentKind::CellBarcode, *b"CB", *b"CY"),
];
/// Fields of a name before the UMI: machine, run, flow cell, lane, tile, x, y.
const FIELDS_BEFORE_UMI: usize = 7;

impl Barcodes {
    /// Whether reads may get fields.
    pub fn give_fields(&self) -> bool {
        self.give_umis() || KINDS.iter().any(|(kind, ..)| self.structures.iter().any(|it| it.has(*kind)))
    }

    /// Whether reads may get a UMI.
    pub fn give_umis(&self) -> bool {
        self.umis_in_names || self.structures.iter().any(|it| it.has(SegmentKind::MolecularBarcode))
    }

    /// Bases of the template of so many reads of one file (0, or 1 for the second mates), which have so many bases.
    pub(crate) fn template_bases(&self, file: usize, bases: u64, reads: u64) -> u64 {
        self.structures.get(file).map_or(bases, |structure| structure.template_bases(bases, reads))
    }

    /// Takes the barcodes of all reads of a chunk; fields with one value per base are cut with the bases.
    fn take(&self, chunk: &mut Chunk, directed: Option<&Directed>) -> Result<(), (usize, (usize, String))> {
        let mut fields = Vec::new();
        let taken = chunk.edit_fragments(|texts, reads| {
            fields.clear();
            self.put_fields(texts, reads, &mut fields)?;
            for (number, read) in reads.iter_mut().enumerate() {
                let text = &mut texts[usize::from(read.text)].bytes;
                let kept = match self.structures.get(number) {
                    Some(structure) => keep_template(read, structure).map_err(|what| (number, what))?,
                    None => Kept { whole: 0..0, stays: 0..0 },
                };
                add_fields(read, text, &fields, kept, directed).map_err(|what| (number, what))?;
            }
            Ok(())
        });
        chunk.comments_are_fields = true;
        taken
    }

    /// Appends the fields of a fragment, all reads of which get the same.
    fn put_fields(&self, texts: &[Text; 2], reads: &[ReadSpans], out: &mut Vec<u8>) -> Result<(), (usize, String)> {
        let slice =
            |read: &ReadSpans, span: Span| &texts[usize::from(read.text)].bytes[span.start as usize..span.end as usize];
        let of_name = match (self.umis_in_names, reads.first()) {
            (true, Some(first)) => umi_of_name(slice(first, first.name)).map_err(|what| (0, what))?,
            _ => None,
        };
        for (kind, bases_field, qualities_field) in KINDS {
            let mut segments = Vec::new();
            for (number, (structure, read)) in self.structures.iter().zip(reads).enumerate() {
                let spans = structure.spans((read.seq.end - read.seq.start) as usize);
                let spans = spans.map_err(|error| (number, error.to_string()))?;
                segments.extend(spans.of_kind(kind).map(|segment| (read, segment)));
            }
            let of_name = of_name.as_deref().filter(|_| kind == SegmentKind::MolecularBarcode);
            let bases = segments.iter().map(|(read, segment)| &slice(read, read.seq)[segment.clone()]);
            put_field(out, bases_field, b'-', of_name.into_iter().chain(bases));
            // Names have no qualities; with them a field of qualities would not fit the bases.
            let qualities = segments.iter().filter(|_| of_name.is_none());
            let qualities = qualities.filter_map(|(read, segment)| Some(&slice(read, read.qual?)[segment.clone()]));
            put_field(out, qualities_field, b' ', qualities);
        }
        Ok(())
    }
}

/// Appends a field of these texts, with a letter between them; none of no text.
fn put_field<'t>(out: &mut Vec<u8>, key: [u8; 2], between: u8, mut texts: impl Iterator<Item = &'t [u8]>) {
    let Some(first) = texts.next() else { return };
    if !out.is_empty() {
        out.push(b'\t');
    }
    out.extend_from_slice(&[key[0], key[1], b':', b'Z', b':']);
    out.extend_from_slice(first);
    for text in texts {
        out.push(between);
        out.extend_from_slice(text);
    }
}

/// Where the bases of a read were, and which of them stay.
struct Kept {
    whole: Range<usize>,
    stays: Range<usize>,
}

/// Leaves a read the bases of its template.
fn keep_template(read: &mut ReadSpans, structure: &ReadStructure) -> Result<Kept, String> {
    let whole = read.seq.start as usize..read.seq.end as usize;
    let stays = structure.spans(whole.len()).map_err(|error| error.to_string())?.template().unwrap_or(0..0);
    let cut = |span: Span| Span { start: span.start + stays.start as u32, end: span.start + stays.end as u32 };
    (read.seq, read.qual) = (cut(read.seq), read.qual.map(cut));
    Ok(Kept { whole, stays })
}

/// Puts fields behind the comment of a read: both are written anew, at the end of the text.
fn add_fields(
    read: &mut ReadSpans,
    text: &mut Vec<u8>,
    fields: &[u8],
    Kept { whole, stays }: Kept,
    directed: Option<&Directed>,
) -> Result<(), String> {
    let (start, Span { start: from, end }) = (text.len(), read.comment);
    let comment = &text[from as usize..end as usize];
    let is_cut = stays != (0..whole.len()) && (directed.is_some() || modifications::may_be_in(comment));
    if end > from && is_cut {
        let (own, bases) = (text[from as usize..end as usize].to_vec(), text[whole].to_vec());
        per_base::cut(&own, (&bases, stays), directed, text)?;
    } else if fields.is_empty() {
        return Ok(());
    } else if end > from {
        text.extend_from_within(from as usize..end as usize);
    }
    if text.len() > start && !fields.is_empty() {
        text.push(b'\t');
    }
    text.extend_from_slice(fields);
    let place = |at: usize| {
        u32::try_from(at).map_err(|_| "the reads of one batch have more than 4 GiB of text: make batches smaller (-K)")
    };
    read.comment = Span { start: place(start)?, end: place(text.len())? };
    Ok(())
}

/// The UMI in a name, if it has one: with `+` between its parts, each of which begins with `r` if it was turned (BCL
/// Convert).
fn umi_of_name(name: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let Some(text) = name.splitn(FIELDS_BEFORE_UMI + 1, |byte| *byte == b':').nth(FIELDS_BEFORE_UMI) else {
        return Ok(None);
    };
    let complement = |base: &u8| match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        other => *other,
    };
    let part = |part: &[u8]| match part {
        [b'r', turned @ ..] => turned.iter().rev().map(complement).collect(),
        part => part.to_vec(),
    };
    let umi = text.split(|byte| matches!(byte, b'+' | b'-')).map(part).collect::<Vec<Vec<u8>>>().join(&b'-');
    match umi.iter().all(|byte| b"ACGTN-".contains(byte)) {
        true => Ok(Some(umi)),
        false => Err(format!("what its name has behind the seventh colon, '{}', is no UMI", shown(text))),
    }
}

/// Finds reads, and takes their barcodes.
pub(crate) struct BarcodeParser {
    pub(crate) parser: Box<dyn Parse>,
    pub(crate) barcodes: Barcodes,
    /// Of BAM: fields that go with the direction of a read have one value per base, and are cut with the bases.
    /// Of comments of FASTQ base modifications alone are cut, and the text of chunks is that of the files.
    pub(crate) directed: Option<Directed>,
}

impl Parse for BarcodeParser {
    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        self.parser.parse(chunk)?;
        self.barcodes.take(chunk, self.directed.as_ref()).map_err(|(fragment, (mate, what))| {
            let path = |text| self.parser.path(text);
            fault_of(chunk, (fragment, mate), (path, self.directed.is_none()), what).into()
        })
    }

    fn path(&self, text: usize) -> Option<&Path> {
        self.parser.path(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::fastq_parser;

    fn barcodes(structures: &[&str], umis_in_names: bool) -> Barcodes {
        Barcodes { structures: structures.iter().map(|text| text.parse().unwrap()).collect(), umis_in_names }
    }

    /// Comment, bases and qualities of all reads of a pair, or of single reads.
    fn taken(barcodes: Barcodes, texts: &[&str]) -> Result<Vec<[String; 3]>, String> {
        let files: Vec<_> = ["1.fq", "2.fq"].iter().take(texts.len()).map(Into::into).collect();
        let parser = BarcodeParser { parser: fastq_parser(&files, 100), barcodes, directed: None };
        let mut chunk = Chunk::default();
        for (text, bytes) in chunk.text.iter_mut().zip(texts) {
            *text = Text { bytes: bytes.as_bytes().to_vec(), first_record: 10, first_byte: 100 };
        }
        parser.parse(&mut chunk).map_err(|error| error.to_string())?;
        assert!(chunk.comments_are_fields);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let fields = |read: zerohop_model::chunk::Read<'_>| [read.comment, read.seq, read.qual.unwrap()].map(text);
        let reads = chunk.fragments().flat_map(|fragment| fragment.reads().map(fields).collect::<Vec<_>>());
        Ok(reads.collect())
    }

    #[test]
    fn both_mates_get_the_barcodes_of_both() {
        let texts =
            ["@a/1 XX:Z:x\nACCGTTTT\n+\n12345678\n@b/1\nNNGATA\n+\n######\n", "@a/2\nGTT\n+\n9II\n@b/2\nC\n+\nI\n"];
        let found = taken(barcodes(&["2M1S1C+T", "1B+T"], false), &texts).unwrap();
        let fields =
            ["RX:Z:AC\tQX:Z:12\tBC:Z:G\tQT:Z:9\tCB:Z:G\tCY:Z:4", "RX:Z:NN\tQX:Z:##\tBC:Z:C\tQT:Z:I\tCB:Z:A\tCY:Z:#"];
        let wanted = [
            [format!("XX:Z:x\t{}", fields[0]), "TTTT".into(), "5678".into()],
            [fields[0].to_owned(), "TT".into(), "II".into()],
            [fields[1].to_owned(), "TA".into(), "##".into()],
            [fields[1].to_owned(), String::new(), String::new()],
        ];
        assert_eq!(found, wanted);
        let duplex = taken(barcodes(&["2M+T", "2M+T"], false), &["@a\nACC\n+\n123\n", "@a\nGTT\n+\n456\n"]).unwrap();
        assert_eq!(duplex[0][0], "RX:Z:AC-GT\tQX:Z:12 45");
    }

    #[test]
    fn names_hold_umis_that_may_be_turned() {
        let of = |name: &str| {
            taken(barcodes(&[], true), &[&format!("@{name} x\nAC\n+\n!!\n")]).map(|reads| reads[0][0].clone())
        };
        assert_eq!(of("a:1:b:2:3:4:5:ACG+rTTG").as_deref(), Ok("x\tRX:Z:ACG-CAA"));
        assert_eq!(of("a:1:b:2:3:4:5").as_deref(), Ok("x"));
        let odd = of("a:1:b:2:3:4:5:AC.G").unwrap_err();
        assert!(
            odd.starts_with("1.fq: record 11 (byte 100), read 'a:1:b:2:3:4:5:AC.G': ")
                && odd.contains("'AC.G', is no UMI"),
            "{odd}"
        );
        let with_both = taken(barcodes(&["1M+T"], true), &["@a:1:b:2:3:4:5:AC\nGTT\n+\n123\n"]).unwrap();
        assert_eq!(with_both[0], ["RX:Z:AC-G", "TT", "23"]);
    }

    #[test]
    fn a_read_that_is_too_short_is_named() {
        let texts = ["@a\nACC\n+\n123\n@b\nACC\n+\n123\n", "@a\nACC\n+\n123\n@b\nAC\n+\n12\n"];
        let error = taken(barcodes(&["2M+T", "3M+T"], false), &texts).unwrap_err();
        assert!(error.starts_with("2.fq: record 12 (byte 113), read 'b': the read has 2 bases"), "{error}");
    }

    #[test]
    fn bases_of_the_template_are_counted() {
        let both = barcodes(&["2M+T", "5M2S20T"], false);
        assert_eq!((both.template_bases(0, 300, 3), both.template_bases(1, 81, 3)), (294, 60));
        assert_eq!(Barcodes::default().template_bases(1, 300, 3), 300);
        assert!(
            both.give_umis() && !barcodes(&["2S+T"], false).give_fields() && !barcodes(&["2C+T"], false).give_umis()
        );
    }
}
