//! What is said where a library cannot have memory.

use crate::tell;
use crate::temporary::remove_temporaries;

/// A library that allocates by itself (libdeflate) panics when an allocation fails: from now on that ends the program
/// with one line, and with nothing left of files that are not complete. Other panics are reported as before.
pub fn end_where_exhausted() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        if text.is_some_and(|text| text.contains("out of memory")) {
            remove_temporaries();
            tell::error("out of memory: allow more (ulimit -v, the memory of the job), or use fewer threads (-t)");
            std::process::exit(1);
        }
        hook(info);
    }));
}
