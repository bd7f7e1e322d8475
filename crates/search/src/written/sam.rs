//! diamond's SAM. Its lines tell E-value, raw score and the subject's length by themselves.

use super::{Alignment, Fault, Lines, number};
use crate::fasta::Batch;
use crate::frame::{Frame, Head};

/// What follows the name of a query that is said to have no alignment.
const UNALIGNED: &[u8] = b"\t4\t*\t0\t255\t*\t*\t0\t0\t*\t*";
/// Where in a line the tags begin that every SAM has not.
const TAGS: usize = 11;

/// The header, in which `command` takes the place of diamond's.
pub(crate) fn opening(lines: &mut Lines<'_>, command: &str) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    for begin in ["@HD\t", "@PG\t", "@mm\t", "@CO\t", "@CO\t"] {
        let line = lines.expect(begin)?;
        let label = b"\tCL:";
        match memchr::memmem::find(line, label).filter(|_| begin == "@PG\t") {
            Some(at) => text.extend_from_slice(&[&line[..at + label.len()], command.as_bytes()].concat()),
            None => text.extend_from_slice(line),
        }
        text.push(b'\n');
    }
    Ok(text)
}

/// The alignments. Where `swapped`, diamond says of just those queries that have some that they have none.
pub(crate) fn alignments<'a>(
    lines: Lines<'a>,
    batch: &Batch,
    swapped: bool,
) -> Result<(Vec<Alignment<'a>>, Frame), Fault> {
    let index = batch.index();
    let letters: Vec<u64> = batch.details().map(|query| query.letters).collect();
    let (mut alignments, mut unaligned, mut has_some) =
        (Vec::new(), vec![false; letters.len()], vec![false; letters.len()]);
    let mut end = 0;
    for (at, line) in lines {
        let name = line.split(|&byte| byte == b'\t').next().unwrap_or_default();
        let unknown = || Fault::new(at, format!("no query is named '{}'", String::from_utf8_lossy(name)));
        let query = *index.get(name).ok_or_else(unknown)?;
        let place = query as usize;
        match line.get(name.len()..) == Some(UNALIGNED) {
            true if unaligned[place] || has_some[place] => return Err(Fault::new(at, "it is not where it belongs")),
            true => unaligned[place] = true,
            false => {
                has_some[place] = true;
                alignments.push(alignment(line, query, letters[place], at).map_err(|what| Fault::new(at, what))?);
            }
        }
        end = at;
    }
    // Where nothing at all has a seed, diamond says nothing of any query.
    let odd = unaligned.iter().zip(&has_some).position(|(unaligned, has_some)| *unaligned != (*has_some == swapped));
    if let Some(query) = odd.filter(|_| end > 0) {
        let what =
            format!("query {} has alignments or none otherwise than this version of diamond tells it", query + 1);
        return Err(Fault::new(end, what));
    }
    let head = |name: &[u8]| {
        let said = [name, UNALIGNED, b"\n"].concat();
        let (none, some) = if swapped { (Vec::new(), said) } else { (said, Vec::new()) };
        Head { none, some, count: None }
    };
    Ok((alignments, Frame { heads: batch.names().map(head).collect(), ..Frame::default() }))
}

fn alignment(line: &[u8], query: u32, letters: u64, at: u64) -> Result<Alignment<'_>, String> {
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let subject = columns.get(2).copied().unwrap_or_default();
    let tag = |label: &str| {
        let tags = columns.iter().skip(TAGS);
        tags.rev().find_map(|column| column.strip_prefix(label.as_bytes())).ok_or_else(|| format!("it has no {label}"))
    };
    let (evalue, score) = (number(tag("ZE:f:")?, "E-value")?, number(tag("ZR:i:")?, "score")? as u32);
    let lengths = Some((letters, number(tag("ZL:i:")?, "length")? as u64));
    Ok(Alignment { text: line, query, subject, evalue, score, lengths, line: at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fasta::tests::batch;

    const ONE: &str = "a\t0\ts\t6\t255\t3M\t*\t0\t0\tMKV\t*\tAS:i:40\tNM:i:0\tZL:i:360\tZR:i:107\tZE:f:4.3e-18\n";

    fn told(text: &str, swapped: bool) -> Result<(Vec<Alignment<'_>>, Frame), Fault> {
        alignments(Lines::new(text.as_bytes())?, &batch(">a\nMKVR\n>b\nM\n"), swapped)
    }

    fn unaligned(name: &str) -> String {
        format!("{name}\t4\t*\t0\t255\t*\t*\t0\t0\t*\t*\n")
    }

    #[test]
    fn lines_tell_what_the_merge_needs() {
        let text = unaligned("a") + ONE;
        let (found, frame) = told(&text, true).unwrap();
        let one = found[0];
        assert_eq!(found.len(), 1);
        assert_eq!((one.query, one.subject, one.score, one.evalue), (0, b"s".as_slice(), 107, 4.3e-18));
        assert_eq!((one.lengths, one.line, one.text), (Some((4, 360)), 2, ONE.trim_end().as_bytes()));
        assert_eq!(frame.heads[1], Head { none: vec![], some: unaligned("b").into(), count: None });
        assert!(told("", true).unwrap().0.is_empty());
        // Since diamond 2.1.6.
        let text = ONE.to_owned() + &unaligned("b");
        let (_, frame) = told(&text, false).unwrap();
        assert_eq!(frame.heads[0], Head { none: unaligned("a").into(), some: vec![], count: None });
    }

    #[test]
    fn another_manner_is_refused() {
        let fault = |text: &str, swapped| told(text, swapped).unwrap_err().what;
        assert!(fault(ONE, true).starts_with("query 1 has alignments or none otherwise"));
        assert!(fault(&unaligned("a"), true).starts_with("query 1 has"));
        assert_eq!(fault(&(ONE.to_owned() + &unaligned("a")), true), "it is not where it belongs");
        assert_eq!(fault(&ONE.replace("ZR:", "ZX:"), true), "it has no ZR:i:");
        assert_eq!(fault(&ONE.replace("a\t0", "x\t0"), true), "no query is named 'x'");
    }

    #[test]
    fn the_header_names_our_command() {
        let header = "@HD\tVN:1.5\n@PG\tPN:D\tCL:diamond x\n@mm\tBlastP\n@CO\ty\n@CO\tz\n";
        let mut lines = Lines::new(header.as_bytes()).unwrap();
        let ours = opening(&mut lines, "zerohop search").unwrap();
        assert_eq!(String::from_utf8(ours).unwrap(), header.replace("diamond x", "zerohop search"));
        assert!(opening(&mut lines, "").is_err());
    }
}
