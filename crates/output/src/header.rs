//! The header of an alignment file (SAMv1, sections 1.3 and 4.2).

use crate::header_line::{Renamed, field, free_id, ids, last_ids, new_ids, with_new_ids};
use crate::history::History;
use crate::order::SortOrder;
use crate::read_group::ReadGroup;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use zerohop_model::record::Contig;

/// The @HD line of a program that writes none: its records come in the order of the reads, those of a read together.
const PROGRAM_HEAD: &str = "@HD\tVN:1.6\tSO:unsorted\tGO:query";
/// The @HD line that strobealign writes.
const STROBEALIGNS_HEAD: &str = "@HD\tVN:1.6\tSO:unsorted";
/// What names of contigs may not hold.
const ODD_IN_CONTIGS: [char; 14] = ['\\', ',', '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ' '];
/// Fields of a record before the optional ones (SAMv1, section 1.4).
const OPTIONAL: usize = 11;
/// Bytes of a program's words that a message quotes at most.
const QUOTED: usize = 80;

/// A program that had a part in the records, for @PG.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name (PN), used as its ID too.
    pub name: String,
    /// Its version (VN).
    pub version: String,
    /// What it is (DS), where name and version do not say enough.
    pub description: Option<String>,
    /// Its command line (CL), if it had one.
    pub command_line: Option<String>,
}

/// What can be wrong with the header that a program wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A line is not a line of a header.
    #[error("line {line} of the aligner's header, '{text}', is not a header line (as @SQ, a tab and fields are)")]
    NotALine {
        /// Its number, from 1.
        line: usize,
        /// The line, or its start.
        text: String,
    },
    /// There are two @HD lines.
    #[error("line {0} of the aligner's header is a second @HD line")]
    SecondHead(usize),
    /// A line lacks a field without which it says nothing.
    #[error("line {line} of the aligner's header, an {kind} line, has no valid {field}")]
    NoField {
        /// Its number, from 1.
        line: usize,
        /// The code that the line starts with, such as @SQ.
        kind: &'static str,
        /// The field that is missing.
        field: &'static str,
    },
    /// A contig is longer than positions go.
    #[error("line {line} of the aligner's header: {what}")]
    TooLong {
        /// Its number, from 1.
        line: usize,
        /// Which contig, and how long it is.
        what: String,
    },
    /// Two contigs cannot be told apart.
    #[error("the aligner's header names the contig '{0}' twice")]
    SameContig(String),
    /// The program's header has a read group with the same ID, and other fields.
    #[error("the read group '{0}' is in the aligner's header already, with other fields: give it another ID")]
    OtherReadGroup(String),
}

/// The header of the output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The lines of a program that wrote a header itself, without their ends, @HD first; empty when there is none. What
    /// they say is not said again.
    pub lines: Vec<String>,
    /// The reference's sequences, also those in `lines`.
    pub contigs: Vec<Contig>,
    /// Our read groups.
    pub read_groups: Vec<ReadGroup>,
    /// Whether records have these alone, and none that the program made up.
    #[serde(default)]
    pub has_own_groups_alone: bool,
    /// What was done to the reads before.
    #[serde(default)]
    pub history: History,
    /// Programs of the aligner that have another ID than it gave them.
    #[serde(default)]
    pub renamed: Renamed,
    /// Our programs, first the one that ran first.
    pub programs: Vec<Program>,
    /// Whether @HD is that of strobealign, so that outputs can be compared as a whole, where there are no lines of a
    /// program.
    #[serde(default)]
    pub has_strobealigns_head: bool,
    /// The order of the records, if they are sorted.
    pub order: Option<SortOrder>,
}

impl Header {
    /// A header that a program wrote: lines that start with `@`. They stay as they are, in their order, but for @HD,
    /// which is put first, or made if there is none.
    ///
    /// ```
    /// use zerohop_output::Header;
    /// let header = Header::from_program(b"@SQ\tSN:chr1\tLN:9\tM5:0123\n@PG\tID:bwa\n").unwrap();
    /// assert_eq!(header.contigs[0].name, "chr1");
    /// assert!(header.text().ends_with("@SQ\tSN:chr1\tLN:9\tM5:0123\n@PG\tID:bwa\n"));
    /// ```
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn from_program(text: &[u8]) -> Result<Self, HeaderError> {
        let mut header = Header::default();
        let mut head = None;
        for (line, number) in text.split_inclusive(|&b| b == b'\n').zip(1..) {
            let line = checked_line(line.strip_suffix(b"\n").unwrap_or(line), number)?;
            match line.starts_with("@HD") {
                true if head.is_some() => return Err(HeaderError::SecondHead(number)),
                true => head = Some(line.into_owned()),
                false => header.keep(&line, number)?,
            }
        }
        header.lines.insert(0, head.unwrap_or_else(|| PROGRAM_HEAD.to_owned()));
        let mut names = HashSet::new();
        match header.contigs.iter().find(|contig| !names.insert(&contig.name)) {
            Some(contig) => Err(HeaderError::SameContig(contig.name.clone())),
            None => Ok(header),
        }
    }

    fn keep(&mut self, line: &str, number: usize) -> Result<(), HeaderError> {
        let lacks = |kind, field| HeaderError::NoField { line: number, kind, field };
        let has_id = field(line, "ID").is_some_and(|id| !id.is_empty());
        match &line[..3] {
            "@SQ" => {
                let contig = contig(line).map_err(|field| lacks("@SQ", field))?;
                if let Some(what) = contig.too_long() {
                    return Err(HeaderError::TooLong { line: number, what });
                }
                self.contigs.push(contig);
            }
            "@RG" if !has_id => return Err(lacks("@RG", "ID")),
            "@PG" if !has_id => return Err(lacks("@PG", "ID")),
            _ => {}
        }
        self.lines.push(line.to_owned());
        Ok(())
    }

    /// The same header with our read groups. One that the program has written, too, is not written twice.
    ///
    /// # Errors
    /// [`HeaderError::OtherReadGroup`] if they differ.
    pub fn with_read_groups(mut self, groups: Vec<ReadGroup>) -> Result<Self, HeaderError> {
        for group in &groups {
            if self.kept("@RG").any(|line| field(line, "ID") == Some(&group.id) && !says_the_same(line, group)) {
                return Err(HeaderError::OtherReadGroup(group.id.clone()));
            }
        }
        self.read_groups = groups;
        Ok(self)
    }

    /// The same header with what was done to the reads before. Programs of the aligner that have the ID of an earlier
    /// one get another.
    #[must_use]
    pub fn with_history(mut self, history: History) -> Self {
        let earlier = history.programs();
        self.renamed = new_ids(&ids(self.kept("@PG")), &ids(earlier.iter().map(String::as_str)));
        if !self.renamed.is_empty() {
            let programs = self.lines.iter_mut().filter(|line| line.starts_with("@PG"));
            programs.for_each(|line| *line = with_new_ids(line, &self.renamed));
        }
        self.history = history;
        self
    }

    /// A record of the aligner, as a line of SAM, whose PG names the program that it did for the aligner.
    pub(crate) fn with_program<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        let new = |field: &[u8]| self.renamed.get(std::str::from_utf8(field.strip_prefix(b"PG:Z:")?).ok()?);
        if self.renamed.is_empty() || !line.split(|&b| b == b'\t').skip(OPTIONAL).any(|field| new(field).is_some()) {
            return Cow::Borrowed(line);
        }
        let fields = line.split(|&b| b == b'\t').enumerate().map(|(at, field)| {
            let id = new(field).filter(|_| at >= OPTIONAL);
            id.map_or_else(|| field.to_owned(), |id| [b"PG:Z:", id.as_bytes()].concat())
        });
        Cow::Owned(fields.collect::<Vec<_>>().join(&b'\t'))
    }

    /// Leaves out the read groups that the program made up, if we have any.
    pub fn drop_other_read_groups(&mut self) {
        let ours = |line: &String| self.read_groups.iter().any(|group| field(line, "ID") == Some(&group.id));
        self.has_own_groups_alone = !self.read_groups.is_empty();
        if self.has_own_groups_alone {
            self.lines.retain(|line| !line.starts_with("@RG") || ours(line));
        }
    }

    /// Whether two copies of a program wrote the same header: they may differ in @PG and @CO lines, and in what we add.
    pub fn same_as(&self, other: &Self) -> bool {
        fn compared(header: &Header) -> impl Iterator<Item = &String> {
            header.lines.iter().filter(|line| !line.starts_with("@PG") && !line.starts_with("@CO"))
        }
        self.contigs == other.contigs && compared(self).eq(compared(other))
    }

    /// The first contig with a name that SAM does not allow (SAMv1, section 1.2.1). samtools takes such names, htsjdk
    /// does not; nor does it take some that start with other characters.
    pub fn odd_contig(&self) -> Option<&str> {
        let is_odd = |name: &&str| name.contains(ODD_IN_CONTIGS) || name.starts_with(['*', '=']);
        self.contigs.iter().map(|contig| &*contig.name).find(is_odd)
    }

    /// The program's lines of a kind.
    fn kept<'a>(&'a self, kind: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        self.lines.iter().map(String::as_str).filter(move |line| line.starts_with(kind))
    }

    /// The ID of what ran last before our programs: of the aligner's @PG lines that to which no other refers; if it
    /// wrote none, that of the history.
    fn last_program(&self) -> Option<String> {
        let kept: Vec<&str> = self.kept("@PG").collect();
        match kept.last().and_then(|line| field(line, "ID")) {
            // In a circle there is no end.
            Some(last) => Some(last_ids(&kept).last().copied().unwrap_or(last).to_owned()),
            None => self.history.last(),
        }
    }

    /// The header as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let own = if self.has_strobealigns_head { STROBEALIGNS_HEAD } else { PROGRAM_HEAD };
        let head = self.lines.first().map_or(own, String::as_str);
        // Here and below: writing to a string cannot fail.
        match self.order {
            None => out.push_str(head),
            Some(order) => push_sorted_head(&mut out, head, order),
        }
        for kept in self.history.head_fields().iter().filter(|kept| field(head, &kept[..2]).is_none()) {
            let _ = write!(out, "\t{kept}");
        }
        out.push('\n');
        for line in self.lines.iter().skip(1) {
            let _ = writeln!(out, "{line}");
        }
        if self.lines.is_empty() {
            for contig in &self.contigs {
                let alternate = if contig.is_alternate { "\tAH:*" } else { "" };
                let _ = writeln!(out, "@SQ\tSN:{}\tLN:{}{alternate}", contig.name, contig.length);
            }
        }
        self.push_read_groups(&mut out);
        self.push_programs(&mut out);
        out
    }

    fn push_read_groups(&self, out: &mut String) {
        let kept: HashSet<&str> = self.kept("@RG").filter_map(|line| field(line, "ID")).collect();
        for group in self.read_groups.iter().filter(|group| !kept.contains(&*group.id)) {
            let _ = write!(out, "@RG\tID:{}", group.id);
            for field in &group.fields {
                let _ = write!(out, "\t{field}");
            }
            out.push('\n');
        }
    }

    /// Each program refers to the one before; the first of ours to the last of what is there.
    fn push_programs(&self, out: &mut String) {
        let earlier = self.history.programs();
        let all = self.kept("@PG").chain(earlier.iter().map(String::as_str));
        let mut taken: HashSet<String> = ids(all).into_iter().map(str::to_owned).collect();
        for line in &earlier {
            let _ = writeln!(out, "{line}");
        }
        let mut previous = self.last_program();
        for program in &self.programs {
            let id = free_id(&program.name, |id| taken.contains(id));
            let _ = write!(out, "@PG\tID:{id}\tPN:{}", program.name);
            if let Some(previous) = previous.replace(id.clone()) {
                let _ = write!(out, "\tPP:{previous}");
            }
            let _ = write!(out, "\tVN:{}", program.version);
            if let Some(description) = &program.description {
                let _ = write!(out, "\tDS:{description}");
            }
            if let Some(line) = &program.command_line {
                // A tab or a line end in an argument would end the field.
                let line = line.replace(|c: char| c.is_ascii_control(), " ");
                let _ = write!(out, "\tCL:{line}");
            }
            out.push('\n');
            taken.insert(id);
        }
        for line in self.history.comments() {
            let _ = writeln!(out, "{line}");
        }
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

/// An @HD line that says how the records are sorted instead of how they were ordered or grouped before.
fn push_sorted_head(out: &mut String, line: &str, order: SortOrder) {
    let is_other = |field: &&str| !["SO:", "GO:", "SS:"].iter().any(|order| field.starts_with(order));
    for field in line.split('\t').filter(is_other) {
        out.push_str(field);
        out.push('\t');
    }
    out.push_str(order.header_fields());
}

/// A line as text: `@`, two letters, a tab, and then no control characters but tabs. A header is UTF-8 (SAMv1, section
/// 1.3); the command line in @PG has paths, which may be any bytes: those that are no text are replaced.
fn checked_line(line: &[u8], number: usize) -> Result<Cow<'_, str>, HeaderError> {
    let is_header = matches!(line, [b'@', a, b, b'\t', ..] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic());
    let controls = line.iter().any(|b| b.is_ascii_control() && *b != b'\t');
    let text = match line.starts_with(b"@PG") {
        true => Some(String::from_utf8_lossy(line)),
        false => std::str::from_utf8(line).ok().map(Cow::Borrowed),
    };
    text.filter(|_| is_header && !controls).ok_or_else(|| HeaderError::NotALine {
        line: number,
        text: line[..line.len().min(QUOTED)].escape_ascii().to_string(),
    })
}

/// The contig of an @SQ line, or the field that is at fault.
fn contig(line: &str) -> Result<Contig, &'static str> {
    let valid =
        |name: &&str| !name.is_empty() && !name.starts_with(['*', '=']) && name.bytes().all(|b| b.is_ascii_graphic());
    let name = field(line, "SN").filter(valid).ok_or("SN")?;
    let length = field(line, "LN").and_then(|length| length.parse().ok()).ok_or("LN")?;
    Ok(Contig { is_alternate: field(line, "AH").is_some(), ..Contig::new(name, length) })
}

fn says_the_same(line: &str, group: &ReadGroup) -> bool {
    let mut theirs: Vec<&str> = line.split('\t').skip(1).filter(|field| !field.starts_with("ID:")).collect();
    let mut ours: Vec<&str> = group.fields.iter().map(String::as_str).collect();
    theirs.sort_unstable();
    ours.sort_unstable();
    theirs == ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_chained() {
        let program = |name: &str, line: Option<&str>| Program {
            name: name.into(),
            version: "1".into(),
            description: line.is_none().then(|| "as c 2".into()),
            command_line: line.map(Into::into),
        };
        let header = Header {
            contigs: vec![Contig::new("c", 9)],
            read_groups: vec![ReadGroup::parse(r"@RG\tID:x\tSM:y").unwrap()],
            programs: vec![program("a", None), program("b", Some("b -R '\t'"))],
            ..Header::default()
        };
        let expected = "\tGO:query\n@SQ\tSN:c\tLN:9\n@RG\tID:x\tSM:y\n@PG\tID:a\tPN:a\tVN:1\tDS:as c 2\n\
                        @PG\tID:b\tPN:b\tPP:a\tVN:1\tCL:b -R ' '\n";
        let head = "@HD\tVN:1.6\tSO:unsorted";
        assert_eq!(header.text(), format!("{head}{expected}"));
        let as_strobealign = Header { has_strobealigns_head: true, ..header };
        assert_eq!(as_strobealign.text(), format!("{head}{}", expected.replace("\tGO:query", "")));
    }

    #[test]
    fn names_of_contigs_that_other_programs_refuse_are_found() {
        let found = |names: &[&str]| {
            let contigs = names.iter().map(|name| Contig::new(*name, 9)).collect();
            Header { contigs, ..Header::default() }.odd_contig().map(str::to_owned)
        };
        assert_eq!(found(&["chr1", "HLA-A*01:01", "a=b", "x!#$%&+./:;?@^_|~-"]), None);
        for odd in ["a,b", "a(1)", "a)", "<a", "a>", "[a", "a]", "{a", "a}", "a'", "a\"", "a`", "a\\", "*a", "=a"] {
            assert_eq!(found(&["chr1", odd]).as_deref(), Some(odd));
        }
    }

    fn program(name: &str) -> Program {
        Program { name: name.into(), version: "2".into(), description: None, command_line: None }
    }

    #[test]
    fn the_lines_of_a_program_are_kept() {
        let text = "@SQ\tSN:c1\tLN:9\tM5:ab\tUR:file:/x y\n@SQ\tLN:7\tSN:HLA-A*01:01\n@CO\t\u{e4} \
            b\tc\n@RG\tID:g\tSM:s\n\
                    @PG\tID:bwa\tPN:bwa\tCL:bwa mem -R @RG\tID:zerohop\n@xx\tY:1\n";
        let header = Header::from_program(text.as_bytes()).unwrap();
        let contig = |name: &str, length| Contig::new(name, length);
        assert_eq!(header.contigs, [contig("c1", 9), contig("HLA-A*01:01", 7)]);
        assert_eq!(header.text(), format!("@HD\tVN:1.6\tSO:unsorted\tGO:query\n{text}"));
        let groups = [r"@RG\tID:g\tSM:s", r"@RG\tID:h\tSM:s"].map(|line| ReadGroup::parse(line).unwrap());
        let header = Header { programs: vec![program("zerohop")], ..header.with_read_groups(groups.to_vec()).unwrap() };
        let ours = "@RG\tID:h\tSM:s\n@PG\tID:zerohop\tPN:zerohop\tPP:bwa\tVN:2\n";
        assert_eq!(header.text(), format!("@HD\tVN:1.6\tSO:unsorted\tGO:query\n{text}{ours}"));
        let bam = header.bam();
        assert!(bam.ends_with(b"\x02\0\0\0\x03\0\0\0c1\0\x09\0\0\0\x0c\0\0\0HLA-A*01:01\0\x07\0\0\0"));
        assert_eq!(&bam[8..8 + header.text().len()], header.text().as_bytes());
    }

    #[test]
    fn the_head_of_a_program_comes_first() {
        let header = Header::from_program(b"@SQ\tSN:c\tLN:0\n@HD\tVN:1.0").unwrap();
        assert_eq!(header.text(), "@HD\tVN:1.0\n@SQ\tSN:c\tLN:0\n");
        let odd = Header::from_program(b"@PG\tID:a\tCL:x \xff.fa\n").unwrap();
        assert!(odd.text().ends_with("@PG\tID:a\tCL:x \u{fffd}.fa\n"));
        assert_eq!(Header::from_program(b"").unwrap().text(), "@HD\tVN:1.6\tSO:unsorted\tGO:query\n");
    }

    #[test]
    fn earlier_programs_keep_their_ids() {
        let mut history = History::default();
        history.add(&["@PG\tID:bwa", "@PG\tID:x\tPP:bwa", "@CO\tc"]);
        let header = Header::from_program(b"@PG\tID:bwa\tCL:bwa mem\n@PG\tID:y\tPP:bwa\n").unwrap();
        let header = Header { programs: vec![program("x")], ..header.with_history(history.clone()) };
        let record =
            |id: &str| format!("PG:Z:bwa\t4\t*\t0\t0\t*\t*\t0\t0\tA\tPG:Z:bwa\tPG:Z:{id}\tNM:i:0").into_bytes();
        assert_eq!(*header.with_program(&record("bwa")), record("bwa.1"));
        assert!(matches!(header.with_program(&record("z")), Cow::Borrowed(_)));
        let text = header.text();
        let expected = "@PG\tID:bwa.1\tCL:bwa mem\n@PG\tID:y\tPP:bwa.1\n@PG\tID:bwa\n@PG\tID:x\tPP:bwa\n\
                        @PG\tID:x.1\tPN:x\tPP:y\tVN:2\n@CO\tc\n";
        assert_eq!(text.split_once('\n').unwrap().1, expected);
        let own = Header { programs: vec![program("z")], history: history.clone(), ..Header::default() };
        assert!(own.text().contains("@PG\tID:z\tPN:z\tPP:x\t"));
        history.add(&[]);
        assert!(Header { history, ..own }.text().contains("@PG\tID:z\tPN:z\tVN:2"), "of some reads nothing is known");
    }

    #[test]
    fn our_programs_follow_the_last_of_the_program() {
        let chained = |kept: &str| {
            let header = Header::from_program(kept.as_bytes()).unwrap();
            let text = Header { programs: vec![program("zerohop"), program("x")], ..header }.text();
            text.split_once(kept).unwrap().1.replace("\tVN:2", "")
        };
        let zerohop = |before: &str| format!("@PG\tID:zerohop\tPN:zerohop{before}\n@PG\tID:x\tPN:x\tPP:zerohop\n");
        assert_eq!(chained("@CO\tno program\n"), zerohop(""));
        assert_eq!(chained("@PG\tID:a\n@PG\tID:b\tPP:a\n"), zerohop("\tPP:b"));
        assert_eq!(chained("@PG\tPP:a\tID:b\n@PG\tID:a\n"), zerohop("\tPP:b"));
        assert_eq!(chained("@PG\tID:a\n@PG\tID:b\n"), zerohop("\tPP:b"));
        assert_eq!(chained("@PG\tID:a\tPP:b\n@PG\tID:b\tPP:a\n"), zerohop("\tPP:b"));
        let taken = "@PG\tID:zerohop.1\tPP:zerohop\n@PG\tID:zerohop\n";
        let expected = "@PG\tID:zerohop.2\tPN:zerohop\tPP:zerohop.1\n@PG\tID:x\tPN:x\tPP:zerohop.2\n";
        assert_eq!(chained(taken), expected);
    }

    #[test]
    fn faults_of_a_program() {
        let lines = [
            (&b"r1\t4\t*"[..], "line 1 of the aligner's header, 'r1\\t4\\t*', is not a header line"),
            (b"@SQ\tSN:a\tLN:1\n\n@CO\tx\n", "line 2 of the aligner's header, '', is not"),
            (b"@SQ", "line 1 of the aligner's header, '@SQ', is not"),
            (b"@1Q\tSN:a", "'@1Q\\tSN:a', is not"),
            (b"@CO\t\xff", "'@CO\\t\\xff', is not"),
            (b"@CO\ta\0", "'@CO\\ta\\x00', is not"),
            (b"@HD\tVN:1.6\n@HD\tVN:1.6", "line 2 of the aligner's header is a second @HD line"),
            (b"@SQ\tLN:1", "line 1 of the aligner's header, an @SQ line, has no valid SN"),
            (b"@SQ\tSN:\tLN:1", "has no valid SN"),
            (b"@SQ\tSN:*\tLN:1", "has no valid SN"),
            (b"@SQ\tSN:a b\tLN:1", "has no valid SN"),
            (b"@SQ\tSN:a", "has no valid LN"),
            (b"@SQ\tSN:a\tLN:-1", "has no valid LN"),
            (
                b"@SQ\tSN:a\tLN:2147483648",
                "line 1 of the aligner's header: the contig 'a' has 2147483648 bases, and SAM and BAM",
            ),
            (
                b"@SQ\tSN:b\tLN:2147483647\n@SQ\tSN:a\tLN:4294967301",
                "line 2 of the aligner's header: the contig 'a' has 4294967301",
            ),
            (b"@SQ\tSN:a\tLN:1\n@SQ\tSN:a\tLN:1", "names the contig 'a' twice"),
            (b"@RG\tSM:s", "an @RG line, has no valid ID"),
            (b"@PG\tPN:s", "an @PG line, has no valid ID"),
        ];
        for (text, words) in lines {
            let said = Header::from_program(text).unwrap_err().to_string();
            assert!(said.contains(words), "{}: {said}", text.escape_ascii());
        }
        let header = Header::from_program(b"@RG\tID:g\tSM:s\tPL:x\n").unwrap();
        let with = |line| header.clone().with_read_groups(vec![ReadGroup::parse(line).unwrap()]);
        assert!(with(r"@RG\tID:g\tPL:x\tSM:s").is_ok());
        assert_eq!(with(r"@RG\tID:g\tSM:s"), Err(HeaderError::OtherReadGroup("g".into())));
    }

    #[test]
    fn copies_of_a_program_differ_in_programs_and_comments_alone() {
        let header = |text: &str| Header::from_program(text.as_bytes()).unwrap();
        let one = header("@SQ\tSN:a\tLN:1\n@PG\tID:a\tCL:a -p 1\n@CO\tx\n@RG\tID:g\n");
        assert!(one.same_as(&header("@PG\tID:b\n@SQ\tSN:a\tLN:1\n@RG\tID:g\n")));
        for other in ["@SQ\tSN:a\tLN:1\tM5:x\n@RG\tID:g\n", "@SQ\tSN:a\tLN:2\n@RG\tID:g", "@SQ\tSN:a\tLN:1\n", ""] {
            assert!(!one.same_as(&header(other)), "{other}");
        }
        let ours = |name: &str| Header { contigs: vec![Contig::new(name, 1)], ..Header::default() };
        assert!(ours("a").same_as(&ours("a")) && !ours("a").same_as(&ours("b")));
    }
}
