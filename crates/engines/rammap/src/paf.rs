//! Lines of PAF, as minimap2 writes them (`mm_write_paf4` of format.c).

use crate::options::Shown;
use crate::records::{Of, differences, push_divergence, strand};
use rammap::align::index::Index;
use rammap::align::map::{AlignFlags, MapOptions};
use rammap::align::pipeline::ProcessedQuery;
use std::io::Write;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::record::UNMAPPED;

/// Adds the lines of a read; one that is not mapped has one with `--paf-no-hit` alone.
pub(crate) fn add(
    (name, bases): (&[u8], usize),
    query: &ProcessedQuery,
    (index, map, shown): (&Index, &MapOptions, &Shown),
    out: &mut Alignments,
) {
    let is_unmapped = query.results.is_empty();
    out.push(Alignment { flags: if is_unmapped { UNMAPPED } else { 0 }, ..Alignment::default() }, [], []);
    let text = out.text_mut();
    // Nothing can go wrong when a text is written into memory, here and below.
    if is_unmapped && shown.unmapped_in_paf {
        text.extend_from_slice(name);
        let _ = writeln!(text, "\t{bases}\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\trl:i:{}", query.rep_len);
    }
    for number in 0..query.results.len() {
        let of = Of { query, number, bases };
        if !(of.result().is_secondary && shown.no_secondary) {
            text.extend_from_slice(name);
            push_line(&of, (index, map, shown), text);
        }
    }
}

/// What stands behind the name.
fn push_line(of: &Of<'_>, (index, map, shown): (&Index, &MapOptions, &Shown), text: &mut Vec<u8>) {
    let result = of.result();
    let contig = &index.seqs[result.ref_id];
    let (mut start, mut end) = (result.ref_start, result.ref_end);
    if map.flags.contains(AlignFlags::QSTRAND) && result.is_reverse {
        (start, end) = (contig.len - end, contig.len - start);
    }
    let direction = if result.is_reverse { '-' } else { '+' };
    let _ = write!(text, "\t{}\t{}\t{}\t{direction}", of.bases, result.query_start, result.query_end);
    let _ = write!(text, "\t{}\t{}\t{start}\t{end}", contig.name, contig.len);
    let _ = write!(text, "\t{}\t{}\t{}", result.matches, result.block_len, of.query.mapqs[of.number]);
    if shown.cigar {
        let _ = write!(text, "\tNM:i:{}\tms:i:{}", result.edit_distance, result.dp_score_original);
        let _ = write!(text, "\tAS:i:{}\tnn:i:{}", result.align_score, result.num_ambiguous);
        if let Some(strand) = strand(result) {
            let _ = write!(text, "\tts:A:{}", char::from(strand));
        }
    }
    let _ = write!(text, "\ttp:A:{}\tcm:i:{}", char::from(of.kind()), result.anchor_count);
    let _ = write!(text, "\ts1:i:{}", result.chain_score);
    if !result.is_secondary {
        let _ = write!(text, "\ts2:i:{}", result.secondary_chain_score);
    }
    if shown.cigar {
        text.extend_from_slice(b"\tde:f:");
        push_divergence(result.divergence, text);
    } else if (0.0..=1.0).contains(&result.div) {
        text.extend_from_slice(b"\tdv:f:");
        push_divergence(result.div.into(), text);
    }
    if result.split > 0 {
        let _ = write!(text, "\tzd:i:{}", result.split);
    }
    let _ = write!(text, "\trl:i:{}", of.query.rep_len);
    if shown.cigar_in_paf && !result.cigar_str.is_empty() {
        let _ = write!(text, "\tcg:Z:{}", result.cigar_str);
    }
    if let Some(([a, b], value)) = differences(result, shown) {
        let _ = write!(text, "\t{}{}:Z:{value}", char::from(a), char::from(b));
    }
    text.push(b'\n');
}
