use super::*;
use proptest::prelude::*;
use zerohop_model::chunk::{ReadSpans, Ticket};

/// A chunk of fragments with these names and a comment `c:NAME` for each.
fn chunk(number: u64, names: &[&str], paired: bool) -> (Chunk, Expected) {
    let mut chunk = Chunk::default();
    chunk.ticket = Ticket { lane: 0, number, first_fragment: 0 };
    for name in names {
        let bytes = &mut chunk.text[0].bytes;
        let start = bytes.len() as u32;
        bytes.extend_from_slice(name.as_bytes());
        let name_end = bytes.len() as u32;
        bytes.extend_from_slice(format!("c:{name}").as_bytes());
        let end = bytes.len() as u32;
        let name = Span { start, end: name_end };
        let spans = ReadSpans { name, comment: Span { start: name_end, end }, ..ReadSpans::default() };
        chunk.push(spans, paired.then_some(spans));
    }
    let expected = Expected::of(&chunk, number, paired, true);
    (chunk, expected)
}

fn line(name: &str, flags: u16) -> String {
    format!("{name}\t{flags}\t*\t0\t0\t*\t*\t0\t-7\t*\t*")
}

/// The lines of an answer.
fn text(answer: &Answer) -> Vec<String> {
    answer.records().map(|(line, _)| String::from_utf8_lossy(line).into_owned()).collect()
}

/// Gives a ledger the chunks, then the lines; returns the answers.
fn run(keeps_order: bool, chunks: Vec<Expected>, lines: &[String]) -> Result<Vec<Answer>, String> {
    let rules = Rules { keeps_order, repeats_primary: false };
    let (mut ledger, mut answers, mut answer) = (Ledger::new(rules), Vec::new(), Answer::default());
    chunks.into_iter().for_each(|chunk| ledger.expect(chunk));
    for line in lines {
        ledger.place(line.as_bytes())?;
        while ledger.take(&mut answer) {
            answers.push(std::mem::take(&mut answer));
        }
    }
    ledger.close()?;
    while ledger.take(&mut answer) {
        answers.push(std::mem::take(&mut answer));
    }
    if ledger.owes() { Err(ledger.missing()) } else { Ok(answers) }
}

#[test]
fn pairs_with_further_records_and_equal_names_go_to_their_fragments() {
    let chunks = [chunk(3, &["a", "a", "b"], true).1, chunk(5, &["b"], true).1];
    let lines: Vec<String> =
        [("a", 67), ("a", 2115), ("a", 131), ("a", 67), ("a", 131), ("a", 387), ("b", 77), ("b", 141)]
            .iter()
            .chain(&[("b", 65), ("b", 129)])
            .map(|&(name, flags)| line(name, flags))
            .collect();
    for keeps_order in [true, false] {
        let answers = run(keeps_order, [&chunks[0], &chunks[1]].map(clone).into(), &lines).unwrap();
        assert_eq!(answers.iter().map(|a| a.number).collect::<Vec<_>>(), [3, 5]);
        assert_eq!([text(&answers[0]), text(&answers[1])].concat(), lines);
        let tally = &answers[0].tally;
        assert_eq!((tally.reads, tally.primary_records, tally.other_records, tally.mapped), (6, 6, 2, 4));
        assert_eq!((tally.properly_paired, tally.insert.pairs()), (4, 2));
        assert!(answers[0].records().all(|(line, comment)| comment == [b"c:", &line[..1]].concat()));
    }
}

fn clone(expected: &Expected) -> Expected {
    let Expected { number, lane, bases, paired, names, name_ends, comments, comment_ends } = expected;
    let (names, name_ends) = (names.clone(), name_ends.clone());
    let (comments, comment_ends) = (comments.clone(), comment_ends.clone());
    Expected { number: *number, lane: *lane, bases: *bases, paired: *paired, names, name_ends, comments, comment_ends }
}

#[test]
fn what_is_lost_or_made_up_is_named() {
    let lines = |names: &[&str]| names.iter().map(|name| line(name, 0)).collect::<Vec<_>>();
    for (keeps_order, names, words) in [
        (true, &["a", "c"][..], "wrote a record of read 'c' where one of 'b' was due"),
        (true, &["a", "b"], "1 of 3 reads that it was given did not come back, the first of them 'c'"),
        (false, &["c", "a"], "1 of 3 reads that it was given did not come back, the first of them 'b'"),
        (false, &["a", "x"], "wrote a record of read 'x', which it was not given or had done"),
        (true, &["a", "b", "c", "d"], "wrote a record of read 'd', which it was not given or had done"),
    ] {
        assert_eq!(run(keeps_order, vec![chunk(0, &["a", "b", "c"], false).1], &lines(names)).unwrap_err(), words);
    }
    let pair = || vec![chunk(0, &["a", "b"], true).1];
    let half = [line("a", 65), line("b", 65)];
    assert_eq!(run(true, pair(), &half).unwrap_err(), "left out mate 2 of read 'a'");
    assert!(run(true, pair(), &[line("a", 0)]).unwrap_err().contains("which mate"));
    let not_primary = [line("a", 2113), line("a", 129), line("b", 65)];
    assert_eq!(run(true, pair(), &not_primary).unwrap_err(), "left out mate 1 of read 'a'");
    let twice = [line("a", 65), line("a", 129), line("a", 65)];
    assert_eq!(run(true, pair(), &twice).unwrap_err(), "wrote a second primary record of read 'a'");
    for odd in ["", "a", "a\t65", "a\tx\t*\t0\t0\t*\t*\t0\t0\t*\t*", "a\t70000\t*\t0\t0\t*\t*\t0\t0\t*\t*"] {
        assert!(run(true, pair(), &[odd.to_owned()]).unwrap_err().contains("no SAM record"), "{odd}");
    }
}

proptest! {
    /// Whatever a program writes is put to a read or refused.
    #[test]
    fn damaged_lines_are_refused(
        keeps_order: bool,
        paired: bool,
        damage in prop::collection::vec((0usize..8, 0usize..60, any::<u8>()), 0..6),
    ) {
        let mut lines: Vec<Vec<u8>> = ["a", "a", "b", "b", "b", "c", "c", "a"]
            .iter()
            .zip([65, 129, 65, 129, 2177, 65, 129, 4])
            .map(|(name, flags)| line(name, flags).into_bytes())
            .collect();
        for (index, at, byte) in damage {
            match lines[index].get_mut(at) {
                Some(place) => *place = byte,
                None => lines[index].truncate(at / 2),
            }
        }
        let mut ledger = Ledger::new(Rules { keeps_order, repeats_primary: paired });
        ledger.expect(chunk(0, &["a", "b"], paired).1);
        ledger.expect(chunk(1, &["c", "a"], paired).1);
        let (mut answer, mut lines_out) = (Answer::default(), 0);
        let outcome = lines.iter().try_for_each(|line| ledger.place(line)).and_then(|()| ledger.close());
        while ledger.take(&mut answer) {
            lines_out += answer.lines.len();
        }
        prop_assert!(lines_out <= lines.len());
        prop_assert!(outcome.is_err() || ledger.owes() || lines_out == lines.len());
    }

    /// Whatever order the fragments come back in, each chunk has its own in the order of its reads.
    #[test]
    fn fragments_in_any_order_are_put_back(sizes in prop::collection::vec(1usize..6, 1..6), names in 1usize..20, seed: u64) {
        let mut all = Vec::new();
        let mut chunks = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            let own: Vec<String> = (0..*size).map(|i| format!("r{}", (all.len() + i) % names)).collect();
            all.extend(own.iter().cloned());
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            chunks.push(chunk(number as u64, &own, false).1);
        }
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&i| xxh3_64(&(seed ^ i as u64).to_le_bytes()));
        let lines: Vec<String> = order.iter().map(|&i| line(&all[i], 0)).collect();
        let answers = run(false, chunks, &lines).unwrap();
        let back: Vec<String> = answers.iter().flat_map(text).collect();
        let expected: Vec<String> = all.iter().map(|name| line(name, 0)).collect();
        prop_assert_eq!(back, expected);
        prop_assert_eq!(answers.iter().map(|a| a.lines.len()).collect::<Vec<_>>(), sizes);
    }
}
