//! Which files belong together, and which read group they have.

use crate::args::AlignArgs;
use crate::failure::Failure;
use crate::inputs;
use clap::ArgMatches;
use std::path::{Path, PathBuf};
use zerohop_reads::LaneSpec;
use zerohop_sinks::ReadGroup;

/// The files of each `--reads` that was typed, in order. (The parsed arguments have them all in one row.)
pub fn typed(matches: &ArgMatches) -> Vec<Vec<PathBuf>> {
    let occurrences = matches.get_occurrences::<PathBuf>("reads");
    occurrences.map(|all| all.map(|files| files.cloned().collect()).collect()).unwrap_or_default()
}

/// All lanes: the positional files first.
///
/// # Errors
/// Wrong usage.
pub fn specs(args: &AlignArgs, typed: Vec<Vec<PathBuf>>) -> Result<Vec<LaneSpec>, Failure> {
    let positional: Vec<PathBuf> = args.reads_1.iter().chain(&args.reads_2).cloned().collect();
    let lanes: Vec<LaneSpec> = std::iter::once(positional)
        .chain(typed)
        .filter(|files| !files.is_empty())
        .map(|files| LaneSpec { interleaved: args.interleaved, files })
        .collect();
    let all = || lanes.iter().flat_map(|lane| &lane.files);
    if lanes.is_empty() {
        return Err(Failure::Usage("no reads were given: name one or two files, or '-' for standard input".to_owned()));
    }
    if args.interleaved && lanes.iter().any(|lane| lane.files.len() > 1) {
        return Err(Failure::Usage("with --interleaved each lane has one file".to_owned()));
    }
    if all().filter(|file| *file == Path::new("-")).count() > 1 {
        return Err(Failure::Usage("standard input ('-') can be read only once".to_owned()));
    }
    for lane in &lanes {
        if let [one, two] = &lane.files[..]
            && inputs::is_same(one, two)
        {
            return Err(Failure::Usage(format!("{} was given as both files of a pair", two.display())));
        }
    }
    Ok(lanes)
}

/// The read groups of the header, and each lane's position among them.
pub type Groups = (Vec<ReadGroup>, Vec<Option<usize>>);

/// The read groups that were typed.
///
/// # Errors
/// Wrong usage.
pub fn read_groups(args: &AlignArgs, lanes: usize) -> Result<Groups, Failure> {
    if args.read_group.is_empty() {
        // As in strobealign: fields without an ID make the group 1.
        let id = args.rg_id.clone().or_else(|| (!args.rg.is_empty()).then(|| "1".to_owned()));
        let group = id.map(|id| ReadGroup::new(&id, &args.rg)).transpose()?;
        let position = group.as_ref().map(|_| 0);
        return Ok((group.into_iter().collect(), vec![position; lanes]));
    }
    let typed: Vec<ReadGroup> = args.read_group.iter().map(|line| ReadGroup::parse(line)).collect::<Result<_, _>>()?;
    if typed.len() != 1 && typed.len() != lanes {
        let words =
            format!("{} read groups (-R) were given for {lanes} lanes: give one for all, or one each", typed.len());
        return Err(Failure::Usage(words));
    }
    let mut groups: Vec<ReadGroup> = Vec::new();
    let mut positions = Vec::new();
    for group in typed {
        let position = match groups.iter().position(|g| g.id == group.id) {
            Some(same) if groups[same] == group => same,
            Some(_) => return Err(Failure::Usage(format!("two different read groups have the ID '{}'", group.id))),
            None => {
                groups.push(group);
                groups.len() - 1
            }
        };
        positions.push(Some(position));
    }
    positions.resize(lanes, positions[0]);
    Ok((groups, positions))
}
