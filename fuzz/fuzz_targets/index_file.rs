//! An index file that was damaged is refused, or makes no difference; one that was forged, checksums and all, makes at
//! worst a wrong index, never a panic or an allocation beyond the file's own size.
//!
//! Input: a first byte; where it is odd, the rest is a file. Otherwise the rest are changes of a small valid file, ten
//! bytes each: what kind, a small number, and a large one (see [`change`]).
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_engine_strobealign::file::{IndexFileError, MAGIC, identify};
use zerohop_engine_strobealign::{IndexParameters, ReferenceBuilder, Strobealign};
use zerohop_fuzz::files::Regular;
use zerohop_fuzz::{Random, take};
use zerohop_input::identity::FileId;
use zerohop_model::engine::Engine;
use zerohop_model::record::Contig;

static PARAMETERS: LazyLock<IndexParameters> = LazyLock::new(|| IndexParameters::of_reads(150));
/// Of the file's first part, before the description.
const HEAD: usize = 24;
/// The sections by their names in the description.
const SECTIONS: [&str; 3] = ["sequence", "randstrobes", "bucket_starts"];

/// A small index, made once.
struct Valid {
    folder: TempDir,
    reference: FileId,
    bytes: Vec<u8>,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let random = &mut Random::new(1);
    let bases: Vec<u8> = (0..3000).map(|_| b"ACGT"[random.below(4) as usize]).collect();
    let mut builder = ReferenceBuilder::default();
    builder.push(&bases);
    let reference = builder.build(vec![Contig::new("one", 2001), Contig::new("two", 999)]).unwrap();
    let engine = Strobealign::build(reference, &PARAMETERS, 1, |_| {}).unwrap();
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let reference = identify(Regular::new(&bases).path(), 1).unwrap();
    let path = folder.path().join("valid");
    engine.save(&path, &reference, 2).unwrap();
    Valid { bytes: std::fs::read(&path).unwrap(), folder, reference }
});

fn load(path: &Path) -> Result<Strobealign, IndexFileError> {
    Strobealign::load(path, None, &PARAMETERS, 1)
}

/// The description of a file, if it has one.
fn description(file: &[u8]) -> Option<&[u8]> {
    let length = u32::from_le_bytes(file.get(12..16)?.try_into().ok()?);
    file.get(HEAD..)?.get(..length as usize)
}

/// Puts another description in, and says so where its length and checksum are.
fn describe(file: &mut Vec<u8>, json: &[u8]) {
    let former = description(file).map_or(0, <[u8]>::len);
    if file.len() < HEAD {
        return;
    }
    // What is longer takes the place of padding, so that the sections stay where they are.
    let padding = file[HEAD + former..].iter().take_while(|&&b| b == 0).count();
    let end = (HEAD + former + padding).min(HEAD + json.len().max(former));
    let mut json = json.to_vec();
    let new = json.len();
    json.resize(new.max(former), 0);
    file.splice(HEAD..end, json.iter().copied());
    file[12..16].copy_from_slice(&(new as u32).to_le_bytes());
    file[16..24].copy_from_slice(&xxh3_64(&json[..new]).to_le_bytes());
}

/// The `n`-th number of the description becomes `value`.
fn renumber(json: &[u8], n: u8, value: u64) -> Vec<u8> {
    let starts: Vec<usize> = (1..json.len())
        .filter(|&at| json[at].is_ascii_digit() && !json[at - 1].is_ascii_alphanumeric() && json[at - 1] != b'"')
        .collect();
    let Some(&start) = starts.get(usize::from(n) % starts.len().max(1)) else { return json.to_vec() };
    let digits = json[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    [&json[..start], value.to_string().as_bytes(), &json[start + digits..]].concat()
}

/// Changes a byte of section `n` and makes its checksum right again.
fn forge_section(file: &mut Vec<u8>, n: u8, at: usize, byte: u8) -> Option<()> {
    let mut parsed: serde_json::Value = serde_json::from_slice(description(file)?).ok()?;
    let section = parsed.get_mut(SECTIONS[usize::from(n) % SECTIONS.len()])?;
    let (offset, length) = (section.get("offset")?.as_u64()? as usize, section.get("bytes")?.as_u64()? as usize);
    let bytes = file.get_mut(offset..offset.checked_add(length)?)?;
    *bytes.get_mut(at % length.max(1))? = byte;
    *section.get_mut("piece_xxh3")?.get_mut(0)? = xxh3_64(bytes).into();
    describe(file, &serde_json::to_vec(&parsed).ok()?);
    Some(())
}

/// Makes one change; true when the file is forged by it, not only damaged.
fn change(file: &mut Vec<u8>, kind: u8, small: u8, large: u64) -> bool {
    let at = |length: usize| (large >> 8) as usize % length.max(1);
    match kind % 6 {
        0 => {
            let at = at(file.len());
            file.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= small);
        }
        // In the head and the description, where a byte means most.
        1 => {
            let at = at(HEAD + description(file).map_or(0, <[u8]>::len));
            file.iter_mut().skip(at).take(1).for_each(|byte| *byte = small);
        }
        2 => file.truncate(at(file.len())),
        3 => {
            if let Some(json) = description(file).map(|json| renumber(json, small, large)) {
                describe(file, &json);
            }
            return true;
        }
        4 => {
            forge_section(file, small, (large >> 8) as usize, large as u8);
            return true;
        }
        _ => {
            if let Some(mut json) = description(file).map(<[u8]>::to_vec) {
                let at = at(json.len());
                json.iter_mut().skip(at).take(1).for_each(|byte| *byte = small);
                describe(file, &json);
            }
            return true;
        }
    }
    false
}

zerohop_fuzz::target!(|data: &[u8]| {
    let mut rest = data;
    let [kind] = take(&mut rest);
    if kind % 2 == 1 {
        let magic = if kind & 2 == 0 { &MAGIC[..] } else { &[] };
        // Without a checksum of 64 bits none of these is valid.
        assert!(load(Regular::new(&[magic, rest].concat()).path()).is_err());
        return;
    }
    let (mut file, mut forged) = (VALID.bytes.clone(), false);
    for change_bytes in rest.chunks(10).take(8) {
        let mut change_bytes = change_bytes;
        let ([kind, small], large) = (take(&mut change_bytes), u64::from_le_bytes(take(&mut change_bytes)));
        forged |= change(&mut file, kind, small, large);
    }
    let Ok(loaded) = load(Regular::new(&file).path()) else {
        assert!(file != VALID.bytes, "a valid file is refused");
        return;
    };
    assert!(loaded.index_bytes() <= 8 * file.len() as u64, "more than the file can hold");
    if !forged {
        let again = VALID.folder.path().join("again");
        loaded.save(&again, &VALID.reference, 2).unwrap();
        assert!(std::fs::read(&again).unwrap() == VALID.bytes, "a damaged file was taken for another index");
    }
});
