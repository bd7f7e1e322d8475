//! From strobealign's records to alignments. Names, qualities and read groups never went into the engine, and its
//! copies of the bases are left alone: an encoder takes all of them from the chunk.

use std::fmt::Write;
use strobealign::details::Details;
use strobealign::io::sam::SamRecord;
use strobealign::refseq::ContigPosition;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::chunk::Fragment;
use zerohop_model::error::{Error, shown};
use zerohop_model::record::{self, CigarOp, Locus, Tag, TagValue};

/// What `--details` adds, in the order of the program.
fn detail_tags(details: &Details, paired: bool) -> impl Iterator<Item = Tag<'static>> {
    let tag = |key, value: usize| Tag { key, value: TagValue::Int(value as i64) };
    let Details { chain, align, .. } = details;
    let all = [
        tag(*b"na", chain.n_chains),
        tag(*b"al", align.tried_alignment),
        tag(*b"ga", align.gapped),
        tag(*b"X0", align.best_alignments),
    ];
    all.into_iter().chain(paired.then(|| tag(*b"mr", align.mate_rescue)))
}

/// Scratch for one worker.
#[derive(Default)]
pub(crate) struct AlignmentMaker {
    cigar_text: String,
    cigar: Vec<CigarOp>,
}

impl AlignmentMaker {
    /// Adds what strobealign says of one fragment.
    ///
    /// # Errors
    /// A record that makes no sense.
    pub(crate) fn add(
        &mut self,
        fragment: &Fragment<'_>,
        records: &[SamRecord],
        out: &mut Alignments,
    ) -> Result<(), Error> {
        for sam in records {
            self.add_one(sam, fragment.mate.is_some(), out).map_err(|what| Error::Record {
                read: shown(fragment.first.name),
                mate: record::mate(sam.flags),
                what: format!("strobealign made a record of it that makes no sense: {what}"),
            })?;
        }
        out.end_fragment();
        Ok(())
    }

    fn add_one(&mut self, sam: &SamRecord, paired: bool, out: &mut Alignments) -> Result<(), &'static str> {
        self.take_cigar(sam).ok_or("its CIGAR is none")?;
        // Contigs went in under their numbers.
        let contig = |name: &Option<String>| name.as_deref().map(str::parse::<u32>).transpose();
        let own = contig(&sam.reference_name).map_err(|_| "its contig is unknown")?;
        let mate = match &sam.mate_reference_name {
            Some(same) if same == "=" => own,
            other => contig(other).map_err(|_| "its contig is unknown")?,
        };
        let locus = |contig: Option<u32>, position: Option<ContigPosition>| {
            contig.zip(position).map(|(contig, position)| Locus { contig, position: position.0 })
        };
        let alignment = Alignment {
            mate: u8::from(paired && sam.flags & record::LAST != 0),
            flags: sam.flags,
            locus: locus(own, sam.pos),
            mapq: sam.mapq,
            mate_locus: locus(mate, sam.mate_pos),
            template_length: sam.template_len.unwrap_or(0),
            has_no_bases: sam.flags & record::SECONDARY != 0,
        };
        let integer = |key, value: Option<u32>| value.map(|v| Tag { key, value: TagValue::Int(i64::from(v)) });
        let tags = [integer(*b"NM", sam.edit_distance), integer(*b"AS", sam.alignment_score)];
        let details = sam.details.iter().flat_map(|details| detail_tags(details, paired));
        out.push(alignment, self.cigar.iter().copied(), tags.into_iter().flatten().chain(details));
        Ok(())
    }

    /// The CIGAR can be had as text alone.
    fn take_cigar(&mut self, sam: &SamRecord) -> Option<()> {
        self.cigar.clear();
        let Some(cigar) = &sam.cigar else { return Some(()) };
        self.cigar_text.clear();
        write!(self.cigar_text, "{cigar}").ok()?;
        let mut length = 0u32;
        for byte in self.cigar_text.bytes() {
            if byte.is_ascii_digit() {
                length = length.checked_mul(10)?.checked_add(u32::from(byte - b'0'))?;
            } else {
                self.cigar.push(CigarOp::new(length, byte)?);
                length = 0;
            }
        }
        Some(())
    }
}
