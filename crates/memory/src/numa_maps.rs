//! A process's mappings as `/proc/PID/numa_maps` tells them (`numa(7)`): policy, file, pages per node.

use std::ffi::OsString;
use std::io::{self, BufRead};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use zerohop_model::machine::{Bytes, NodeId};

/// One mapping of a process, and where the pages of it that the process has touched lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MappedPages {
    /// The memory policy in the kernel's words: `default`, `bind:0-1`, `interleave:0,2`, `local`, `prefer (many):1`.
    pub policy: String,
    /// The mapped file. Of one that was removed, and of shared memory without a name, the kernel's words: `/dev/zero
    /// (deleted)`, `/SYSV00000000 (deleted)`, `/memfd:name (deleted)`.
    pub file: Option<PathBuf>,
    /// Bytes per node, ascending by node; empty for a mapping that was not touched.
    pub per_node: Vec<(NodeId, Bytes)>,
    /// Bytes of them on private pages (`anon=`): all of a mapping without a file, the changed ones of a private one
    /// with.
    pub anonymous: Bytes,
    /// The size of the pages that the mapping is made of: the base page, also where the kernel put transparent huge
    /// pages in their place, or the size of its hugetlb pages. 0 for a mapping that was not touched.
    pub page_size: Bytes,
    /// The heap that `brk(2)` grows.
    pub heap: bool,
    /// The stack of the first thread.
    pub stack: bool,
}

/// Reads the text of `numa_maps`: each mapping with its start. Lines of another form are passed over.
pub(crate) fn read(numa_maps: impl BufRead) -> io::Result<Vec<(usize, MappedPages)>> {
    let mut mappings = Vec::new();
    // In bytes: names of files need not be UTF-8.
    for line in numa_maps.split(b'\n') {
        mappings.extend(mapping(&line?));
    }
    Ok(mappings)
}

/// `7fa103e00000 bind:3 file=/dev/shm/x mapped=2 N0=1 N3=1 kernelpagesize_kB=4`
fn mapping(line: &[u8]) -> Option<(usize, MappedPages)> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let start = usize::from_str_radix(std::str::from_utf8(fields.next()?).ok()?, 16).ok()?;
    let mut pages = MappedPages { policy: text(fields.next()?), ..MappedPages::default() };
    // Counts are in pages, and the size of these comes last.
    let (mut per_node, mut anonymous) = (Vec::new(), 0);
    let mut in_policy = true;
    for field in fields {
        let kind = NumaMapsField::of(field);
        in_policy &= matches!(kind, NumaMapsField::Other);
        match kind {
            // Two policies have a blank in their name: `weighted interleave:0-1`, `prefer (many):0-1`.
            NumaMapsField::Other if in_policy => pages.policy = format!("{} {}", pages.policy, text(field)),
            NumaMapsField::Known | NumaMapsField::Other => {}
            NumaMapsField::File(name) => pages.file = Some(PathBuf::from(OsString::from_vec(unescaped(name)))),
            NumaMapsField::Heap => pages.heap = true,
            NumaMapsField::Stack => pages.stack = true,
            NumaMapsField::Anonymous(count) => anonymous = count,
            NumaMapsField::Node(node, count) => per_node.push((node, count)),
            NumaMapsField::PageSize(kib) => pages.page_size = Bytes(kib.saturating_mul(1024)),
        }
    }
    let bytes = |count: u64| Bytes(count.saturating_mul(pages.page_size.0));
    per_node.sort_unstable();
    pages.per_node = per_node.into_iter().map(|(node, count)| (node, bytes(count))).collect();
    pages.anonymous = bytes(anonymous);
    Some((start, pages))
}

/// What follows the policy.
enum NumaMapsField<'t> {
    File(&'t [u8]),
    Heap,
    Stack,
    Anonymous(u64),
    Node(NodeId, u64),
    PageSize(u64),
    /// Told by the kernel and not needed here.
    Known,
    /// A word that no kernel puts here (so far), or the second word of a policy.
    Other,
}

impl<'t> NumaMapsField<'t> {
    fn of(field: &'t [u8]) -> Self {
        match field {
            b"heap" => return Self::Heap,
            b"stack" => return Self::Stack,
            b"huge" => return Self::Known,
            _ => {}
        }
        let Some(equals) = field.iter().position(|&byte| byte == b'=') else { return Self::Other };
        let (name, value) = (&field[..equals], &field[equals + 1..]);
        if name == b"file" {
            return Self::File(value);
        }
        Self::number(name, value).unwrap_or(Self::Other)
    }

    fn number(name: &[u8], value: &[u8]) -> Option<Self> {
        let (name, value) = (std::str::from_utf8(name).ok()?, std::str::from_utf8(value).ok()?.parse().ok()?);
        Some(match name {
            "anon" => Self::Anonymous(value),
            "kernelpagesize_kB" => Self::PageSize(value),
            _ => match name.strip_prefix('N').map(str::parse) {
                Some(Ok(node)) => Self::Node(NodeId(node), value),
                _ => Self::Known,
            },
        })
    }
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

/// The name with its escapes (`\040` for a blank; also the newline, the tabulator and `=`) undone. A backslash of the
/// name itself is not escaped by the kernel: one before three octal digits cannot be told from an escape.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&first, after)) = rest.split_first() {
        let escape = if first == b'\\' { after.first_chunk::<3>().and_then(octal) } else { None };
        plain.push(escape.unwrap_or(first));
        rest = if escape.is_some() { &after[3..] } else { after };
    }
    plain
}

fn octal(digits: &[u8; 3]) -> Option<u8> {
    let value = digits.iter().try_fold(0u16, |value, &digit| match digit {
        b'0'..=b'7' => Some(value * 8 + u16::from(digit - b'0')),
        _ => None,
    });
    u8::try_from(value?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIB: u64 = 1024;

    fn one(line: &str) -> MappedPages {
        mapping(line.as_bytes()).unwrap().1
    }

    fn nodes(pages: &MappedPages) -> Vec<(u32, u64)> {
        pages.per_node.iter().map(|(node, bytes)| (node.0, bytes.0 / KIB)).collect()
    }

    #[test]
    fn starts_and_order_are_kept() {
        let text = "7fa103e00000 bind:3 anon=4096 dirty=4096 active=0 N3=4095 N10=1 kernelpagesize_kB=4\n\
                    7fb000000000 default file=/usr/lib/N5=x huge N0=2 kernelpagesize_kB=2048\n\
                    not a mapping\n\
                    7fc000000000 default\n";
        let maps = read(text.as_bytes()).unwrap();
        let starts: Vec<usize> = maps.iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [0x7fa1_03e0_0000, 0x7fb0_0000_0000, 0x7fc0_0000_0000]);
        assert_eq!(nodes(&maps[0].1), [(3, 4095 * 4), (10, 4)]);
        assert_eq!(nodes(&maps[1].1), [(0, 4096)]);
        assert_eq!(maps[2].1, MappedPages { policy: "default".into(), ..MappedPages::default() });
    }

    #[test]
    fn private_memory() {
        let heap = one("55b1ee127000 default heap anon=4 dirty=3 active=0 N0=4 kernelpagesize_kB=4");
        assert!(heap.heap && !heap.stack && heap.file.is_none());
        assert_eq!((heap.anonymous, heap.page_size), (Bytes(16 * KIB), Bytes(4 * KIB)));
        let stack = one("7ffc8b0f4000 default stack anon=5 dirty=5 active=0 N2=5 kernelpagesize_kB=4");
        assert!(stack.stack && !stack.heap && stack.file.is_none());
        assert_eq!(nodes(&stack), [(2, 20)]);
        let block = one("7f2c00000000 interleave:0-1 anon=512 dirty=512 N1=256 N0=256 kernelpagesize_kB=4");
        assert_eq!((block.policy.as_str(), nodes(&block)), ("interleave:0-1", vec![(0, 1024), (1, 1024)]));
    }

    #[test]
    fn files() {
        let shared = one("7f0000000000 default file=/dev/shm/x mapped=12 mapmax=2 N0=5 N3=7 kernelpagesize_kB=2048");
        assert_eq!(shared.file.as_deref(), Some("/dev/shm/x".as_ref()));
        assert_eq!((nodes(&shared), shared.anonymous), (vec![(0, 5 * 2048), (3, 7 * 2048)], Bytes(0)));
        let data = one("55b1c1161000 default file=/usr/bin/head anon=1 mapped=2 active=0 N0=2 kernelpagesize_kB=4");
        assert_eq!((data.anonymous, nodes(&data)), (Bytes(4 * KIB), vec![(0, 8)]));
    }

    #[test]
    fn names_that_the_kernel_makes() {
        let file = |line: &str| one(line).file.unwrap().into_os_string().into_string().unwrap();
        let zero = "7f2ec8000000 default file=/dev/zero\\040(deleted) dirty=9 N0=9 kernelpagesize_kB=4";
        assert_eq!(file(zero), "/dev/zero (deleted)");
        let segment = "7f2ec9000000 prefer:1 file=/SYSV0000162e\\040(deleted) dirty=9 N1=9 kernelpagesize_kB=4";
        assert_eq!(file(segment), "/SYSV0000162e (deleted)");
        let hugetlb = "7f0 bind:0 file=/anon_hugepage\\040(deleted) huge anon=1 dirty=1 N0=1 kernelpagesize_kB=2048";
        assert_eq!((file(hugetlb).as_str(), one(hugetlb).anonymous), ("/anon_hugepage (deleted)", Bytes(2 << 20)));
        assert_eq!(file("7f0 default file=/tmp/a\\011b\\075c\\012d"), "/tmp/a\tb=c\nd");
        assert_eq!(file("7f0 default file=/tmp/\\x\\04\\400\\"), "/tmp/\\x\\04\\400\\");
    }

    #[test]
    fn names_that_are_not_utf8() {
        let (_, pages) = mapping(b"7f0 default file=/tmp/\xff mapped=1 N0=1 kernelpagesize_kB=4").unwrap();
        assert_eq!(pages.file.unwrap().into_os_string().into_vec(), b"/tmp/\xff");
    }

    #[test]
    fn policies() {
        let policy = |words: &str| {
            let pages = one(&format!("7f0 {words} anon=1 N1=1 kernelpagesize_kB=4"));
            assert_eq!(nodes(&pages), [(1, 4)], "{words}");
            pages.policy
        };
        for words in ["local", "bind:0,2-3", "bind=static:0", "prefer (many):0-1", "weighted interleave:0-1"] {
            assert_eq!(policy(words), words);
        }
        assert_eq!(one("7f0 prefer (many):0 file=/x").policy, "prefer (many):0");
        assert_eq!(one("7f0 weighted interleave=static:0-1 heap").policy, "weighted interleave=static:0-1");
        assert_eq!(one("7f0 default later new words").policy, "default later new words");
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(line in proptest::collection::vec(any::<u8>(), 0..80), tail in "[ \
            a-zA-Z0-9=\\\\:]{0,60}") {
            mapping(&line);
            mapping(format!("7f0 default {tail}").as_bytes());
        }

        #[test]
        fn escaped_names_come_back(name in "[a-z \t\n=]{0,20}") {
            let escape = |c: char| if c.is_ascii_lowercase() { c.to_string() } else { format!("\\{:03o}", c as u32) };
            let escaped: String = name.chars().map(escape).collect();
            prop_assert_eq!(unescaped(escaped.as_bytes()), name.as_bytes());
        }
    }
}
