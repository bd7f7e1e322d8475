//! A reference is read as a naive parser reads it, plain and compressed, or refused.
//!
//! What its stretches hold is that, too.
//!
//! Input: a byte that chooses how it is compressed as well, and how long stretches are, then the file.
#![cfg_attr(fuzzing, no_main)]

use std::collections::HashSet;
use zerohop_engine_strobealign::ReferenceBuilder;
use zerohop_fuzz::coding::{bgzf, gzip};
use zerohop_fuzz::files::Regular;
use zerohop_fuzz::{Random, take};
use zerohop_input::reference::{Piece, Stretches};
use zerohop_model::record::Contig;

/// Names and bases.
type Found = Vec<(String, Vec<u8>)>;

/// What the reader says, and whether it is consistent in itself.
fn read(bytes: &[u8]) -> Option<Found> {
    let file = Regular::new(bytes);
    let mut all = Vec::new();
    let push = |piece: Piece<'_>| all.extend_from_slice(piece.bases().unwrap_or_default());
    let contigs: Vec<Contig> = zerohop_input::reference::read(file.path(), push).ok()?;
    let found = divided(&contigs, &all);
    let mut builder = ReferenceBuilder::default();
    builder.push(&all);
    assert_eq!(builder.build(contigs.clone()).unwrap().contigs(), contigs);
    Some(found)
}

fn divided(contigs: &[Contig], mut bases: &[u8]) -> Found {
    let found = contigs.iter().map(|contig| {
        let (own, behind) = bases.split_at(contig.length as usize);
        bases = behind;
        (contig.name.clone(), own.to_vec())
    });
    let found = found.collect();
    assert!(bases.is_empty(), "more bases than the contigs have");
    found
}

/// What stretches of so many bytes hold, unless anything is odd.
fn in_stretches(bytes: &[u8], stretch: u64) -> Option<Found> {
    let file = Regular::new(bytes);
    let stretches = Stretches::open(file.path(), stretch)?;
    let counted: Option<Vec<_>> = (0..stretches.len()).map(|i| stretches.count(i).unwrap()).collect();
    let layout = stretches.layout(counted?)?;
    let mut all = Vec::new();
    (0..stretches.len()).for_each(|i| stretches.take(i, |line| all.extend_from_slice(line)).unwrap());
    Some(divided(&layout.contigs, &all))
}

fn naive(text: &[u8]) -> Option<Found> {
    let mut found = Found::new();
    for line in text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end) {
        if let Some(header) = line.strip_prefix(b">") {
            let name = header.split(|b| b" \t".contains(b)).next()?;
            let valid = !name.is_empty() && !b"*=".contains(&name[0]) && name.iter().all(u8::is_ascii_graphic);
            found.push((valid.then(|| String::from_utf8(name.to_vec()).unwrap())?, Vec::new()));
        } else if let Some((_, bases)) = found.last_mut() {
            bases.extend_from_slice(line);
        } else if !line.is_empty() {
            return None;
        }
    }
    let base = |b: &u8| b.is_ascii_alphabetic() || b"*-.".contains(b);
    let names: HashSet<&String> = found.iter().map(|(name, _)| name).collect();
    let valid = names.len() == found.len()
        && found.iter().any(|(_, bases)| !bases.is_empty())
        && found.iter().all(|(_, bases)| bases.iter().all(base));
    valid.then_some(found)
}

zerohop_fuzz::target!(|data: &[u8]| {
    let mut text = data;
    let [how] = take(&mut text);
    let found = read(text);
    if text.starts_with(&[0x1f, 0x8b]) {
        return;
    }
    let expected = naive(text);
    assert!(found == expected, "plain: {found:?} instead of {expected:?}");
    let found = in_stretches(text, 1 + u64::from(how));
    assert!(found.is_none() || found == expected, "in stretches: {found:?} instead of {expected:?}");
    let random = &mut Random::new(how.into());
    let compressed = match how % 4 {
        0 => gzip(text, 1, random),
        1 => bgzf(text, 20, 1, true, random),
        _ => return,
    };
    let found = read(&compressed);
    assert!(found == expected, "compressed: {found:?} instead of {expected:?}");
});
