//! Barcodes in the fields of first reads (SAMtags): samtools stats tells their bases and qualities by place.
//!
//! The first barcode says how long all are: longer ones do not count. The first byte that is no base says where two
//! barcodes are parted: one that has another such byte counts up to there, without its qualities.

use super::text::section;
use crate::counts::{add_all, count_at};
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::AddAssign;

/// The fields of barcodes, and those of their qualities.
const FIELDS: [[[u8; 2]; 2]; 4] = [[*b"BC", *b"QT"], [*b"CR", *b"CY"], [*b"OX", *b"BZ"], [*b"RX", *b"QX"]];
/// The bases that are counted.
const BASES: &[u8; 5] = b"ACGTN";

/// All barcodes, by [`FIELDS`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub(super) struct Barcodes([BTreeMap<Shape, OfShape>; FIELDS.len()]);

/// The same, as JSON can have it.
type Listed = [Vec<(Shape, OfShape)>; FIELDS.len()];

impl From<Listed> for Barcodes {
    fn from(listed: Listed) -> Self {
        Barcodes(listed.map(|shapes| shapes.into_iter().collect()))
    }
}

impl From<Barcodes> for Listed {
    fn from(barcodes: Barcodes) -> Self {
        barcodes.0.map(|shapes| shapes.into_iter().collect())
    }
}

/// How long a barcode is, and where it has bytes that are no bases.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Shape {
    length: usize,
    parted: Vec<usize>,
}

/// Barcodes of one shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OfShape {
    /// The number of the first record that has one.
    first: u64,
    /// By place, how many bases are which of [`BASES`].
    bases: Vec<[u64; BASES.len()]>,
    /// By place and quality.
    qualities: Vec<Vec<u64>>,
}

impl Barcodes {
    /// Adds those of a record, the `number`th of all.
    pub(super) fn add(&mut self, number: u64, record: &Record<'_>) {
        // Of each barcode itself and its qualities.
        let mut found: [[Option<&[u8]>; 2]; FIELDS.len()] = Default::default();
        for field in record.fields() {
            let is_field = |keys: &[[u8; 2]; 2]| keys.iter().position(|key| *key == field.key);
            let place = FIELDS.iter().zip(&mut found).find_map(|(keys, found)| Some(&mut found[is_field(keys)?]));
            if let Some(place) = place {
                *place = place.or(field.text());
            }
        }
        for (shapes, [barcode, qualities]) in self.0.iter_mut().zip(found) {
            if let Some(barcode) = barcode.filter(|barcode| !barcode.is_empty()) {
                let shape = Shape::of(barcode);
                let of_shape = shapes.entry(shape).or_insert_with(|| OfShape::new(number, barcode.len()));
                of_shape.add(barcode, qualities.filter(|qualities| qualities.len() == barcode.len()));
            }
        }
    }

    /// What samtools tells of them.
    pub(super) fn text(&self, out: &mut String) {
        for (shapes, keys) in self.0.iter().zip(FIELDS) {
            if let Some(all) = Told::of(shapes) {
                all.text(keys.map(|key| String::from_utf8_lossy(&key).into_owned()), out);
            }
        }
    }
}

impl Shape {
    fn of(barcode: &[u8]) -> Self {
        let is_base = |byte: &u8| BASES.contains(byte);
        let parted = barcode.iter().enumerate().filter(|(_, byte)| !is_base(byte)).map(|(at, _)| at).collect();
        Shape { length: barcode.len(), parted }
    }
}

impl OfShape {
    fn new(first: u64, length: usize) -> Self {
        OfShape { first, bases: vec![[0; BASES.len()]; length], qualities: vec![Vec::new(); length] }
    }

    fn add(&mut self, barcode: &[u8], qualities: Option<&[u8]>) {
        for (counts, byte) in self.bases.iter_mut().zip(barcode) {
            if let Some(base) = BASES.iter().position(|base| base == byte) {
                counts[base] += 1;
            }
        }
        for (counts, byte) in self.qualities.iter_mut().zip(qualities.unwrap_or_default()) {
            if let Some(quality) = byte.checked_sub(b'!') {
                count_at(counts, quality.into());
            }
        }
    }

    fn add_places(&mut self, more: &OfShape, bases: usize, qualities: usize) {
        for (all, more) in self.bases.iter_mut().zip(&more.bases[..bases]) {
            all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
        for (all, more) in self.qualities.iter_mut().zip(&more.qualities[..qualities]) {
            add_all(all, more);
        }
    }
}

/// The barcodes of one field, as they are told.
struct Told {
    all: OfShape,
    parted: Option<usize>,
}

impl Told {
    fn of(shapes: &BTreeMap<Shape, OfShape>) -> Option<Self> {
        let (first, of_first) = shapes.iter().min_by_key(|(_, of_shape)| of_shape.first)?;
        let told = || shapes.iter().filter(|(shape, _)| shape.length <= first.length);
        let with_parts = told().filter(|(shape, _)| !shape.parted.is_empty());
        let parted = with_parts.min_by_key(|(_, of_shape)| of_shape.first).map(|(shape, _)| shape.parted[0]);
        let mut all = OfShape::new(of_first.first, first.length);
        for (shape, of_shape) in told() {
            let wrong = shape.parted.iter().find(|at| Some(**at) != parted);
            all.add_places(of_shape, wrong.copied().unwrap_or(shape.length), wrong.map_or(shape.length, |_| 0));
        }
        Some(Told { all, parted })
    }

    fn text(&self, [key, quality_key]: [String; 2], out: &mut String) {
        let columns = "cycle; A,C,G,T base counts as a percentage of all A/C/G/T bases [%]; and N counts as a \
                       percentage of all A/C/G/T bases [%]";
        section(out, "ACGT content per cycle for barcodes", &format!("{key}C"), columns);
        let places = || (0..self.all.bases.len()).filter(|at| Some(*at) != self.parted);
        // Which of two barcodes it is in, and where there, from 1.
        let place = |at: usize| match self.parted {
            Some(parted) if at > parted => (2, at - parted),
            _ => (1, at + 1),
        };
        for at in places() {
            let (counts, (barcode, cycle)) = (self.all.bases[at], place(at));
            let acgt: u64 = counts[..4].iter().sum();
            if acgt > 0 {
                let _ = write!(out, "{key}C{barcode}\t{cycle}");
                for count in counts {
                    let _ = write!(out, "\t{:.2}", 100.0 * count as f64 / acgt as f64);
                }
                out.push('\n');
            }
        }
        let _ = writeln!(
            out,
            "# Barcode Qualities. Use `grep ^{quality_key}Q | cut -f 2-` to extract this part.\n\
             # Columns correspond to qualities and rows to barcode cycles. First column is the cycle number."
        );
        let columns = self.all.qualities.iter().map(Vec::len).max().unwrap_or(0);
        for at in places() {
            let (counts, (barcode, cycle)) = (&self.all.qualities[at], place(at));
            let _ = write!(out, "{quality_key}Q{barcode}\t{cycle}");
            for quality in 0..columns {
                let _ = write!(out, "\t{}", counts.get(quality).copied().unwrap_or_default());
            }
            out.push('\n');
        }
    }
}

impl AddAssign<&Barcodes> for Barcodes {
    fn add_assign(&mut self, more: &Barcodes) {
        for (all, more) in self.0.iter_mut().zip(&more.0) {
            for (shape, more) in more {
                let all = all.entry(shape.clone()).or_insert_with(|| OfShape::new(more.first, shape.length));
                all.first = all.first.min(more.first);
                all.add_places(more, shape.length, shape.length);
            }
        }
    }
}
