//! Inflates a piece of a file: from a place on, up to a block near a given bit, across members.

use crate::bits::Bits;
use crate::block::{self, DeflateBlock};
use crate::check::MemberPart;
use crate::code::Codes;
use crate::fault::GzipFault;
use crate::find;
use crate::inflate::{self, Stop};
use crate::member::{self, TRAILER, Trailer, is_member};
use crate::output::{MARK, Symbol, TextBefore, TextBuffer, Unknown, WINDOW};
use crate::place::{Compressed, Place, What};

/// How far a piece goes.
#[derive(Debug, Clone, Copy)]
pub struct PieceLimits {
    /// It ends with the first block from this bit of the file on that [`find_block`](crate::find_block) would find.
    pub bit: u64,
    /// It ends wherever there are about so many bytes of text.
    pub text: usize,
}

/// Where, and why, a piece ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The next piece begins there. That can be before the limit: where the data end, or there is as much text as may
    /// be.
    At(Place),
    /// A member ends before this byte of the file, and no other follows: it is the end of the file, padding or garbage.
    NoMember(u64),
    /// The data are damaged there.
    Fault(GzipFault),
}

/// The end of a member in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemberEnd {
    at: usize,
    trailer: Trailer,
}

/// The text of a piece.
#[derive(Debug, PartialEq, Eq)]
pub struct Inflated {
    /// The text; before a fault, what is before it.
    pub text: Vec<u8>,
    members: Vec<MemberEnd>,
    /// Where, and why, it ends.
    pub end: End,
}

/// A piece that was inflated without knowing what is before it.
#[derive(Debug)]
pub struct Unresolved {
    /// The bit of the file with which it begins.
    pub start: u64,
    /// Bytes of text, and marks for those of the window before it.
    symbols: Vec<u16>,
    /// What follows, in which nothing is missing.
    rest: Inflated,
}

/// Inflates from a place on, before which `window` stands, [`WINDOW`] bytes or as many as the member has. The text
/// comes into the memory of `buffer`.
///
/// The data must begin with the byte of that place. It makes progress if there are 256 KiB of them, or all up to the
/// end of the file.
pub fn inflate(
    compressed: &Compressed<'_>,
    place: Place,
    window: &[u8],
    limits: PieceLimits,
    buffer: Vec<u8>,
) -> Inflated {
    let mut out = TextBuffer::new(buffer, window, limits.text);
    let mut walk = Walk::new(compressed, limits.bit);
    let end = walk.go(place, &mut out, |_| false);
    Inflated { text: out.into_text(), members: walk.members, end }
}

/// Inflates from the block on that begins at bit `start` of the file, with nothing known of what is before it. What
/// comes is kept in the memory of `symbols` and `text`.
pub fn inflate_unknown(
    compressed: &Compressed<'_>,
    start: u64,
    limits: PieceLimits,
    symbols: Vec<u16>,
    text: Vec<u8>,
) -> Unresolved {
    let mut out = TextBuffer::new(symbols, Unknown, limits.text);
    let mut walk = Walk::new(compressed, limits.bit);
    let end = walk.go(Place::block(start), &mut out, |out| known_window(out).is_some());
    let window = known_window(&out);
    let rest = match (end, window) {
        (End::At(place), Some(window)) if place.what == What::Block => {
            let left = limits.text.saturating_sub(out.length());
            walk.text_before = out.length();
            let mut out = TextBuffer::new(text, &window[..], left);
            let end = walk.go(place, &mut out, |_| false);
            Inflated { text: out.into_text(), members: walk.members, end }
        }
        (end, _) => {
            let mut text = text;
            text.clear();
            Inflated { text, members: walk.members, end }
        }
    };
    Unresolved { start, symbols: out.into_text(), rest }
}

/// The window behind a text, if no marks are left in it.
fn known_window(out: &TextBuffer<u16, Unknown>) -> Option<Vec<u8>> {
    let window = out.window()?;
    let marks = window.iter().fold(0, |all, symbol| all | symbol) & MARK;
    (marks == 0).then(|| window.iter().map(|&symbol| symbol as u8).collect())
}

/// Goes from block to block and from member to member.
struct Walk<'c, 'd> {
    compressed: &'c Compressed<'d>,
    limit: u64,
    codes: Box<Codes>,
    members: Vec<MemberEnd>,
    /// Text that was made before that of this output.
    text_before: usize,
}

impl<'c, 'd> Walk<'c, 'd> {
    fn new(compressed: &'c Compressed<'d>, limit: u64) -> Self {
        Walk { compressed, limit, codes: Box::new(Codes::new()), members: Vec::new(), text_before: 0 }
    }

    /// Goes from `place` to the end of the piece, or to the first block before which `is_enough`.
    fn go<S: Symbol, B: TextBefore<S>>(
        &mut self,
        mut place: Place,
        out: &mut TextBuffer<S, B>,
        is_enough: impl Fn(&TextBuffer<S, B>) -> bool,
    ) -> End {
        loop {
            if place.what == What::Block && (self.ends_at(place.bit) || is_enough(out)) {
                return End::At(place);
            }
            match self.step(place, out) {
                Ok((next, Goes::On)) => place = next,
                Ok((next, Goes::NoFarther)) => return End::At(next),
                Ok((next, Goes::NoMember)) => return End::NoMember(next.byte()),
                Err(fault) => return End::Fault(fault),
            }
        }
    }

    fn ends_at(&self, bit: u64) -> bool {
        bit >= self.limit && find::is_start(self.compressed, bit)
    }

    /// Goes over what stands at a place.
    fn step<S: Symbol, B: TextBefore<S>>(
        &mut self,
        Place { bit, what }: Place,
        out: &mut TextBuffer<S, B>,
    ) -> Result<(Place, Goes), GzipFault> {
        let Compressed { bytes, is_end, .. } = *self.compressed;
        let at = self.compressed.relative(bit);
        let rest = bytes.get(at / 8..).unwrap_or_default();
        let behind = |bytes: usize, what| Ok((Place { bit: bit + 8 * bytes as u64, what }, Goes::On));
        // What is not all there is truncated, or left to the next piece.
        let cut_off =
            |what| if is_end { Err(GzipFault::Truncated) } else { Ok((Place { bit, what }, Goes::NoFarther)) };
        match what {
            What::Member => {
                if !is_end && rest.len() < 2 {
                    return cut_off(what);
                }
                if bit > 0 && !is_member(rest) {
                    return Ok((Place { bit, what }, Goes::NoMember));
                }
                let Some(header) = member::header(rest)? else { return cut_off(what) };
                out.begin_member();
                behind(header, What::Block)
            }
            What::Trailer => {
                let Some(trailer) = Trailer::of(rest) else { return cut_off(what) };
                self.members.push(MemberEnd { at: self.text_before + out.length(), trailer });
                behind(TRAILER, What::Member)
            }
            What::Block => {
                if !is_end && rest.len() < block::LONGEST_HEADER {
                    return cut_off(what);
                }
                let mut bits = Bits::new(bytes, at);
                let block = DeflateBlock::read(&mut bits);
                if bits.is_behind_end() {
                    return cut_off(what);
                }
                Ok((Place { bit: self.compressed.absolute(bits.position()), what: What::Inside(block?) }, Goes::On))
            }
            What::Inside(mut block) => {
                block.build(&mut self.codes)?;
                let mut bits = Bits::new(bytes, at);
                let stop = inflate::inflate(&mut bits, &mut block, &self.codes, is_end, out)?;
                let bit = self.compressed.absolute(bits.position());
                Ok(match stop {
                    Stop::Inside => (Place { bit, what: What::Inside(block) }, Goes::NoFarther),
                    Stop::End if block.is_final => {
                        (Place { bit: bit.next_multiple_of(8), what: What::Trailer }, Goes::On)
                    }
                    Stop::End => (Place { bit, what: What::Block }, Goes::On),
                })
            }
        }
    }
}

/// Whether it goes on behind a step.
enum Goes {
    On,
    NoFarther,
    NoMember,
}

impl Inflated {
    /// The window behind it, given that before it.
    pub fn window(&self, before: &[u8]) -> Vec<u8> {
        match self.members.last() {
            Some(member) => window_of(&[], &self.text[member.at..]),
            None => window_of(before, &self.text),
        }
    }

    /// Its text by members, with what their CRCs are computed of.
    pub fn parts(&self) -> Vec<MemberPart> {
        let mut start = 0;
        let mut parts = Vec::with_capacity(self.members.len() + 1);
        for member in &self.members {
            parts.push(MemberPart::new(&self.text, start..member.at, Some(member.trailer)));
            start = member.at;
        }
        parts.push(MemberPart::new(&self.text, start..self.text.len(), None));
        parts
    }
}

/// The window behind `text`, before which `before` stands.
fn window_of(before: &[u8], text: &[u8]) -> Vec<u8> {
    let text = &text[text.len().saturating_sub(WINDOW)..];
    let before = &before[before.len().saturating_sub(WINDOW - text.len())..];
    [before, text].concat()
}

impl Unresolved {
    /// Where, and why, it ends.
    pub fn end(&self) -> &End {
        &self.rest.end
    }

    /// The window behind it, given that before it. Looks at so much of the text and no more.
    pub fn window(&self, before: &[u8]) -> Vec<u8> {
        let member = self.rest.members.last().map(|member| member.at);
        let known = self.symbols.len();
        let from = (known + self.rest.text.len()).saturating_sub(WINDOW).max(member.unwrap_or(0));
        let wanted = WINDOW - (known + self.rest.text.len() - from);
        let before_it = if member.is_some() { &[] } else { &before[before.len().saturating_sub(wanted)..] };
        let missing = WINDOW.saturating_sub(before.len());
        let byte = |&symbol: &u16| match symbol & MARK {
            0 => symbol as u8,
            _ => before.get(usize::from(symbol ^ MARK).wrapping_sub(missing)).copied().unwrap_or_default(),
        };
        let mut window = Vec::with_capacity(WINDOW);
        window.extend_from_slice(before_it);
        window.extend(self.symbols[from.min(known)..].iter().map(byte));
        window.extend_from_slice(&self.rest.text[from.saturating_sub(known)..]);
        window
    }

    /// The text, given the window before it, in the memory of `buffer`; and the memory of what it was made of.
    pub fn resolve(self, before: &[u8], mut buffer: Vec<u8>) -> (Inflated, Vec<u16>, Vec<u8>) {
        let Unresolved { symbols, rest: Inflated { text: rest, mut members, mut end }, .. } = self;
        let wrong = first_beyond(&symbols, before.len());
        buffer.resize(symbols.len(), 0);
        let lookup = Lookup::new(before);
        lookup.bytes(&symbols, &mut buffer);
        buffer.extend_from_slice(&rest);
        if let Some(wrong) = wrong {
            buffer.truncate(wrong);
            members.retain(|member| member.at <= wrong);
            end = End::Fault(GzipFault::Deflate);
        }
        (Inflated { text: buffer, members, end }, symbols, rest)
    }
}

/// The first mark for a byte of the window that is not there, for the window has `known` bytes only.
fn first_beyond(symbols: &[u16], known: usize) -> Option<usize> {
    let missing = WINDOW.saturating_sub(known) as u16;
    if missing == 0 {
        return None;
    }
    symbols.iter().position(|&symbol| symbol & MARK != 0 && symbol - MARK < missing)
}

/// The bytes that symbols stand for.
struct Lookup(Box<[u8; 1 << 16]>);

impl Lookup {
    fn new(window: &[u8]) -> Self {
        let mut bytes = Box::new([0; 1 << 16]);
        (0..=u8::MAX).for_each(|byte| bytes[usize::from(byte)] = byte);
        let known = window.len().min(WINDOW);
        bytes[2 * WINDOW - known..].copy_from_slice(&window[window.len() - known..]);
        Lookup(bytes)
    }

    /// Fills in all bytes; where there are no marks, many at once.
    fn bytes(&self, symbols: &[u16], bytes: &mut [u8]) {
        const AT_ONCE: usize = 16;
        let (parts, rest) = symbols.as_chunks::<AT_ONCE>();
        let (out, out_rest) = bytes.as_chunks_mut::<AT_ONCE>();
        for (out, part) in out.iter_mut().zip(parts) {
            if part.iter().fold(0, |all, symbol| all | symbol) & MARK == 0 {
                out.iter_mut().zip(part).for_each(|(byte, &symbol)| *byte = symbol as u8);
            } else {
                out.iter_mut().zip(part).for_each(|(byte, &symbol)| *byte = self.0[usize::from(symbol)]);
            }
        }
        out_rest.iter_mut().zip(rest).for_each(|(byte, &symbol)| *byte = self.0[usize::from(symbol)]);
    }
}
