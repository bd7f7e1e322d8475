//! Optical duplicates: pairs of one set whose clusters lie near each other on the flow cell (Picard's
//! OpticalDuplicateFinder and ReadNameParser).

/// Larger sets are not looked at, as with Picard.
pub(crate) const LARGEST_SET: usize = 300_000;
/// The tile of names that say none.
const NO_TILE: i16 = -1;

/// Where a cluster is, as names of Illumina's reads say: `machine:run:flowcell:lane:tile:x:y`, or `...:lane:tile:x:y`
/// with five fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    pub(crate) tile: i16,
    pub(crate) x: i32,
    pub(crate) y: i32,
}

impl Location {
    /// What is taken where a name says none.
    pub(crate) const NONE: Self = Location { tile: NO_TILE, x: -1, y: -1 };

    /// What a name says; [`Location::NONE`] if it says none. `umi` says whether a name of eight fields may end with a
    /// barcode.
    pub(crate) fn of(name: &[u8], umi: bool) -> Self {
        let fields = name.iter().filter(|&&byte| byte == b':').count() + 1;
        let before = match fields {
            5 => 2,
            7 => 4,
            8 if umi => 4,
            _ => return Self::NONE,
        };
        let mut fields = name.split(|&byte| byte == b':').skip(before).map(number);
        match (fields.next().flatten(), fields.next().flatten(), fields.next().flatten()) {
            (Some(tile), Some(x), Some(y)) => Location { tile: tile as i16, x, y },
            _ => Self::NONE,
        }
    }

    /// As bytes that compare as locations do.
    pub(crate) fn bytes(self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[..2].copy_from_slice(&(self.tile ^ i16::MIN).to_be_bytes());
        bytes[2..6].copy_from_slice(&(self.x ^ i32::MIN).to_be_bytes());
        bytes[6..].copy_from_slice(&(self.y ^ i32::MIN).to_be_bytes());
        bytes
    }

    /// The location of these bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let Some(([t0, t1, x0, x1, x2, x3, y0, y1, y2, y3], _)) = bytes.split_first_chunk() else { return Self::NONE };
        Location {
            tile: i16::from_be_bytes([*t0, *t1]) ^ i16::MIN,
            x: i32::from_be_bytes([*x0, *x1, *x2, *x3]) ^ i32::MIN,
            y: i32::from_be_bytes([*y0, *y1, *y2, *y3]) ^ i32::MIN,
        }
    }
}

/// The number that a field begins with.
fn number(field: &[u8]) -> Option<i32> {
    let (is_negative, digits) = field.strip_prefix(b"-").map_or((false, field), |digits| (true, digits));
    let digits = &digits[..digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len())];
    let add = |value: i32, digit: &u8| value.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'));
    let value = digits.iter().fold(0, add);
    (!digits.is_empty()).then_some(if is_negative { value.wrapping_neg() } else { value })
}

/// A pair of a set of duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) first_is_reverse: bool,
    pub(crate) read_group: u16,
    /// The library of the read group.
    pub(crate) library: u16,
    pub(crate) location: Location,
}

/// How many pairs of a set are optical duplicates, by library: those that are near each other, one after the other, all
/// but one.
pub(crate) fn count(spots: &mut [Spot], distance: u32) -> impl Iterator<Item = (u16, u64)> {
    spots.sort_unstable();
    let strands = spots.chunk_by(|a, b| a.first_is_reverse == b.first_is_reverse);
    strands.filter(|spots| spots.len() <= LARGEST_SET).flat_map(move |spots| count_of_strand(spots, distance))
}

fn count_of_strand(spots: &[Spot], distance: u32) -> impl Iterator<Item = (u16, u64)> {
    let tiles = spots.chunk_by(|a, b| (a.read_group, a.location.tile) == (b.read_group, b.location.tile));
    let tiles = tiles.filter(|spots| spots[0].location.tile != NO_TILE);
    tiles.map(move |spots| (spots[0].library, joined(spots, distance)))
}

/// Of spots of a tile, in the order of x: how many steps join all that are near each other.
fn joined(spots: &[Spot], distance: u32) -> u64 {
    let mut parents: Vec<usize> = (0..spots.len()).collect();
    let mut steps = 0;
    for (at, spot) in spots.iter().enumerate() {
        let is_near_in_x = |next: &&Spot| spot.location.x.abs_diff(next.location.x) <= distance;
        for (next, other) in spots[at + 1..].iter().take_while(is_near_in_x).zip(at + 1..) {
            let (one, two) = (root(&mut parents, at), root(&mut parents, other));
            if one != two && spot.location.y.abs_diff(next.location.y) <= distance {
                parents[one] = two;
                steps += 1;
            }
        }
    }
    steps
}

fn root(parents: &mut [usize], at: usize) -> usize {
    let mut root = at;
    while parents[root] != root {
        root = parents[root];
    }
    parents[at] = root;
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_say_where_clusters_are() {
        let at = |tile, x, y| Location { tile, x, y };
        for (name, umi, wanted) in [
            ("M0:7:000-A:1:1101:15589:1332", false, at(1101, 15589, 1332)),
            ("HWI:1:12:345:678#AC/1", false, at(12, 345, 678)),
            ("M0:7:000-A:1:1101:15589:1332:ACGT", false, Location::NONE),
            ("M0:7:000-A:1:1101:15589:1332:ACGT", true, at(1101, 15589, 1332)),
            ("SRR1:1:x:3:4", false, Location::NONE),
            ("SRR1.1", false, Location::NONE),
            ("a:b:70000:-5:7", false, at(4464, -5, 7)),
        ] {
            assert_eq!(Location::of(name.as_bytes(), umi), wanted, "{name}");
            assert_eq!(Location::of_bytes(&wanted.bytes()), wanted);
        }
    }

    proptest! {
        /// Against all with all, until nothing changes.
        #[test]
        fn chains_of_near_spots_are_joined(
            spots in prop::collection::vec((any::<bool>(), 0u16..2, -1i16..2, 0i32..60, 0i32..60), 0..25),
            distance in 0u32..12,
        ) {
            let spot = |&(first_is_reverse, read_group, tile, x, y): &_| {
                Spot { first_is_reverse, read_group, library: read_group, location: Location { tile, x, y } }
            };
            let mut spots: Vec<Spot> = spots.iter().map(spot).collect();
            let mut cluster: Vec<usize> = (0..spots.len()).collect();
            let near = |a: &Spot, b: &Spot| {
                (a.first_is_reverse, a.read_group) == (b.first_is_reverse, b.read_group)
                    && a.location.tile == b.location.tile
                    && a.location.tile != -1
                    && a.location.x.abs_diff(b.location.x) <= distance
                    && a.location.y.abs_diff(b.location.y) <= distance
            };
            for _ in 0..spots.len() {
                for a in 0..spots.len() {
                    for b in 0..spots.len() {
                        if near(&spots[a], &spots[b]) {
                            cluster[a] = cluster[a].min(cluster[b]);
                        }
                    }
                }
            }
            let clusters: std::collections::HashSet<_> = cluster.iter().collect();
            let wanted = (spots.len() - clusters.len()) as u64;
            prop_assert_eq!(count(&mut spots, distance).map(|(_, count)| count).sum::<u64>(), wanted);
        }

        #[test]
        fn bytes_compare_as_locations(a in any::<(i16, i32, i32)>(), b in any::<(i16, i32, i32)>()) {
            let location = |(tile, x, y)| Location { tile, x, y };
            let (a, b) = (location(a), location(b));
            prop_assert_eq!(a.bytes().cmp(&b.bytes()), a.cmp(&b));
        }
    }
}
