//! Runs of places that have the same depth, or are between the same bounds of depth: a line each. A run that several
//! parts of the output share is put together when they are known.

use super::Quantizer;
use crate::number::{push_integer, push_place};
use std::ops::Range;
use zerohop_model::record::Contig;
use zerohop_output::BedFile;

/// What is told of runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RunsOf<'q> {
    /// `per-base.bed.gz`: the depth.
    Depth,
    /// `quantized.bed.gz`: between which bounds it is.
    Bins(&'q Quantizer),
}

/// What places have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunValue {
    Told(u32),
    /// It is not told.
    Untold,
    /// That of the place before it: mosdepth does not look at the last place of a contig when it goes through bounds.
    AsBefore,
}

#[derive(Debug, Clone)]
struct Run {
    contig: u32,
    positions: Range<u32>,
    value: RunValue,
}

/// The runs of one part: the first one and the last one may go on in others.
#[derive(Debug, Default)]
pub(crate) struct PartOfRuns {
    head: Option<Run>,
    text: String,
    /// Contig and positions of each line, and where in the text it ends.
    lines: Vec<(u32, Range<u32>, usize)>,
    tail: Option<Run>,
}

impl RunsOf<'_> {
    fn value(self, positions: &Range<u32>, depth: u32, contig_length: u32) -> RunValue {
        match self {
            RunsOf::Depth => RunValue::Told(depth),
            RunsOf::Bins(_) if positions.start > 0 && positions.start + 1 == contig_length => RunValue::AsBefore,
            RunsOf::Bins(quantizer) => quantizer.bin(depth).map_or(RunValue::Untold, RunValue::Told),
        }
    }

    /// Appends the line of a run, if it is told.
    fn tell(self, run: &Run, contigs: &[Contig], text: &mut String) -> bool {
        let RunValue::Told(value) = run.value else { return false };
        push_place(text, &contigs[run.contig as usize].name, &run.positions);
        match self {
            RunsOf::Depth => push_integer(text, value),
            RunsOf::Bins(quantizer) => text.push_str(&quantizer.label(value)),
        }
        text.push('\n');
        true
    }
}

impl Run {
    /// Takes up a run that follows this one, if it is the same.
    fn takes_up(&mut self, next: &Run) -> bool {
        let follows = self.contig == next.contig && self.positions.end == next.positions.start;
        let goes_on = follows && (next.value == RunValue::AsBefore || next.value == self.value);
        if goes_on {
            self.positions.end = next.positions.end;
        }
        goes_on
    }
}

/// Makes the runs of a part.
pub(crate) struct RunMaker<'q> {
    of: RunsOf<'q>,
    contigs: &'q [Contig],
    made: PartOfRuns,
    open: Option<Run>,
}

impl<'q> RunMaker<'q> {
    pub(crate) fn new(of: RunsOf<'q>, contigs: &'q [Contig]) -> Self {
        RunMaker { of, contigs, made: PartOfRuns::default(), open: None }
    }

    /// Adds a run of depth on one contig, which follows those before it.
    pub(crate) fn add(&mut self, contig: u32, mut positions: Range<u32>, depth: u32) {
        let length = self.contigs[contig as usize].length as u32;
        let last = length.saturating_sub(1);
        if matches!(self.of, RunsOf::Bins(_)) && positions.start < last && positions.end == length {
            // The last place goes on with what is before it, whatever its own depth is.
            self.push(contig, positions.start..last, depth, length);
            positions.start = last;
        }
        self.push(contig, positions, depth, length);
    }

    fn push(&mut self, contig: u32, positions: Range<u32>, depth: u32, length: u32) {
        let value = self.of.value(&positions, depth, length);
        let next = Run { contig, positions, value };
        if let Some(open) = &mut self.open
            && open.takes_up(&next)
        {
            return;
        }
        let PartOfRuns { head, text, lines, .. } = &mut self.made;
        let Some(ended) = self.open.replace(next) else { return };
        if head.is_none() {
            *head = Some(ended);
        } else if self.of.tell(&ended, self.contigs, text) {
            lines.push((ended.contig, ended.positions, text.len()));
        }
    }

    pub(crate) fn finish(mut self) -> PartOfRuns {
        match self.made.head {
            None => self.made.head = self.open,
            Some(_) => self.made.tail = self.open,
        }
        self.made
    }
}

/// Puts the runs of all parts together, which come in their order, and writes them.
pub(crate) struct RunFile {
    open: Option<Run>,
    pub(crate) file: BedFile,
}

impl RunFile {
    pub(crate) fn new(file: BedFile) -> Self {
        RunFile { open: None, file }
    }

    /// Adds those of the next part.
    pub(crate) fn put(&mut self, part: PartOfRuns, of: RunsOf<'_>, contigs: &[Contig]) {
        let PartOfRuns { head, text, lines, tail } = part;
        let Some(head) = head else { return };
        if !self.open.as_mut().is_some_and(|open| open.takes_up(&head)) {
            self.end(of, contigs);
            self.open = Some(head);
        }
        let Some(tail) = tail else { return };
        self.end(of, contigs);
        let mut start = 0;
        for (contig, positions, end) in lines {
            self.file.put(contig, positions, &text.as_bytes()[start..end]);
            start = end;
        }
        self.open = Some(tail);
    }

    /// Ends the last run: before the file is finished.
    pub(crate) fn end(&mut self, of: RunsOf<'_>, contigs: &[Contig]) {
        let Some(run) = self.open.take() else { return };
        let mut text = String::new();
        if of.tell(&run, contigs, &mut text) {
            self.file.put(run.contig, run.positions, text.as_bytes());
        }
    }
}
