//! A read structure is refused, or is what it says: it comes back from its own words, and its segments cover each read
//! that is long enough once, in their order.
//!
//! Input: a byte for the number of bases, then the structure.
#![cfg_attr(fuzzing, no_main)]

use zerohop_fuzz::take;
use zerohop_umi::{ReadStructure, SegmentKind};

zerohop_fuzz::target!(|data: &[u8]| {
    let mut rest = data;
    let [bases] = take(&mut rest);
    let bases = usize::from(bases);
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let Ok(structure) = text.parse::<ReadStructure>() else { return };
    assert_eq!(structure.to_string().parse::<ReadStructure>().as_ref(), Ok(&structure), "{text}");
    let Ok(spans) = structure.spans(bases) else { return };
    let kinds = [
        SegmentKind::Template,
        SegmentKind::MolecularBarcode,
        SegmentKind::SampleBarcode,
        SegmentKind::CellBarcode,
        SegmentKind::Skip,
    ];
    let mut all: Vec<_> = kinds.into_iter().flat_map(|kind| spans.of_kind(kind)).collect();
    all.sort_by_key(|span| (span.start, span.end));
    let mut at = 0;
    for span in all {
        assert_eq!(span.start, at, "{text} with {bases} bases");
        at = span.end;
    }
    // What is behind a structure without '+' belongs to nobody.
    assert!(at <= bases && (at == bases || !text.contains('+')), "{text} with {bases} bases");
    let template = spans.template().map_or(0, |span| span.len()) as u64;
    assert_eq!(structure.template_bases(bases as u64, 1), template, "{text} with {bases} bases");
});
