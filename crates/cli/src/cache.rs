//! `zerohop cache`: the index copies in /dev/shm.

use crate::args::CacheArgs;
use crate::failure::CommandFailure;
use std::path::Path;
use zerohop_engine_external::copies::{self, CopyReport};
use zerohop_model::machine::Bytes;
use zerohop_process::tell;

/// Lists or removes them.
///
/// # Errors
/// When /dev/shm cannot be used, or standard output cannot be written.
pub fn run(args: &CacheArgs) -> Result<(), CommandFailure> {
    if args.clear {
        let gone = copies::clear(args.all)?;
        let text: String = gone.iter().map(|copy| format!("removed {}\n", place(copy).display())).collect();
        crate::print(text.as_bytes())?;
        let is_kept = |copy: &CopyReport| copy.manifest.as_ref().is_some_and(|manifest| manifest.keep && !copy.in_use);
        let kept = if args.all { 0 } else { copies::list()?.iter().filter(|copy| is_kept(copy)).count() };
        if kept > 0 {
            tell::note(&format!("{kept} kept by 'index --keep' or '--keep-copies': --all removes these, too"));
        }
        return Ok(());
    }
    let copies = copies::list()?;
    if args.json {
        let text = serde_json::to_string_pretty(&copies).map_err(|e| CommandFailure::Other(e.to_string()))?;
        return crate::print((text + "\n").as_bytes());
    }
    let mut text = String::new();
    for copy in &copies {
        let of = copy.manifest.as_ref().map_or("never completed".to_owned(), |manifest| {
            let bytes = Bytes(manifest.files.iter().map(|file| file.bytes).sum());
            format!("{bytes} of {}", manifest.source)
        });
        let state = match (&copy.manifest, copy.in_use) {
            (_, true) => "in use",
            (Some(manifest), false) if manifest.keep => "kept",
            _ => "not in use",
        };
        text += &format!("{}  {of}  {state}\n", place(copy).display());
    }
    crate::print(text.as_bytes())
}

/// Where its pages lie.
fn place(copy: &CopyReport) -> &Path {
    copy.segment.as_ref().unwrap_or(&copy.folder)
}
