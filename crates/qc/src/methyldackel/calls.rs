//! Bases of records that lie on cytosines of the reference, part by part.
//!
//! Where both mates of a pair lie on the same cytosine, one of them counts (overlaps.c). So the bases of a part wait
//! until those are known that reach into it from the parts before.

use super::spec::{Bounds, MethylDackelSpec};
use crate::codec::{put, take};
use crate::depth::{Place, place};
use crate::record::{BASE_C, BASE_G, NO_CALL, Record, integer};
use crate::reference::Window;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::error::Error;
use zerohop_model::record::{FIRST, LAST, MATE_UNMAPPED, PAIRED, REVERSE, UNMAPPED};

/// How BAM codes A and T.
const BASE_A: u8 = 1;
const BASE_T: u8 = 8;
/// So far from a cytosine its context reaches.
const REACH: u32 = 2;

/// Bases of the records of one part that lie on cytosines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    records: Vec<CalledRecord>,
    bases: Vec<CalledBase>,
}

/// A record. Of its name there is a hash: that two names at one place have the same one is as good as impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CalledRecord {
    contig: u32,
    name: u64,
    /// Whether its cytosines are those of the reference; else they are G there.
    is_top: bool,
    /// Whether its mate is looked for.
    has_mate: bool,
    /// Where its bases end in [`Calls::bases`].
    end: usize,
}

/// A base on a cytosine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CalledBase {
    position: u32,
    context: u8,
    code: u8,
    quality: u8,
}

/// Methylated and converted bases of a cytosine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) place: Place,
    pub(crate) context: u8,
    pub(crate) is_top: bool,
    pub(crate) methylated: u32,
    pub(crate) converted: u32,
}

impl Calls {
    /// Adds a record with these bases, if it counts.
    ///
    /// # Errors
    /// A reference that cannot be read.
    pub(crate) fn add(
        &mut self,
        record: &Record<'_>,
        codes: &[u8],
        window: &mut Window<'_>,
        spec: &MethylDackelSpec,
    ) -> Result<(), Error> {
        let (Ok(contig), true) = (u32::try_from(record.contig), spec.counts(record)) else { return Ok(()) };
        let Some(strand) = strand(record) else { return Ok(()) };
        let (is_top, bounds) = (strand % 2 == 0, &spec.bounds[strand]);
        let span = record.span();
        let before = span.start.min(REACH);
        let reference = window.codes(record.contig, span.start - before..span.end.saturating_add(REACH))?;
        let (from, cytosine) = (self.bases.len(), if is_top { BASE_C } else { BASE_G });
        for (positions, bases) in record.aligned() {
            for (position, base) in positions.zip(bases) {
                let at = (position - span.start + before) as usize;
                // Records may have no bases, as secondary ones.
                let (Some(code), Some(quality)) = (codes.get(base), record.qualities.get(base)) else { continue };
                if reference.get(at) != Some(&cytosine) {
                    continue;
                }
                let context = context(reference, at, is_top);
                if spec.contexts[usize::from(context)] {
                    let is_out = is_out(base, record, bounds);
                    let (code, quality) = if is_out { (NO_CALL, 0) } else { (*code, *quality) };
                    self.bases.push(CalledBase { position, context, code, quality });
                }
            }
        }
        if self.bases.len() > from {
            let has_mate = record.flags.any(PAIRED) && !record.flags.any(UNMAPPED | MATE_UNMAPPED);
            let name = xxh3_64(record.name);
            self.records.push(CalledRecord { contig, name, is_top, has_mate, end: self.bases.len() });
        }
        Ok(())
    }

    /// Each record, and which bases are its own.
    fn records(&self) -> impl Iterator<Item = (&CalledRecord, std::ops::Range<usize>)> {
        let mut start = 0;
        self.records.iter().map(move |record| (record, std::mem::replace(&mut start, record.end)..record.end))
    }

    /// Adds to `reaching` those of its records that reach behind `end`.
    pub(crate) fn reaching(&self, end: Place, reaching: &mut Calls) {
        for (record, bases) in self.records() {
            let bases = &self.bases[bases];
            if bases.last().is_some_and(|last| place(record.contig, last.position) >= end) {
                reaching.bases.extend_from_slice(bases);
                reaching.records.push(CalledRecord { end: reaching.bases.len(), ..*record });
            }
        }
    }

    /// Adds the records of others behind its own.
    fn append(&mut self, more: &Calls) {
        let before = self.bases.len();
        self.bases.extend_from_slice(&more.bases);
        self.records.extend(more.records.iter().map(|record| CalledRecord { end: before + record.end, ..*record }));
    }

    /// The cytosines of some places, in their order, on which bases of a sufficient quality lie: of records that reach
    /// into the part, `before`, and of its own.
    pub(crate) fn sites(before: &Calls, own: &Calls, places: &std::ops::Range<Place>, least_quality: u8) -> Vec<Site> {
        let mut all = before.clone();
        all.append(own);
        all.settle_mates();
        let mut found: Vec<(Place, u8, bool, bool)> = Vec::new();
        for (record, bases) in all.records() {
            let meanings = if record.is_top { [BASE_C, BASE_T] } else { [BASE_G, BASE_A] };
            for base in &all.bases[bases] {
                let place = place(record.contig, base.position);
                if base.quality >= least_quality && places.contains(&place) && meanings.contains(&base.code) {
                    found.push((place, base.context, record.is_top, base.code == meanings[0]));
                }
            }
        }
        found.sort_unstable();
        let mut sites: Vec<Site> = Vec::new();
        for (place, context, is_top, is_methylated) in found {
            if sites.last().is_none_or(|last| last.place != place) {
                sites.push(Site { place, context, is_top, methylated: 0, converted: 0 });
            }
            if let Some(site) = sites.last_mut() {
                *if is_methylated { &mut site.methylated } else { &mut site.converted } += 1;
            }
        }
        sites
    }

    /// Of two mates on the same cytosine, has the better one count.
    fn settle_mates(&mut self) {
        let mut firsts: HashMap<(u64, u32), usize> = HashMap::new();
        for number in 0..self.records.len() {
            let record = self.records[number];
            if !record.has_mate {
                continue;
            }
            let key = (record.name, record.contig);
            let Some(first) = firsts.remove(&key) else {
                firsts.insert(key, number);
                continue;
            };
            if self.records[first].is_top != record.is_top {
                continue;
            }
            let start = |of: usize| of.checked_sub(1).map_or(0, |before| self.records[before].end);
            let (one, other) = (start(first)..self.records[first].end, start(number)..record.end);
            let (head, tail) = self.bases.split_at_mut(other.start);
            settle(&mut head[one], &mut tail[..other.len()]);
        }
    }

    /// Writes it, for [`Self::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.records.len() as u64);
        for (record, bases) in self.records() {
            let flags = u64::from(record.is_top) | u64::from(record.has_mate) << 1;
            [record.contig.into(), record.name, flags, bases.len() as u64].into_iter().for_each(|it| put(out, it));
            for base in &self.bases[bases] {
                put(out, base.position.into());
                out.extend([base.context, base.code, base.quality]);
            }
        }
    }

    /// Reads one; none if it is damaged.
    pub(crate) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut calls = Calls::default();
        for _ in 0..take(from)? {
            let (contig, name, flags) = (u32::try_from(take(from)?).ok()?, take(from)?, take(from)?);
            for _ in 0..take(from)? {
                let position = u32::try_from(take(from)?).ok()?;
                let ([context @ 0..=2, code, quality], rest) = from.split_first_chunk()? else { return None };
                *from = rest;
                calls.bases.push(CalledBase { position, context: *context, code: *code, quality: *quality });
            }
            let (is_top, has_mate) = (flags & 1 != 0, flags & 2 != 0);
            calls.records.push(CalledRecord { contig, name, is_top, has_mate, end: calls.bases.len() });
        }
        Some(calls)
    }
}

/// Of bases of two mates on the same cytosines, has the better ones count: with a quality that is raised if they agree,
/// and else less the other's (`cust_tweak_overlap_quality` of overlaps.c).
fn settle(one: &mut [CalledBase], other: &mut [CalledBase]) {
    let mut at = 0;
    for base in one {
        while other.get(at).is_some_and(|other| other.position < base.position) {
            at += 1;
        }
        let Some(other) = other.get_mut(at).filter(|other| other.position == base.position) else { continue };
        let raised = |quality: u8| (f64::from(quality) + 0.2 * f64::from(quality)) as u8;
        (base.quality, other.quality) = match base.code == other.code {
            true if base.quality > other.quality => (raised(base.quality), 0),
            true => (0, raised(other.quality)),
            false if base.quality > other.quality && base.code != NO_CALL => (base.quality - other.quality, 0),
            false if other.quality > base.quality && other.code != NO_CALL => (0, other.quality - base.quality),
            false => (0, 0),
        };
    }
}

/// Which strand a record comes from: 0 and 1 are the original top and bottom, 2 and 3 those complementary to them; none
/// if its flags do not tell (`getStrand` of common.c).
fn strand(record: &Record<'_>) -> Option<usize> {
    let flags = record.flags;
    let is = |flag: u16| flags.any(flag);
    let converted = record.fields().find(|field| field.key == *b"XG").and_then(|field| field.value.first().copied());
    let is_second = is(PAIRED) && !is(FIRST) && is(LAST);
    let is_complementary = is_second != is(REVERSE);
    match converted {
        // Read as the strand itself by a first mate on it, or by a second one on the other.
        Some(b'C') => Some(if is_complementary { 2 } else { 0 }),
        Some(b'G') => Some(if is_complementary { 1 } else { 3 }),
        _ if is(PAIRED) && !is(FIRST | LAST) => None,
        _ => Some(usize::from(is_complementary)),
    }
}

/// Whether a base lies too near to an end of its read.
fn is_out(base: usize, record: &Record<'_>, Bounds { places, counts }: &Bounds) -> bool {
    let mate = usize::from(record.flags.any(LAST));
    let ([left, right_place], [first, last]) = (places[mate], counts[mate]);
    let after = record.bases - 1 - base;
    base < left as usize
        || right_place > 0 && base >= right_place as usize
        || base < first as usize
        || after < last as usize
}

/// 0 for CpG, 1 for CHG, 2 for CHH: of a cytosine of a strand at this place of some bases (`isCpG`, `isCHG`, `isCHH`).
fn context(reference: &[u8], at: usize, is_top: bool) -> u8 {
    let near = |distance: usize| match is_top {
        true => reference.get(at + distance) == Some(&BASE_G),
        false => at.checked_sub(distance).and_then(|at| reference.get(at)) == Some(&BASE_C),
    };
    match (near(1), near(2)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    }
}

impl Record<'_> {
    /// NH: how many places its read has.
    pub(crate) fn hits(&self) -> Option<i64> {
        self.fields().find(|field| field.key == *b"NH").and_then(integer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A record: its pair, where it begins, which of ten cytosines behind that it covers, and its bases and qualities.
    type Placed = (u8, u32, Vec<Option<(usize, u8)>>);

    /// Cytosines lie at the places that 3 divides.
    const STEP: u32 = 3;

    fn records() -> impl Strategy<Value = Vec<Placed>> {
        let base = prop::option::weighted(0.9, (0usize..3, 0u8..50));
        let record = (0u8..8, 0u32..60, prop::collection::vec(base, 1..10));
        prop::collection::vec(record, 0..24).prop_map(|mut records| {
            records.sort_by_key(|(_, start, _)| *start);
            // No more than two of a name.
            let mut seen = [0; 8];
            records.retain(|(name, ..)| {
                seen[usize::from(*name)] += 1;
                seen[usize::from(*name)] <= 2
            });
            records
        })
    }

    /// Those records that begin at some places.
    fn calls(records: &[Placed], places: std::ops::Range<u32>) -> Calls {
        let mut calls = Calls::default();
        for (name, start, bases) in records.iter().filter(|(_, start, _)| places.contains(&(start * STEP))) {
            for (at, base) in bases.iter().enumerate() {
                if let Some((code, quality)) = base {
                    let (position, context) = ((start + at as u32) * STEP, ((start + at as u32) % 3) as u8);
                    let code = [BASE_C, BASE_T, NO_CALL][*code];
                    calls.bases.push(CalledBase { position, context, code, quality: *quality });
                }
            }
            let end = calls.bases.len();
            calls.records.push(CalledRecord { contig: 0, name: (*name).into(), is_top: true, has_mate: true, end });
        }
        calls
    }

    /// Cytosines one after the other, out of all records.
    fn naive(records: &[Placed]) -> BTreeMap<u32, (u32, u32)> {
        let mut counts = BTreeMap::new();
        for cytosine in 0..80u32 {
            let mut by_name: BTreeMap<u8, Vec<(usize, u8)>> = BTreeMap::new();
            for (name, start, bases) in records {
                let at = cytosine.checked_sub(*start).and_then(|at| *bases.get(at as usize)?);
                by_name.entry(*name).or_default().extend(at);
            }
            for bases in by_name.into_values() {
                let counted = match bases[..] {
                    [one] => one,
                    [(a, p), (b, q)] if a == b => (a, (f64::from(p.max(q)) * 1.2) as u8),
                    [(a, p), (_, q)] if p > q && a != 2 => (a, p - q),
                    [(_, p), (b, q)] if q > p && b != 2 => (b, q - p),
                    _ => continue,
                };
                let (methylated, converted): &mut (u32, u32) = counts.entry(cytosine * STEP).or_default();
                if counted.1 >= 5 {
                    *methylated += u32::from(counted.0 == 0);
                    *converted += u32::from(counted.0 == 1);
                }
            }
        }
        counts.retain(|_, counts| *counts != (0, 0));
        counts
    }

    proptest! {
        #[test]
        fn cytosines_by_parts_are_those_of_the_naive_way(
            records in records(),
            mut bounds in prop::collection::vec(1u32..200, 0..8),
        ) {
            bounds.extend([0, 300]);
            bounds.sort_unstable();
            bounds.dedup();
            let (mut before, mut found) = (Calls::default(), BTreeMap::new());
            for part in bounds.windows(2) {
                let own = calls(&records, part[0]..part[1]);
                let mut bytes = Vec::new();
                own.write(&mut bytes);
                prop_assert_eq!(Calls::read(&mut &*bytes), Some(own.clone()));
                for site in Calls::sites(&before, &own, &(part[0].into()..part[1].into()), 5) {
                    found.insert(site.place as u32, (site.methylated, site.converted));
                }
                let mut reaching = Calls::default();
                [&before, &own].into_iter().for_each(|calls| calls.reaching(part[1].into(), &mut reaching));
                before = reaching;
            }
            prop_assert_eq!(found, naive(&records));
        }
    }

    #[test]
    fn contexts_are_those_of_the_strand() {
        let codes = |bases: &str| bases.bytes().map(crate::reference::code_of).collect::<Vec<_>>();
        for (bases, at, is_top, wanted) in [
            ("ACGT", 1, true, 0),
            ("CTG", 0, true, 1),
            ("CNG", 0, true, 1),
            ("CTA", 0, true, 2),
            ("C", 0, true, 2),
            ("CG", 1, false, 0),
            ("CAG", 2, false, 1),
            ("CCG", 2, false, 0),
            ("TAG", 2, false, 2),
            ("AG", 1, false, 2),
        ] {
            assert_eq!(context(&codes(bases), at, is_top), wanted, "{bases} {at}");
        }
    }
}
