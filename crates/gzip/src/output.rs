//! Text being made: bytes, or bytes and marks for those that stand before it.

/// Bytes that a copy can reach back (RFC 1951, section 3.2.5).
pub const WINDOW: usize = 1 << 15;

/// The longest copy, in symbols.
const LONGEST_COPY: usize = 258;
/// Symbols that are copied at once: more than wanted is overwritten by what follows.
const AT_ONCE: usize = 16;
/// Room for one step: two literals, or a copy.
const STEP: usize = LONGEST_COPY + AT_ONCE;
/// Symbols by which the buffer grows.
const GROWTH: usize = 1 << 20;

/// A byte, or a byte or a mark.
pub(crate) trait Symbol: Copy + Default + From<u8> {}
impl Symbol for u8 {}
impl Symbol for u16 {}

/// A symbol with this bit is a mark for a byte of the window: the other bits are its place there, if the window has
/// [`WINDOW`] bytes.
pub(crate) const MARK: u16 = 1 << 15;

/// What stands before the text.
pub(crate) trait TextBefore<S> {
    /// How many symbols back it reaches.
    fn reach(&self) -> usize;
    /// The symbol so many before the text; one that is there.
    fn symbol(&self, back: usize) -> S;
}

impl TextBefore<u8> for &[u8] {
    fn reach(&self) -> usize {
        self.len()
    }

    fn symbol(&self, back: usize) -> u8 {
        self.len().checked_sub(back).and_then(|at| self.get(at)).copied().unwrap_or_default()
    }
}

/// Nobody knows what stands before the text.
pub(crate) struct Unknown;

impl TextBefore<u16> for Unknown {
    fn reach(&self) -> usize {
        WINDOW
    }

    fn symbol(&self, back: usize) -> u16 {
        MARK | (WINDOW - back) as u16
    }
}

/// Text being made, in a buffer that grows up to a limit.
pub(crate) struct TextBuffer<S, B> {
    /// The text, and room behind it.
    buffer: Vec<S>,
    length: usize,
    /// Where the text of this member begins: copies do not reach farther back,
    start: usize,
    /// nor farther than this before the whole text.
    reach: usize,
    before: B,
    limit: usize,
}

impl<S: Symbol, B: TextBefore<S>> TextBuffer<S, B> {
    /// Text of about `limit` symbols at most, in the memory of `buffer`.
    pub(crate) fn new(buffer: Vec<S>, before: B, limit: usize) -> Self {
        TextBuffer { buffer, length: 0, start: 0, reach: before.reach(), before, limit }
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The last symbols of this member, [`WINDOW`] of them if there are so many; none if some of the window lie before
    /// the text.
    pub(crate) fn window(&self) -> Option<&[S]> {
        let text = &self.buffer[self.start..self.length];
        let is_whole = text.len() >= WINDOW || self.reach == 0;
        is_whole.then(|| &text[text.len().saturating_sub(WINDOW)..])
    }

    /// The text, in the buffer that it was made in.
    pub(crate) fn into_text(mut self) -> Vec<S> {
        self.buffer.truncate(self.length);
        self.buffer
    }

    /// A new member begins here.
    pub(crate) fn begin_member(&mut self) {
        (self.start, self.reach) = (self.length, 0);
    }

    /// Makes room for one step; false if there is as much text as may be.
    #[inline(always)]
    pub(crate) fn make_room(&mut self) -> bool {
        self.buffer.len() - self.length >= STEP || self.grow()
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let is_allowed = self.length < self.limit;
        if is_allowed {
            let more = GROWTH.min(self.limit - self.length) + STEP;
            self.buffer.resize(self.length + more, S::default());
        }
        is_allowed
    }

    /// Takes back what was made behind the first `length` symbols.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Adds the first `count` of two literals. There must be room for a step.
    #[inline(always)]
    pub(crate) fn push(&mut self, count: usize, literals: [u8; 2]) {
        if let Some([first, second]) = self.buffer.get_mut(self.length..self.length + 2) {
            (*first, *second) = (S::from(literals[0]), S::from(literals[1]));
            self.length += count;
        }
    }

    /// Adds bytes as they are; fewer if there is room for fewer. Returns how many.
    pub(crate) fn extend(&mut self, bytes: &[u8]) -> usize {
        let mut done = 0;
        while done < bytes.len() && self.make_room() {
            let room = &mut self.buffer[self.length..];
            let count = room.len().min(bytes.len() - done);
            room.iter_mut().zip(&bytes[done..done + count]).for_each(|(symbol, &byte)| *symbol = S::from(byte));
            (done, self.length) = (done + count, self.length + count);
        }
        done
    }

    /// Copies what stands `distance` symbols back; false if there is nothing. There must be room for a step, and
    /// `length` be 258 at most.
    #[inline(always)]
    #[must_use]
    pub(crate) fn copy(&mut self, distance: usize, length: usize) -> bool {
        if distance > self.length - self.start {
            return self.copy_from_before(distance, length);
        }
        let (mut from, mut to) = (self.length - distance, self.length);
        self.length += length;
        if distance < AT_ONCE {
            return self.copy_overlapping(from, to);
        }
        while to < self.length {
            let Some(&part) = self.buffer.get(from..).and_then(<[S]>::first_chunk::<AT_ONCE>) else { return false };
            let Some(room) = self.buffer.get_mut(to..).and_then(<[S]>::first_chunk_mut) else { return false };
            *room = part;
            (from, to) = (from + AT_ONCE, to + AT_ONCE);
        }
        true
    }

    /// Copies one by one up to the new end of the text.
    #[inline(never)]
    fn copy_overlapping(&mut self, from: usize, to: usize) -> bool {
        for i in 0..self.length - to {
            self.buffer[to + i] = self.buffer[from + i];
        }
        true
    }

    /// Copies what stands before the text of this member, at least in part.
    #[cold]
    fn copy_from_before(&mut self, distance: usize, length: usize) -> bool {
        if distance - (self.length - self.start) > self.reach {
            return false;
        }
        for _ in 0..length {
            self.buffer[self.length] = match self.length.checked_sub(distance) {
                Some(at) => self.buffer[at],
                None => self.before.symbol(distance - self.length),
            };
            self.length += 1;
        }
        true
    }
}
