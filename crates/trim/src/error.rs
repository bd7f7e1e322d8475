//! What can be wrong with the options.

use std::fmt;

/// Why options were refused. Its words are for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionError {
    /// fastp has no such option.
    Unknown(String),
    /// A word that belongs to no option.
    Stray(String),
    /// fastp has it, zerohop does not.
    Refused {
        /// The option.
        option: String,
        /// Why.
        reason: &'static str,
    },
    /// A value is missing.
    NeedsValue(String),
    /// There is a value, but the option takes none.
    TakesNoValue(String),
    /// The value is no number, or out of range.
    Number {
        /// The option.
        option: String,
        /// What was given.
        value: String,
        /// The least that may be.
        least: i64,
        /// The most that may be.
        most: i64,
    },
    /// The value is no adapter.
    Adapter {
        /// The option.
        option: String,
        /// What was given.
        value: String,
    },
    /// Two options contradict each other.
    Contradiction([&'static str; 2]),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown(option) => write!(f, "fastp has no option {option}"),
            OptionError::Stray(word) => write!(f, "'{word}' belongs to no option"),
            OptionError::Refused { option, reason } => write!(f, "{option} is not for zerohop: {reason}"),
            OptionError::NeedsValue(option) => write!(f, "{option} needs a value"),
            OptionError::TakesNoValue(option) => write!(f, "{option} takes no value"),
            OptionError::Number { option, value, least, most } => {
                write!(f, "{option} takes a number from {least} to {most}, not '{value}'")
            }
            OptionError::Adapter { option, value } => {
                write!(f, "{option} takes at least 4 letters, all of them A, C, G or T, not '{value}'")
            }
            OptionError::Contradiction([one, other]) => write!(f, "{one} and {other} contradict each other"),
        }
    }
}

impl std::error::Error for OptionError {}
