//! From strobealign's records to ours. Names, qualities and read groups never went into the engine: they are taken from the
//! chunk, so they are neither copied nor allocated per record.

use std::fmt::Write;
use strobealign::io::sam::SamRecord;
use zerohop_model::chunk::{Fragment, Read};
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::record::{self, CigarOp, Locus, Record, RecordWriter, Tag, TagValue};

/// Scratch for one worker.
#[derive(Default)]
pub(crate) struct RecordMaker {
    cigar_text: String,
    cigar: Vec<CigarOp>,
    reversed: Vec<u8>,
}

impl RecordMaker {
    /// Writes the records of one fragment and counts them.
    ///
    /// # Errors
    /// What `out` says, or a record that makes no sense.
    pub(crate) fn write(
        &mut self,
        fragment: &Fragment<'_>,
        records: &[SamRecord],
        out: &mut dyn RecordWriter,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        tally.fragments += 1;
        for read in fragment.reads() {
            tally.reads += 1;
            tally.bases += read.seq.len() as u64;
        }
        records.iter().try_for_each(|sam| {
            let read = match fragment.mate {
                Some(mate) if sam.flags & record::LAST != 0 => mate,
                _ => fragment.first,
            };
            count(sam, tally);
            self.write_one(&read, sam, out)
        })
    }

    fn write_one(&mut self, read: &Read<'_>, sam: &SamRecord, out: &mut dyn RecordWriter) -> Result<(), Error> {
        let nonsense = |what: &str| Error::Record {
            read: String::from_utf8_lossy(read.name).into_owned(),
            what: format!("strobealign made a record of it that makes no sense: {what}"),
        };
        self.take_cigar(sam).ok_or_else(|| nonsense("its CIGAR is none"))?;
        let contig = |name: &Option<String>| name.as_deref().map(str::parse::<u32>).transpose();
        let own = contig(&sam.reference_name).map_err(|_| nonsense("its contig is unknown"))?;
        let mate = match &sam.mate_reference_name {
            Some(same) if same == "=" => own,
            other => contig(other).map_err(|_| nonsense("its contig is unknown"))?,
        };
        let locus = |contig: Option<u32>, position: Option<strobealign::refseq::ContigPosition>| {
            contig.zip(position).map(|(contig, position)| Locus { contig, position: position.0 })
        };
        let secondary = sam.flags & record::SECONDARY != 0;
        let seq = sam.query_sequence.as_deref().filter(|_| !secondary).unwrap_or_default();
        let qual = match read.qual.filter(|_| !secondary) {
            Some(qual) if sam.flags & record::REVERSE != 0 => {
                self.reversed.clear();
                self.reversed.extend(qual.iter().rev());
                &self.reversed
            }
            other => other.unwrap_or_default(),
        };
        let integer = |key, value: Option<u32>| value.map(|v| Tag { key, value: TagValue::Int(i64::from(v)) });
        let mut tags = [Tag { key: [0; 2], value: TagValue::Int(0) }; 2];
        let mut count = 0;
        for tag in [integer(*b"NM", sam.edit_distance), integer(*b"AS", sam.alignment_score)].into_iter().flatten() {
            tags[count] = tag;
            count += 1;
        }
        out.write(&Record {
            name: read.name,
            flags: sam.flags,
            locus: locus(own, sam.pos),
            mapq: sam.mapq,
            cigar: &self.cigar,
            mate_locus: locus(mate, sam.mate_pos),
            template_length: sam.template_len.unwrap_or(0),
            seq,
            qual,
            tags: &tags[..count],
            comment: read.comment,
        })
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

fn count(sam: &SamRecord, tally: &mut Tally) {
    if sam.flags & (record::SECONDARY | record::SUPPLEMENTARY) != 0 {
        tally.other_records += 1;
        return;
    }
    tally.primary_records += 1;
    tally.mapped += u64::from(sam.flags & record::UNMAPPED == 0);
    tally.paired += u64::from(sam.flags & record::PAIRED != 0);
    if sam.flags & record::PROPER_PAIR != 0 {
        tally.properly_paired += 1;
        if sam.flags & record::FIRST != 0 {
            tally.insert.add(sam.template_len.unwrap_or(0).unsigned_abs());
        }
    }
}
