//! The process's mappings as `/proc/self/smaps` tells them (`proc_pid_smaps(5)`).

use std::io::{self, BufRead};

/// A mapping; the kernel joins neighbours of equal policy and advice to one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Vma {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Bytes on transparent huge pages, be they of this process alone, of a file in memory or of the file cache.
    pub(crate) huge: u64,
}

impl Vma {
    /// The share of `amount` (known for the whole mapping) that falls to these ranges, by length.
    pub(crate) fn share(&self, amount: u64, ranges: &[(usize, usize)]) -> u64 {
        let overlap: u128 = ranges.iter().map(|&(start, bytes)| self.overlap(start, bytes) as u128).sum();
        let share = u128::from(amount) * overlap / (self.end - self.start).max(1) as u128;
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    fn overlap(&self, start: usize, bytes: usize) -> usize {
        let end = start.saturating_add(bytes).min(self.end);
        end.saturating_sub(start.max(self.start))
    }
}

/// The lines with bytes on huge pages; a mapping has them in one of these.
const HUGE: [&str; 3] = ["AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:"];

/// Reads the text of `smaps`.
pub(crate) fn read_smaps(smaps: impl BufRead) -> io::Result<Vec<Vma>> {
    let mut vmas = Vec::new();
    // Names of files need not be UTF-8.
    for line in smaps.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        if let Some((start, end)) = address_range(&line) {
            vmas.push(Vma { start, end, huge: 0 });
        } else if let (Some(vma), Some(value)) = (vmas.last_mut(), HUGE.iter().find_map(|name| line.strip_prefix(name)))
        {
            let kib: u64 = value.trim().trim_end_matches("kB").trim_end().parse().unwrap_or(0);
            vma.huge += kib * 1024;
        }
    }
    Ok(vmas)
}

/// `7f0000000000-7f0000200000 rw-p ...`
fn address_range(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaps() {
        let text = b"7fa0-7fb0 rw-p 00000000 00:00 0 \nSize: 16 kB\nAnonHugePages:      2048 kB\nVmFlags: rd wr\n\
                    8000-9000 r--p 0 08:01 5   /lib/\xff-b.so\nAnonHugePages: 0 kB\nShmemPmdMapped: 4 kB\n\
                    9000-a000 r--s 0 08:01 6   /x\nShmemPmdMapped: 0 kB\nFilePmdMapped: 2 kB\n";
        let vmas = read_smaps(&text[..]).unwrap();
        assert_eq!(
            vmas,
            [
                Vma { start: 0x7fa0, end: 0x7fb0, huge: 2 << 20 },
                Vma { start: 0x8000, end: 0x9000, huge: 4 << 10 },
                Vma { start: 0x9000, end: 0xa000, huge: 2 << 10 },
            ]
        );
    }

    #[test]
    fn shares() {
        let vma = Vma { start: 100, end: 200, huge: 0 };
        assert_eq!(vma.share(1000, &[(0, 100), (200, 50)]), 0);
        assert_eq!(vma.share(1000, &[(50, 100)]), 500);
        assert_eq!(vma.share(1000, &[(90, 20), (190, usize::MAX)]), 200);
        assert_eq!(vma.share(u64::MAX, &[(0, 1000)]), u64::MAX);
    }
}
