//! What aligners warned of in runs that went well.
//!
//! A line of what an aligner writes on standard error is a warning if it has the word "warning", in any case, or `[W::`
//! as programs that use htslib's log levels have it. All else is progress.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use zerohop_model::error::printable;

/// The most different warnings that are shown.
const TOLD: usize = 5;
/// The most characters of a warning that are shown.
const TOLD_CHARS: usize = 200;
/// Bytes of a log that are looked at.
const LOOKED_AT: u64 = 16 << 20;

/// The first five different warnings in these logs, as lines that a terminal can show, and how many further lines warn
/// of something else. A log that cannot be read has none.
pub fn warnings(logs: &[PathBuf]) -> (Vec<String>, u64) {
    let (mut told, mut more) = (Vec::new(), 0);
    for log in logs {
        let Ok(file) = File::open(log) else { continue };
        let mut lines = BufReader::new(file.take(LOOKED_AT));
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let warning = warning(&line).filter(|warning| !told.contains(warning));
            match warning {
                Some(warning) if told.len() < TOLD => told.push(warning),
                Some(_) => more += 1,
                None => {}
            }
            line.clear();
        }
    }
    (told, more)
}

/// The warning in a line, as it is shown to the user, if there is one.
fn warning(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    if !text.contains("[W::") && !text.to_ascii_lowercase().contains("warning") {
        return None;
    }
    let text = without_colours(text.trim());
    let mut told: String = text.chars().take(TOLD_CHARS).collect();
    if told.len() < text.len() {
        told.push('…');
    }
    Some(printable(&told).into_owned())
}

/// The text without the escape sequences that set colours (`ESC [ ... m`).
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut out, part| {
        let codes = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        match part[codes..].strip_prefix('m') {
            Some(rest) => out.push_str(rest),
            None => out.extend(["\x1b[", part]),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_told_once_and_progress_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let log = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let one = log("1", "[M::main] done\n[WARNING]\x1b[1;31m odd index\x1b[0m\nWarning: a\n[W::read] b\x07\n");
        let two =
            log("2", &format!("warning: a\nWarning: a\n{}\nWARNING c\nWARNING d\nWARNING d", "warning".repeat(99)));
        let (told, more) = warnings(&[one, dir.path().join("none"), two]);
        let long = "warning".repeat(29)[..200].to_owned() + "…";
        assert_eq!(told, ["[WARNING] odd index", "Warning: a", "[W::read] b\\x07", "warning: a", &long]);
        assert_eq!(more, 3);
    }
}
