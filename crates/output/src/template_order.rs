//! The order of templates: as `samtools sort --template-coordinate` 1.24 has it (bam_sort.c, template_coordinate_key
//! and bam1_cmp_template_coordinate).
//!
//! A key begins with the *place* of a template: where both its reads began before soft clipping, and its library. Then
//! come its cell, its molecule (MI), its name, and which of its reads the record is of. Molecules that zerohop finds
//! are known only when all keys are made, so records of one place are put in order again when they are merged
//! (places.rs).

use crate::mates::Mate;
use crate::sam_line::{BamPlace, Fields};
use zerohop_model::error::{Error, shown};
use zerohop_model::record::{CigarOp, LAST, MATE_REVERSE, MATE_UNMAPPED, PAIRED, REVERSE, UNMAPPED};

/// Bytes of the key that say where a template is: two contigs, two positions, two strands, the library.
pub(crate) const PLACE: usize = 2 * 4 + 2 * 8 + 2 + 2;

/// Where a read began: contig, position from 1, and whether it is on the forward strand, which comes behind the other.
type End = (u32, i64, bool);

/// That of a read that is not mapped, or not there.
const NOWHERE: End = (i32::MAX as u32, i64::MAX, true);

/// What the key of a record needs besides its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TemplateFields<'a> {
    pub(crate) mate: Option<&'a Mate>,
    /// The place of its library among all, by their names.
    pub(crate) library: u16,
    /// CB, and MI if that of the input counts.
    pub(crate) cell: Option<&'a [u8]>,
    pub(crate) molecule: Option<&'a [u8]>,
}

/// Appends the key of a record.
///
/// # Errors
/// [`Error::Record`]: its mate has no record.
pub(crate) fn push_key(key: &mut Vec<u8>, fields: &Fields<'_>, more: &TemplateFields<'_>) -> Result<(), Error> {
    let own = match fields.flags & UNMAPPED {
        0 => end(fields.place, fields.flags & REVERSE != 0, fields.cigar),
        _ => NOWHERE,
    };
    let mate = match (fields.flags & (PAIRED | MATE_UNMAPPED), more.mate) {
        (PAIRED, Some(mate)) => end(fields.mate_place, fields.flags & MATE_REVERSE != 0, mate.operations()),
        (PAIRED, None) => {
            let what = "its mate has no record, and the order of templates needs that".to_owned();
            return Err(Error::Record { read: shown(fields.name), mate: usize::from(fields.flags & LAST != 0), what });
        }
        _ => NOWHERE,
    };
    let is_lower = (own.0, own.1) < (mate.0, mate.1) || (own.0, own.1) == (mate.0, mate.1) && own.2;
    let (lower, upper) = if is_lower { (own, mate) } else { (mate, own) };
    key.extend_from_slice(&lower.0.to_be_bytes());
    key.extend_from_slice(&upper.0.to_be_bytes());
    for (_, position, _) in [lower, upper] {
        key.extend_from_slice(&(position as u64 ^ 1 << 63).to_be_bytes());
    }
    key.extend_from_slice(&[u8::from(lower.2), u8::from(upper.2)]);
    key.extend_from_slice(&more.library.to_be_bytes());
    for text in [more.cell, more.molecule.map(without_strand), Some(fields.name)] {
        key.extend_from_slice(text.unwrap_or_default());
        key.push(0);
    }
    key.push(u8::from(!is_lower));
    Ok(())
}

/// Where a read began, with what was clipped softly.
fn end(place: BamPlace, is_reverse: bool, cigar: &[CigarOp]) -> End {
    let length = |op: &CigarOp| i64::from(op.length());
    let soft = |op: &&CigarOp| op.letter() == b'S';
    let clips = |op: &&CigarOp| matches!(op.letter(), b'S' | b'H');
    let start = i64::from(place.position) + 1;
    let position = match is_reverse {
        false => start - cigar.iter().take_while(clips).filter(soft).map(length).sum::<i64>(),
        true => {
            let span: i64 = cigar.iter().filter(|op| op.consumes_reference()).map(length).sum();
            start + span - 1 + cigar.iter().rev().take_while(clips).filter(soft).map(length).sum::<i64>()
        }
    };
    (place.contig as u32, position, !is_reverse)
}

/// A molecule, whose strands are not told apart here.
fn without_strand(molecule: &[u8]) -> &[u8] {
    match molecule {
        [molecule @ .., b'/', _] => molecule,
        molecule => molecule,
    }
}
