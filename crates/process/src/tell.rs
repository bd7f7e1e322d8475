//! Words for the user, on standard error. Nobody may be there to read them: that is no reason to fail.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};

/// Says why the program failed.
pub fn error(words: &str) {
    text(&format!("error: {words}\n"));
}

/// Says what the user should know although the run does not fail.
pub fn note(words: &str) {
    text(&format!("note: {words}\n"));
}

/// Writes `text` as it is, but for control characters, in one piece: ranks share a terminal, and what one of them
/// writes must not be torn by another.
pub fn text(text: &str) {
    put(&printable(text));
}

/// Whether [`progress`] shows anything: standard error is a terminal.
pub fn shows_progress() -> bool {
    std::io::stderr().is_terminal()
}

/// Replaces the line that is on the terminal by `line`; an empty one clears it. Elsewhere nothing is written.
pub fn progress(line: &str) {
    if shows_progress() {
        put(&format!("\r\x1b[K{}", printable(line)));
    }
}

fn put(text: &str) {
    let mut standard_error = std::io::stderr().lock();
    // There is nobody else to tell.
    let _ = standard_error.write_all(text.as_bytes()).and_then(|()| standard_error.flush());
}

/// `text` with control characters as `\x1b`, but for line ends and tabs: names of reads and files may hold anything,
/// and must not steer the terminal.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => {
                // Writing to a String does not fail.
                let _ = write!(safe, "\\x{:02x}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

/// The same for a name that must stay on one line: line ends and tabs are written as `\x0a` and `\x09`, too.
pub fn one_line(name: &str) -> String {
    printable(name).replace('\n', "\\x0a").replace('\t', "\\x09")
}

#[cfg(test)]
mod tests {
    use super::{one_line, printable};

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("read '\x1b[31mx\u{9b}'\r\n\tü"), "read '\\x1b[31mx\\x9b'\\x0d\n\tü");
        assert_eq!(one_line("host\x1b\n\tü"), "host\\x1b\\x0a\\x09ü");
    }
}
