//! A stretch of inflated input, with the places where records start and the bases before each.

use memchr::memchr_iter;
use zerohop_model::machine::NodeId;
use zerohop_model::spare;

/// What a line of FASTQ is, by its number modulo 4.
pub(crate) const HEADER: u8 = 0;
pub(crate) const SEQUENCE: u8 = 1;

/// Where in a record a stretch of FASTQ starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineState {
    /// Number, modulo 4, of the line that holds the first byte.
    pub(crate) phase: u8,
    /// Whether the first byte is the first of its line.
    pub(crate) at_line_start: bool,
}

impl PartialEq for LineState {
    /// Inside a record it makes no difference whether a stretch starts with a whole line.
    fn eq(&self, other: &Self) -> bool {
        self.phase == other.phase && (self.phase != HEADER || self.at_line_start == other.at_line_start)
    }
}

impl LineState {
    /// The start of a file, or of any record.
    pub(crate) const RECORD_START: LineState = LineState { phase: HEADER, at_line_start: true };

    /// As a number below 8.
    pub(crate) fn to_number(self) -> u64 {
        u64::from(self.phase) * 2 + u64::from(self.at_line_start)
    }

    /// From such a number.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        (number < 8).then_some(LineState { phase: (number / 2) as u8, at_line_start: number % 2 == 1 })
    }
}

/// Where records start in a stretch of text, and how many bases lie before each.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct RecordMarks {
    /// Offsets of the first byte of each unit (a record; for interleaved reads a fragment), ascending.
    pub(crate) starts: Vec<u32>,
    /// `bases_before[i]`: bases in the text before `starts[i]`.
    pub(crate) bases_before: Vec<u32>,
    /// Interleaved reads: the number of records before `starts[i]`. Empty where each unit is one record.
    pub(crate) records_before: Vec<u32>,
    /// Records that start in the text.
    pub(crate) records: u32,
    /// Bases in the text.
    pub(crate) bases: u32,
    /// Bytes of records that are not reads: in the whole text, and behind the start of its last unit.
    pub(crate) passed_over: [u32; 2],
    /// Where a record should begin, and none does: nothing behind it is marked.
    pub(crate) damaged_at: Option<u32>,
}

impl RecordMarks {
    pub(crate) fn push(&mut self, start: usize, bases: u32) {
        self.starts.push(start as u32);
        self.bases_before.push(bases);
    }

    /// Takes the first unit for a part of the one before.
    pub(crate) fn forget_first(&mut self) {
        for list in [&mut self.starts, &mut self.bases_before, &mut self.records_before] {
            list.drain(..list.len().min(1));
        }
        if self.starts.is_empty() {
            self.passed_over[1] = self.passed_over[0];
        }
    }

    /// Number of records before unit `i`.
    pub(crate) fn record_of(&self, i: usize) -> u32 {
        self.records_before.get(i).copied().unwrap_or(i as u32)
    }
}

/// A stretch of inflated input.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(crate) bytes: Vec<u8>,
    pub(crate) marks: RecordMarks,
    /// The node on which the bytes lie.
    pub(crate) node: NodeId,
}

impl Segment {
    /// Of bytes that this thread has written.
    pub(crate) fn new(bytes: Vec<u8>, marks: RecordMarks) -> Self {
        Segment { bytes, marks, node: spare::node() }
    }
}

/// The bases of a line: its bytes without a carriage return at the end.
fn bases_of(line: &[u8]) -> u32 {
    (line.len() - usize::from(line.last() == Some(&b'\r'))) as u32
}

/// Marks the records of FASTQ text that starts in `state`; returns the marks and the state behind the text.
pub(crate) fn mark_fastq(text: &[u8], state: LineState) -> (RecordMarks, LineState) {
    let mut marks = RecordMarks::default();
    let (mut phase, mut line_start, mut bases) = (state.phase, 0, 0);
    if state == LineState::RECORD_START && !text.is_empty() {
        marks.push(0, 0);
    }
    for newline in memchr_iter(b'\n', text) {
        if phase == SEQUENCE {
            bases += bases_of(&text[line_start..newline]);
        }
        (phase, line_start) = ((phase + 1) & 3, newline + 1);
        if phase == HEADER && line_start < text.len() {
            marks.push(line_start, bases);
        }
    }
    if phase == SEQUENCE {
        bases += bases_of(&text[line_start..]);
    }
    (marks.records, marks.bases) = (marks.starts.len() as u32, bases);
    let at_line_start = if text.is_empty() { state.at_line_start } else { line_start == text.len() };
    (marks, LineState { phase, at_line_start })
}

/// Guesses the state at the start of a stretch of FASTQ that was cut anywhere. In valid FASTQ a line that starts with
/// `@` and is followed, two lines on, by one that starts with `+` is a header line, since a sequence cannot start with
/// `+`; so the guess can be wrong only for damaged text, and it is checked when the lines before are known.
pub(crate) fn guess_state(text: &[u8]) -> Option<LineState> {
    // Enough lines to see a whole record whatever the first line is.
    let starts: Vec<usize> = std::iter::once(0).chain(memchr_iter(b'\n', text).map(|n| n + 1)).take(10).collect();
    let starts_with = |line: usize, byte: u8| starts.get(line).and_then(|&s| text.get(s)) == Some(&byte);
    if starts_with(0, b'@') && starts_with(2, b'+') && starts_with(4, b'@') {
        return Some(LineState::RECORD_START);
    }
    let header = (1..starts.len()).find(|&i| starts_with(i, b'@') && starts_with(i + 2, b'+'))?;
    // The first, cut line is `header` lines before a header line. Whether it was cut at its start cannot be seen, and
    // matters for a header line alone: there it is taken as cut inside.
    Some(LineState { phase: ((4 - header % 4) % 4) as u8, at_line_start: false })
}

/// Marks the records of FASTA text that starts at a record.
pub(crate) fn mark_fasta(text: &[u8]) -> RecordMarks {
    let mut marks = RecordMarks::default();
    let mut line_start = 0;
    let mut bases = 0;
    while line_start < text.len() {
        let line_end = memchr::memchr(b'\n', &text[line_start..]).map_or(text.len(), |n| line_start + n);
        let line = &text[line_start..line_end];
        if line.first() == Some(&b'>') {
            marks.push(line_start, bases);
        } else {
            bases += line.trim_ascii_end().len() as u32;
        }
        line_start = line_end + 1;
    }
    (marks.records, marks.bases) = (marks.starts.len() as u32, bases);
    marks
}

/// Joins the marks of records into marks of fragments: a record whose name equals that of the record before, if that
/// one has no mate yet, is its mate. The last name may be none, for the text ends in it: then it may be a mate, and
/// counts as one.
pub(crate) fn join_mates<'t>(records: RecordMarks, name_at: impl Fn(u32) -> Option<&'t [u8]>) -> RecordMarks {
    let mut marks = RecordMarks { records: records.records, bases: records.bases, ..RecordMarks::default() };
    let mut i = 0;
    while i < records.starts.len() {
        marks.push(records.starts[i] as usize, records.bases_before[i]);
        marks.records_before.push(i as u32);
        let is_mate = |next: &u32| name_at(*next).is_none_or(|name| name_at(records.starts[i]) == Some(name));
        let mated = records.starts.get(i + 1).is_some_and(is_mate);
        i += if mated { 2 } else { 1 };
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Line by line, as one would write it first.
    fn naive(text: &[u8]) -> Vec<(u32, u32)> {
        let (mut out, mut at, mut bases) = (vec![], 0u32, 0);
        for (i, line) in text.split_inclusive(|&b| b == b'\n').enumerate() {
            if i % 4 == 0 {
                out.push((at, bases));
            }
            if i % 4 == 1 {
                bases += line.iter().filter(|b| !b"\r\n".contains(b)).count() as u32;
            }
            at += line.len() as u32;
        }
        out
    }

    fn fastq() -> impl Strategy<Value = Vec<u8>> {
        let record = ("[a-z@+]{1,9}", "[ACGTN]{0,40}", any::<u8>(), any::<bool>());
        proptest::collection::vec(record, 1..40).prop_map(|records| {
            let mut out = Vec::new();
            for (name, seq, q, crlf) in records {
                let end = if crlf { "\r\n" } else { "\n" };
                let qual: String = (0..seq.len()).map(|i| char::from(b'!' + (q as usize + i * 7) as u8 % 94)).collect();
                out.extend_from_slice(format!("@{name}{end}{seq}{end}+{end}{qual}{end}").as_bytes());
            }
            out
        })
    }

    proptest! {
        #[test]
        fn marks_of_pieces_add_up_to_the_naive_marks(
            text in fastq(),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|i| i.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let (mut state, mut bases, mut found) = (LineState::RECORD_START, 0, vec![]);
            for cut in cuts.windows(2) {
                let (marks, next) = mark_fastq(&text[cut[0]..cut[1]], state);
                found.extend(marks.starts.iter().zip(&marks.bases_before).map(|(s, b)| (s + cut[0] as u32, b + bases)));
                bases += marks.bases;
                state = next;
            }
            prop_assert_eq!(found, naive(&text));
        }

        #[test]
        fn a_guess_in_valid_text_is_right(text in fastq(), cut in any::<prop::sample::Index>()) {
            let cut = cut.index(text.len());
            let (_, truth) = mark_fastq(&text[..cut], LineState::RECORD_START);
            if let Some(guess) = guess_state(&text[cut..]) {
                prop_assert_eq!(guess.phase, truth.phase);
            }
        }
    }

    #[test]
    fn mates_are_joined_greedily() {
        let text = b"@a\nA\n+\n#\n@a\nA\n+\n#\n@a\nA\n+\n#\n@b\nA\n+\n#\n";
        let (marks, _) = mark_fastq(text, LineState::RECORD_START);
        let joined = join_mates(marks, |s| Some(&text[s as usize + 1..s as usize + 2]));
        assert_eq!(joined.starts, [0, 18, 27]);
        assert_eq!(joined.records_before, [0, 2, 3]);
        assert_eq!(joined.bases_before, [0, 2, 3]);
    }

    #[test]
    fn a_name_that_the_text_ends_in_may_be_that_of_a_mate() {
        let text = b"@ab\nA\n+\n#\n@ab\nA\n+\n#\n@cd\nA\n+\n#\n@c";
        let (marks, _) = mark_fastq(text, LineState::RECORD_START);
        let joined = join_mates(marks, |s| text.get(s as usize + 1..s as usize + 3));
        assert_eq!((joined.starts, joined.records_before), (vec![0, 20], vec![0, 2]));
    }

    #[test]
    fn fasta_records_may_have_many_lines() {
        let marks = mark_fasta(b">a x\nAC\nGT \r\n>b\n\n>c\nA");
        assert_eq!((marks.starts, marks.bases_before, marks.bases), (vec![0, 13, 17], vec![0, 4, 4], 5));
    }
}
