//! Finds the blocks that need the least padding.

/// Numbers of reads per block that are tried: all up to 16, then in steps of about a sixteenth.
fn tried() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1usize), |&n| Some(n + (n / 16).max(1)))
}

/// Bytes of a read of no bases and a name of one character.
const SMALLEST_RECORD: usize = 7;

/// The size of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocking {
    /// Bytes of a block.
    pub bytes: usize,
    /// Reads of a block.
    pub reads: usize,
}

/// One number of reads per block, and what blocks of so many reads take.
#[derive(Debug, Clone, Copy)]
struct BlockSizeTrial {
    reads: usize,
    /// Reads and bytes in the block that is being filled.
    held: usize,
    bytes: usize,
    /// The largest block, and the number of blocks.
    largest: usize,
    blocks: u64,
}

impl BlockSizeTrial {
    fn add(&mut self, record: usize) {
        self.bytes += record;
        self.held += 1;
        if self.held == self.reads {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.held > 0 {
            self.largest = self.largest.max(self.bytes);
            self.blocks += 1;
            (self.held, self.bytes) = (0, 0);
        }
    }
}

/// Looks at the size of every record, and then says which blocks would be best.
#[derive(Debug)]
pub struct Fit {
    /// One row of trials per file.
    trials: Vec<Vec<BlockSizeTrial>>,
    limit: usize,
}

impl Fit {
    /// For so many files whose blocks hold the same reads; no block may be larger than `limit` bytes. `reads` is the
    /// number per block, if the user gives it.
    pub fn new(files: usize, limit: usize, reads: Option<usize>) -> Self {
        let trial = |reads| BlockSizeTrial { reads, held: 0, bytes: 0, largest: 0, blocks: 0 };
        let row: Vec<BlockSizeTrial> = match reads {
            Some(reads) => vec![trial(reads.max(1))],
            None => {
                tried().take_while(|reads| reads * SMALLEST_RECORD <= limit.max(SMALLEST_RECORD)).map(trial).collect()
            }
        };
        Fit { trials: vec![row; files], limit }
    }

    /// Adds the next record of `file`.
    pub fn add(&mut self, file: usize, record_bytes: usize) {
        for trial in &mut self.trials[file] {
            // What is too large will not be chosen.
            if trial.largest <= self.limit && trial.bytes <= self.limit {
                trial.add(record_bytes);
            }
        }
    }

    /// The blocks of each file that take the fewest bytes in all; those with fewer reads where that is the same. None
    /// if not even one read fits a block, or there are no reads.
    pub fn best(mut self) -> Option<Vec<Blocking>> {
        self.trials.iter_mut().flatten().for_each(|trial| {
            if trial.bytes <= self.limit {
                trial.close()
            }
        });
        let rows = self.trials.first()?.len();
        let fits = |i: &usize| {
            self.trials.iter().all(|row| row[*i].bytes <= self.limit && (1..=self.limit).contains(&row[*i].largest))
        };
        let cost = |i: &usize| self.trials.iter().map(|row| row[*i].blocks * row[*i].largest as u64).sum::<u64>();
        let best = (0..rows).filter(fits).min_by_key(cost)?;
        let blocking = |row: &Vec<BlockSizeTrial>| Blocking { bytes: row[best].largest, reads: row[best].reads };
        Some(self.trials.iter().map(blocking).collect())
    }
}
