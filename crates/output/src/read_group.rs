//! A read group (SAMv1, section 1.3, @RG).

use crate::header_line::fields;
use serde::{Deserialize, Serialize};

/// A read group, as a line @RG of the header has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadGroup {
    /// Its ID, which the RG field of records has.
    pub id: String,
    /// Its further fields, `TG:value` each.
    pub fields: Vec<String>,
}

/// What can be wrong with a read group line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadGroupError {
    /// It is not of the form of a header line.
    #[error("the read group line '{0}' must start with '@RG' and a tab (or \\t), as in '@RG\\tID:x\\tSM:y'")]
    NotALine(String),
    /// It names no ID, or several.
    #[error("the read group line '{0}' must have one ID, of characters of ASCII")]
    NoId(String),
    /// A backslash stands before something else than `t` or a backslash.
    #[error("the read group line '{0}' has '{1}', which stands for nothing: \\t is a tab, and \\\\ a backslash")]
    NoEscape(String, String),
    /// A line of a file is not text.
    #[error("the read group line '{0}' is not UTF-8: give the reads another read group (-R)")]
    NotUtf8(String),
    /// A field is given twice.
    #[error("the read group '{0}' has more than one {1}")]
    Twice(String, String),
    /// A field is not a field.
    #[error("'{0}' is not a read group field: it must be two letters, a colon and a value, as in 'SM:sample'")]
    NotAField(String),
}

impl ReadGroup {
    /// A read group from its ID and its fields.
    ///
    /// # Errors
    /// [`ReadGroupError::NotAField`], [`ReadGroupError::Twice`].
    pub fn new(id: &str, fields: &[String]) -> Result<Self, ReadGroupError> {
        let is_field = |f: &str| {
            let bytes = f.as_bytes();
            bytes.len() > 3
                && bytes[2] == b':'
                && bytes[..2].iter().all(u8::is_ascii_alphanumeric)
                && !bytes.iter().any(u8::is_ascii_control)
        };
        let id_field = format!("ID:{id}");
        let tags: Vec<&str> = fields.iter().chain([&id_field]).filter_map(|field| field.get(..2)).collect();
        if let Some(twice) = tags.iter().enumerate().find_map(|(at, tag)| tags[..at].contains(tag).then_some(tag)) {
            return Err(ReadGroupError::Twice(id.to_owned(), (*twice).to_owned()));
        }
        match fields.iter().chain([&id_field]).find(|f| !is_field(f)) {
            Some(odd) => Err(ReadGroupError::NotAField(odd.clone())),
            // It goes into each record as well, whose text fields hold nothing else (SAMv1, section 1.5).
            None if !id.bytes().all(|b| matches!(b, b' '..=b'~')) => Err(ReadGroupError::NotAField(id_field.clone())),
            None => Ok(ReadGroup { id: id.to_owned(), fields: fields.to_vec() }),
        }
    }

    /// A read group from a header line as `samtools addreplacerg -r` takes it: `\t` may stand for a tab, and `\\`
    /// stands for a backslash. (bwa leaves out what else follows a backslash, and a backslash itself in the header.)
    ///
    /// ```
    /// use zerohop_output::ReadGroup;
    /// let group = ReadGroup::parse(r"@RG\tID:lane1\tSM:NA12878").unwrap();
    /// assert_eq!(group.id, "lane1");
    /// ```
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn parse(line: &str) -> Result<Self, ReadGroupError> {
        let line = unescaped(line)?;
        let mut parts = line.split('\t');
        if parts.next() != Some("@RG") {
            return Err(ReadGroupError::NotALine(line));
        }
        let (ids, fields): (Vec<&str>, Vec<&str>) = parts.partition(|f| f.starts_with("ID:"));
        match ids[..].iter().map(|id| &id[3..]).collect::<Vec<_>>()[..] {
            [id] if !id.is_empty() => ReadGroup::new(id, &fields.into_iter().map(str::to_owned).collect::<Vec<_>>()),
            _ => Err(ReadGroupError::NoId(line.clone())),
        }
    }

    /// A read group from a line of another file's header, whose fields are kept as they stand there.
    ///
    /// # Errors
    /// A line that is not UTF-8, or names no ID that a record can hold.
    pub fn of_file(line: &[u8]) -> Result<Self, ReadGroupError> {
        let text = String::from_utf8_lossy(line);
        let Ok(line) = std::str::from_utf8(line) else { return Err(ReadGroupError::NotUtf8(text.into_owned())) };
        let (ids, fields): (Vec<String>, Vec<String>) =
            fields(line).into_iter().partition(|field| field.starts_with("ID:"));
        match &ids[..] {
            [id] if id.len() > 3 && id.bytes().all(|b| matches!(b, b' '..=b'~')) => {
                Ok(ReadGroup { id: id[3..].to_owned(), fields })
            }
            _ => Err(ReadGroupError::NoId(text.into_owned())),
        }
    }

    /// The library that its reads are of.
    pub(crate) fn library(&self) -> Option<&str> {
        self.fields.iter().find_map(|field| field.strip_prefix("LB:"))
    }
}

/// The line that is meant by one with escapes.
fn unescaped(line: &str) -> Result<String, ReadGroupError> {
    let (mut out, mut characters) = (String::with_capacity(line.len()), line.chars());
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('t') => out.push('\t'),
                Some('\\') => out.push('\\'),
                other => {
                    let escape = std::iter::once('\\').chain(other).collect();
                    return Err(ReadGroupError::NoEscape(line.to_owned(), escape));
                }
            },
            other => out.push(other),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_begins_an_escape_as_in_samtools() {
        let fields = |line: &str| ReadGroup::parse(line).map(|group| group.fields);
        assert_eq!(fields(r"@RG\tID:x\tDS:a\\b\\tc"), Ok(vec![r"DS:a\b\tc".to_owned()]));
        for (line, escape) in [(r"@RG\tID:x\tDS:a\nb", r"\n"), (r"@RG\tID:x\tDS:a\x", r"\x"), ("@RG\tID:x\\", "\\")] {
            assert_eq!(fields(line), Err(ReadGroupError::NoEscape(line.to_owned(), escape.to_owned())));
        }
    }

    #[test]
    fn lines_and_their_faults() {
        let group = ReadGroup::parse("@RG\tSM:s\tID:a b\tPL:ILLUMINA").unwrap();
        assert_eq!(group, ReadGroup { id: "a b".into(), fields: vec!["SM:s".into(), "PL:ILLUMINA".into()] });
        assert!(matches!(ReadGroup::parse("ID:x"), Err(ReadGroupError::NotALine(_))));
        for fields in [&["SM:x", "ID:y"][..], &["SM:x", "LB:l", "SM:y"]] {
            let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
            assert!(matches!(ReadGroup::new("1", &fields), Err(ReadGroupError::Twice(..))), "{fields:?}");
        }
        assert!(matches!(ReadGroup::parse(r"@RG\tSM:x"), Err(ReadGroupError::NoId(_))));
        assert!(matches!(ReadGroup::parse(r"@RG\tID:x\tS"), Err(ReadGroupError::NotAField(_))));
    }
}
