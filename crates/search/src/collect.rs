//! Alignments put together to hits, each with its place among those of all parts.

use crate::hit::{Hit, Rank, set_lines};
use crate::program::Program;
use crate::scoring::Scoring;
use crate::written::{Alignment, Fault};

/// E-values below this are all equal to BLAST (`s_EvalueComp` in its blast_hits.c).
const BLAST_ZERO: f64 = 1e-180;

/// What the place of a subject depends on besides its alignments.
pub(crate) struct Sorter {
    pub(crate) program: Program,
    /// In the order in which the program takes equals.
    pub(crate) part: u32,
    /// Letters of the whole database.
    pub(crate) letters: u64,
    /// diamond's, by which it computes E-values.
    pub(crate) scoring: Option<Scoring>,
}

impl Sorter {
    fn rank(&self, alignment: &Alignment<'_>, exact: Option<f64>, place: u32) -> Rank {
        let exact = match (exact, self.scoring, alignment.lengths) {
            (Some(exact), _, _) if exact < BLAST_ZERO => 0.0,
            (Some(exact), _, _) => exact,
            (None, Some(scoring), Some((query, subject))) => {
                scoring.evalue(alignment.score, query, subject, self.letters)
            }
            (None, _, _) => alignment.evalue,
        };
        let printed = (!self.program.is_blast()).then_some(alignment.evalue);
        Rank { printed, exact, score: alignment.score, part: self.part, place }
    }
}

/// Puts alignments together to hits, which are sorted, and to their lines. BLAST's alignments have E-values with all
/// digits in `exact`.
pub(crate) fn collect(
    alignments: &[Alignment<'_>],
    exact: Option<&[f64]>,
    sorter: &Sorter,
) -> Result<(Vec<Hit>, Vec<u8>), Fault> {
    let end = alignments.last().map_or(0, |alignment| alignment.line);
    if let Some(values) = exact.filter(|values| values.len() != alignments.len()) {
        let what = format!("there are {} E-values in its archive for another number of lines", values.len());
        return Err(Fault::new(end, what));
    }
    let size: usize = alignments.iter().map(|alignment| alignment.text.len() + 1).sum();
    let (mut hits, mut text, mut place) = (Vec::new(), Vec::with_capacity(size), 0);
    let mut rest = alignments;
    let mut before = None;
    while let Some(first) = rest.first() {
        let (query, subject) = (first.query, first.subject);
        if let Some(before) = before.filter(|&before| before > query) {
            return Err(Fault::new(first.line, format!("query {} comes after query {}", query + 1, before + 1)));
        }
        place = if before == Some(query) { place + 1 } else { 0 };
        before = Some(query);
        let of_subject = |other: &&Alignment<'_>| (other.query, other.subject) == (query, subject);
        let count = rest.iter().take_while(of_subject).count();
        let exact = exact.and_then(|values| values.get(alignments.len() - rest.len()).copied());
        let mut key = sorter.rank(first, exact, place).key();
        if sorter.program.is_blast() {
            set_lines(&mut key, count as u32);
        }
        let (of_subject, behind) = rest.split_at(count);
        let offset = text.len();
        for alignment in of_subject {
            text.extend_from_slice(alignment.text);
            text.push(b'\n');
        }
        let too_long = |_| Fault::new(first.line, "a hit has more than 4 GiB");
        let bytes = u32::try_from(text.len() - offset).map_err(too_long)?;
        hits.push(Hit { query, key, bytes, offset: offset as u64 });
        rest = behind;
    }
    // The program's order, unless it sorts by something that is not known here.
    hits.sort_by_key(Hit::order);
    Ok((hits, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SearchError;
    use crate::fasta::tests::batch;
    use crate::hit::lines;
    use crate::settings::Settings;
    use crate::written::{Lines, tabular};

    /// Query and lines of each hit.
    fn collected(program: Program, lines: &str, exact: Option<&[f64]>) -> Result<Vec<(u32, String)>, SearchError> {
        let settings = Settings::new(program, Vec::new()).unwrap().with_columns("stitle length").unwrap();
        let sorter = Sorter { program, part: 0, letters: 1000, scoring: None };
        let batch = batch(">a\nM\n>b\nM\n>c\nM\n");
        let alignments = |lines| tabular::alignments(lines, &settings.layout(), &batch);
        let alignments = Lines::new(lines.as_bytes()).and_then(alignments);
        let collected = alignments.and_then(|alignments| collect(&alignments, exact, &sorter));
        let (hits, text) = collected.map_err(|fault| fault.of(program))?;
        let lines = |hit: &Hit| {
            let start = hit.offset as usize;
            String::from_utf8_lossy(&text[start..start + hit.bytes as usize]).into_owned()
        };
        Ok(hits.iter().map(|hit| (hit.query, lines(hit))).collect())
    }

    #[test]
    fn lines_become_hits() {
        let lines = "x\ty\t3\ta\ts\t1e-5\t50\t9\t9\nz\t4\ta\ts\t1e-2\t30\t9\t9\n\
                     w\t5\ta\tt\t1e-5\t60\t9\t9\nv\t6\tc\ts\t0.0\t70\t9\t9\n";
        let told = collected(Program::Diamond, lines, None).unwrap();
        // The higher score comes first where E-values are the same.
        assert_eq!(told, [(0, "w\t5\n".into()), (0, "x\ty\t3\nz\t4\n".into()), (2, "v\t6\n".into())]);
        assert_eq!(collected(Program::Diamond, "", None).unwrap(), []);
    }

    #[test]
    fn exact_values_decide() {
        let lines = "x\t3\ta\ts\t1e-05\t50\nw\t5\ta\tt\t1e-05\t60\n";
        let first = |exact: &[f64]| collected(Program::Blastp, lines, Some(exact)).unwrap()[0].1.clone();
        assert_eq!(first(&[1.01e-5, 1.02e-5]), "x\t3\n");
        let told = collected(Program::Blastp, lines, Some(&[1.0])).unwrap_err().to_string();
        assert!(told.contains("there are 1 E-values"), "{told}");
        assert_eq!(first(&[1e-190, 1e-182]), "w\t5\n");
    }

    #[test]
    fn digits_that_diamond_does_not_print_decide() {
        // Both print 1.22e-47: 1.2209e-47 with the higher score, 1.2181e-47 with the lower one.
        let lines = "x\t3\ta\ts\t1.22e-47\t457\t644\t904\nw\t5\ta\tt\t1.22e-47\t455\t644\t791\n";
        for words in ["", "--comp-based-stats 0", "--comp-based-stats 4", "--matrix blosum62 --gapopen 11"] {
            let words = words.split_whitespace().map(str::to_owned).collect();
            let settings = Settings::new(Program::Diamond, words).unwrap().with_columns("stitle length").unwrap();
            let scoring = settings.scoring;
            let sorter = Sorter { program: Program::Diamond, part: 0, letters: 19_581_084, scoring };
            let alignments =
                tabular::alignments(Lines::new(lines.as_bytes()).unwrap(), &settings.layout(), &batch(">a\nM\n"));
            let (hits, text) = collect(&alignments.unwrap(), None, &sorter).unwrap();
            assert_eq!(&text[hits[0].offset as usize..][..3], b"w\t5");
        }
    }

    #[test]
    fn what_cannot_be_understood_names_line_and_program() {
        let told = |lines: &str| collected(Program::Diamond, lines, None).unwrap_err().to_string();
        let good = "x\t3\ta\ts\t1e-5\t50\t9\t9\n";
        let begin = "diamond wrote what cannot be understood, in line 2 of its output: ";
        for (bad, what) in [
            ("x\t3\ta\ts\t1e-5\t50\t9\t9", "it is cut off"),
            ("x\ta\ts\t1e-5\t50\t9\t9\n", "it has 7 columns instead of 8"),
            ("x\t3\ta\ts\tE\t50\t9\t9\n", "'E' is no E-value"),
            ("x\t3\tq\ts\t1e-5\t50\t9\t9\n", "no query is named 'q'"),
        ] {
            assert_eq!(told(&format!("{good}{bad}")), format!("{begin}{what}"));
        }
        let back = good.replace("\ta\t", "\tb\t") + good;
        assert_eq!(told(&back), format!("{begin}query 1 comes after query 2"));
    }

    #[test]
    fn keys_of_blast_count_lines() {
        let alignment = |query, subject, line| {
            let (text, evalue, score, lengths) = (b"x".as_slice(), 1.0, 5, None);
            Alignment { text, query, subject, evalue, score, lengths, line }
        };
        let alignments = [alignment(0, b"s".as_slice(), 1), alignment(0, b"s", 2), alignment(1, b"s", 3)];
        let sorter = Sorter { program: Program::Blastp, part: 0, letters: 1000, scoring: None };
        let (hits, text) = collect(&alignments, Some(&[1.0, 2.0, 1.0]), &sorter).unwrap();
        assert_eq!(hits.iter().map(|hit| (hit.query, lines(&hit.key))).collect::<Vec<_>>(), [(0, 2), (1, 1)]);
        assert_eq!(text, b"x\nx\nx\n");
    }
}
