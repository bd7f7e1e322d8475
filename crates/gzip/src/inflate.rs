//! Inflates the data of one block.

use crate::bits::Bits;
use crate::block::{BlockKind, DeflateBlock};
use crate::code::Codes;
use crate::fault::GzipFault;
use crate::output::{Symbol, TextBefore, TextBuffer};

/// Bytes that must be left so that all bits of one step are there: 15 bits of a length and 5 more, 15 of a distance and
/// 13 more.
const STEP_BYTES: usize = 8;

/// Where inflating a block stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Behind the block.
    End,
    /// There is as much text as may be, or the data end here and the file does not.
    Inside,
}

/// Whether the block goes on behind a step.
enum InflateStep {
    More,
    End,
}

/// Inflates the rest of a block, which begins with the next bit, into `out`. `codes` are those of the block. What is
/// left of it afterwards is in `block`.
///
/// # Errors
/// Bits that mean nothing, or the end of a file in the block, if `is_end`: the end of the data is that of the file. The
/// text before is in `out`.
pub(crate) fn inflate<S: Symbol, B: TextBefore<S>>(
    bits: &mut Bits<'_>,
    block: &mut DeflateBlock,
    codes: &Codes,
    is_end: bool,
    out: &mut TextBuffer<S, B>,
) -> Result<Stop, GzipFault> {
    if let BlockKind::Stored(left) = &mut block.kind {
        return copy_stored(bits, left, is_end, out);
    }
    let fast_end = bits.bytes().len().saturating_sub(STEP_BYTES) * 8;
    while bits.position() < fast_end {
        if !out.make_room() {
            return Ok(Stop::Inside);
        }
        if let InflateStep::End = step(bits, codes, out)? {
            return Ok(Stop::End);
        }
    }
    if is_end { inflate_to_end(bits, codes, out) } else { Ok(Stop::Inside) }
}

/// The same in the last few bytes of a file: each step is checked to be there.
fn inflate_to_end<S: Symbol, B: TextBefore<S>>(
    bits: &mut Bits<'_>,
    codes: &Codes,
    out: &mut TextBuffer<S, B>,
) -> Result<Stop, GzipFault> {
    while out.make_room() {
        let before = out.length();
        let stepped = step(bits, codes, out);
        if bits.is_behind_end() {
            out.truncate(before);
            return Err(GzipFault::Truncated);
        }
        if let InflateStep::End = stepped? {
            return Ok(Stop::End);
        }
    }
    Ok(Stop::Inside)
}

/// One or two literals, a copy, or the end of the block.
#[inline(always)]
fn step<S: Symbol, B: TextBefore<S>>(
    bits: &mut Bits<'_>,
    codes: &Codes,
    out: &mut TextBuffer<S, B>,
) -> Result<InflateStep, GzipFault> {
    bits.refill();
    let mut entry = codes.literals.take_short(bits);
    if entry.is_literal() {
        let (count, literals) = entry.literals();
        out.push(count, literals);
        return Ok(InflateStep::More);
    }
    if entry.is_special() {
        entry = codes.literals.take_rest(entry, bits);
        if entry.is_literal() {
            let (count, literals) = entry.literals();
            out.push(count, literals);
            return Ok(InflateStep::More);
        }
        if entry.is_special() {
            return if entry.is_end() { Ok(InflateStep::End) } else { Err(GzipFault::Deflate) };
        }
    }
    let number = |bits: &mut Bits<'_>, (extra, base): (u32, usize)| {
        let number = base + (bits.peek() & ((1 << extra) - 1)) as usize;
        bits.consume(extra);
        number
    };
    let length = number(bits, entry.number_parts());
    let entry = codes.distances.take(bits);
    if entry.is_special() {
        return Err(GzipFault::Deflate);
    }
    let distance = number(bits, entry.number_parts());
    if out.copy(distance, length) { Ok(InflateStep::More) } else { Err(GzipFault::Deflate) }
}

/// Copies bytes that are not compressed.
fn copy_stored<S: Symbol, B: TextBefore<S>>(
    bits: &mut Bits<'_>,
    left: &mut usize,
    is_end: bool,
    out: &mut TextBuffer<S, B>,
) -> Result<Stop, GzipFault> {
    let (bytes, start) = (bits.bytes(), bits.position() / 8);
    let there = bytes.get(start..).unwrap_or_default();
    let wanted = &there[..there.len().min(*left)];
    let copied = out.extend(wanted);
    *left -= copied;
    *bits = Bits::new(bytes, (start + copied) * 8);
    match *left {
        0 => Ok(Stop::End),
        _ if is_end && copied == there.len() => Err(GzipFault::Truncated),
        _ => Ok(Stop::Inside),
    }
}
