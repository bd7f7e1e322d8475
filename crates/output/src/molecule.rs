//! The tag MI, which says from which molecule a record comes (SAM tags, "Barcodes"). One that the record had is of
//! another run.

use zerohop_cram::record::{FIXED, Field, Fixed};
use zerohop_duplicates::Molecule;
use zerohop_model::error::Error;

const MI: [u8; 2] = *b"MI";

/// Writes a record of BAM to `out` with the tag of its molecule; without one, if that is not known.
pub(crate) fn put_in_bam(record: &[u8], molecule: Option<Molecule>, out: &mut Vec<u8>) -> Result<(), Error> {
    let cut_off = || Error::Internal("a record is cut off".to_owned());
    let (Fixed { name_bytes, operations, bases, .. }, _) = Fixed::split(record).ok_or_else(cut_off)?;
    let bases = bases.max(0) as usize;
    let (fixed, mut fields) =
        record.split_at_checked(FIXED + name_bytes + 4 * operations + bases.div_ceil(2) + bases).ok_or_else(cut_off)?;
    out.clear();
    out.extend_from_slice(fixed);
    while let Some((field, rest)) = Field::split(fields) {
        let (of_field, _) = fields.split_at(fields.len() - rest.len());
        if field.key != MI {
            out.extend_from_slice(of_field);
        }
        fields = rest;
    }
    out.extend_from_slice(fields);
    if let Some(molecule) = molecule {
        out.extend_from_slice(&[MI[0], MI[1], b'Z']);
        molecule.put(out);
        out.push(0);
    }
    let length = (out.len() as u32).wrapping_sub(4);
    out[..4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// The same of a line of SAM, with its newline.
pub(crate) fn put_in_line(line: &[u8], molecule: Option<Molecule>, out: &mut Vec<u8>) {
    out.clear();
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    for (number, column) in line.split(|byte| *byte == b'\t').enumerate() {
        if number >= COLUMNS && column.starts_with(b"MI:") {
            continue;
        }
        if number > 0 {
            out.push(b'\t');
        }
        out.extend_from_slice(column);
    }
    if let Some(molecule) = molecule {
        out.extend_from_slice(b"\tMI:Z:");
        molecule.put(out);
    }
    out.push(b'\n');
}

/// Columns of a line before the optional ones.
const COLUMNS: usize = 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_takes_the_place_of_another() {
        let molecule = Some(Molecule { number: 1234, strand: None });
        let mut out = Vec::new();
        let line = b"r\t0\tMI:x\t1\t0\t*\t*\t0\t0\t*\t*\tNM:i:0\tMI:Z:7\tRX:Z:A\n";
        put_in_line(line, molecule, &mut out);
        assert_eq!(out, b"r\t0\tMI:x\t1\t0\t*\t*\t0\t0\t*\t*\tNM:i:0\tRX:Z:A\tMI:Z:1234\n");
        put_in_line(&out.clone(), None, &mut out);
        assert_eq!(out, b"r\t0\tMI:x\t1\t0\t*\t*\t0\t0\t*\t*\tNM:i:0\tRX:Z:A\n");

        let with = |fields: &[u8]| {
            let mut record = vec![0; FIXED];
            record[12] = 2;
            record.extend_from_slice(b"r\0");
            record.extend_from_slice(fields);
            let length = record.len() as u32 - 4;
            record[..4].copy_from_slice(&length.to_le_bytes());
            record
        };
        put_in_bam(&with(b"MIZ7\0RXZA\0MIi\x01\0\0\0"), molecule, &mut out).unwrap();
        assert_eq!(out, with(b"RXZA\0MIZ1234\0"));
        put_in_bam(&out.clone(), None, &mut out).unwrap();
        assert_eq!(out, with(b"RXZA\0"));
        assert!(put_in_bam(&out.clone()[..37], molecule, &mut out).is_err());
    }
}
