//! Reads that are taken one after the other (O, D, B) are those of the survey; what is blocked comes back byte for
//! byte, and its blocks (L) hold the same reads; a blocked file that was damaged is refused or comes back whole, and
//! never panics.
//!
//! Input: four bytes that choose how, then the text of a file.
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use zerohop_fuzz::dealing::{MAX_READ_BASES, Manner, deal};
use zerohop_fuzz::files::Regular;
use zerohop_fuzz::naive::Read;
use zerohop_fuzz::{may_be_sam, take};
use zerohop_lab::blocked::{Fit, Sidecar, block, inputs, restore};
use zerohop_lab::parsing::{Parsing, deal_serially};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::source::{Deal, Emitted};

fn taken(path: &Path, parsing: Parsing) -> Result<Vec<Read>, Error> {
    let mut lane = deal_serially(&[path.to_owned()], parsing, MAX_READ_BASES)?;
    let Deal::Emit(emitter) = &mut lane.deal else { panic!("it is taken one after the other") };
    let (mut chunk, mut reads, mut number) = (Chunk::default(), Vec::new(), 0);
    while emitter.emit(&mut chunk, &AtomicBool::new(false))? == Emitted::Chunk {
        assert_eq!((chunk.ticket.number, chunk.ticket.first_fragment), (number, reads.len() as u64));
        reads.extend(zerohop_fuzz::dealing::parse(&*lane.parser, &mut chunk)?);
        number += 1;
    }
    Ok(reads)
}

fn failed(error: std::io::Error) -> Error {
    Error::Internal(error.to_string())
}

fn blocked(regular: &Regular, text: &[u8], expected: &[Read], [limit, change, at, to]: [u8; 4]) -> Result<(), Error> {
    let inputs = |path: &Path| inputs(&[path.to_owned()], MAX_READ_BASES);
    let mut fit = Fit::new(1, 30 + 20 * usize::from(limit), None);
    for input in inputs(regular.path())? {
        input.for_each_size(|bytes| fit.add(0, bytes))?;
    }
    let Some(blocking) = fit.best().map(|best| best[0]) else { return Ok(()) };
    let mut file = Vec::new();
    let sidecar = block(&mut inputs(regular.path())?[0], blocking, &mut file, None, &failed)?;
    assert_eq!(sidecar.reads, expected.len() as u64);
    assert_eq!(file.len(), blocking.bytes * sidecar.blocks as usize);

    let again = |file: &[u8]| {
        let mut out = Vec::new();
        restore(Path::new("x"), Box::new(std::io::Cursor::new(file.to_vec())), &sidecar, &mut out, &failed)
            .map(|()| out)
    };
    assert!(again(&file)? == text, "it does not come back");
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let on_disk = folder.path().join("x.fq");
    std::fs::write(&on_disk, &file).unwrap();
    std::fs::write(Sidecar::path(&on_disk), sidecar.json()).unwrap();
    let reads = taken(&on_disk, Parsing::Block);
    assert!(reads? == expected, "other reads in blocks");

    if change % 2 == 1 && !file.is_empty() {
        let at = usize::from(at) * file.len() / 256;
        match change % 3 {
            0 => file.truncate(at),
            1 => file[at] = to,
            _ => file.insert(at, to),
        }
        assert!(again(&file).is_err() || again(&file)? == text, "damage is not seen");
    }
    Ok(())
}

zerohop_fuzz::target!(|data: &[u8]| {
    let mut rest = data;
    let how = take(&mut rest);
    let regular = Regular::new(rest);
    let manner = Manner { interleaved: false, closes_past: 1 << 40, workers: 1, sampled: false };
    let found = deal(&[regular.path()], manner).map(|chunks| chunks.into_iter().flatten().collect::<Vec<_>>());
    if rest.first() == Some(&b'>') || rest.starts_with(&[0x1f, 0x8b]) || may_be_sam(rest) {
        return;
    }
    for parsing in [Parsing::Original, Parsing::Deferred, Parsing::Batch(1 + usize::from(how[0]) % 7)] {
        match (&found, taken(regular.path(), parsing)) {
            (Ok(found), Ok(reads)) => assert!(*found == reads, "other reads"),
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => panic!("refused one after the other alone: {error}"),
            (Err(error), Ok(_)) => panic!("taken one after the other, but: {error}"),
        }
    }
    if let Ok(found) = found {
        blocked(&regular, rest, &found, how).unwrap();
    }
});
