//! The text of one input, a buffer ahead of whoever takes it.

use memchr::memchr_iter;
use std::io::Read;
use std::path::{Path, PathBuf};
use zerohop_input::{LaneSpec, OpenLane, read_fault};
use zerohop_model::chunk::Text;
use zerohop_model::error::InputError;

/// Bytes read at once.
const BUFFER: usize = 1 << 18;
/// Lines of a FASTQ record.
const LINES: usize = 4;

/// One input, inflated or as it is.
pub(crate) struct SerialText {
    path: PathBuf,
    text: Box<dyn Read + Send>,
    /// Read and not taken is `buffer[taken..filled]`; it keeps its length.
    buffer: Vec<u8>,
    taken: usize,
    filled: usize,
    ended: bool,
    /// Records and bytes that were taken.
    records: u64,
    bytes: u64,
    max_read_bases: usize,
}

impl SerialText {
    pub(crate) fn new(path: PathBuf, text: Box<dyn Read + Send>, max_read_bases: usize) -> Self {
        let (buffer, taken, filled, ended) = (vec![0; 2 * BUFFER], 0, 0, false);
        SerialText { path, text, buffer, taken, filled, ended, records: 0, bytes: 0, max_read_bases }
    }

    /// A fault of this input.
    pub(crate) fn fault(&self, what: impl Into<String>) -> InputError {
        InputError::new(&self.path, what)
    }

    /// Appends the bytes of the next `wanted` records to `out`, or of as many as are left; returns how many. They are
    /// found by their lines alone. Blank lines at the end are left.
    ///
    /// # Errors
    /// What reading says; a record that is longer than any can be.
    pub(crate) fn take_records(&mut self, wanted: usize, out: &mut Text) -> Result<usize, InputError> {
        (out.first_record, out.first_byte) = (self.records, self.bytes);
        let (mut lines, mut searched, mut whole) = (0, 0, 0);
        loop {
            let from = self.taken + searched;
            for at in memchr_iter(b'\n', &self.buffer[from..self.filled]) {
                let line = at + from - self.taken;
                if lines % LINES == 0 && is_blank(&self.buffer[self.taken + whole..self.taken + line]) {
                    if whole > 0 {
                        self.give(whole, lines / LINES, out);
                        return Ok(lines / LINES);
                    }
                    if self.is_all_blank()? {
                        return Ok(0);
                    }
                    // No record: what it is, the parser will say. The buffer may have moved.
                    return self.take_blank(out);
                }
                lines += 1;
                if lines % LINES == 0 {
                    whole = line + 1;
                }
                if lines == LINES * wanted {
                    self.give(whole, wanted, out);
                    return Ok(wanted);
                }
            }
            searched = self.filled - self.taken;
            if searched > wanted.saturating_mul(4 * self.max_read_bases) + BUFFER {
                return Err(self.endless());
            }
            if !self.read_more()? {
                return Ok(self.give_rest(lines, out));
            }
        }
    }

    /// What is wrong with a record that is longer than any can be.
    fn endless(&self) -> InputError {
        let header = self.buffer[self.taken..self.filled].split(|&byte| byte == b'\n').next().unwrap_or_default();
        let name = header.get(1..).and_then(|text| text.split(|byte| b" \t".contains(byte)).next());
        let what = format!(
            "the read has more than {} bases, the longest that the engine can take: leave it out, or take another \
             --engine",
            self.max_read_bases
        );
        self.fault(what).read(name.unwrap_or_default()).at(self.records + 1, self.bytes)
    }

    /// Whether nothing but blank lines is left; reads it all, as far as it is blank.
    fn is_all_blank(&mut self) -> Result<bool, InputError> {
        let mut looked = 0;
        loop {
            if !self.buffer[self.taken + looked..self.filled].iter().all(|byte| b"\r\n".contains(byte)) {
                return Ok(false);
            }
            looked = self.filled - self.taken;
            if !self.read_more()? {
                return Ok(true);
            }
        }
    }

    /// Gives a blank line as a record of its own.
    fn take_blank(&mut self, out: &mut Text) -> Result<usize, InputError> {
        let line = self.buffer[self.taken..self.filled].iter().take_while(|byte| **byte != b'\n').count() + 1;
        self.give(line, 1, out);
        Ok(1)
    }

    /// Gives what is left, of which `lines` lines have an end.
    fn give_rest(&mut self, lines: usize, out: &mut Text) -> usize {
        let mut rest = &self.buffer[self.taken..self.filled];
        let mut lines = lines + usize::from(!rest.is_empty() && !rest.ends_with(b"\n"));
        while !lines.is_multiple_of(LINES) {
            let body = rest.strip_suffix(b"\n").unwrap_or(rest);
            let start = memchr::memrchr(b'\n', body).map_or(0, |end| end + 1);
            if !is_blank(&body[start..]) {
                break;
            }
            rest = &rest[..start];
            lines -= 1;
        }
        let records = lines.div_ceil(LINES);
        self.give(rest.len(), records, out);
        records
    }

    /// Appends exactly `wanted` bytes to `out`; false when the input is at its end.
    ///
    /// # Errors
    /// What reading says; an end in the middle of the bytes.
    pub(crate) fn take_bytes(&mut self, wanted: usize, records: usize, out: &mut Text) -> Result<bool, InputError> {
        (out.first_record, out.first_byte) = (self.records, self.bytes);
        while self.filled - self.taken < wanted {
            if !self.read_more()? {
                return match self.filled - self.taken {
                    0 => Ok(false),
                    left => Err(self.fault(format!(
                        "it ends {left} bytes after the start of a block of {wanted}, at byte {}: it is truncated",
                        self.bytes
                    ))),
                };
            }
        }
        self.give(wanted, records, out);
        Ok(true)
    }

    /// The bytes that are read and not taken, after trying to have `wanted` of them.
    ///
    /// # Errors
    /// What reading says.
    pub(crate) fn look(&mut self, wanted: usize) -> Result<&[u8], InputError> {
        while self.filled - self.taken < wanted && self.read_more()? {}
        Ok(&self.buffer[self.taken..self.filled])
    }

    fn give(&mut self, bytes: usize, records: usize, out: &mut Text) {
        out.bytes.extend_from_slice(&self.buffer[self.taken..self.taken + bytes]);
        self.taken += bytes;
        self.bytes += bytes as u64;
        self.records += records as u64;
    }

    /// Reads more; false at the end.
    fn read_more(&mut self) -> Result<bool, InputError> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        if self.buffer.len() < self.filled + BUFFER {
            self.buffer.resize(2 * (self.filled + BUFFER), 0);
        }
        loop {
            match self.text.read(&mut self.buffer[self.filled..self.filled + BUFFER]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(read) => {
                    self.filled += read;
                    return Ok(true);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_fault(&self.path, &error)),
            }
        }
    }
}

/// The text of each of `files`, one or two with the mates in step, to be taken record by record.
///
/// # Errors
/// A file that cannot be opened; one that is no FASTQ, which alone `what` says: "can be".
pub(crate) fn fastq_texts(files: &[PathBuf], what: &str, max_read_bases: usize) -> Result<Vec<SerialText>, InputError> {
    let lane = OpenLane::open(&LaneSpec { files: files.to_vec(), interleaved: false })?;
    if lane.is_fasta() == Some(true) || lane.is_bam() {
        let first = files.first().map_or(Path::new("-"), |file| file);
        return Err(InputError::new(first, format!("only FASTQ, single or in two files, {what}")));
    }
    let texts = files.iter().cloned().zip(lane.into_texts()?);
    Ok(texts.map(|(path, text)| SerialText::new(path, text, max_read_bases)).collect())
}

/// Whether there is nothing in a line, its end aside.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn texts(input: &str, wanted: usize) -> Vec<(usize, String)> {
        let mut text = SerialText::new("x".into(), Box::new(Cursor::new(input.to_owned().into_bytes())), 1000);
        let mut taken = Vec::new();
        loop {
            let mut out = Text::default();
            let records = text.take_records(wanted, &mut out).unwrap();
            if records == 0 {
                return taken;
            }
            taken.push((records, String::from_utf8(out.bytes).unwrap()));
        }
    }

    #[test]
    fn records_are_taken_by_their_lines() {
        let one = "@a x\nAC\n+\n@@\n";
        let three = format!("{one}{one}{one}");
        assert_eq!(texts(&three, 2), [(2, format!("{one}{one}")), (1, one.to_owned())]);
        assert_eq!(texts(&format!("{one}\n\r\n"), 3), [(1, one.to_owned())], "blank lines at the end");
        assert_eq!(texts(&format!("{one}\n"), 1), [(1, one.to_owned())]);
        assert_eq!(texts(one.trim_end(), 3), [(1, one.trim_end().to_owned())], "a last line without an end");
        assert_eq!(texts("@a\n\n+\n\n", 2), [(1, "@a\n\n+\n\n".to_owned())], "a read of no bases");
        assert_eq!(texts("", 2), []);
        for blank in ["\n", "\r", "\n\r", "\n\n\n\n", "\r\n\r\n\n\n\n\n"] {
            assert_eq!(texts(blank, 2), [], "{blank:?}");
            assert_eq!(texts(&format!("{one}{blank}"), 3), [(1, one.to_owned())], "{blank:?}");
        }
        let torn = format!("{one}\n{one}");
        assert_eq!(texts(&torn, 3), [(1, one.to_owned()), (1, "\n".to_owned()), (1, one.to_owned())]);
    }

    #[test]
    fn a_record_without_an_end_is_an_error() {
        let input = format!("@long x\n{}", "A".repeat(2 * BUFFER));
        let mut text = SerialText::new("x".into(), Box::new(Cursor::new(input.into_bytes())), 1000);
        let told = text.take_records(1, &mut Text::default()).unwrap_err().to_string();
        assert!(told.starts_with("x: record 1 (byte 0), read 'long': the read has more than 1000 bases"), "{told}");
    }
}
