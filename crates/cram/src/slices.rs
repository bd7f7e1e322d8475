//! Containers that were written: where their slices are, and what their headers say (CRAMv3, sections 7 to 8.5).

use crate::numbers::CramNumbers;
use std::ops::Range;
use zerohop_model::error::Error;

/// Bytes of an MD5, and of a CRC32.
const MD5: usize = 16;
const CRC32: usize = 4;

pub(crate) struct Container {
    /// Where its blocks lie.
    pub(crate) body: Range<usize>,
    /// Where slices begin, from the beginning of the blocks.
    pub(crate) slices: Vec<i32>,
}

impl Container {
    /// The container at byte `at` of all; none if it is cut off.
    pub(crate) fn at(all: &[u8], at: usize) -> Option<Self> {
        let mut header = CramNumbers(all.get(at..)?);
        let length = usize::try_from(i32::from_le_bytes(*header.take()?)).ok()?;
        // Contig, start, span, number of records; their counter, and bases.
        (0..4).try_for_each(|_| header.itf8().map(drop))?;
        (0..2).try_for_each(|_| header.ltf8())?;
        let _blocks = header.itf8()?;
        let slices: Option<Vec<i32>> = (0..header.itf8()?).map(|_| header.itf8()).collect();
        let _crc: &[u8; CRC32] = header.take()?;
        header.0.get(..length)?;
        let start = all.len() - header.0.len();
        Some(Container { body: start..start + length, slices: slices? })
    }
}

/// The header of a slice: a block that is not compressed.
pub(crate) struct SliceHeader {
    pub(crate) contig: i32,
    /// From 1.
    pub(crate) start: i32,
    pub(crate) span: i32,
    /// Where the block lies, but for its checksum.
    block: Range<usize>,
    /// Where the MD5 of the reference lies.
    md5: usize,
}

impl SliceHeader {
    /// The header of the slice that begins at byte `slice` of the blocks in `body`.
    pub(crate) fn of(body: Range<usize>, all: &[u8], slice: i32) -> Option<Self> {
        let all = &all[..body.end];
        let begin = body.start + usize::try_from(slice).ok()?;
        let mut block = CramNumbers(all.get(begin..)?);
        // Method, kind, number, both sizes.
        let [0, _] = *block.take()? else { return None };
        let [_, _, size] = [block.itf8()?, block.itf8()?, block.itf8()?];
        let end = all.len() - block.0.len() + usize::try_from(size).ok()?;
        let (contig, start, span) = (block.itf8()?, block.itf8()?, block.itf8()?);
        // Records, their counter, blocks, numbers of these; the block of the reference.
        block.itf8()?;
        block.ltf8()?;
        block.itf8()?;
        (0..block.itf8()?).try_for_each(|_| block.itf8().map(drop))?;
        block.itf8()?;
        let md5 = all.len() - block.0.len();
        (md5 + MD5 <= end && end + CRC32 <= all.len()).then_some(SliceHeader {
            contig,
            start,
            span,
            block: begin..end,
            md5,
        })
    }
}

/// Takes the MD5 of the reference out of slices on contigs that hold `.`, `-` or `*`. htslib 1.18 and later takes these
/// for other bytes where FASTA has lines (it clears the bit of small letters), and would refuse the slice; earlier
/// versions and other programs do not. Zeros stand for an MD5 that is not given.
///
/// # Errors
/// [`Error::Internal`] if these are no containers.
pub(crate) fn clear_md5(containers: &mut [u8], have_gaps: &[bool]) -> Result<(), Error> {
    let wrong = || Error::Internal("containers of CRAM cannot be read back".to_owned());
    let mut at = 0;
    while at < containers.len() {
        let Container { body, slices } = Container::at(containers, at).ok_or_else(wrong)?;
        for slice in slices {
            let header = SliceHeader::of(body.clone(), containers, slice).ok_or_else(wrong)?;
            let contig = usize::try_from(header.contig).ok();
            if contig.and_then(|contig| have_gaps.get(contig)) == Some(&true) {
                containers[header.md5..][..MD5].fill(0);
                let checksum = crc32fast::hash(&containers[header.block.clone()]);
                containers[header.block.end..][..CRC32].copy_from_slice(&checksum.to_le_bytes());
            }
        }
        at = body.end;
    }
    Ok(())
}
