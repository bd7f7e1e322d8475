//! Index copies that nobody removed because the run was killed: its reaper does.

use crate::copies;
use std::time::Duration;
use zerohop_process::Charge;

/// What the reaper calls them.
const COPIES: &str = "index-copies";

/// Copies of indexes that nobody uses, and segments of bwa, to be removed.
pub fn charge() -> Charge {
    Charge::Own(COPIES.to_owned())
}

/// Clears away what was charged under a name, for [`zerohop_process::prepare`].
pub fn clear_own(name: &str) {
    if name == COPIES {
        clear();
    }
}

/// Our locks go with the last of us: that may be a moment after the pipe did.
fn clear() {
    for pause in [0, 20, 100, 500] {
        std::thread::sleep(Duration::from_millis(pause));
        // Nobody is left who could be told if it fails.
        drop(copies::clear(false));
    }
}
