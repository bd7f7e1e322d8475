//! Command lines: that with which the process was started, and words of those that are to be typed.

/// The command as it was typed, of the program that is called `program`.
pub fn command_line(program: &str) -> String {
    let arguments = std::env::args_os().skip(1).map(|arg| quoted(&arg.to_string_lossy()));
    std::iter::once(program.to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it: in quotes, if it has blanks, or characters that mean something to a shell.
///
/// ```
/// use zerohop_process::quoted;
/// assert_eq!([quoted("a.fq"), quoted("a b"), quoted("")], ["a.fq", "'a b'", "''"]);
/// assert_eq!(quoted("it's $x"), r"'it'\''s $x'");
/// ```
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:=@%+,-~^".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
