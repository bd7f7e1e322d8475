use super::*;
use crate::serial::SerialText;
use proptest::prelude::*;
use std::io::Cursor;
use std::path::Path;
use zerohop_input::fastq_parser;
use zerohop_model::error::Error;

fn input(text: &[u8]) -> BlockInput {
    let text = SerialText::new("x".into(), Box::new(Cursor::new(text.to_vec())), 1000);
    BlockInput { text, parser: fastq_parser(&["x".into()], 1000) }
}

fn failed(error: std::io::Error) -> Error {
    Error::Internal(error.to_string())
}

fn blocked(text: &[u8], blocking: Blocking, compressed: bool) -> Result<(Vec<u8>, Sidecar), Error> {
    let mut out = Vec::new();
    let mut compress = |data: &[u8], out: &mut Vec<u8>| {
        let mut compressor = zerohop_bgzf::BlockCompressor::new(1);
        data.chunks(MEMBER_DATA).try_for_each(|part| compressor.compress(part, out))?;
        Ok(())
    };
    let compress: Option<&mut Compress<'_>> = if compressed { Some(&mut compress) } else { None };
    let sidecar = block(&mut input(text), blocking, &mut out, compress, &failed)?;
    Ok((out, sidecar))
}

fn restored(file: &[u8], sidecar: &Sidecar) -> Result<Vec<u8>, Error> {
    let mut text = file.to_vec();
    if sidecar.coding == Coding::Bgzf {
        text.clear();
        let decompressor = &mut libdeflater::Decompressor::new();
        zerohop_bgzf::inflate_chain(Path::new("x"), 0, file, file.len(), true, decompressor, &mut text)?;
    }
    let mut out = Vec::new();
    restore(Path::new("x"), Box::new(Cursor::new(text)), sidecar, &mut out, &failed)?;
    Ok(out)
}

fn best(text: &[u8], limit: usize) -> Option<Blocking> {
    let mut fit = Fit::new(1, limit, None);
    input(text).for_each_size(|bytes| fit.add(0, bytes)).unwrap();
    fit.best().map(|files| files[0])
}

fn records() -> impl Strategy<Value = Vec<u8>> {
    let record = (0usize..60, "[ -~]{0,6}", " {0,2}", prop_oneof![Just("\n"), Just("\r\n")]).prop_map(
        |(bases, name, spaces, end)| {
            format!("@r{name}{end}{}{end}+{spaces}{end}{}{end}", "A".repeat(bases), "@".repeat(bases))
        },
    );
    let tail = prop_oneof![Just(""), Just("\n"), Just("\r\n\n")];
    (proptest::collection::vec(record, 0..60), any::<bool>(), tail).prop_map(|(records, unended, tail)| {
        let mut text = records.concat();
        if !unended || text.ends_with("+\n\n") || text.ends_with("\n\r\n") || text.ends_with("\r\n") {
            if !records.is_empty() {
                text += tail;
            }
        } else {
            text.pop();
        }
        text.into_bytes()
    })
}

proptest! {
    #[test]
    fn what_was_blocked_comes_back(text in records(), reads in 1usize..20, compressed: bool) {
        let sizes = { let mut sizes = vec![]; input(&text).for_each_size(|bytes| sizes.push(bytes)).unwrap(); sizes };
        let bytes = sizes.chunks(reads).map(|block| block.iter().sum::<usize>()).max().unwrap_or(100);
        let (file, sidecar) = blocked(&text, Blocking { bytes, reads }, compressed).unwrap();
        prop_assert_eq!(sidecar.reads, sizes.len() as u64);
        prop_assert_eq!(sidecar.blocks, sizes.len().div_ceil(reads) as u64);
        if !compressed {
            prop_assert_eq!(file.len() as u64, sidecar.blocks * bytes as u64);
            for block in file.chunks(bytes) {
                prop_assert!(block.ends_with(b"\n"));
                prop_assert_eq!(block[0], b'@');
            }
        }
        prop_assert_eq!(restored(&file, &sidecar).unwrap(), text);
    }

    #[test]
    fn the_fit_is_the_best_of_what_was_tried(text in records(), limit in 200usize..3000) {
        let sizes = { let mut sizes = vec![]; input(&text).for_each_size(|bytes| sizes.push(bytes)).unwrap(); sizes };
        let blocks = |reads| sizes.chunks(reads).map(|block| block.iter().sum::<usize>());
        let largest = |reads| blocks(reads).max().filter(|&largest| largest <= limit);
        let cost = |reads| largest(reads).map(|largest| blocks(reads).count() * largest);
        let naive = (1..=16).filter_map(cost).min();
        let found = best(&text, limit);
        prop_assert_eq!(found.is_some(), naive.is_some());
        if let (Some(found), Some(naive)) = (found, naive) {
            prop_assert_eq!(Some(found.bytes), blocks(found.reads).max());
            prop_assert!(blocks(found.reads).count() * found.bytes <= naive);
        }
    }

    #[test]
    fn a_changed_byte_is_found(
        text in records().prop_filter("reads", |text| !text.is_empty()),
        at: prop::sample::Index,
        to: u8,
    ) {
        let blocking = best(&text, 100_000).unwrap();
        let (mut file, sidecar) = blocked(&text, blocking, false).unwrap();
        let at = at.index(file.len());
        prop_assume!(file[at] != to);
        file[at] = to;
        prop_assert!(restored(&file, &sidecar).is_err());
        file[at] = text[0];
        file.pop();
        prop_assert!(restored(&file, &sidecar).is_err());
    }
}

#[test]
fn reads_that_do_not_fit_are_named() {
    let text = b"@a\nACGT\n+\n!!!!\n@b\nACGTACGT\n+\n!!!!!!!!\n";
    let error = blocked(text, Blocking { bytes: 20, reads: 1 }, false).unwrap_err().to_string();
    assert!(error.contains("reads 2 to 2 have 23 bytes and do not fit a block of 20"), "{error}");
}
