//! Queries are read as a naive parser reads them, and come in batches that hold them all, in order, within the limits;
//! or the file is refused.
//!
//! Input: two bytes for the limits of a batch, then the file.
#![cfg_attr(fuzzing, no_main)]

use std::collections::HashSet;
use std::path::Path;
use zerohop_fuzz::take;
use zerohop_search::fasta::{FastaReader, Limits};
use zerohop_search::{Batch, Batches};

/// A query: all its lines, its name and its letters.
#[derive(Debug, Clone, Default, PartialEq)]
struct Query {
    text: Vec<u8>,
    name: Vec<u8>,
    letters: u64,
}

fn naive(text: &[u8]) -> Option<Vec<Query>> {
    let mut found: Vec<Query> = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let line = [line.strip_suffix(b"\n").unwrap_or(line), b"\n"].concat();
        if let Some(header) = line.strip_prefix(b">") {
            let name = header.split(|&byte| byte <= b' ').next()?.to_vec();
            found.push(Query { name, ..Query::default() });
        } else if found.is_empty() {
            if !line.trim_ascii().is_empty() {
                return None;
            }
            continue;
        } else if !line.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
            return None;
        } else if let Some(query) = found.last_mut() {
            query.letters += line.iter().filter(|byte| byte.is_ascii_graphic()).count() as u64;
        }
        found.last_mut()?.text.extend(line);
    }
    found.iter().all(|query| !query.name.is_empty() && query.letters > 0).then_some(found)
}

fn batched(text: &[u8], limits: Limits) -> Option<Vec<Query>> {
    let mut batches = Batches::new(FastaReader::inflate(text, Path::new("queries")).ok()?, limits);
    let (mut batch, mut all, mut count) = (Batch::default(), Vec::new(), 0);
    while batches.next(&mut batch).ok()? {
        assert_eq!((batch.number, batch.first), (count, all.len() as u64));
        count += 1;
        // A batch is a file like the whole one.
        let queries = naive(&batch.text).unwrap();
        assert!(queries.iter().map(|query| &query.name[..]).eq(batch.names()));
        let names: HashSet<&[u8]> = batch.names().collect();
        let letters: u64 = queries.iter().map(|query| query.letters).sum();
        assert!(names.len() == batch.queries() && batch.queries() <= limits.queries as usize, "{batch:?}");
        assert!(letters == batch.letters && (letters <= limits.letters || batch.queries() == 1), "{batch:?}");
        all.extend(queries);
    }
    assert_eq!(batches.queries(), all.len() as u64);
    Some(all)
}

zerohop_fuzz::target!(|data: &[u8]| {
    let mut text = data;
    let [letters, queries] = take(&mut text);
    if text.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let limits = Limits { letters: 1 + u64::from(letters), queries: 1 + u32::from(queries) };
    assert_eq!(batched(text, limits), naive(text));
});
