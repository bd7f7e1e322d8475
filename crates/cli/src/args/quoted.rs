//! The options of another program in one word, quoted as in a shell.

use clap::Parser;

/// Takes them apart.
///
/// # Errors
/// In words: what they do not hold.
pub fn parse<T: Parser>(text: &str) -> Result<T, String> {
    let words = shlex::split(text).ok_or("a quote is not closed")?;
    T::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        // Without the usage.
        let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        lines.join(" ").trim_start_matches("error: ").to_owned()
    })
}
