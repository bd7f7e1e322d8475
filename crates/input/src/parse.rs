//! Finds the reads in a chunk's text, in place. This is where an input is checked: every byte of every record.

use crate::errors::{no_record, odd_name, over_limit};
use crate::header;
use crate::kept::Mark;
use memchr::memchr;
use std::path::{Path, PathBuf};
use zerohop_model::chunk::{Chunk, ReadSpans, Span, Text};
use zerohop_model::error::{Error, InputError, shown};
use zerohop_model::source::Parse;

/// FASTQ or FASTA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextFormat {
    Fastq,
    Fasta,
}

/// How reads make fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FragmentLayout {
    /// One file, one read each.
    Single,
    /// Two files, in step.
    Pairs,
    /// One file; two reads that follow one another and have the same name (without `/1` and `/2`) are mates, as in
    /// strobealign.
    Interleaved,
}

/// What is said of a read without a mate, where there must be none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairsAlone {
    /// A file for each mate, of reads that are not aligned.
    UnalignedByMate,
    /// A file for each mate, of reads that stay or are dropped.
    SavedByMate,
    /// A read structure for each mate.
    ReadStructures,
}

impl PairsAlone {
    /// Why there must be none, and what to do.
    pub(crate) fn words(self) -> &'static str {
        match self {
            PairsAlone::UnalignedByMate => "a '%' in the name of --unaligned stands for mates: leave out the '%'",
            PairsAlone::SavedByMate => {
                "a '%' in the name of --save-trimmed or --save-failed stands for mates: leave out the '%'"
            }
            PairsAlone::ReadStructures => "two read structures are for two mates: align single reads separately",
        }
    }
}

/// The parser of one lane.
pub(crate) struct Parser {
    pub(crate) files: Vec<(PathBuf, TextFormat)>,
    pub(crate) layout: FragmentLayout,
    pub(crate) max_read_bases: usize,
    /// Whether reads keep their comments.
    pub(crate) comments: bool,
    /// Whether comments are marks and optional fields ([`crate::kept`]); marks say which interleaved reads are mates.
    pub(crate) marked: bool,
    /// Why interleaved reads must have a mate, and what to do if one has none, where they must.
    pub(crate) pairs_alone: Option<PairsAlone>,
}

/// What finds the reads in the text of `files` of FASTQ, one or two with the mates in step, and checks every byte of
/// them. It is for whoever takes the text of whole records by himself; a lane has its own.
pub fn fastq_parser(files: &[PathBuf], max_read_bases: usize) -> Box<dyn Parse> {
    let layout = if files.len() == 2 { FragmentLayout::Pairs } else { FragmentLayout::Single };
    let files = files.iter().map(|path| (path.clone(), TextFormat::Fastq)).collect();
    Box::new(Parser { files, layout, max_read_bases, comments: true, marked: false, pairs_alone: None })
}

impl Parse for Parser {
    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        chunk.forget_reads();
        self.check_sizes(&chunk.text)?;
        let mut text = std::mem::take(&mut chunk.text);
        let [one, two] = &mut text;
        let outcome = match self.layout {
            FragmentLayout::Pairs => self.parse_pairs(chunk, one, two),
            FragmentLayout::Single => self.parse_single(chunk, one),
            FragmentLayout::Interleaved => self.parse_interleaved(chunk, one),
        };
        chunk.text = text;
        chunk.comments_are_fields = self.marked;
        Ok(outcome?)
    }

    fn path(&self, text: usize) -> Option<&Path> {
        self.files.get(text).map(|(path, _)| &**path)
    }
}

impl Parser {
    /// Places in a text are numbers of 32 bits.
    fn check_sizes(&self, texts: &[Text; 2]) -> Result<(), InputError> {
        let is_too_long = |text: &Text| u32::try_from(text.bytes.len()).is_err();
        let too_long = texts.iter().zip(&self.files).find(|(text, _)| is_too_long(text));
        too_long.map_or(Ok(()), |(text, (path, _))| {
            let what = "the reads of one batch have more than 4 GiB of text from here on: make batches smaller (-K)";
            Err(InputError::new(path, what).at(text.first_record + 1, text.first_byte))
        })
    }

    fn records<'t>(&'t self, file: u8, text: &'t mut Text) -> Records<'t> {
        let (path, format) = &self.files[usize::from(file)];
        Records {
            path,
            format: *format,
            max_read_bases: self.max_read_bases,
            comments: self.comments,
            marked: self.marked,
            has_mate: None,
            file,
            text,
            at: 0,
            record: 0,
            start: 0,
        }
    }

    fn parse_single(&self, chunk: &mut Chunk, text: &mut Text) -> Result<(), InputError> {
        let mut records = self.records(0, text);
        while let Some(read) = records.next()? {
            chunk.push(read, None);
        }
        Ok(())
    }

    fn parse_pairs(&self, chunk: &mut Chunk, one: &mut Text, two: &mut Text) -> Result<(), InputError> {
        let (mut ones, mut twos) = (self.records(0, one), self.records(1, two));
        loop {
            match (ones.next()?, twos.next()?) {
                (Some(first), Some(mate)) => {
                    if !header::are_mates(ones.slice(first.name), twos.slice(mate.name)) {
                        let first_name = shown(ones.slice(first.name));
                        let what = format!(
                            "its name differs from that of its mate, '{first_name}' in {}: the files are not in step",
                            ones.path.display()
                        );
                        return Err(twos.fault(mate.name, what));
                    }
                    chunk.push(first, Some(mate));
                }
                (None, None) => return Ok(()),
                (Some(read), None) => return Err(ones.fault(read.name, "it has no mate in the other file")),
                (None, Some(read)) => return Err(twos.fault(read.name, "it has no mate in the other file")),
            }
        }
    }

    fn parse_interleaved(&self, chunk: &mut Chunk, text: &mut Text) -> Result<(), InputError> {
        let mut records = self.records(0, text);
        let mut open = records.next()?;
        while let Some(first) = open {
            let (place, has_mate) = (records.place(), records.has_mate);
            open = records.next()?;
            let mate = open.take_if(|next| match has_mate {
                Some(has_mate) => has_mate,
                None => records.slice(next.name) == records.slice(first.name),
            });
            if let Some(why) = self.pairs_alone.filter(|_| mate.is_none()) {
                let what = format!("it has no mate, and {}", why.words());
                return Err(records.fault_at(place, first.name, what));
            }
            chunk.push(first, mate);
            if mate.is_some() {
                open = records.next()?;
            }
        }
        Ok(())
    }
}

/// The records of one text, in order.
struct Records<'t> {
    path: &'t PathBuf,
    format: TextFormat,
    max_read_bases: usize,
    comments: bool,
    marked: bool,
    /// What the mark of the record read last says of its mate.
    has_mate: Option<bool>,
    file: u8,
    text: &'t mut Text,
    /// Where the next record starts.
    at: usize,
    /// Number, in the text and from 1, of the record read last, and where it starts.
    record: u64,
    start: usize,
}

impl Records<'_> {
    fn slice(&self, span: Span) -> &[u8] {
        &self.text.bytes[span.start as usize..span.end as usize]
    }

    /// Number, in the text and from 1, of the record read last, and where it starts.
    fn place(&self) -> (u64, usize) {
        (self.record, self.start)
    }

    /// A fault of the record read last.
    fn fault(&self, name: Span, what: impl Into<String>) -> InputError {
        self.fault_at(self.place(), name, what)
    }

    /// A fault of the record there.
    fn fault_at(&self, (record, start): (u64, usize), name: Span, what: impl Into<String>) -> InputError {
        InputError::new(self.path, what)
            .at(self.text.first_record + record, self.text.first_byte + start as u64)
            .read(self.slice(name))
    }

    /// The line that starts at `self.at`, without its line end, if there is one; moves behind it.
    fn line(&mut self) -> Option<Span> {
        let bytes = &self.text.bytes;
        let start = self.at;
        if start >= bytes.len() {
            return None;
        }
        let newline = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |n| start + n);
        self.at = newline + 1;
        let end = if newline > start && bytes[newline - 1] == b'\r' { newline - 1 } else { newline };
        Some(Span { start: start as u32, end: end as u32 })
    }

    fn next(&mut self) -> Result<Option<ReadSpans>, InputError> {
        self.start = self.at;
        let Some(line) = self.line() else { return Ok(None) };
        self.record += 1;
        let wanted = if self.format == TextFormat::Fastq { b'@' } else { b'>' };
        if self.slice(line).first() != Some(&wanted) {
            return Err(self.not_a_header(line, wanted));
        }
        let (whole_name, comment) = header::split(&self.slice(line)[1..]);
        let name = if self.format == TextFormat::Fastq { header::without_mate_number(whole_name) } else { whole_name };
        let (start, comment_start) = (line.start + 1, line.start + 1 + whole_name.len() as u32 + 1);
        let name = Span { start, end: start + name.len() as u32 };
        let mark = comment.first().filter(|_| self.marked).and_then(|byte| Mark::of(*byte));
        let comment = match (comment.len() as u32, mark) {
            (2.., Some(_)) => Span { start: comment_start + 1, end: comment_start + comment.len() as u32 },
            (1.., None) if self.comments => Span { start: comment_start, end: comment_start + comment.len() as u32 },
            _ => Span::default(),
        };
        self.has_mate = mark.map(|mark| mark.has_mate);
        let failed_filters = mark.is_some_and(|mark| mark.failed_filters);
        if name.start == name.end {
            return Err(self.fault(name, "the read has no name"));
        }
        if let Some(what) = odd_name(self.slice(name)) {
            return Err(self.fault(name, what));
        }
        let (seq, qual) = match self.format {
            TextFormat::Fastq => self.fastq_body(name)?,
            TextFormat::Fasta => (self.fasta_body(), None),
        };
        self.check_bases(name, seq)?;
        Ok(Some(ReadSpans { text: self.file, name, comment, seq, qual, failed_filters }))
    }

    fn not_a_header(&self, line: Span, wanted: u8) -> InputError {
        self.fault(Span::default(), no_record(wanted, self.slice(line).first().copied()))
    }

    /// Sequence, `+` line and qualities of a FASTQ record.
    fn fastq_body(&mut self, name: Span) -> Result<(Span, Option<Span>), InputError> {
        let cut_off = "the file ends in the middle of this record: it is truncated";
        let Some(seq) = self.line() else { return Err(self.fault(name, cut_off)) };
        let Some(plus) = self.line() else { return Err(self.fault(name, cut_off)) };
        if self.slice(plus).first() != Some(&b'+') {
            return Err(self.fault(name, "its third line does not start with '+': a record of FASTQ has four lines"));
        }
        // A read of no bases at the end of a file may lack its empty last line.
        let qual = match self.line() {
            Some(line) => line,
            None if seq.start == seq.end => self.empty_line(),
            None => return Err(self.fault(name, cut_off)),
        };
        let (bases, qualities) = (seq.end - seq.start, qual.end - qual.start);
        if bases != qualities {
            return Err(self.fault(name, format!("{bases} bases but {qualities} qualities")));
        }
        // Printable characters, checked without a branch per byte.
        if self.slice(qual).iter().fold(false, |bad, b| bad | (b.wrapping_sub(b'!') > b'~' - b'!')) {
            return Err(
                self.fault(name, "its qualities hold a character that is not a quality (allowed are '!' to '~')")
            );
        }
        Ok((seq, Some(qual)))
    }

    /// An empty line, added at the end of the text: programs take a record of four whole lines.
    fn empty_line(&mut self) -> Span {
        let bytes = &mut self.text.bytes;
        if bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        let at = bytes.len() as u32;
        bytes.push(b'\n');
        self.at = bytes.len();
        Span { start: at, end: at }
    }

    /// The sequence lines up to the next header, moved together.
    fn fasta_body(&mut self) -> Span {
        let start = self.at.min(self.text.bytes.len());
        let mut end = start;
        while self.text.bytes.get(self.at).is_some_and(|&b| b != b'>') {
            if let Some(line) = self.line() {
                let bases = self.slice(line).trim_ascii_end().len();
                self.text.bytes.copy_within(line.start as usize..line.start as usize + bases, end);
                end += bases;
            }
        }
        Span { start: start as u32, end: end as u32 }
    }

    /// Makes the bases upper case and checks that they are letters, or one of `.-*=`.
    fn check_bases(&mut self, name: Span, seq: Span) -> Result<(), InputError> {
        if (seq.end - seq.start) as usize > self.max_read_bases {
            return Err(self.fault(name, over_limit(self.max_read_bases as u64)));
        }
        let bases = &mut self.text.bytes[seq.start as usize..seq.end as usize];
        bases.make_ascii_uppercase();
        if bases.iter().fold(false, |odd, b| odd | (b.wrapping_sub(b'A') > 25))
            && let Some(&odd) = bases.iter().find(|b| !(b.is_ascii_uppercase() || b".-*=".contains(b)))
        {
            let what = format!("its sequence holds '{}', which is not a base", odd.escape_ascii());
            return Err(self.fault(name, what));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parser(layout: FragmentLayout, format: TextFormat) -> Parser {
        let files = vec![("1.fq".into(), format), ("2.fq".into(), format)];
        Parser { files, layout, max_read_bases: 10, comments: true, marked: false, pairs_alone: None }
    }

    fn parse(layout: FragmentLayout, format: TextFormat, one: &[u8], two: &[u8]) -> Result<Chunk, String> {
        parse_with(&parser(layout, format), one, two)
    }

    fn parse_with(parser: &Parser, one: &[u8], two: &[u8]) -> Result<Chunk, String> {
        let mut chunk = Chunk::default();
        chunk.text[0] = Text { bytes: one.to_vec(), first_record: 100, first_byte: 1000 };
        chunk.text[1] = Text { bytes: two.to_vec(), first_record: 100, first_byte: 2000 };
        parser.parse(&mut chunk).map(|()| chunk).map_err(|e| e.to_string())
    }

    fn single(text: &[u8]) -> Result<Chunk, String> {
        parse(FragmentLayout::Single, TextFormat::Fastq, text, b"")
    }

    #[test]
    fn reads_are_found_in_place() {
        let chunk = single(b"@a/1 c d\r\nacgn\r\n+\r\nIIII\r\n@b\n\n+\n\n@c\nA\n+c\n#").unwrap();
        let reads: Vec<_> = chunk.fragments().map(|f| f.first).collect();
        assert_eq!(reads[0].name, b"a");
        assert_eq!((reads[0].comment, reads[0].seq, reads[0].qual), (&b"c d"[..], &b"ACGN"[..], Some(&b"IIII"[..])));
        assert_eq!((reads[1].name, reads[1].seq), (&b"b"[..], &b""[..]));
        assert_eq!((reads[2].name, reads[2].seq, reads[2].qual), (&b"c"[..], &b"A"[..], Some(&b"#"[..])));
    }

    #[test]
    fn an_empty_read_may_be_the_last() {
        for text in [&b"@a\n\n+"[..], b"@a\n\n+\n", b"@a\n\n+\n\n"] {
            let chunk = single(text).unwrap();
            assert_eq!((chunk.len(), chunk.fragment(0).first.qual), (1, Some(&b""[..])));
            assert_eq!(chunk.text[0].bytes, b"@a\n\n+\n\n");
        }
    }

    #[test]
    fn pairs_and_interleaved_reads() {
        let chunk = parse(FragmentLayout::Pairs, TextFormat::Fastq, b"@a/1\nA\n+\n#\n", b"@a/2\nC\n+\n#\n").unwrap();
        assert_eq!(chunk.fragment(0).mate.unwrap().seq, b"C");
        let text = b"@a/1\nA\n+\n#\n@a/2\nC\n+\n#\n@b\nA\n+\n#\n@c\nA\n+\n#\n@c\nA\n+\n#\n";
        let chunk = parse(FragmentLayout::Interleaved, TextFormat::Fastq, text, b"").unwrap();
        let shape: Vec<_> = chunk.fragments().map(|f| (f.first.name, f.mate.is_some())).collect();
        assert_eq!(shape, [(&b"a"[..], true), (b"b", false), (b"c", true)]);
        let pairs_alone = Parser {
            pairs_alone: Some(PairsAlone::UnalignedByMate),
            ..parser(FragmentLayout::Interleaved, TextFormat::Fastq)
        };
        let fault = parse_with(&pairs_alone, text, b"").unwrap_err();
        assert!(fault.starts_with("1.fq: record 103") && fault.contains("it has no mate"), "{fault}");
        assert_eq!(parse_with(&pairs_alone, &text[..22], b"").unwrap().len(), 1);
    }

    #[test]
    fn mates_may_differ_in_their_numbers() {
        for (one, two) in [("x.1", "x.2"), ("x_1", "x_2"), ("x/1", "x/2")] {
            let text = |name| format!(">{name}\nA\n");
            let chunk =
                parse(FragmentLayout::Pairs, TextFormat::Fasta, text(one).as_bytes(), text(two).as_bytes()).unwrap();
            let names: Vec<_> = chunk.fragment(0).reads().map(|read| read.name.to_owned()).collect();
            assert_eq!(names, [one.as_bytes(), two.as_bytes()]);
        }
    }

    #[test]
    fn fasta_lines_are_joined() {
        let chunk = parse(FragmentLayout::Single, TextFormat::Fasta, b">a/1 x\nAC\r\nGT \n>b\n>c\nTT\nT", b"").unwrap();
        let reads: Vec<_> = chunk.fragments().map(|f| (f.first.name, f.first.seq)).collect();
        assert_eq!(reads, [(&b"a/1"[..], &b"ACGT"[..]), (b"b", b""), (b"c", b"TTT")]);
    }

    #[test]
    fn faults_name_file_record_byte_and_read() {
        let first = b"@a\nA\n+\n#\n";
        let fault = |rest: &[u8]| single(&[&first[..], rest].concat()).unwrap_err();
        let at = "1.fq: record 102 (byte 1009)";
        assert_eq!(fault(b"@x y\nACGT\n+\n###\n"), format!("{at}, read 'x': 4 bases but 3 qualities"));
        let four = "its third line does not start with '+': a record of FASTQ has four lines";
        assert_eq!(fault(b"@x\nACGT\nAC\n###\n"), format!("{at}, read 'x': {four}"));
        assert_eq!(fault(b"hello\nACGT\n"), format!("{at}: a record must start with '@', but here is 'h'"));
        assert_eq!(fault(b"\n@x\nA\n"), format!("{at}: a record must start with '@', but here is an empty line"));
        assert_eq!(fault(b"@ x\nA\n+\n#\n"), format!("{at}: the read has no name"));
        let odd = "its name begins with '@', so that SAM would take its record for a line of the header";
        assert_eq!(fault(b"@@x\nA\n+\n#\n"), format!("{at}, read '@x': {odd}"));
        let odd = "its name holds '\\x00', which SAM does not allow";
        assert_eq!(fault(b"@x\0\nA\n+\n#\n"), format!("{at}, read 'x\\x00': {odd}"));
        assert_eq!(fault(b"@x\nA1\n+\n##\n"), format!("{at}, read 'x': its sequence holds '1', which is not a base"));
        let long = crate::errors::over_limit(10);
        assert!(
            long.starts_with("the read has more than 10 bases, the longest that the engine can take: leave it out")
        );
        assert_eq!(fault(b"@x\nACGTACGTACG\n+\n###########\n"), format!("{at}, read 'x': {long}"));
        let cut = "the file ends in the middle of this record: it is truncated";
        assert_eq!(fault(b"@x\nACGT\n+"), format!("{at}, read 'x': {cut}"));
        assert_eq!(fault(b"@x\nACGT"), format!("{at}, read 'x': {cut}"));
        let odd = "its qualities hold a character that is not a quality (allowed are '!' to '~')";
        assert_eq!(fault(b"@x\nAC\n+\n# \n"), format!("{at}, read 'x': {odd}"));
        let error = parse(FragmentLayout::Pairs, TextFormat::Fastq, first, b"@b\nA\n+\n#\n").unwrap_err();
        let step = "its name differs from that of its mate, 'a' in 1.fq: the files are not in step";
        assert_eq!(error, format!("2.fq: record 101 (byte 2000), read 'b': {step}"));
    }
}
