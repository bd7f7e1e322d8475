//! What the first reads say: whether an instrument with two colours made them, and, in `detect`, which adapters they
//! have.

/// How names begin of instruments with two colours, for which no signal is a G (Evaluator::isTwoColorSystem of fastp):
/// iSeq 100; MiniSeq; NextSeq 500, 550 and 550Dx; NextSeq 1000 and 2000; NovaSeq 6000; NovaSeq X.
const TWO_COLOURS: [&[u8]; 11] = [b"FS", b"MN", b"SH", b"NS", b"NB", b"NDX", b"VL", b"VH", b"A", b"NA", b"LH"];

/// What the first reads say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstReads {
    /// Whether an instrument with two colours made them ([`has_two_colours`]).
    pub two_colours: bool,
    /// The adapters of first reads and of second ones, where they were looked for
    /// ([`crate::Options::detects_adapter`], [`crate::detect_adapter`]).
    pub adapters: [Option<String>; 2],
}

/// Whether the name of a read, without the `@`, says that an instrument with two colours made it.
///
/// ```
/// assert!(zerohop_trim::has_two_colours(b"A00123:45:HXXXX:1:1101:1000:2000"));
/// assert!(!zerohop_trim::has_two_colours(b"M00123:45:HXXXX:1:1101:1000:2000"));
/// ```
pub fn has_two_colours(name: &[u8]) -> bool {
    TWO_COLOURS.iter().any(|prefix| name.starts_with(prefix))
}
