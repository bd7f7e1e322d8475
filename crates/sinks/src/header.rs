//! The header of an alignment file (SAMv1, sections 1.3 and 4.2).

use std::fmt::Write;
use zerohop_model::record::Contig;

/// A read group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadGroup {
    /// Its ID.
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
    #[error("the read group line '{0}' must have one ID")]
    NoId(String),
    /// A field is not a field.
    #[error("'{0}' is not a read group field: it must be two letters, a colon and a value, as in 'SM:sample'")]
    NotAField(String),
}

impl ReadGroup {
    /// A read group from its ID and its fields.
    ///
    /// # Errors
    /// [`ReadGroupError::NotAField`].
    pub fn new(id: &str, fields: &[String]) -> Result<Self, ReadGroupError> {
        let is_field = |f: &str| {
            let bytes = f.as_bytes();
            bytes.len() > 3
                && bytes[2] == b':'
                && bytes[..2].iter().all(u8::is_ascii_alphanumeric)
                && !bytes.iter().any(u8::is_ascii_control)
        };
        let id_field = format!("ID:{id}");
        match fields.iter().chain([&id_field]).find(|f| !is_field(f)) {
            Some(odd) => Err(ReadGroupError::NotAField(odd.clone())),
            // It goes into each record as well, whose text fields hold nothing else (SAMv1, section 1.5).
            None if !id.bytes().all(|b| matches!(b, b' '..=b'~')) => Err(ReadGroupError::NotAField(id_field.clone())),
            None => Ok(ReadGroup { id: id.to_owned(), fields: fields.to_vec() }),
        }
    }

    /// A read group from a header line as `bwa mem -R` takes it: `\t` may stand for a tab.
    ///
    /// ```
    /// use zerohop_sinks::ReadGroup;
    /// let group = ReadGroup::parse(r"@RG\tID:lane1\tSM:NA12878").unwrap();
    /// assert_eq!(group.id, "lane1");
    /// ```
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn parse(line: &str) -> Result<Self, ReadGroupError> {
        let line = line.replace("\\t", "\t");
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
}

/// A program that had a part in the records, for @PG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name, used as its ID too.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its command line, if it had one.
    pub command_line: Option<String>,
}

/// What the header says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// The reference's sequences.
    pub contigs: Vec<Contig>,
    /// The read groups.
    pub read_groups: Vec<ReadGroup>,
    /// The programs, first the one that ran first.
    pub programs: Vec<Program>,
}

impl Header {
    /// The header as text. Its @HD line is that of strobealign, so that outputs can be compared as a whole.
    pub fn text(&self) -> String {
        let mut out = String::from("@HD\tVN:1.6\tSO:unsorted\n");
        // Writing to a string cannot fail.
        for contig in &self.contigs {
            let _ = writeln!(out, "@SQ\tSN:{}\tLN:{}", contig.name, contig.length);
        }
        for group in &self.read_groups {
            let _ = write!(out, "@RG\tID:{}", group.id);
            for field in &group.fields {
                let _ = write!(out, "\t{field}");
            }
            out.push('\n');
        }
        let mut previous = None;
        for program in &self.programs {
            let _ = write!(out, "@PG\tID:{0}\tPN:{0}", program.name);
            if let Some(previous) = previous.replace(&program.name) {
                let _ = write!(out, "\tPP:{previous}");
            }
            let _ = write!(out, "\tVN:{}", program.version);
            if let Some(line) = &program.command_line {
                // A tab or a line end in an argument would end the field.
                let line = line.replace(|c: char| c.is_ascii_control(), " ");
                let _ = write!(out, "\tCL:{line}");
            }
            out.push('\n');
        }
        out
    }

    /// The header as BAM has it, before compression.
    pub fn bam(&self) -> Vec<u8> {
        let text = self.text();
        let mut out = b"BAM\x01".to_vec();
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(&(self.contigs.len() as u32).to_le_bytes());
        for contig in &self.contigs {
            out.extend_from_slice(&(contig.name.len() as u32 + 1).to_le_bytes());
            out.extend_from_slice(contig.name.as_bytes());
            out.push(0);
            out.extend_from_slice(&(contig.length as u32).to_le_bytes());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_faults() {
        let group = ReadGroup::parse("@RG\tSM:s\tID:a b\tPL:ILLUMINA").unwrap();
        assert_eq!(group, ReadGroup { id: "a b".into(), fields: vec!["SM:s".into(), "PL:ILLUMINA".into()] });
        assert!(matches!(ReadGroup::parse("ID:x"), Err(ReadGroupError::NotALine(_))));
        assert!(matches!(ReadGroup::parse(r"@RG\tSM:x"), Err(ReadGroupError::NoId(_))));
        assert!(matches!(ReadGroup::parse(r"@RG\tID:x\tS"), Err(ReadGroupError::NotAField(_))));
    }

    #[test]
    fn programs_are_chained() {
        let program = |name: &str, line: Option<&str>| Program {
            name: name.into(),
            version: "1".into(),
            command_line: line.map(Into::into),
        };
        let header = Header {
            contigs: vec![Contig { name: "c".into(), length: 9 }],
            read_groups: vec![ReadGroup::parse(r"@RG\tID:x\tSM:y").unwrap()],
            programs: vec![program("a", None), program("b", Some("b -R '\t'"))],
        };
        let expected = "@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:c\tLN:9\n@RG\tID:x\tSM:y\n@PG\tID:a\tPN:a\tVN:1\n\
                        @PG\tID:b\tPN:b\tPP:a\tVN:1\tCL:b -R ' '\n";
        assert_eq!(header.text(), expected);
    }
}
