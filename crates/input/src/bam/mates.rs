//! Reads without a mate among pairs: how many there are, and whether their mates are in the file after all.

use super::record::RecordHead;
use crate::header::{name_of_other_mate, without_mate_number};
use crate::parse::PairsAlone;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::error::{shown, shown_path};
use zerohop_model::record::{FIRST, LAST, PAIRED};
use zerohop_model::thousands::grouped;

/// Reads of pairs without their mates that a lane may have: the names of all are kept, 8 bytes each.
const MOST_ORPHANS: usize = 1 << 24;

/// Takes a file apart whose reads say of themselves whether they have a mate.
const TAKE_APART: &str = "'samtools view -b -f 1 -o PAIRS.bam -U SINGLE.bam FILE' separates them; then give \
                          PAIRS.bam --reads SINGLE.bam";

/// Takes a file apart some of whose reads have lost their mates.
const TAKE_ORPHANS_APART: &str = "'samtools collate -O -u FILE | samtools fixmate -u - - | samtools view -b -f 1 -o \
                                  PAIRS.bam -U SINGLE.bam -' separates pairs from reads without a mate: then give \
                                  PAIRS.bam --reads SINGLE.bam";

const COLLATE: &str = "'samtools collate -o NEW.bam FILE' puts mates next to each other";

/// Which reads may have no mate.
#[derive(Debug, Clone)]
pub(crate) enum SingleReads {
    /// None.
    Refused(PairsAlone),
    /// All or none, as the first read says: several processes share the reads, count them as alike, and none can find
    /// out whether a mate is elsewhere in the file.
    AsTheFirst { is_paired: bool },
    /// All; what all parsers of the lane have seen together is here.
    Taken(Arc<SeenMates>),
}

/// The mate of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mate {
    /// There is none, as its flags say.
    None,
    /// There is one, as its flags say, but it does not follow.
    Lost,
    Follows,
}

impl SingleReads {
    /// Whether a read may stand among the others.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub(super) fn check(&self, mate: Mate, read: &RecordHead<'_>) -> Result<(), String> {
        const SHARED: &str = "over ranks and with --durable a file holds either pairs or single reads";
        Err(match (self, mate) {
            (SingleReads::Taken(seen), Mate::Lost) => return seen.add_orphan(read),
            (SingleReads::Refused(why), Mate::None) => {
                format!("it has no mate, and {}, or take the file apart. {TAKE_APART}", why.words())
            }
            (SingleReads::Refused(why), Mate::Lost) => {
                format!("it has no mate, and {}, or take the file apart. {TAKE_ORPHANS_APART}", why.words())
            }
            (SingleReads::AsTheFirst { is_paired: true }, Mate::None) => {
                format!("it is a single read, and the reads before are pairs: {SHARED}. {TAKE_APART}")
            }
            (SingleReads::AsTheFirst { is_paired: false }, Mate::Lost | Mate::Follows) => {
                format!("it is one of a pair, and the reads before are single: {SHARED}. {TAKE_APART}")
            }
            (SingleReads::AsTheFirst { is_paired: true }, Mate::Lost) => {
                format!("its mate does not follow it. {COLLATE}. Where mates are not in the file, {TAKE_ORPHANS_APART}")
            }
            _ => return Ok(()),
        })
    }
}

/// What was seen of a lane of BAM by all workers that parse it.
#[derive(Debug)]
pub struct SeenMates {
    path: PathBuf,
    pairs: AtomicU64,
    /// Reads that are none of a pair, as their flags say.
    single: AtomicU64,
    /// What stands for the names of those that are one of a pair, and whose mate did not follow them.
    orphans: Mutex<HashSet<u64>>,
}

impl SeenMates {
    pub(crate) fn of(path: PathBuf) -> Self {
        let [pairs, single] = [(); 2].map(|()| AtomicU64::new(0));
        SeenMates { path, pairs, single, orphans: Mutex::default() }
    }

    pub(super) fn add(&self, pairs: u64, single: u64) {
        self.pairs.fetch_add(pairs, Ordering::Relaxed);
        self.single.fetch_add(single, Ordering::Relaxed);
    }

    /// Takes a read of a pair whose mate does not follow it for one that has none.
    ///
    /// # Errors
    /// Its mate was seen before, so that the two were not next to each other, or not of one name; too many such reads.
    pub(super) fn add_orphan(&self, read: &RecordHead<'_>) -> Result<(), String> {
        let name = without_mate_number(read.name);
        let mate = u64::from(read.flags & (FIRST | LAST)) >> 6;
        // What stands for the name, with the mate in its last two bits.
        let key = |name: &[u8], mate: u64| xxh3_64(name) & !3 | mate;
        let mut orphans = self.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        if (0..4).any(|other| orphans.contains(&key(name, other))) {
            return Err(format!("its mate is in the file, but not next to it. {COLLATE}"));
        }
        if let Some(other_name) = name_of_other_mate(name)
            && (0..4).any(|other| other & mate == 0 && orphans.contains(&key(&other_name, other)))
        {
            return Err(named_apart(&other_name));
        }
        orphans.insert(key(name, mate));
        if orphans.len() > MOST_ORPHANS {
            return Err(format!(
                "with it more than {} reads lack their mates. {TAKE_ORPHANS_APART}",
                grouped(MOST_ORPHANS as u64)
            ));
        }
        Ok(())
    }

    /// What the user should know of them, when all were parsed: nothing if all are pairs, or none.
    pub(crate) fn note(&self) -> Option<String> {
        let [pairs, single] = [&self.pairs, &self.single].map(|count| count.load(Ordering::Relaxed));
        let orphans = self.orphans.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
        let lost = match orphans {
            0 => String::new(),
            _ => format!(", of which {} are of pairs whose other mate is not in the file", grouped(orphans)),
        };
        let is_mixed = orphans > 0 || pairs > 0 && single > 0;
        is_mixed.then(|| {
            let path = shown_path(&self.path);
            let (pairs, single) = (grouped(pairs), grouped(single + orphans));
            format!("{path} holds {pairs} pairs and {single} single reads{lost}: each was aligned as such")
        })
    }
}

/// What is wrong with two mates of which the first has the name `other`.
fn named_apart(other: &[u8]) -> String {
    format!(
        "its mate has another name, '{}': in BAM mates have the same name. Convert it to FASTQ, where they may differ \
         ('samtools fastq -N -1 R1.fq -2 R2.fq FILE'), and give that",
        shown(other)
    )
}

impl RecordHead<'_> {
    /// Whether it is one of a pair.
    pub(super) fn is_paired(&self) -> bool {
        self.flags & PAIRED != 0
    }
}
