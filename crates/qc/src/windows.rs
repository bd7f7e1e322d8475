//! Windows of one length over all contigs, out of parts of the output: a window that several parts share is put
//! together when all of them are known.

use crate::mosdepth::{Mosdepth, Window};
use std::collections::BTreeMap;
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_output::BedFile;

/// Lines of whole windows.
#[derive(Debug, Default)]
struct Lines {
    text: Vec<u8>,
    /// Contig and positions of each, and how long it is.
    of: Vec<(u32, Range<u32>, usize)>,
}

impl Lines {
    fn push(&mut self, name: &str, (contig, positions): (u32, Range<u32>), window: &Window, sums: &mut Mosdepth) {
        let start = self.text.len();
        sums.add_window(name, (contig, positions.clone()), window, &mut self.text);
        self.of.push((contig, positions, self.text.len() - start));
    }

    fn write(&self, out: &mut BedFile) -> Result<(), Error> {
        let mut text = &*self.text;
        for (contig, positions, length) in &self.of {
            let (line, rest) = text.split_at(*length);
            out.put(*contig, positions.clone(), line)?;
            text = rest;
        }
        Ok(())
    }
}

/// The windows of one part.
#[derive(Debug, Default)]
pub(crate) struct PartOfWindows {
    /// What it has of a window that begins before it, and where that is, if it ends here.
    head: Window,
    head_ends: Option<(u32, Range<u32>)>,
    lines: Lines,
    /// What it has of the last window, if that is another one.
    tail: Window,
}

/// Makes the windows of a part out of its runs of depth.
pub(crate) struct WindowMaker<'c> {
    contigs: &'c [Contig],
    length: u32,
    made: PartOfWindows,
    /// Whether the open window is that which begins before the part.
    is_head: bool,
    open: Window,
}

impl<'c> WindowMaker<'c> {
    /// For a part that begins at this position of a contig.
    pub(crate) fn new(contigs: &'c [Contig], length: u32, position: u32) -> Self {
        let is_head = !position.is_multiple_of(length);
        WindowMaker { contigs, length, made: PartOfWindows::default(), is_head, open: Window::default() }
    }

    /// Adds a run of depth on one contig, which follows those before it.
    pub(crate) fn add(&mut self, contig: u32, mut positions: Range<u32>, depth: u32, sums: &mut Mosdepth) {
        let Contig { name, length, .. } = &self.contigs[contig as usize];
        while positions.start < positions.end {
            let begin = positions.start / self.length * self.length;
            let end = begin.saturating_add(self.length).min(*length as u32);
            let until = positions.end.min(end);
            self.open.add(until - positions.start, depth);
            if until == end {
                let window = std::mem::take(&mut self.open);
                match std::mem::take(&mut self.is_head) {
                    true => (self.made.head, self.made.head_ends) = (window, Some((contig, begin..end))),
                    false => self.made.lines.push(name, (contig, begin..end), &window, sums),
                }
            }
            positions.start = until;
        }
    }

    pub(crate) fn finish(mut self) -> PartOfWindows {
        match self.is_head {
            true => self.made.head = self.open,
            false => self.made.tail = self.open,
        }
        self.made
    }
}

/// Puts the windows of all parts together, in their order.
pub(crate) struct Windows {
    next: usize,
    waiting: BTreeMap<usize, PartOfWindows>,
    /// The last window, if it does not end in the parts so far.
    open: Window,
    pub(crate) out: BedFile,
}

impl Windows {
    pub(crate) fn new(out: BedFile) -> Self {
        Windows { next: 0, waiting: BTreeMap::new(), open: Window::default(), out }
    }

    /// Adds those of part `number`, and writes what is known then.
    pub(crate) fn put(
        &mut self,
        number: usize,
        part: PartOfWindows,
        contigs: &[Contig],
        sums: &mut Mosdepth,
    ) -> Result<(), Error> {
        self.waiting.insert(number, part);
        while let Some(PartOfWindows { head, head_ends, lines, tail }) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.open.append(head);
            if let Some((contig, positions)) = head_ends {
                let (window, mut shared) = (std::mem::take(&mut self.open), Lines::default());
                shared.push(&contigs[contig as usize].name, (contig, positions), &window, sums);
                shared.write(&mut self.out)?;
            }
            lines.write(&mut self.out)?;
            self.open.append(tail);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CONTIGS: [(&str, u64); 3] = [("a", 95), ("b", 7), ("c", 40)];

    /// The lines, each place added to the mean as mosdepth does.
    fn naive(depths: &[Vec<u32>], window: usize) -> String {
        let mut text = String::new();
        for ((name, length), depths) in CONTIGS.iter().zip(depths) {
            for (number, places) in depths.chunks(window).enumerate() {
                let mean: f64 = places.iter().map(|depth| f64::from(*depth) / places.len() as f64).sum();
                let start = number * window;
                text += &format!("{name}\t{start}\t{}\t{mean:.2}\n", (start + window).min(*length as usize));
            }
        }
        text
    }

    proptest! {
        #[test]
        fn windows_by_parts_are_those_of_the_whole(
            seed in prop::collection::vec(0u32..9, 142),
            window in 1u32..60,
            mut cuts in prop::collection::vec(1usize..141, 0..10),
        ) {
            let contigs: Vec<Contig> = CONTIGS.map(|(name, length)| Contig::new(name, length)).to_vec();
            let places: Vec<(u32, u32)> = contigs.iter().enumerate()
                .flat_map(|(number, contig)| (0..contig.length as u32).map(move |at| (number as u32, at))).collect();
            let mut depths = vec![Vec::new(); contigs.len()];
            places.iter().zip(&seed).for_each(|((contig, _), depth)| depths[*contig as usize].push(*depth));
            cuts.extend([0, places.len()]);
            cuts.sort_unstable();
            cuts.dedup();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("w.bed.gz");
            let mut windows = Windows::new(BedFile::create(&path, &contigs).unwrap());
            let mut parts: Vec<(usize, PartOfWindows)> = Vec::new();
            let mut sums = Mosdepth::default();
            for (number, cut) in cuts.windows(2).enumerate() {
                let mut maker = WindowMaker::new(&contigs, window, places[cut[0]].1);
                for at in cut[0]..cut[1] {
                    let (contig, position) = places[at];
                    maker.add(contig, position..position + 1, seed[at], &mut sums);
                }
                parts.push((number, maker.finish()));
            }
            // They are known in any order.
            parts.reverse();
            for (number, part) in parts {
                windows.put(number, part, &contigs, &mut sums).unwrap();
            }
            for file in windows.out.finish().unwrap() {
                file.complete().unwrap();
            }
            let mut text = String::new();
            let file = std::fs::File::open(&path).unwrap();
            std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
            prop_assert_eq!(text, naive(&depths, window as usize));
        }
    }
}
