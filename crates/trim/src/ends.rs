//! The cuts at both ends: fixed ones, and those by the mean quality of a window (Filter::trimAndCut of fastp).
//!
//! Two habits of fastp's windows are kept, for the same reads must come out: the last place of a window is never looked
//! at, and where a window has moved, or a fixed cut was made before, all of the window but its last base goes.

use crate::options::{EndOptions, Window, WindowOptions};
use crate::read::{Read, Span};

/// The byte of quality 0.
const QUALITY_ZERO: i64 = 33;

/// What stays of a read; nothing if the read is too short for the cuts, or no window is good.
pub(crate) fn cut(read: &Read<'_>, ends: &EndOptions, windows: &WindowOptions) -> Option<Span> {
    let length = read.len() as i64;
    let (front, tail) = (i64::from(ends.front), i64::from(ends.tail));
    if length < front + tail {
        return None;
    }
    let span = match windows {
        WindowOptions { front: None, tail: None, right: None } => (front, length - tail),
        windows => Windowed { read, length, tail }.cut(front, windows)?,
    };
    Some(Span { start: span.0 as u32, end: span.1 as u32 })
}

/// A read over which windows move.
struct Windowed<'r> {
    read: &'r Read<'r>,
    length: i64,
    /// Bases that are cut off at the tail whatever stands there.
    tail: i64,
}

impl Windowed<'_> {
    /// Where what stays begins and ends.
    fn cut(&self, mut front: i64, windows: &WindowOptions) -> Option<(i64, i64)> {
        if let Some(window) = &windows.front {
            front = self.front(front, window)?;
        }
        let end = match windows {
            WindowOptions { right: Some(window), .. } => self.right(front, window)?,
            WindowOptions { tail: Some(window), .. } => self.tail(front, window)?,
            _ => self.length - self.tail,
        };
        (end > front && front < self.length - 1).then_some((front, end))
    }

    /// Where the first good window says that a read begins.
    fn front(&self, front: i64, window: &Window) -> Option<i64> {
        let places = self.places(front, window)?;
        let found = self.position(window, places, |at| front + at, |sum, least| sum >= least);
        let mut begins = front + found.unwrap_or(places);
        if begins > 0 {
            begins += i64::from(window.size) - 1;
        }
        while self.is_n(begins) {
            begins += 1;
        }
        Some(begins)
    }

    /// Where the first bad window says that it ends: behind the good bases with which this window begins.
    fn right(&self, front: i64, window: &Window) -> Option<i64> {
        let places = self.places(front, window)?;
        let found = self.position(window, places, |at| front + at, |sum, least| sum < least);
        let Some(bad) = found.map(|place| front + place) else { return Some(self.length - self.tail) };
        let least = QUALITY_ZERO + i64::from(window.quality);
        let last = self.length - 1;
        Some((bad..last).find(|&at| self.quality(at) < least).unwrap_or(last))
    }

    /// Where the last good window says that it ends.
    fn tail(&self, front: i64, window: &Window) -> Option<i64> {
        let (places, outer) = (self.places(front, window)?, self.length - self.tail - 1);
        let found = self.position(window, places, |at| outer - at, |sum, least| sum >= least);
        let mut last = outer - found.unwrap_or(places);
        if last < self.length - 1 {
            last -= i64::from(window.size) - 1;
        }
        while last >= 0 && self.is_n(last) {
            last -= 1;
        }
        Some(last + 1)
    }

    /// At how many places a window is looked at; none if the read is too short for it.
    fn places(&self, front: i64, window: &Window) -> Option<i64> {
        Some(self.length - front - self.tail - i64::from(window.size)).filter(|places| *places > 0)
    }

    /// The first of so many places of a window at which this is true. It is asked with the window's sum of qualities
    /// and that of a window of the least good quality. `base` says which base comes in with which step.
    fn position(
        &self,
        window: &Window,
        places: i64,
        base: impl Fn(i64) -> i64,
        is_found: impl Fn(i64, i64) -> bool,
    ) -> Option<i64> {
        let size = i64::from(window.size);
        let least = size * (QUALITY_ZERO + i64::from(window.quality));
        let mut sum: i64 = (0..size - 1).map(|step| self.quality(base(step))).sum();
        for place in 0..places {
            sum += self.quality(base(place + size - 1));
            if is_found(sum, least) {
                return Some(place);
            }
            sum -= self.quality(base(place));
        }
        None
    }

    fn quality(&self, at: i64) -> i64 {
        self.read.qualities().get(at as usize).copied().map_or(0, i64::from)
    }

    fn is_n(&self, at: i64) -> bool {
        self.read.bases().get(at as usize) == Some(&b'N')
    }
}
