//! Which files belong together, and which read group they have.

use crate::job::AlignError;
use std::path::{Path, PathBuf};
use zerohop_input::LaneSpec;
use zerohop_output::ReadGroup;
use zerohop_process::overwrite;

/// Lanes of these files: one of reads each, or two with the mates in step. If `interleaved`, each file holds single
/// reads or pairs whose mates follow one another.
///
/// # Errors
/// Files that cannot be lanes together.
pub fn lanes(files: Vec<Vec<PathBuf>>, interleaved: bool) -> Result<Vec<LaneSpec>, AlignError> {
    let lanes = files.into_iter().filter(|files| !files.is_empty());
    let lanes: Vec<LaneSpec> = lanes.map(|files| LaneSpec { interleaved, files }).collect();
    let all = || lanes.iter().flat_map(|lane| &lane.files);
    if lanes.is_empty() {
        return Err(AlignError::Usage(
            "no reads were given: name one or two files, or '-' for standard input".to_owned(),
        ));
    }
    if interleaved && lanes.iter().any(|lane| lane.files.len() > 1) {
        return Err(AlignError::Usage("with --interleaved each lane has one file".to_owned()));
    }
    if all().filter(|file| *file == Path::new("-")).count() > 1 {
        return Err(AlignError::Usage("standard input ('-') can be read only once".to_owned()));
    }
    for lane in &lanes {
        if let [one, two] = &lane.files[..]
            && overwrite::is_same(one, two)
        {
            return Err(AlignError::Usage(format!("{} was given as both files of a pair", two.display())));
        }
    }
    Ok(lanes)
}

/// A note on each file that is in more than one lane.
pub(crate) fn given_twice(lanes: &[LaneSpec]) -> Vec<String> {
    let number_of = |file: &PathBuf, lanes: &[LaneSpec]| lanes.iter().position(|lane| lane.files.contains(file));
    let mut notes = Vec::new();
    for (at, lane) in lanes.iter().enumerate() {
        for file in &lane.files {
            if let Some(before) = number_of(file, &lanes[..at]) {
                let (first, second) = (before + 1, at + 1);
                notes.push(format!("{} was read in lane {first} and again in lane {second}.", file.display()));
            }
        }
    }
    notes
}

/// The read groups of the header, and that of each lane.
#[derive(Debug, Clone, Default)]
pub struct ReadGroups {
    /// The read groups, as the header has them.
    pub groups: Vec<ReadGroup>,
    /// Each lane's position among them.
    pub of_lanes: Vec<Option<usize>>,
}

impl ReadGroups {
    /// None, for so many lanes.
    pub fn none(lanes: usize) -> Self {
        ReadGroups { groups: Vec::new(), of_lanes: vec![None; lanes] }
    }

    /// The group of each lane, for people and to be compared.
    pub fn words(&self) -> String {
        let group = |group: &ReadGroup| format!("ID:{} {}", group.id, group.fields.join(" ")).trim().to_owned();
        let of_lane = |lane: &Option<usize>| lane.and_then(|at| self.groups.get(at)).map_or("none".to_owned(), group);
        self.of_lanes.iter().map(of_lane).collect::<Vec<_>>().join(", ")
    }

    /// One for all lanes, if there is one.
    pub fn one(group: Option<ReadGroup>, lanes: usize) -> Self {
        let position = group.as_ref().map(|_| 0);
        ReadGroups { groups: group.into_iter().collect(), of_lanes: vec![position; lanes] }
    }

    /// Read group lines as in `@RG\\tID:x\\tSM:y`: none, one for all lanes, or one for each.
    ///
    /// # Errors
    /// Lines that are none, or do not fit the lanes.
    pub fn parse(lines: &[String], lanes: usize) -> Result<Self, AlignError> {
        if lines.is_empty() {
            return Ok(Self::none(lanes));
        }
        let typed: Vec<ReadGroup> = lines.iter().map(|line| ReadGroup::parse(line)).collect::<Result<_, _>>()?;
        if typed.len() != 1 && typed.len() != lanes {
            let of = if lanes == 1 { "one lane".to_owned() } else { format!("{lanes} lanes") };
            let words = format!("{} read groups (-R) were given for {of}: give one for all, or one each", typed.len());
            return Err(AlignError::Usage(words));
        }
        let mut groups: Vec<ReadGroup> = Vec::new();
        let mut positions = Vec::new();
        for group in typed {
            let position = match groups.iter().position(|g| g.id == group.id) {
                Some(same) if groups[same] == group => same,
                Some(_) => {
                    return Err(AlignError::Usage(format!("two different read groups have the ID '{}'", group.id)));
                }
                None => {
                    groups.push(group);
                    groups.len() - 1
                }
            };
            positions.push(Some(position));
        }
        positions.resize(lanes, positions[0]);
        Ok(ReadGroups { groups, of_lanes: positions })
    }
}
