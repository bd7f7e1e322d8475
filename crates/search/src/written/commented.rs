//! BLAST's tabular output with comments, and its columns with commas: the lines of alignments that are known already.

use super::{Alignment, Fault, Lines};
use crate::fasta::Batch;
use crate::frame::{Frame, Head};
use std::fmt::Display;

/// What BLAST says behind the number of hits.
const FOUND: &str = " hits found\n";

/// Gives each alignment its line; there are no other lines.
pub(crate) fn lines<'a>(lines: Lines<'a>, alignments: &mut [Alignment<'a>]) -> Result<(), Fault> {
    let mut count = 0;
    for (at, line) in lines {
        let alignment = alignments.get_mut(count).ok_or_else(|| Fault::new(at, "there are too many lines"))?;
        alignment.text = line;
        count += 1;
    }
    match count == alignments.len() {
        true => Ok(()),
        false => Err(Fault::new(count as u64, format!("{} lines are missing behind it", alignments.len() - count))),
    }
}

/// Gives each alignment its line, and takes the comments between them; those of the whole call the database `database`,
/// and say that its columns are `fields`.
pub(crate) fn comments<'a>(
    mut lines: Lines<'a>,
    alignments: &mut [Alignment<'a>],
    batch: &Batch,
    (database, fields): (&str, &str),
) -> Result<Frame, Fault> {
    let mut frame = Frame::default();
    let mut rest = alignments;
    let (queries, mut processed) = (batch.queries() as u32, 0);
    for (query, details) in (0..queries).zip(batch.details()) {
        let mut program = lines.expect("# ")?;
        // An archive has its queries in chunks, and each has its end.
        if program == end(query - processed).as_bytes() {
            processed = query;
            program = lines.expect("# ")?;
        }
        let name = lines.expect("# Query: ")?;
        // BLAST's archive holds ASCII alone; from its own memory BLAST prints all bytes.
        let own = [b"# Query: ", details.title].concat();
        let name = if own.is_ascii() { name } else { &own };
        lines.expect("# Database: ")?;
        let count = rest.iter().take_while(|alignment| alignment.query == query).count();
        if count > 0 {
            lines.expect(fields)?;
        }
        lines.expect(&format!("# {count} hits found"))?;
        let (of_query, behind) = std::mem::take(&mut rest).split_at_mut(count);
        for alignment in of_query {
            alignment.text = lines.expect("")?;
        }
        rest = behind;
        let begin = [program, b"\n", name, b"\n# Database: ", database.as_bytes(), b"\n"].concat();
        frame.heads.push(Head {
            none: [&begin, b"# 0".as_slice(), FOUND.as_bytes()].concat(),
            some: [&begin, fields.as_bytes(), b"\n# "].concat(),
            count: Some(FOUND),
        });
    }
    lines.expect(&end(queries - processed))?;
    if lines.next().is_some() {
        return Err(Fault::new(lines.number(), "it comes after the last"));
    }
    if batch.is_last {
        frame.closing = (end(batch.first + u64::from(queries)) + "\n").into_bytes();
    }
    Ok(frame)
}

/// BLAST's last words.
fn end(queries: impl Display) -> String {
    format!("# BLAST processed {queries} queries")
}

/// What comments call the columns: the line of that name in an output with some alignment, whose columns are also
/// counted.
pub(crate) fn fields(text: &[u8], columns: usize) -> Result<String, Fault> {
    let mut lines = Lines::new(text)?;
    let fields = lines.by_ref().map(|(_, line)| line).find(|line| line.starts_with(b"# Fields: "));
    let alignment = lines.by_ref().find(|(_, line)| !line.starts_with(b"# "));
    let Some((fields, (at, alignment))) = fields.zip(alignment) else {
        return Err(Fault::new(lines.number(), "the names of the columns are not there"));
    };
    let there = memchr::memchr_iter(b'\t', alignment).count() + 1;
    match there == columns {
        true => Ok(String::from_utf8_lossy(fields).into_owned()),
        false => Err(Fault::new(at, format!("it has {there} columns instead of {columns}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fasta::tests::batch;
    use crate::hit::set_lines;

    const FIELDS: &str = "# Fields: query id, evalue";
    const TEXT: &str = "# BLASTP 2\n# Query: a one\n# Database: part\n# Fields: query id, evalue\n# 2 hits \
        found\na\t1\na\t2\n\
                        # BLASTP 2\n# Query: b\n# Database: part\n# 0 hits found\n# BLAST processed 2 queries\n";

    fn alignments() -> [Alignment<'static>; 2] {
        let one = |line| Alignment { text: b"", query: 0, subject: b"s", evalue: 1.0, score: 9, lengths: None, line };
        [one(1), one(2)]
    }

    fn told(text: &str) -> Result<(Vec<String>, Frame), Fault> {
        let (mut alignments, mut batch) = (alignments(), batch(">a one\nM\n>b\nM\n"));
        batch.first = 7;
        let frame = comments(Lines::new(text.as_bytes())?, &mut alignments, &batch, ("whole", FIELDS))?;
        Ok((alignments.iter().map(|one| String::from_utf8_lossy(one.text).into_owned()).collect(), frame))
    }

    #[test]
    fn comments_are_those_of_the_whole() {
        let (texts, frame) = told(TEXT).unwrap();
        assert_eq!(texts, ["a\t1", "a\t2"]);
        let mut key = [0; 24];
        set_lines(&mut key, 3);
        let pieces = frame.pieces(&[(1, key)]);
        let text: Vec<String> =
            pieces.iter().map(|(at, text)| format!("{at}{}", String::from_utf8_lossy(text))).collect();
        let expected = [
            "0# BLASTP 2\n# Query: a one\n# Database: whole\n# 0 hits found\n",
            "0# BLASTP 2\n# Query: b\n# Database: whole\n# Fields: query id, evalue\n# 3 hits found\n",
            "1# BLAST processed 9 queries\n",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn another_manner_is_refused() {
        let fault = |from: &str, to: &str| told(&TEXT.replace(from, to)).unwrap_err().what;
        assert_eq!(fault("2 hits", "3 hits"), "it does not begin with '# 2 hits found'");
        assert_eq!(fault("evalue", "score"), "it does not begin with '# Fields: query id, evalue'");
        assert_eq!(fault("# BLAST processed 2 queries\n", ""), "it does not begin with '# BLAST processed 2 queries'");
        assert_eq!(fault("2 queries\n", "2 queries\nmore\n"), "it comes after the last");
        assert_eq!(fault("2 queries\n", "2 queries"), "it is cut off");
    }

    #[test]
    fn chunks_of_an_archive_have_their_ends() {
        let chunks =
            TEXT.replace("2\n# BLASTP", "2\n# BLAST processed 1 queries\n# BLASTP").replace("2 queries", "1 queries");
        assert_eq!(told(&chunks).unwrap(), told(TEXT).unwrap());
    }

    #[test]
    fn lines_are_as_many_as_alignments() {
        let told = |text: &'static str| lines(Lines::new(text.as_bytes())?, &mut alignments());
        assert!(told("a\nb\n").is_ok());
        assert_eq!(told("a\n").unwrap_err(), Fault::new(1, "1 lines are missing behind it"));
        assert_eq!(told("a\nb\nc\n").unwrap_err(), Fault::new(3, "there are too many lines"));
    }

    #[test]
    fn columns_are_named_and_counted() {
        let text = TEXT.as_bytes();
        assert_eq!(fields(text, 2).unwrap(), FIELDS);
        assert_eq!(fields(text, 3).unwrap_err().what, "it has 2 columns instead of 3");
        assert!(fields(b"# Query: a\n", 3).is_err());
    }
}
