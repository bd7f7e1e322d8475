//! Numbers as bytes: seven bits in each, the low ones first. Of places that ascend, each is its distance to the one
//! before.

/// Writes a number.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number.
pub(crate) fn take(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Writes how many places there are, and these.
pub(crate) fn put_ascending(out: &mut Vec<u8>, places: impl ExactSizeIterator<Item = u64>) {
    put(out, places.len() as u64);
    places.fold(0, |before, place| {
        put(out, place.wrapping_sub(before));
        place
    });
}

/// Reads places.
pub(crate) fn take_ascending(from: &mut &[u8]) -> Option<Vec<u64>> {
    let count = take(from)?;
    let mut place = 0u64;
    // Each takes a byte at least.
    let mut places = Vec::with_capacity((count as usize).min(from.len()));
    for _ in 0..count {
        place = place.wrapping_add(take(from)?);
        places.push(place);
    }
    Some(places)
}
