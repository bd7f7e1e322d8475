//! A run of whole fragments, as text and as the places of their fields in that text.

use std::cell::Cell;

/// The place of a chunk in the order of the input, and in its cohort ([`Cut`](crate::engine::Cut)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticket {
    /// Which of the runs that read the same index at the same time it is of; 0 where there is one.
    pub run: u32,
    /// Position of its lane (a read file or a pair of them) in the command.
    pub lane: u32,
    /// Its number in the lane, from 0, without gaps.
    pub number: u64,
    /// Number of its first fragment in the lane, from 0.
    pub first_fragment: u64,
    /// Number of its first read over the whole input, from 0: mates count as two reads. (What deals a lane counts from
    /// the first read of the lane; the runtime adds the reads of the lanes before.)
    pub first_read: u64,
    /// Number of its cohort in the lane, from 0.
    pub cohort: u64,
    /// Which piece of the cohort it is, from 0.
    pub piece: u32,
    /// Whether it is the last piece of the cohort.
    pub is_last_piece: bool,
}

impl Ticket {
    /// The ticket of the first chunk of `lane`, where each chunk is a cohort of its own.
    pub fn first_of(lane: u32) -> Self {
        Ticket { lane, is_last_piece: true, ..Ticket::default() }
    }

    /// The ticket of the chunk behind a chunk of so many fragments and reads, where each chunk is a cohort of its own.
    pub fn next_cohort(self, fragments: u64, reads: u64) -> Self {
        Ticket {
            number: self.number + 1,
            first_fragment: self.first_fragment + fragments,
            first_read: self.first_read + reads,
            cohort: self.cohort + 1,
            piece: 0,
            ..self
        }
    }

    /// Whether the chunk is a cohort by itself.
    pub fn is_whole_cohort(self) -> bool {
        self.piece == 0 && self.is_last_piece
    }
}

/// A part of one input file: whole records, inflated.
#[derive(Debug, Default, Clone)]
pub struct Text {
    /// The bytes. They lie in memory of the worker that parses them.
    pub bytes: Vec<u8>,
    /// Number of the first record in its file, from 0.
    pub first_record: u64,
    /// Offset of the first byte in the inflated file.
    pub first_byte: u64,
}

/// Half-open range of bytes in a [`Text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Where the fields of one read lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadSpans {
    /// Which of the chunk's two texts holds it: 0 or 1.
    pub text: u8,
    /// Its name, without `/1` or `/2`.
    pub name: Span,
    /// What follows the name in the header line; may be empty.
    pub comment: Span,
    /// Its bases, in upper case.
    pub seq: Span,
    /// Its qualities (Phred + 33), as long as the bases; `None` for FASTA.
    pub qual: Option<Span>,
    /// Whether the input says that it failed the sequencer's filters (0x200).
    pub failed_filters: bool,
}

/// One read of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read<'a> {
    /// Its name, without `/1` or `/2`.
    pub name: &'a [u8],
    /// Whether `/1` or `/2` stood behind it.
    pub had_number: bool,
    /// What follows the name in the header line; may be empty.
    pub comment: &'a [u8],
    /// Its bases, in upper case.
    pub seq: &'a [u8],
    /// Its qualities (Phred + 33), as long as the bases; `None` for FASTA.
    pub qual: Option<&'a [u8]>,
    /// Whether the input says that it failed the sequencer's filters (0x200).
    pub failed_filters: bool,
}

/// A single read, or the two mates of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The read, or the first mate.
    pub first: Read<'a>,
    /// The second mate.
    pub mate: Option<Read<'a>>,
}

impl<'a> Fragment<'a> {
    /// Its one or two reads.
    pub fn reads(&self) -> impl Iterator<Item = Read<'a>> + use<'a> {
        [Some(self.first), self.mate].into_iter().flatten()
    }
}

/// A run of whole fragments: the unit that is claimed, mapped and committed. It is reused: nothing in it is freed
/// between chunks.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Its place in the order of the input.
    pub ticket: Ticket,
    /// The text of the first and, for two-file pairs, of the second file.
    pub text: [Text; 2],
    /// Whether comments are optional fields of the records that the text was made of: a program that gets FASTQ of the
    /// chunk does not get them.
    pub comments_are_fields: bool,
    /// Whether its reads are of a bisulfite library made by PBAT: G of the first mates were read as A, not C as T.
    pub is_pbat: bool,
    reads: Vec<ReadSpans>,
    /// `fragment_ends[i]` is one past the last read of fragment i.
    fragment_ends: Vec<u32>,
    /// The fragment handed out last: names the read when an engine panics.
    current: Cell<usize>,
}

impl Chunk {
    /// Makes it empty, keeping its memory.
    pub fn clear(&mut self) {
        self.text.iter_mut().for_each(|t| t.bytes.clear());
        self.forget_reads();
    }

    /// Forgets the reads that were found, keeping the text.
    pub fn forget_reads(&mut self) {
        self.reads.clear();
        self.fragment_ends.clear();
        self.comments_are_fields = false;
        self.is_pbat = false;
        self.current.set(0);
    }

    /// Adds a fragment: a read, and its mate if it has one. Their spans must lie in the texts.
    pub fn push(&mut self, first: ReadSpans, mate: Option<ReadSpans>) {
        self.reads.push(first);
        self.reads.extend(mate);
        self.fragment_ends.push(self.reads.len() as u32);
    }

    /// Has `edit` change the reads of each fragment, whose fields lie in the texts; it may append to the texts.
    ///
    /// # Errors
    /// What `edit` says, and of which fragment.
    pub fn edit_fragments<E>(
        &mut self,
        mut edit: impl FnMut(&mut [Text; 2], &mut [ReadSpans]) -> Result<(), E>,
    ) -> Result<(), (usize, E)> {
        let mut start = 0;
        for (fragment, &end) in self.fragment_ends.iter().enumerate() {
            let reads = &mut self.reads[start..end as usize];
            edit(&mut self.text, reads).map_err(|error| (fragment, error))?;
            start = end as usize;
        }
        Ok(())
    }

    /// Number of fragments.
    pub fn len(&self) -> usize {
        self.fragment_ends.len()
    }

    /// Whether it has no fragment.
    pub fn is_empty(&self) -> bool {
        self.fragment_ends.is_empty()
    }

    /// Its fragments in order. The chunk remembers the one handed out last, see [`Chunk::current`].
    pub fn fragments(&self) -> impl ExactSizeIterator<Item = Fragment<'_>> {
        (0..self.len()).map(|i| {
            self.current.set(i);
            self.fragment(i)
        })
    }

    /// The fragment at `index`, which must be below [`Chunk::len`].
    pub fn fragment(&self, index: usize) -> Fragment<'_> {
        let reads = &self.reads[self.first_read(index)..self.fragment_ends[index] as usize];
        Fragment { first: self.read(&reads[0]), mate: reads.get(1).map(|r| self.read(r)) }
    }

    /// The header line of read `mate` (0 or 1) of the fragment at `fragment`, as it stands in the input: without its
    /// first character and its line end. It is the name alone if comments are fields. The fragment must have that read.
    pub fn header(&self, fragment: usize, mate: usize) -> &[u8] {
        let spans = &self.reads[self.first_read(fragment) + mate];
        let bytes = &self.text[usize::from(spans.text)].bytes;
        if self.comments_are_fields {
            return &bytes[spans.name.start as usize..spans.name.end as usize];
        }
        let rest = &bytes[spans.name.start as usize..];
        let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The name of read `mate` of a fragment, with `/1` or `/2` if that stood behind it. The fragment must have that
    /// read.
    pub fn name_with_number(&self, fragment: usize, mate: usize) -> &[u8] {
        let spans = &self.reads[self.first_read(fragment) + mate];
        let bytes = &self.text[usize::from(spans.text)].bytes;
        let (start, end) = (spans.name.start as usize, spans.name.end as usize);
        match bytes.get(end) {
            Some(b'/') => &bytes[start..(end + 2).min(bytes.len())],
            _ => &bytes[start..end],
        }
    }

    /// Which text read `mate` of a fragment lies in, and its number in the file of that text, from 1. The fragment must
    /// have that read.
    pub fn place(&self, fragment: usize, mate: usize) -> (usize, u64) {
        let read = self.first_read(fragment) + mate;
        let text = self.reads[read].text;
        let before = self.reads[..read].iter().filter(|other| other.text == text).count();
        (usize::from(text), self.text[usize::from(text)].first_record + before as u64 + 1)
    }

    /// Where in its text the name of read `mate` of a fragment begins. The fragment must have that read.
    pub fn name_place(&self, fragment: usize, mate: usize) -> u64 {
        self.reads[self.first_read(fragment) + mate].name.start.into()
    }

    fn first_read(&self, fragment: usize) -> usize {
        if fragment == 0 { 0 } else { self.fragment_ends[fragment - 1] as usize }
    }

    /// The index and the name of the fragment that [`Chunk::fragments`] handed out last; `None` for an empty chunk.
    pub fn current(&self) -> Option<(usize, &[u8])> {
        let index = self.current.get();
        (index < self.len()).then(|| (index, self.fragment(index).first.name))
    }

    fn read(&self, spans: &ReadSpans) -> Read<'_> {
        let bytes = &self.text[usize::from(spans.text)].bytes;
        let slice = |s: Span| &bytes[s.start as usize..s.end as usize];
        Read {
            name: slice(spans.name),
            // A name that was not cut ends with its line, or before a space.
            had_number: bytes.get(spans.name.end as usize) == Some(&b'/'),
            comment: slice(spans.comment),
            seq: slice(spans.seq),
            qual: spans.qual.map(slice),
            failed_filters: spans.failed_filters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_and_places_of_reads() {
        let mut chunk = Chunk::default();
        chunk.text[0].bytes.extend_from_slice(b"@a/1 x \r\nA\n@a/2 y\n>b");
        chunk.text[0].first_record = 10;
        let read = |start: u32| ReadSpans { name: Span { start, end: start + 1 }, ..ReadSpans::default() };
        chunk.push(read(1), Some(read(12)));
        chunk.push(read(19), None);
        assert_eq!([chunk.header(0, 0), chunk.header(0, 1), chunk.header(1, 0)], [&b"a/1 x "[..], b"a/2 y", b"b"]);
        assert_eq!([chunk.name_with_number(0, 1), chunk.name_with_number(1, 0)], [&b"a/2"[..], b"b"]);
        assert_eq!([chunk.place(0, 0), chunk.place(0, 1), chunk.place(1, 0)], [(0, 11), (0, 12), (0, 13)]);
    }

    #[test]
    fn mixed_fragments_come_back_in_order_and_the_last_one_is_remembered() {
        let mut chunk = Chunk::default();
        chunk.text[0].bytes.extend_from_slice(b"abACGTcdTT");
        let read = |name: (u32, u32), seq: (u32, u32)| ReadSpans {
            name: Span { start: name.0, end: name.1 },
            seq: Span { start: seq.0, end: seq.1 },
            ..ReadSpans::default()
        };
        assert_eq!(chunk.current(), None);
        chunk.push(read((0, 2), (2, 6)), Some(read((0, 2), (8, 10))));
        chunk.push(read((6, 8), (8, 10)), None);
        let names: Vec<_> = chunk.fragments().map(|f| (f.first.name, f.reads().count())).collect();
        assert_eq!(names, [(&b"ab"[..], 2), (&b"cd"[..], 1)]);
        assert_eq!(chunk.current(), Some((1, &b"cd"[..])));
    }
}
