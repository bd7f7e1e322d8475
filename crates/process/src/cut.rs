//! What is said where a page of a mapped file cannot be had any more. A signal handler asks for it: nothing here
//! allocates or waits then.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Mappings of which something can be said; of more nothing is.
const MOST: usize = 64;

static WATCHED: [OnceLock<Watched>; MOST] = [const { OnceLock::new() }; MOST];
/// How many have been entered.
static COUNT: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
struct Watched {
    addresses: Range<usize>,
    words: String,
    is_mapped: AtomicBool,
}

/// A mapping of a file: while this is there, a page of it that cannot be had ends the process with a message.
#[derive(Debug)]
#[must_use]
pub struct CutWatch(Option<&'static Watched>);

/// Enters a file that is mapped at these addresses.
pub(crate) fn watch(path: &Path, addresses: Range<usize>) -> CutWatch {
    let what = "it was made shorter while it was in use, or the disk that it is on cannot be read";
    let words = format!("error: {}: {what}: run the command again\n", path.display());
    let slot = WATCHED.get(COUNT.fetch_add(1, Ordering::Relaxed));
    let watched = Watched { addresses, words, is_mapped: AtomicBool::new(true) };
    CutWatch(slot.map(|slot| slot.get_or_init(|| watched)))
}

impl Drop for CutWatch {
    fn drop(&mut self) {
        if let Some(watched) = self.0 {
            watched.is_mapped.store(false, Ordering::Release);
        }
    }
}

/// What is to be said if a page at this address cannot be had.
pub(crate) fn words_at(address: usize) -> Option<&'static str> {
    let mut all = WATCHED.iter().filter_map(OnceLock::get);
    let found = all.find(|one| one.is_mapped.load(Ordering::Acquire) && one.addresses.contains(&address));
    found.map(|one| one.words.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_named() {
        let watches = [("a", 1000..2000), ("b", 2000..2001)].map(|(name, at)| watch(Path::new(name), at));
        assert!(words_at(1999).is_some_and(|words| words.starts_with("error: a: it was made shorter")));
        assert!(words_at(2000).is_some_and(|words| words.starts_with("error: b: ")));
        assert_eq!((words_at(999), words_at(2001)), (None, None));
        drop(watches);
        assert_eq!((words_at(1999), words_at(2000)), (None, None));
    }
}
