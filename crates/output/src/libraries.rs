//! The libraries that reads are of, as their read groups say (LB).

use crate::header::Header;
use crate::read_group::ReadGroup;
use std::collections::HashMap;

/// The name of the library of reads that name none, as Picard has it.
const UNKNOWN: &str = "Unknown Library";
/// Read groups are numbered in 16 bits.
pub(crate) const MOST_READ_GROUPS: usize = u16::MAX as usize;

/// The libraries of all lanes.
#[derive(Debug, Default)]
pub(crate) struct Libraries {
    /// In the order of their names.
    names: Vec<String>,
    /// That of lanes without a read group, if no read group is of it: reads of BAM have their own.
    of_lanes_alone: Option<usize>,
    /// Of each lane: its library, and its read group.
    lanes: Vec<(u16, u16)>,
    /// The same of each read group, by its ID.
    groups: HashMap<Vec<u8>, (u16, u16)>,
}

impl Libraries {
    pub(crate) fn new(header: &Header, lane_groups: &[Option<usize>]) -> Self {
        let name = |group: Option<usize>| {
            let group = group.and_then(|group| header.read_groups.get(group));
            group.and_then(|group| group.library()).unwrap_or(UNKNOWN).to_owned()
        };
        let of_lanes = lane_groups.iter().map(|group| name(*group));
        let of_groups: Vec<String> = (0..header.read_groups.len()).map(|group| name(Some(group))).collect();
        let mut names: Vec<String> = of_groups.iter().cloned().chain(of_lanes).collect();
        names.sort_unstable();
        names.dedup();
        let is_of_lanes_alone = |name: &String| !of_groups.is_empty() && !of_groups.contains(name);
        let of_lanes_alone = names.iter().position(is_of_lanes_alone);
        let number = |group: Option<usize>| names.binary_search(&name(group)).unwrap_or_default() as u16;
        // Read groups are numbered from 0, as with Picard; a read without one counts to the first.
        let both = |group: Option<usize>| (number(group), group.unwrap_or_default() as u16);
        let lanes = lane_groups.iter().map(|group| both(*group)).collect();
        let of_group = |(at, group): (usize, &ReadGroup)| (group.id.clone().into_bytes(), both(Some(at)));
        let groups = header.read_groups.iter().enumerate().map(of_group).collect();
        Libraries { names, of_lanes_alone, lanes, groups }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn of_lanes_alone(&self) -> Option<usize> {
        self.of_lanes_alone
    }

    /// The place of a library among all by their names, where that of reads that name none is first, as in samtools.
    pub(crate) fn rank(&self, library: u16) -> u16 {
        match self.names.get(usize::from(library)) {
            Some(name) if name != UNKNOWN => library + 1,
            _ => 0,
        }
    }

    /// The library and the read group of a lane.
    pub(crate) fn of_lane(&self, lane: usize) -> (u16, u16) {
        self.lanes.get(lane).copied().unwrap_or_default()
    }

    /// Those of a read group of the header, by its ID.
    pub(crate) fn of_group(&self, id: &[u8]) -> Option<(u16, u16)> {
        self.groups.get(id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_one_library_share_its_number() {
        let group = |line: &str| ReadGroup::parse(line).unwrap();
        let read_groups = vec![group("@RG\tID:a\tLB:two"), group("@RG\tID:b\tLB:one"), group("@RG\tID:c")];
        let header = Header { read_groups, ..Header::default() };
        let libraries = Libraries::new(&header, &[Some(0), Some(1), Some(0), Some(2), None]);
        assert_eq!(libraries.names(), ["Unknown Library", "one", "two"]);
        assert_eq!(libraries.of_lanes_alone(), None, "read group c is of it");
        assert_eq!([0, 1, 2, 3, 4].map(|lane| libraries.of_lane(lane)), [(2, 0), (1, 1), (2, 0), (0, 2), (0, 0)]);
    }

    #[test]
    fn a_library_that_only_lanes_without_a_read_group_are_of() {
        let group = |line: &str| ReadGroup::parse(line).unwrap();
        let of = |read_groups, lanes: &[Option<usize>]| {
            Libraries::new(&Header { read_groups, ..Header::default() }, lanes).of_lanes_alone()
        };
        assert_eq!(of(vec![group("@RG\tID:a\tLB:one")], &[None]), Some(0), "BAM with read groups");
        assert_eq!(of(vec![group("@RG\tID:a\tLB:one")], &[Some(0)]), None);
        assert_eq!(of(Vec::new(), &[None]), None, "all reads are of it");
    }
}
