use super::*;
use crate::chunk::{ReadSpans, Span, Ticket};
use crate::record::{FIRST, LAST, MATE_REVERSE, MATE_UNMAPPED, PAIRED, REVERSE, SECONDARY};

/// A chunk of the pairs `a` and `b`, the tenth and eleventh fragments of their lane.
fn pairs() -> Chunk {
    let mut chunk = Chunk::default();
    chunk.ticket = Ticket { first_fragment: 9, ..Ticket::default() };
    chunk.text[0].bytes.extend_from_slice(b"ab");
    for start in [0, 1] {
        let name = Span { start, end: start + 1 };
        let spans = ReadSpans { name, seq: name, ..ReadSpans::default() };
        chunk.push(spans, Some(spans));
    }
    chunk
}

/// What is counted of these alignments of the two pairs, of which the user wants so many left out.
fn tally(fragments: [&[(u8, u16)]; 2], left_out: u64) -> Result<Tally, String> {
    let mut alignments = Alignments::default();
    for fragment in fragments {
        for &(mate, flags) in fragment {
            alignments.push(Alignment { mate, flags, ..Alignment::default() }, [], []);
        }
        alignments.end_fragment();
    }
    alignments.leave_out(left_out);
    Tally::of(&pairs(), &alignments).map_err(|error| error.to_string())
}

#[test]
fn each_read_has_one_primary_record() {
    let both: &[_] = &[(0, FIRST), (1, LAST), (1, LAST | SECONDARY)];
    let whole = tally([both, both], 0).unwrap();
    assert_eq!((whole.reads, whole.primary_records, whole.other_records), (4, 4, 2));
    assert!(tally([both, &[]], 2).is_ok());
    let error = |fragments, left_out| tally(fragments, left_out).unwrap_err();
    // One of two records hides another's absence in the sums.
    let twice = error([&[(0, FIRST), (1, LAST), (1, LAST)], &[(0, FIRST)]], 0);
    assert_eq!(twice, "the engine failed on read 'a' (fragment 10): it made two primary records of it");
    let none = error([both, &[(0, FIRST), (1, LAST | SECONDARY)]], 0);
    assert_eq!(none, "the engine failed on read 'b' (fragment 11): it made no record of it");
    assert!(error([both, &[]], 1).contains("no record of it"));
}

#[test]
fn pairs_are_told_apart_by_how_their_mates_lie() {
    let layout = |flags: u16, template_length: i64| {
        let mut layouts = PairLayouts::default();
        layouts.add(PAIRED | FIRST | flags, template_length);
        [layouts.inward, layouts.outward, layouts.same_strand, layouts.far]
    };
    for (reverse, length) in [(0, 1), (REVERSE, -1)] {
        let other = if reverse == 0 { MATE_REVERSE } else { 0 };
        assert_eq!(layout(reverse | other, 300 * length), [1, 0, 0, 0]);
        assert_eq!(layout(reverse | other, -300 * length), [0, 1, 0, 0]);
        assert_eq!(layout(reverse | other, 100_001 * length), [0, 0, 0, 1]);
        assert_eq!(layout(reverse | other, 0), [0, 0, 0, 1]);
        let same = if reverse == 0 { 0 } else { MATE_REVERSE };
        assert_eq!(layout(reverse | same, 300 * length), [0, 0, 1, 0]);
    }
    assert_eq!(layout(MATE_UNMAPPED, 0), [0; 4]);
}
