use super::*;
use proptest::prelude::*;
use zerohop_model::chunk::{Chunk, ReadSpans, Ticket};

/// A chunk of fragments with these names and a comment `c:NAME` for each; each read has a base.
fn chunk(number: u64, names: &[&str], paired: bool) -> (Chunk, Expected) {
    let mut chunk = Chunk::default();
    chunk.ticket = Ticket { number, ..Ticket::first_of(0) };
    for name in names {
        let bytes = &mut chunk.text[0].bytes;
        let start = bytes.len() as u32;
        bytes.extend_from_slice(name.as_bytes());
        let name_end = bytes.len() as u32;
        bytes.extend_from_slice(format!("c:{name}").as_bytes());
        let end = bytes.len() as u32;
        let name = Span { start, end: name_end };
        let (comment, seq) = (Span { start: name_end, end }, Span { start: 0, end: 1 });
        let spans = ReadSpans { name, comment, seq, ..ReadSpans::default() };
        chunk.push(spans, paired.then_some(spans));
    }
    let expected = Expected::of(&chunk, number, paired, Asked { comments: true, digests: true });
    (chunk, expected)
}

fn line(name: &str, flags: u16) -> String {
    format!("{name}\t{flags}\t*\t0\t0\t*\t*\t0\t-7\t*\t*")
}

/// The lines of an answer.
fn text(answer: &Answer) -> Vec<String> {
    answer.records().map(|(line, ..)| String::from_utf8_lossy(line).into_owned()).collect()
}

/// Gives a ledger the chunks, then the lines; returns the answers.
fn run(keeps_order: bool, chunks: Vec<Expected>, lines: &[String]) -> Result<Vec<Answer>, String> {
    let rules = Promises { keeps_order, repeats_primary: false, names_take_comments: true };
    let (mut ledger, mut answers, mut answer) =
        (Ledger::new(rules, Some("only with -x sr".to_owned())), Vec::new(), Answer::default());
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
        let answers = run(keeps_order, chunks.to_vec(), &lines).unwrap();
        assert_eq!(answers.iter().map(|a| a.number).collect::<Vec<_>>(), [3, 5]);
        assert_eq!([text(&answers[0]), text(&answers[1])].concat(), lines);
        let tally = &answers[0].tally;
        assert_eq!((tally.reads, tally.primary_records, tally.other_records, tally.mapped), (6, 6, 2, 4));
        assert_eq!((tally.properly_paired, tally.insert.pairs()), (4, 2));
        assert!(answers[0].records().all(|(line, of_read, _)| of_read.comment == [b"c:", &line[..1]].concat()));
    }
}

/// Pairs, as `(name, bases)` of both mates.
fn pairs(reads: &[[(&str, u32); 2]]) -> Expected {
    let mut chunk = Chunk::default();
    for pair in reads {
        let [first, mate] = pair.map(|(name, bases)| {
            let bytes = &mut chunk.text[0].bytes;
            let start = bytes.len() as u32;
            bytes.extend_from_slice(name.as_bytes());
            let end = bytes.len() as u32;
            ReadSpans { name: Span { start, end }, seq: Span { start: 0, end: bases }, ..ReadSpans::default() }
        });
        chunk.push(first, Some(mate));
    }
    Expected::of(&chunk, 0, true, Asked { comments: false, digests: false })
}

#[test]
fn mates_may_have_names_of_their_own() {
    let expected = pairs(&[[("x.1", 1), ("x.2", 1)], [("y_1", 1), ("y_2", 1)], [("z/1", 1), ("z/2", 1)]]);
    // minimap2 takes mates of different names for single reads
    for flags in [[65, 129], [0, 0]] {
        let lines: Vec<String> = ["x.1", "x.2", "y_1", "y_2", "z", "z"]
            .iter()
            .enumerate()
            .map(|(i, name)| line(name, if *name == "z" { [65, 129][i % 2] } else { flags[i % 2] }))
            .collect();
        let answers = run(true, vec![expected.clone()], &lines).unwrap();
        assert_eq!((text(&answers[0]), answers[0].tally.primary_records), (lines.clone(), 6));
        let turned = [2, 3, 1, 0, 4, 5].map(|i| lines[i].clone());
        let answers = run(false, vec![expected.clone()], &turned).unwrap();
        assert_eq!(text(&answers[0]), [1, 0, 2, 3, 4, 5].map(|i| lines[i].clone()));
    }
    let swapped = [line("x.1", 129), line("x.2", 65)];
    for keeps_order in [true, false] {
        let error = run(keeps_order, vec![expected.clone()], &swapped).unwrap_err();
        assert_eq!(error, "wrote a record of read 'x.2', the second mate, as that of the first");
    }
    let odd = [line("x.1", 65), line("x.3", 129)];
    assert!(run(true, vec![expected], &odd).unwrap_err().starts_with("left out mate 2 of read 'x.1'"));
}

#[test]
fn a_mate_of_no_bases_may_be_left_out() {
    let expected = pairs(&[[("a", 1), ("a", 0)], [("b", 0), ("b", 1)], [("c", 0), ("c", 0)], [("d", 1), ("d", 1)]]);
    let lines = [line("a", 0), line("b", 4), line("c", 4), line("d", 65), line("d", 129)];
    for keeps_order in [true, false] {
        let tally = run(keeps_order, vec![expected.clone()], &lines).unwrap().remove(0).tally;
        assert_eq!((tally.reads, tally.primary_records, tally.left_out), (8, 5, 3));
    }
    let without = [line("a", 0), line("b", 4), line("d", 65), line("d", 129)];
    assert!(run(true, vec![expected], &without).unwrap_err().contains("one of 'c' was due"));
}

#[test]
fn a_name_may_go_on_with_a_comment() {
    let expected = chunk(0, &["r1", "r1_2", "r1"], true).1;
    let names = ["r1_K:1", "r1_K:1", "r1_2", "r1_2_x", "r1_", "r1"];
    let lines: Vec<String> = names.iter().enumerate().map(|(i, name)| line(name, [65, 129][i % 2])).collect();
    assert_eq!(text(&run(true, vec![expected.clone()], &lines).unwrap()[0]), lines);
    let odd = [line("r1K", 65)];
    assert!(run(true, vec![expected], &odd).unwrap_err().contains("'r1K' where one of 'r1' was due"));
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
    let single = run(true, pair(), &[line("a", 0)]).unwrap_err();
    assert_eq!(single, "took the mates of pair 'a' for single reads: only with -x sr");
    assert!(run(true, pair(), &[line("a", PAIRED)]).unwrap_err().contains("which mate"));
    assert!(run(true, pair(), &[line("a", SECONDARY)]).unwrap_err().ends_with("mate it is of: only with -x sr"));
    assert!(run(true, pair(), &[line("a", PAIRED | FIRST | LAST)]).unwrap_err().contains("which mate"));
    let not_primary = [line("a", 2113), line("a", 129), line("b", 65)];
    assert_eq!(run(true, pair(), &not_primary).unwrap_err(), "left out mate 1 of read 'a'");
    let twice = [line("a", 65), line("a", 129), line("a", 65)];
    assert_eq!(run(true, pair(), &twice).unwrap_err(), "wrote a second primary record of read 'a'");
    for odd in ["", "a", "a\t65", "a\tx\t*\t0\t0\t*\t*\t0\t0\t*\t*", "a\t70000\t*\t0\t0\t*\t*\t0\t0\t*\t*"] {
        assert!(run(true, pair(), &[odd.to_owned()]).unwrap_err().contains("not a SAM record"), "{odd}");
    }
}

/// Reads of two chunks have the same names, as mates that are given as single reads, and the second chunk comes first.
#[test]
fn reads_of_one_name_are_told_apart_by_their_bases() {
    let chunk = |number: u64, bases: [&str; 2]| {
        let mut chunk = Chunk::default();
        for (name, bases) in ["a", "b"].into_iter().zip(bases) {
            let bytes = &mut chunk.text[0].bytes;
            let start = bytes.len() as u32;
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(bases.as_bytes());
            let (name, seq) = (Span { start, end: start + 1 }, Span { start: start + 1, end: bytes.len() as u32 });
            chunk.push(ReadSpans { name, seq, ..ReadSpans::default() }, None);
        }
        Expected::of(&chunk, number, false, Asked { comments: false, digests: true })
    };
    let line = |name: &str, flags: u16, bases: &str| format!("{name}\t{flags}\tc\t1\t9\t*\t*\t0\t0\t{bases}\t*");
    let chunks = vec![chunk(0, ["AACG", "TTTN"]), chunk(1, ["GGG", "CAT"])];
    // The third is the reverse of TTTN. The bases of the last were changed by the program.
    let lines = [line("a", 0, "GGG"), line("b", 4, "cat"), line("b", 16, "NAAA"), line("a", 0, "AAC")];
    let answers = run(false, chunks, &lines).unwrap();
    assert_eq!(text(&answers[0]), [lines[3].clone(), lines[2].clone()]);
    assert_eq!(text(&answers[1]), [lines[0].clone(), lines[1].clone()]);
}

/// What a program that is out of order may do to its reads.
#[test]
fn no_read_is_lost_doubled_or_put_to_another() {
    let singles = |names: &[&'static str]| names.iter().map(|name| line(name, 0)).collect::<Vec<_>>();
    let given = || vec![chunk(0, &["a", "b"], false).1, chunk(1, &["c", "d"], false).1];
    let (second, done, lost) = ("a second primary record of read", "not given or had done", "did not come back");
    for (keeps_order, names, words) in [
        // One is doubled where another is dropped: the totals are right.
        (true, &["a", "a", "c", "d"][..], second),
        (false, &["a", "a", "c", "d"], second),
        (false, &["a", "c", "a", "d"], done),
        (true, &["a", "b", "c", "c"], second),
        (false, &["d", "c", "b", "d"], done),
        // A record of another chunk in place of one of this.
        (true, &["a", "c", "b", "d"], "'c' where one of 'b' was due"),
        (false, &["c", "d", "a", "c"], done),
        // The end is missing.
        (true, &["a", "b", "c"], lost),
        (false, &["d", "c", "a"], lost),
    ] {
        let error = run(keeps_order, given(), &singles(names)).map(|_| ()).unwrap_err();
        assert!(error.contains(words), "{names:?}: {error}");
    }
    let pairs = || vec![chunk(0, &["a", "b"], true).1];
    for (lines, words) in [
        // A mate twice in place of both.
        (&[("a", 65), ("a", 65), ("b", 65), ("b", 129)][..], second),
        (&[("a", 129), ("b", 65), ("b", 129)], "left out mate 1 of read 'a'"),
        // Records that are not primary stand for no read.
        (&[("a", 321), ("a", 385), ("b", 65), ("b", 129)], "left out mate 1 of read 'a'"),
        (&[("a", 65), ("a", 385), ("b", 65), ("b", 129)], "left out mate 2 of read 'a'"),
        (&[("a", 65), ("a", 129), ("a", 129), ("b", 65)], second),
    ] {
        let lines: Vec<String> = lines.iter().map(|&(name, flags)| line(name, flags)).collect();
        for keeps_order in [true, false] {
            let error = run(keeps_order, pairs(), &lines).map(|_| ()).unwrap_err();
            assert!(error.contains(words), "{lines:?}: {error}");
        }
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
        let promises = Promises { keeps_order, repeats_primary: paired, names_take_comments: false };
        let mut ledger = Ledger::new(promises, None);
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
    fn fragments_in_any_order_are_put_back(
        sizes in prop::collection::vec(1usize..6, 1..6),
        names in 1usize..20,
        seed: u64,
    ) {
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
