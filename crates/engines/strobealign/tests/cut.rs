//! An index file that is made shorter while it is mapped. The test starts itself again, for the process ends.
#![allow(clippy::unwrap_used, reason = "a helper of a test is test code")]

use std::fs::File;
use std::path::Path;
use std::process::Command;
use zerohop_engine_strobealign::{IndexParameters, ReferenceBuilder, Strobealign, file::identify};
use zerohop_memory::PlacedAlloc;
use zerohop_model::engine::Engine;
use zerohop_model::index::FilePages;
use zerohop_model::record::Contig;

#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

/// The folder of the index, in the process that maps it.
const FOLDER: &str = "ZEROHOP_TEST_CUT";
const BASES: usize = 2_000_000;

#[test]
fn who_maps_a_file_that_is_cut_says_so() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return map_and_cut(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    let ended = again.args(["--exact", "--nocapture", "who_maps_a_file_that_is_cut_says_so"]);
    let ended = ended.env(FOLDER, folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("x.zhi: it was made shorter while it was in use"), "{said}");
}

fn map_and_cut(folder: &Path) {
    let (fasta, path) = (folder.join("x.fa"), folder.join("x.zhi"));
    std::fs::write(&fasta, "").unwrap();
    let (mut random, mut builder) = (fastrand::Rng::with_seed(1), ReferenceBuilder::default());
    builder.push(&(0..BASES).map(|_| b"ACGT"[random.usize(..4)]).collect::<Vec<u8>>());
    let reference = builder.build(vec![Contig::new("a", BASES as u64)]).unwrap();
    let parameters = IndexParameters::of_reads(150);
    let built = Strobealign::build(reference, &parameters, 2, |_| ()).unwrap();
    built.save(&path, &identify(&fasta, 1).unwrap(), 2).unwrap();
    let mapped = Strobealign::map(&path, None, &parameters, 2, FilePages::Any).unwrap().unwrap();
    File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    // It reads all of its tables.
    drop(mapped.replicate(2));
}
