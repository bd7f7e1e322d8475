//! FASTA in and out: only what the simulator itself writes.

use std::io::{self, BufRead, Write};

const LINE: usize = 80;

/// A named sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contig {
    /// The first word of its header.
    pub name: String,
    /// Its bases in upper case.
    pub sequence: Vec<u8>,
}

/// Writes `contigs` in lines of 80 bases.
///
/// # Errors
/// Those of `out`.
pub fn write(contigs: &[Contig], out: &mut impl Write) -> io::Result<()> {
    for contig in contigs {
        writeln!(out, ">{}", contig.name)?;
        for line in contig.sequence.chunks(LINE) {
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()
}

/// Reads all contigs; lower case becomes upper case.
///
/// # Errors
/// Those of `input`; and [`io::ErrorKind::InvalidData`] for bases before the first header.
pub fn read(mut input: impl BufRead) -> io::Result<Vec<Contig>> {
    let mut contigs: Vec<Contig> = Vec::new();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let text = line.trim_ascii_end();
        match (text.strip_prefix(b">"), contigs.last_mut()) {
            (Some(header), _) => contigs.push(Contig { name: first_word(header), sequence: Vec::new() }),
            (None, Some(contig)) => contig.sequence.extend(text.iter().map(u8::to_ascii_uppercase)),
            (None, None) if text.is_empty() => {}
            (None, None) => return Err(io::Error::new(io::ErrorKind::InvalidData, "bases before the first header")),
        }
        line.clear();
    }
    Ok(contigs)
}

fn first_word(header: &[u8]) -> String {
    let word = header.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    String::from_utf8_lossy(word).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_wrote() {
        let contigs = vec![
            Contig { name: "a".into(), sequence: b"ACGT".repeat(50) },
            Contig { name: "empty".into(), sequence: Vec::new() },
            Contig { name: "b".into(), sequence: b"N".repeat(80) },
        ];
        let mut text = Vec::new();
        write(&contigs, &mut text).unwrap();
        assert_eq!(read(&text[..]).unwrap(), contigs);
    }

    #[test]
    fn takes_other_programs_files() {
        let contigs = read(&b"\n>chr1 some words\r\nacgt\r\nNN"[..]).unwrap();
        assert_eq!(contigs, [Contig { name: "chr1".into(), sequence: b"ACGTNN".to_vec() }]);
        assert!(read(&b"ACGT"[..]).is_err());
    }
}
