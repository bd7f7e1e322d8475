//! What the process was started with: its command line.

/// The command as it was typed, of the program that is called `program`.
pub fn command_line(program: &str) -> String {
    let quoted = |arg: String| match arg.contains([' ', '\t', '\'', '"', '\\']) {
        true => format!("'{}'", arg.replace('\'', r"'\''")),
        false => arg,
    };
    let arguments = std::env::args_os().skip(1).map(|arg| quoted(arg.to_string_lossy().into_owned()));
    std::iter::once(program.to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
