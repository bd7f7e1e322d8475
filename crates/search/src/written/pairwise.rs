//! diamond's alignments for people. They tell E-value, raw score and the subject's length by themselves.

use super::{Alignment, Fault, Lines, number};
use crate::fasta::Batch;
use crate::frame::{Frame, Head};

/// What an alignment begins with, and what a query.
const SUBJECT: &str = ">";
const QUERY: &str = "Query= ";
const NO_HITS: &str = "\n***** No hits found *****\n\n\n";

/// The first lines.
pub(crate) fn opening(lines: &mut Lines<'_>) -> Result<Vec<u8>, Fault> {
    let name = lines.expect("BLAST")?;
    lines.expect("")?;
    lines.expect("")?;
    Ok([name, b"\n\n\n"].concat())
}

/// The alignments. Where `swapped`, diamond says of just those queries that have some that there are none.
pub(crate) fn alignments<'a>(
    mut lines: Lines<'a>,
    batch: &Batch,
    swapped: bool,
) -> Result<(Vec<Alignment<'a>>, Frame), Fault> {
    let mut alignments = Vec::new();
    let mut frame = Frame::default();
    // Where nothing at all has a seed, diamond says nothing of any query.
    let is_told = !lines.rest().is_empty();
    for (number, query) in (0..).zip(batch.details()) {
        let intro = [QUERY.as_bytes(), query.title, format!("\n\nLength={}\n\n", query.letters).as_bytes()].concat();
        let noted = [&intro, NO_HITS.as_bytes()].concat();
        if is_told {
            let rest = lines.rest();
            if !rest.starts_with(&intro) {
                let name = String::from_utf8_lossy(query.name);
                let what = format!("query '{name}' is told otherwise than this version of diamond does");
                return Err(Fault::new(lines.number() + 1, what));
            }
            let is_noted = rest.starts_with(&noted);
            lines.skip_bytes(if is_noted { noted.len() } else { intro.len() });
            let first = alignments.len();
            while lines.rest().starts_with(SUBJECT.as_bytes()) {
                alignments.push(alignment(&mut lines, number, query.letters)?);
            }
            if (alignments.len() > first) != (is_noted == swapped) {
                let what = "a query with hits is said to have none, or the other way round";
                return Err(Fault::new(lines.number(), what));
            }
        }
        let (none, some) = if swapped { (intro, noted) } else { (noted, intro) };
        frame.heads.push(Head { none, some, count: None });
    }
    match lines.next() {
        None => Ok((alignments, frame)),
        Some((at, _)) => Err(Fault::new(at, "it belongs to no query")),
    }
}

/// One alignment, up to the next or the next query.
fn alignment<'a>(lines: &mut Lines<'a>, query: u32, letters: u64) -> Result<Alignment<'a>, Fault> {
    let block = lines.rest();
    let title = lines.expect(SUBJECT)?;
    let line = lines.number();
    let fault = |what: String| Fault::new(line, what);
    let length = lines.expect("Length=")?;
    lines.expect("")?;
    let score = lines.expect(" Score = ")?;
    let is_over =
        |rest: &[u8]| rest.is_empty() || [SUBJECT, QUERY].iter().any(|begin| rest.starts_with(begin.as_bytes()));
    while !is_over(lines.rest()) {
        lines.next();
    }
    let text = block.get(..block.len() - lines.rest().len() - 1).unwrap_or_default();
    let subject = title[SUBJECT.len()..].split(|byte| *byte <= b' ').next().unwrap_or_default();
    let length = number(length.strip_prefix(b"Length=").unwrap_or_default(), "length").map_err(fault)?;
    // " Score = 416 bits (1070),  Expect = 4.34e-148"
    let between = |begin: &str, end: &str| {
        let score = String::from_utf8_lossy(score).into_owned();
        let (_, rest) = score.split_once(begin)?;
        Some(rest.split(end).next().unwrap_or_default().to_owned())
    };
    let evalue = number(between("Expect = ", "\n").unwrap_or_default().as_bytes(), "E-value").map_err(fault)?;
    let score = number(between(" bits (", ")").unwrap_or_default().as_bytes(), "score").map_err(fault)? as u32;
    let lengths = Some((letters, length as u64));
    Ok(Alignment { text, query, subject, evalue, score, lengths, line })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fasta::tests::batch;

    const HIT: &str = ">s title\nLength=36\n\n Score = 41 bits (107),  Expect = 4.3e-18\n Identities = 3/3\n\n\
                       Query  1  MKV 3\n          MKV\nSbjct  2  MKV 4\n\n";

    fn told(text: &str, swapped: bool) -> Result<(Vec<Alignment<'_>>, Frame), Fault> {
        alignments(Lines::new(text.as_bytes())?, &batch(">a x y\nMKVR\n>b\nM\n"), swapped)
    }

    #[test]
    fn blocks_tell_what_the_merge_needs() {
        let (a, b) = ("Query= a x y\n\nLength=4\n\n", "Query= b\n\nLength=1\n\n");
        let two = HIT.replace(">s", ">t");
        let text = format!("{a}{NO_HITS}{HIT}{two}{b}");
        let (found, frame) = told(&text, true).unwrap();
        let names: Vec<_> = found.iter().map(|found| (found.query, found.subject, found.text.len() + 1)).collect();
        assert_eq!(names, [(0, b"s".as_slice(), HIT.len()), (0, b"t".as_slice(), HIT.len())]);
        assert_eq!((found[0].evalue, found[0].score, found[0].lengths), (4.3e-18, 107, Some((4, 36))));
        assert_eq!(frame.heads[1], Head { none: b.into(), some: format!("{b}{NO_HITS}").into(), count: None });
        // Since diamond 2.1.6.
        let text = format!("{a}{HIT}{b}{NO_HITS}");
        assert_eq!(told(&text, false).unwrap().0.len(), 1);
        assert!(told("", true).unwrap().0.is_empty());
    }

    #[test]
    fn another_manner_is_refused() {
        let (a, b) = ("Query= a x y\n\nLength=4\n\n", "Query= b\n\nLength=1\n\n");
        let fault = |text: String, swapped| told(&text, swapped).unwrap_err().what;
        assert!(fault(format!("{a}{HIT}{b}"), true).starts_with("a query with hits"));
        assert!(fault(format!("{a}{b}"), false).starts_with("a query with hits"));
        assert!(fault(a.replace('4', "5") + b, true).starts_with("query 'a' is told otherwise"));
        assert_eq!(fault(format!("{a}{b}more\n"), true), "it belongs to no query");
        assert!(fault(format!("{a}{NO_HITS}{}{b}", HIT.replace("4.3e-18", "E")), true).contains("no E-value"));
    }
}
