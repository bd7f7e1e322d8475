//! The forms of the output: what each is, and which program has it.

use crate::error::SearchError;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// A form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Columns with tabs between them.
    #[default]
    Tabular,
    /// diamond: the same, below a line with the names of the columns.
    Headed,
    /// Tabular with comments: BLAST's say of each query what was found, diamond's stand before the first.
    Commented,
    /// BLAST: columns with commas between them.
    Csv,
    /// diamond: SAM.
    Sam,
    /// diamond: alignments to be read by people.
    Pairwise,
}

impl Format {
    /// All that there are.
    pub const ALL: [Format; 6] =
        [Format::Tabular, Format::Headed, Format::Commented, Format::Csv, Format::Sam, Format::Pairwise];

    /// What a user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tabular => "tabular",
            Format::Headed => "headed",
            Format::Commented => "commented",
            Format::Csv => "csv",
            Format::Sam => "sam",
            Format::Pairwise => "pairwise",
        }
    }

    /// Whether a user chooses its columns.
    pub fn has_columns(self) -> bool {
        !matches!(self, Format::Sam | Format::Pairwise)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = SearchError;

    fn from_str(name: &str) -> Result<Self, SearchError> {
        let why = match name {
            "paf" => "diamond 2.1.3 writes no alignments in it",
            "xml" => "every hit in it has a number, which is another one after the merge",
            _ => "there is none of that name",
        };
        let all = Self::ALL.map(Self::name).join(", ");
        let refused =
            || SearchError::Arguments(format!("The format '{name}' is not to be had: {why}. Take one of {all}."));
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_told_why_not() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        let told = |name: &str| name.parse::<Format>().unwrap_err().to_string();
        assert!(told("paf").contains("no alignments"));
        assert!(told("xml").contains("every hit in it has a number"));
        assert!(told("daa").ends_with("Take one of tabular, headed, commented, csv, sam, pairwise."));
    }
}
