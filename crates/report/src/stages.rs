//! The words for what workers do, and their colours.

use crate::lanes::Band;
use crate::page::Table;
use zerohop_model::timeline::Stage;

/// The stages, in the order of [`Stage::ALL`]: blue is the work itself, greys are waiting.
pub(crate) const BANDS: [Band; Stage::ALL.len()] = [
    ("claim", "#e69f00"),
    ("wait for input", "#c4c4c4"),
    ("parse", "#009e73"),
    ("map", "#0072b2"),
    ("encode", "#cc79a7"),
    ("commit", "#d55e00"),
    ("wait for output", "#505050"),
];

/// What the words of the page mean.
const WORDS: [(&str, &str); 11] = [
    ("worker", "A thread that aligns. It does all stages itself, one chunk of reads after the other."),
    ("chunk", "Some thousands of reads that follow one another in the input: what a worker takes at a time."),
    ("claim", "Take the next chunk: read and inflate its text. Chunks are dealt to workers this way."),
    ("wait for input", "There is no more text yet, because a pipe or a disk is slow."),
    ("parse", "Find names, bases and qualities in the text, and check them."),
    ("map", "Align the reads: the work of the aligner."),
    ("encode", "Make SAM text of the alignments, or compressed BAM or CRAM."),
    ("commit", "Write the records of the chunk to their place in the output, or keep them to be sorted."),
    ("wait for output", "Earlier chunks are not written yet, or the output is slow."),
    ("serial", "What only one thread can do at a time: to cut the input into chunks, and to put the output in order."),
    ("index copy", "The index in memory. A machine with several NUMA nodes may hold one copy on each of them."),
];

/// The words, in a table.
pub(crate) fn words() -> Table {
    let rows = WORDS.iter().map(|(word, meaning)| vec![(*word).to_owned(), (*meaning).to_owned()]);
    Table { head: ["word", "meaning"].map(str::to_owned).to_vec(), rows: rows.collect() }
}
