//! Huffman codes as tables: the next bits of the data are the number of the entry that says what they mean.

use crate::bits::Bits;
use crate::fault::GzipFault;

/// Bits that the main table of a code looks at; longer codes go on in tables behind it.
pub(crate) const LITERAL_BITS: u32 = 12;
pub(crate) const DISTANCE_BITS: u32 = 9;
const PRECODE_BITS: u32 = 7;

/// Bits of the longest code.
const LONGEST: usize = 15;

/// Entries of a table and of those behind it. A table behind the main one has at most 2^d entries for d + 1 symbols
/// at least, where d is the longest code less the bits of the main table: two for each of 288 symbols, and 64 for six
/// each of 32.
pub(crate) const LITERAL_ENTRIES: usize = (1 << LITERAL_BITS) + 2 * 288;
pub(crate) const DISTANCE_ENTRIES: usize = (1 << DISTANCE_BITS) + 64 * 32 / 7 + 64;
const PRECODE_ENTRIES: usize = 1 << PRECODE_BITS;

/// What some bits mean. The lowest five bits are the length of the code; then follow
/// - for one literal or two: how many, their bytes;
/// - for a length or a distance: the number of extra bits, and what is added to them;
/// - for a table behind the main one: how many bits it looks at, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeEntry(u32);

const LITERAL: u32 = 1 << 5;
const SPECIAL: u32 = 1 << 6;
const TABLE: u32 = SPECIAL | 1 << 7;
const END: u32 = SPECIAL | 1 << 13;

impl CodeEntry {
    /// Bits that no code begins with.
    const INVALID: CodeEntry = CodeEntry(SPECIAL);
    /// The end of a block.
    const END: CodeEntry = CodeEntry(END);

    fn literal(byte: u8) -> Self {
        CodeEntry(LITERAL | 1 << 8 | u32::from(byte) << 16)
    }

    fn number(extra: u32, base: u16) -> Self {
        CodeEntry(extra << 8 | u32::from(base) << 16)
    }

    fn table(bits: u32, start: usize) -> Self {
        CodeEntry(TABLE | bits << 8 | (start as u32) << 16)
    }

    fn with_length(self, length: u32) -> Self {
        CodeEntry(self.0 & !31 | length)
    }

    /// One literal and another one behind it.
    fn with_second(self, second: CodeEntry) -> Self {
        CodeEntry(
            LITERAL | 2 << 8 | (self.length() + second.length()) | self.0 & 0xff_0000 | (second.0 & 0xff_0000) << 8,
        )
    }

    /// Bits of the code.
    #[inline(always)]
    pub(crate) fn length(self) -> u32 {
        self.0 & 31
    }

    #[inline(always)]
    pub(crate) fn is_literal(self) -> bool {
        self.0 & LITERAL != 0
    }

    /// Whether it is no literal, length or distance.
    #[inline(always)]
    pub(crate) fn is_special(self) -> bool {
        self.0 & SPECIAL != 0
    }

    fn is_table(self) -> bool {
        self.0 & TABLE == TABLE
    }

    pub(crate) fn is_end(self) -> bool {
        self.0 & END == END
    }

    /// Of literals: how many there are, one or two, and both bytes.
    #[inline(always)]
    pub(crate) fn literals(self) -> (usize, [u8; 2]) {
        ((self.0 >> 8 & 3) as usize, [(self.0 >> 16) as u8, (self.0 >> 24) as u8])
    }

    /// Of a length or a distance: the number of extra bits, and what is added to them.
    #[inline(always)]
    pub(crate) fn number_parts(self) -> (u32, usize) {
        (self.0 >> 8 & 31, (self.0 >> 16) as usize)
    }
}

/// The table of one code: a main table of 2^`BITS` entries, and those behind it.
#[derive(Debug, Clone)]
pub(crate) struct Code<const BITS: u32, const ENTRIES: usize> {
    entries: [CodeEntry; ENTRIES],
}

impl<const BITS: u32, const ENTRIES: usize> Code<BITS, ENTRIES> {
    /// No code at all.
    pub(crate) fn new() -> Self {
        Code { entries: [CodeEntry::INVALID; ENTRIES] }
    }

    /// Makes it the canonical code (RFC 1951, section 3.2.2) in which symbol `i` has `lengths[i]` bits, none for 0, and
    /// means `meaning(i)`.
    ///
    /// # Errors
    /// Lengths that are no code, or leave bits without a meaning: as in zlib, that is allowed only of a code of
    /// one symbol with one bit, or, where `may_be_empty`, of no symbol.
    fn build(
        &mut self,
        lengths: &[u8],
        may_be_empty: bool,
        meaning: impl Fn(usize) -> CodeEntry,
    ) -> Result<(), GzipFault> {
        check(lengths, may_be_empty)?;
        let main = 1usize << BITS;
        self.entries.fill(CodeEntry::INVALID);
        let mut next_codes = next_codes(lengths);
        let codes = lengths.iter().enumerate().filter(|&(_, &length)| length > 0).map(|(symbol, &length)| {
            let next = &mut next_codes[usize::from(length)];
            let code = u32::from(next.reverse_bits()) >> (16 - length);
            *next += 1;
            (symbol, u32::from(length), code as usize)
        });
        let mut long = Vec::new();
        for (symbol, length, code) in codes {
            if length > BITS {
                long.push((symbol, length, code));
                continue;
            }
            let entry = meaning(symbol).with_length(length);
            self.entries[code..main].iter_mut().step_by(1 << length).for_each(|place| *place = entry);
        }
        let mut end = main;
        // The longest come first, so that the first one in a table says how large it must be.
        long.sort_unstable_by_key(|&(_, length, code)| (code & (main - 1), std::cmp::Reverse(length)));
        for (symbol, length, code) in long {
            let first = &mut self.entries[code & (main - 1)];
            if *first == CodeEntry::INVALID {
                *first = CodeEntry::table(length - BITS, end).with_length(BITS);
                end += 1 << (length - BITS);
            }
            let (bits, start) = first.number_parts();
            let table = self.entries.get_mut(start..start + (1 << bits)).ok_or(GzipFault::Deflate)?;
            let entry = meaning(symbol).with_length(length - BITS);
            table[code >> BITS..].iter_mut().step_by(1 << (length - BITS)).for_each(|place| *place = entry);
        }
        Ok(())
    }

    /// Lets an entry stand for two literals where its bits are two.
    fn pair_literals(&mut self) {
        // The entry of what is left has a lower number, so it is single still.
        for i in (0..1usize << BITS).rev() {
            let first = self.entries[i];
            if first.is_literal() {
                let second = self.entries[i >> first.length()];
                if second.is_literal() && first.length() + second.length() <= BITS {
                    self.entries[i] = first.with_second(second);
                }
            }
        }
    }

    /// What the next bits mean, as far as the main table says, and passes over the code in them. 15 bits must be there.
    #[inline(always)]
    pub(crate) fn take_short(&self, bits: &mut Bits<'_>) -> CodeEntry {
        let entry = self.entries[(bits.peek() & ((1 << BITS) - 1)) as usize];
        bits.consume(entry.length());
        entry
    }

    /// What the bits behind a special entry of the main table mean with it.
    #[inline(always)]
    pub(crate) fn take_rest(&self, entry: CodeEntry, bits: &mut Bits<'_>) -> CodeEntry {
        if !entry.is_table() {
            return entry;
        }
        let (width, start) = entry.number_parts();
        let index = start + (bits.peek() & ((1 << width) - 1)) as usize;
        let entry = self.entries.get(index).copied().unwrap_or(CodeEntry::INVALID);
        bits.consume(entry.length());
        entry
    }

    /// What the next bits mean, and passes over the code in them. 15 bits must be there.
    #[inline(always)]
    pub(crate) fn take(&self, bits: &mut Bits<'_>) -> CodeEntry {
        let entry = self.take_short(bits);
        if entry.is_special() { self.take_rest(entry, bits) } else { entry }
    }
}

/// Numbers of symbols by the length of their code.
fn counts(lengths: &[u8]) -> [u16; LONGEST + 1] {
    let mut counts = [0; LONGEST + 1];
    lengths.iter().for_each(|&length| counts[usize::from(length)] += 1);
    counts[0] = 0;
    counts
}

/// The first code of each length.
fn next_codes(lengths: &[u8]) -> [u16; LONGEST + 1] {
    let (counts, mut next, mut code) = (counts(lengths), [0; LONGEST + 1], 0u16);
    for length in 1..=LONGEST {
        code = code.wrapping_add(counts[length - 1]).wrapping_mul(2);
        next[length] = code;
    }
    next
}

/// Whether `lengths` are a code that leaves no bits without a meaning, or one that may.
fn check(lengths: &[u8], may_be_empty: bool) -> Result<(), GzipFault> {
    let counts = counts(lengths);
    // In units of the longest code.
    let used: u32 = (1..=LONGEST).map(|length| u32::from(counts[length]) << (LONGEST - length)).sum();
    let symbols: u16 = counts.iter().sum();
    let is_allowed = used == 1 << LONGEST || symbols == 1 && counts[1] == 1 || symbols == 0 && may_be_empty;
    if is_allowed { Ok(()) } else { Err(GzipFault::Deflate) }
}

/// The code of literals and lengths, and that of distances.
pub(crate) struct Codes {
    pub(crate) literals: Code<LITERAL_BITS, LITERAL_ENTRIES>,
    pub(crate) distances: Code<DISTANCE_BITS, DISTANCE_ENTRIES>,
}

impl Codes {
    /// No codes at all.
    pub(crate) fn new() -> Self {
        Codes { literals: Code::new(), distances: Code::new() }
    }

    /// Makes them those of a block, from the lengths of all codes.
    ///
    /// # Errors
    /// Lengths that are no code.
    pub(crate) fn build(&mut self, literals: &[u8], distances: &[u8]) -> Result<(), GzipFault> {
        self.literals.build(literals, false, literal_or_length)?;
        self.literals.pair_literals();
        self.distances.build(distances, true, distance)
    }
}

/// The code in which the lengths of the other codes are written. Symbols are literals here.
pub(crate) fn precode(lengths: &[u8; 19]) -> Result<Code<PRECODE_BITS, PRECODE_ENTRIES>, GzipFault> {
    let mut code = Code::new();
    code.build(lengths, false, |symbol| CodeEntry::literal(symbol as u8))?;
    Ok(code)
}

/// What a symbol of the first code means (RFC 1951, section 3.2.5).
fn literal_or_length(symbol: usize) -> CodeEntry {
    const BASES: [u16; 29] = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ];
    match (u8::try_from(symbol), symbol) {
        (Ok(byte), _) => CodeEntry::literal(byte),
        (_, 256) => CodeEntry::END,
        (_, 285) => CodeEntry::number(0, 258),
        _ => {
            let extra = (symbol as u32 - 257).saturating_sub(4) / 4;
            BASES.get(symbol - 257).map_or(CodeEntry::INVALID, |&base| CodeEntry::number(extra, base))
        }
    }
}

/// What a symbol of the second code means.
fn distance(symbol: usize) -> CodeEntry {
    let extra = (symbol as u32).saturating_sub(2) / 2;
    match symbol {
        0..4 => CodeEntry::number(0, symbol as u16 + 1),
        4..30 => CodeEntry::number(extra, (1 << (extra + 1)) + ((symbol as u16 & 1) << extra) + 1),
        _ => CodeEntry::INVALID,
    }
}
