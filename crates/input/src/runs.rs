//! The bases of records that follow one another, as runs of equal numbers. Reads are mostly of one length: then a file
//! is a few runs. Where they are not, each is a run of its own, and takes two bytes if it has less than 8,192 bases.

use crate::compact::{CompactReader, Writer};

/// So many records with so many bases each, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordRun {
    pub(crate) bases: u64,
    pub(crate) records: u64,
}

impl RecordRun {
    /// The lowest bit of its first number says whether a second one follows.
    pub(crate) fn put(self, out: &mut Writer) {
        out.put(self.bases << 1 | u64::from(self.records != 1));
        if self.records != 1 {
            out.put(self.records);
        }
    }

    pub(crate) fn take(from: &mut CompactReader<'_>) -> Option<Self> {
        let first = from.take()?;
        let records = if first & 1 == 1 { from.take()? } else { 1 };
        Some(RecordRun { bases: first >> 1, records })
    }
}

/// The runs of a whole file, in its order: as bytes, for there may be as many as reads.
#[derive(Debug, Default)]
pub(crate) struct RecordRuns {
    before: Writer,
    last: Option<RecordRun>,
}

impl RecordRuns {
    /// Appends records; those with as many bases as the last ones make that run longer.
    pub(crate) fn push(&mut self, run: RecordRun) {
        match &mut self.last {
            Some(last) if last.bases == run.bases => last.records += run.records,
            last => {
                if let Some(done) = last.replace(run) {
                    done.put(&mut self.before);
                }
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = RecordRun> {
        let mut from = CompactReader { bytes: &self.before.bytes };
        std::iter::from_fn(move || RecordRun::take(&mut from)).chain(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_record_is_lost(records in proptest::collection::vec(0u64..4, 0..60)) {
            let mut runs = RecordRuns::default();
            // 0, 8,191 (two bytes), 16,382 and 24,573 (three bytes)
            records.iter().for_each(|&kind| runs.push(RecordRun { bases: kind * 8191, records: 1 }));
            let back = runs.iter().flat_map(|run| (0..run.records).map(move |_| run.bases / 8191));
            prop_assert_eq!(back.collect::<Vec<u64>>(), records);
            let alike = runs.iter().zip(runs.iter().skip(1)).any(|(run, next)| run.bases == next.bases);
            prop_assert!(!alike, "{:?}", runs);
        }
    }

    #[test]
    fn a_read_of_its_own_length_takes_two_bytes() {
        let mut runs = RecordRuns::default();
        (100..1101).for_each(|bases| runs.push(RecordRun { bases, records: 1 }));
        assert_eq!(runs.before.bytes.len(), 2000, "all but the last one");
    }
}
