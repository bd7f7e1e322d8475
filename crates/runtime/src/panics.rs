//! Panics of engines: caught, kept off the terminal, and turned into messages.

use std::any::Any;
use std::cell::Cell;

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`, in which a panic is expected and will be reported by the caller: the hook of [`install_hook`] is silent.
pub(crate) fn quietly<R>(f: impl FnOnce() -> R) -> R {
    let before = EXPECTED.replace(true);
    let result = f();
    EXPECTED.set(before);
    result
}

/// Makes panics inside engines silent, since they are reported as errors with the read's name; others print as before.
/// To be called once, by the program.
pub fn install_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !EXPECTED.get() {
            default(info);
        }
    }));
}

/// The words of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let words = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    words.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it gave no reason".to_owned())
}
