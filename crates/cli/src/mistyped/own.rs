//! The options that zerohop has.

use crate::args::Args;
use clap::CommandFactory;

/// The options of a command, and which of them have a value that is the next word.
pub(super) struct Own(Vec<(String, bool)>);

impl Own {
    pub(super) fn of_command(name: &str) -> Self {
        let program = Args::command();
        let arguments = program.find_subcommand(name).into_iter().flat_map(|command| command.get_arguments());
        let options = arguments.flat_map(|argument| {
            let has_value = argument.get_action().takes_values() && !argument.is_require_equals_set();
            let short = argument.get_short().map(|letter| format!("-{letter}"));
            let long = argument.get_long().map(|name| format!("--{name}"));
            [short, long].into_iter().flatten().map(move |name| (name, has_value))
        });
        let of_all = ["-h", "--help"].map(|name| (name.to_owned(), false));
        Own(options.chain(of_all).collect())
    }

    /// Whether the next word is the value of this option; none if it is no option of ours.
    pub(super) fn has_value(&self, word: &str) -> Option<bool> {
        let find = |name: &str| self.0.iter().find(|(own, _)| own == name).map(|(_, has_value)| *has_value);
        let (name, is_glued) = match word.split_once('=') {
            Some((name, _)) if word.starts_with("--") => (name, true),
            _ if !word.starts_with("--") && word.chars().count() > 2 => (word.get(..2)?, true),
            _ => (word, false),
        };
        find(name).map(|has_value| has_value && !is_glued)
    }
}

/// Whether a word is an option; '-' is standard input.
pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}
