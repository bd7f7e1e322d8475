//! Reads as one would parse them first: the whole text at once, line by line.

/// One read: name, comment, bases, qualities if it has any, and whether it failed the sequencer's filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The name.
    pub name: Vec<u8>,
    /// The comment.
    pub comment: Vec<u8>,
    /// The bases in upper case.
    pub seq: Vec<u8>,
    /// The qualities.
    pub qual: Option<Vec<u8>>,
    /// Whether it failed the filters.
    pub failed_filters: bool,
}

/// How reads make fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One file, one read each.
    Single,
    /// Two files, in step.
    Pairs,
    /// One file; a read with the name of the one before is its mate.
    Interleaved,
}

/// The chunks of a lane.
pub type Chunks = Vec<Vec<Read>>;

/// The chunks of `texts`; `None` where anything is wrong with them.
pub fn chunks(texts: &[Vec<u8>], layout: Layout, closes_past: u64, max_read_bases: usize) -> Option<Chunks> {
    Some(cut(fragments(texts, layout, max_read_bases)?, closes_past))
}

/// The fragments of `texts`; `None` where anything is wrong with them.
pub fn fragments(texts: &[Vec<u8>], layout: Layout, max_read_bases: usize) -> Option<Vec<Vec<Read>>> {
    let files: Vec<Vec<Read>> = texts.iter().map(|text| reads(text, max_read_bases)).collect::<Option<_>>()?;
    Some(match (layout, &files[..]) {
        (Layout::Pairs, [ones, twos]) => {
            let in_step = ones.len() == twos.len() && ones.iter().zip(twos).all(|(one, two)| one.name == two.name);
            in_step.then(|| ones.iter().zip(twos).map(|(one, two)| vec![one.clone(), two.clone()]).collect())?
        }
        (Layout::Interleaved, [reads]) => {
            let mut fragments: Vec<Vec<Read>> = Vec::new();
            for read in reads {
                match fragments.last_mut() {
                    Some(last) if last.len() == 1 && last[0].name == read.name => last.push(read.clone()),
                    _ => fragments.push(vec![read.clone()]),
                }
            }
            fragments
        }
        _ => files.into_iter().flatten().map(|read| vec![read]).collect(),
    })
}

/// Fragments as chunks, each of which ends with the fragment that has the base behind so many.
pub fn cut(fragments: Vec<Vec<Read>>, closes_past: u64) -> Chunks {
    let (mut chunks, mut open, mut bases) = (Chunks::new(), Vec::new(), 0);
    for fragment in fragments {
        bases += fragment.iter().map(|read| read.seq.len() as u64).sum::<u64>();
        open.extend(fragment);
        if bases > closes_past {
            chunks.push(std::mem::take(&mut open));
            bases = 0;
        }
    }
    if !open.is_empty() {
        chunks.push(open);
    }
    chunks
}

fn reads(text: &[u8], max_read_bases: usize) -> Option<Vec<Read>> {
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let reads: Vec<Read> = match text.first() {
        None => return Some(Vec::new()),
        // A few empty lines are as good as nothing.
        Some(b'\n' | b'\r') if text.len() < 512 && text.iter().all(|b| b"\r\n".contains(b)) => return Some(Vec::new()),
        Some(b'@') => {
            let mut records: Vec<&[&[u8]]> = lines.chunks(4).collect();
            // Empty lines at the end are no records.
            while records.pop_if(|record| record.iter().all(|line| line.iter().all(|&b| b == b'\r'))).is_some() {}
            records.into_iter().map(fastq).collect::<Option<_>>()?
        }
        Some(b'>') => fasta(&lines)?,
        Some(_) => return None,
    };
    let letter = |b: &u8| b.is_ascii_uppercase() || b".-*=".contains(b);
    let named = |read: &Read| !read.name.is_empty() && read.name.iter().all(u8::is_ascii_graphic);
    let valid = |read: &Read| named(read) && read.seq.len() <= max_read_bases && read.seq.iter().all(letter);
    reads.iter().all(valid).then_some(reads)
}

fn fastq(lines: &[&[u8]]) -> Option<Read> {
    let (&[header, seq, plus], qual) = lines.split_first_chunk()?;
    // The empty qualities of a last read without bases may lack.
    let qual = qual.first().copied().or(seq.is_empty().then_some(b"".as_slice()))?;
    let valid = plus.starts_with(b"+") && qual.len() == seq.len() && qual.iter().all(u8::is_ascii_graphic);
    let (name, comment) = split(header.strip_prefix(b"@")?);
    let name = name.strip_suffix(b"/1").or(name.strip_suffix(b"/2")).unwrap_or(name).to_vec();
    valid.then(|| Read {
        name,
        comment,
        seq: seq.to_ascii_uppercase(),
        qual: Some(qual.to_vec()),
        failed_filters: false,
    })
}

fn fasta(lines: &[&[u8]]) -> Option<Vec<Read>> {
    let mut reads: Vec<Read> = Vec::new();
    for line in lines {
        if let Some(header) = line.strip_prefix(b">") {
            let (name, comment) = split(header);
            reads.push(Read { name: name.to_vec(), comment, seq: Vec::new(), qual: None, failed_filters: false });
        } else {
            reads.last_mut()?.seq.extend(line.trim_ascii_end().to_ascii_uppercase());
        }
    }
    Some(reads)
}

fn split(header: &[u8]) -> (&[u8], Vec<u8>) {
    let header = header.trim_ascii_end();
    match header.iter().position(|b| b" \t".contains(b)) {
        Some(at) => (&header[..at], header[at + 1..].to_vec()),
        None => (header, Vec::new()),
    }
}
