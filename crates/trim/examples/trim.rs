//! Trims FASTQ files as fastp does: `trim [fastp's options] -- IN1 [IN2] OUT1 [OUT2] JSON`. The files are plain FASTQ
//! of four lines per read.

use std::error::Error;
use std::fs;
use zerohop_trim::{
    Counts, DETECTION_READS, FirstReads, Options, Outcome, Read, Span, Statistics, Trimmer, detect_adapter,
    fasta_adapters, fastp_json, has_two_colours,
};

/// A read, and the lines around its bases.
struct Record<'t> {
    name: &'t [u8],
    plus: &'t [u8],
    read: Read<'t>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (options, files) = match words.iter().position(|word| word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (&[][..], &words[..]),
    };
    let options = Options::parse(options)?;
    let (inputs, outputs, json) = match files {
        [input, output, json] => (vec![input], vec![output], json),
        [one, two, out_one, out_two, json] => (vec![one, two], vec![out_one, out_two], json),
        _ => return Err("trim [fastp's options] -- IN1 [IN2] OUT1 [OUT2] JSON".into()),
    };
    let texts = inputs.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let records: Vec<Vec<Record<'_>>> = texts.iter().map(|text| parse(text)).collect();
    let trimmer = trimmer(options, &records)?;
    let (mut counts, mut statistics) = (Counts::default(), Statistics::default());
    let mut kept = vec![Vec::new(); records.len()];
    for number in 0..records.iter().map(Vec::len).min().unwrap_or_default() {
        let spans = match &records[..] {
            [one, two] => {
                let reads = [one[number].read, two[number].read];
                let outcome = trimmer.pair(reads, &mut counts);
                statistics.add_pair(reads, &outcome);
                spans(outcome)
            }
            [one, ..] => {
                let outcome = trimmer.single(one[number].read, &mut counts);
                statistics.add_single(one[number].read, &outcome);
                match outcome {
                    Outcome::Kept(span) => vec![span],
                    Outcome::Dropped(_) => Vec::new(),
                }
            }
            [] => Vec::new(),
        };
        for ((kept, records), span) in kept.iter_mut().zip(&records).zip(spans) {
            let Record { name, plus, read } = &records[number];
            let part = read.within(span);
            for line in [b"@".as_slice(), name, b"\n", part.bases(), b"\n", plus, b"\n", part.qualities(), b"\n"] {
                kept.extend_from_slice(line);
            }
        }
    }
    for (output, kept) in outputs.into_iter().zip(kept) {
        fs::write(output, kept)?;
    }
    fs::write(json, fastp_json(&trimmer, &counts, &statistics, &words.join(" ")))?;
    Ok(())
}

/// What the first reads say, and the trimmer that goes by it.
fn trimmer(options: Options, records: &[Vec<Record<'_>>]) -> Result<Trimmer, Box<dyn Error>> {
    let first = records.first().and_then(|records| records.first());
    let is_paired = records.len() == 2;
    let two_colours = first.is_some_and(|record| has_two_colours(record.name));
    let mut first_reads = FirstReads { two_colours, adapters: [None, None] };
    for (mate, (adapter, records)) in first_reads.adapters.iter_mut().zip(records).enumerate() {
        if options.detects_adapter(mate, is_paired) {
            let reads: Vec<&[u8]> = records.iter().map(|record| record.read.bases()).take(DETECTION_READS).collect();
            *adapter = detect_adapter(&reads, options.ends[0].tail).map(|found| found.sequence);
        }
    }
    let fasta = options.adapters.as_ref().and_then(|adapters| adapters.fasta.as_ref());
    let listed = fasta.map_or(Ok(Vec::new()), |path| fs::read(path).map(|text| fasta_adapters(&text)))?;
    Ok(Trimmer::new(options, is_paired, &first_reads, &listed))
}

fn spans(outcome: Outcome<[Span; 2]>) -> Vec<Span> {
    match outcome {
        Outcome::Kept(spans) => spans.to_vec(),
        Outcome::Dropped(_) => Vec::new(),
    }
}

fn parse(text: &[u8]) -> Vec<Record<'_>> {
    let mut lines = text.split(|&byte| byte == b'\n');
    let mut records = Vec::new();
    while let (Some(name), Some(bases), Some(plus), Some(qualities)) =
        (lines.next(), lines.next(), lines.next(), lines.next())
    {
        records.push(Record { name: name.strip_prefix(b"@").unwrap_or(name), plus, read: Read::new(bases, qualities) });
    }
    records
}
