//! Reports out of parts of any size, which are known in any order, are those of the whole; and mosdepth's lines are
//! those of a naive twin, which has an array of all places, as mosdepth does.

#![allow(clippy::unwrap_used)]

use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroU32;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use zerohop_cram::{ContigBases, CramReferenceBuilder, LinePlace};
use zerohop_model::record::Contig;
use zerohop_output::{BedFile, LineFile, Visit, Visitors as _};
use zerohop_qc::{
    Bed, BedFiles, By, Capture, KeptParts, LEFT_OUT, MethylDackel, MethylDackelSpec, MosdepthSpec, PicardSpec,
    Quantizer, RankReports, ReportSpec, Reports, Targets,
};

const CONTIGS: [(&str, u32); 4] = [("a", 120), ("one", 1), ("none", 40), ("b", 70)];
/// Regions that overlap, are empty, have names, go on behind their contig, or lie behind it.
const BED: &str = "a\t0\t120\nb\t10\t30\tx\na\t5\t5\na\t7\t90\nnone\t3\t9\na\t30\t31\tend\na\t100\t160\na\t120\t130\n\
                   a\t121\t130\nb\t0\t70\nb\t69\t71\none\t0\t1\na\t20\t22\n";

/// Regions of a capture kit.
const TARGETS: &str = "a\t3\t10\na\t9\t40\na\t60\t61\nb\t0\t70\n";

/// For nothing, and for bounds of depth.
const QUANTIZERS: [&str; 4] = ["", "0:1:2:", "2:3", ":1"];

const MATCH: u32 = 0;
const INSERTION: u32 = 1;
const DELETION: u32 = 2;
const CLIP: u32 = 4;

/// A read of a fragment.
#[derive(Debug, Clone)]
struct Placed {
    name: u32,
    flags: u16,
    contig: u32,
    position: u32,
    mate: u32,
    cigar: Vec<(u32, u32)>,
}

impl Placed {
    fn end(&self) -> u32 {
        self.blocks().last().map_or(self.position + 1, |block| block.end)
    }

    fn blocks(&self) -> Vec<Range<u32>> {
        let mut at = self.position;
        let mut blocks = Vec::new();
        for (operation, length) in &self.cigar {
            match *operation {
                MATCH => {
                    blocks.push(at..at + length);
                    at += length;
                }
                DELETION => at += length,
                _ => (),
            }
        }
        blocks
    }

    /// As BAM has it (SAMv1, section 4.2), with its length before it.
    fn bytes(&self) -> Vec<u8> {
        let name = format!("r{}\0", self.name);
        let bases: u32 =
            self.cigar.iter().filter(|(operation, _)| *operation != DELETION).map(|(_, length)| length).sum();
        let mut record = vec![0; 4];
        let ints = |record: &mut Vec<u8>, ints: &[u32]| ints.iter().for_each(|int| record.extend(int.to_le_bytes()));
        ints(&mut record, &[self.contig, self.position]);
        record.extend([name.len() as u8, 60, 0, 0]);
        ints(&mut record, &[u32::from(self.flags) << 16 | self.cigar.len() as u32]);
        ints(&mut record, &[bases, self.contig, self.mate, 100]);
        record.extend(name.as_bytes());
        self.cigar.iter().for_each(|(operation, length)| record.extend((length << 4 | operation).to_le_bytes()));
        let code = |base: u32| [1, 2, 4, 8][(base * base + base / 3 + self.name) as usize % 4];
        record.extend((0..bases.div_ceil(2)).map(|two| code(2 * two) << 4 | code(2 * two + 1)));
        let quality = |base: u32| [30, 37, 2, 30, 12, 30, 20][(base + self.name) as usize % 7];
        record.extend((0..bases).map(quality));
        let length = record.len() as u32 - 4;
        record[..4].copy_from_slice(&length.to_le_bytes());
        record
    }
}

fn cigar() -> impl Strategy<Value = Vec<(u32, u32)>> {
    (1u32..20, 1u32..8, 1u32..20, 0..5).prop_map(|(first, middle, last, form)| match form {
        0 | 1 => vec![(MATCH, first)],
        2 => vec![(MATCH, first), (DELETION, middle), (MATCH, last)],
        3 => vec![(MATCH, first), (INSERTION, middle), (MATCH, last)],
        _ => vec![(CLIP, middle), (MATCH, first)],
    })
}

/// Records of pairs, sorted: proper or not, of which some mates are duplicates or supplementary.
fn records() -> impl Strategy<Value = Vec<Placed>> {
    let flags = prop::sample::select(vec![3u16, 3, 3, 3, 1, 0x403, 0x803, 0x103]);
    let read = || (cigar(), flags.clone());
    let pair = (0usize..3, 0u32..110, 0u32..25, read(), read());
    prop::collection::vec(pair, 0..25).prop_map(|pairs| {
        let mut records = Vec::new();
        for (name, (contig, first, apart, one, other)) in pairs.into_iter().enumerate() {
            let (contig, length) = [(0, 120), (1, 1), (3, 70)][contig];
            let (first, second) = (first % length, (first + apart) % length);
            let placed = |position, mate, (cigar, flags)| {
                let placed = Placed { name: name as u32, flags, contig, position, mate, cigar };
                let fits = placed.end() <= length;
                if fits { placed } else { Placed { cigar: vec![(MATCH, length - position)], ..placed } }
            };
            let [mut one, mut other] = [placed(first, second, one), placed(second, first, other)];
            one.flags |= 0x40;
            // Of every third pair both mates come from the strand of the reference; they overlap at times.
            other.flags |= if name % 3 == 0 { 0x90 } else { 0x80 };
            records.extend([one, other]);
        }
        records.sort_by_key(|record| (record.contig, record.position));
        records
    })
}

fn specs() -> impl Strategy<Value = MosdepthSpec> {
    let by = prop::option::of(prop::option::of(1u32..60));
    (any::<bool>(), any::<bool>(), by, prop::sample::select(QUANTIZERS.to_vec())).prop_map(
        |(is_fast, tells_median, by, quantize)| MosdepthSpec {
            is_fast,
            tells_median,
            thresholds: if by.is_some() { vec![1, 2, 5] } else { Vec::new() },
            by: by.map(|window| match window.and_then(NonZeroU32::new) {
                Some(window) => By::Windows(window),
                None => By::Bed(Bed::parse(BED).unwrap()),
            }),
            quantize: Quantizer::parse(quantize),
            ..MosdepthSpec::plain()
        },
    )
}

fn contigs() -> Vec<Contig> {
    CONTIGS.map(|(name, length)| Contig::new(name, u64::from(length))).to_vec()
}

/// The bases of the contigs.
fn reference() -> Arc<ContigBases> {
    let mut builder = CramReferenceBuilder::new(false, true).unwrap();
    for (name, length) in CONTIGS {
        let bases: Vec<u8> = b"ACGTTGAN".iter().copied().cycle().take(length as usize).collect();
        builder.begin(name);
        builder.push(&bases, LinePlace { offset: 0, bytes: u64::from(length) + 1 }).unwrap();
    }
    let reference = builder.finish(Path::new("/dev/null")).unwrap().unwrap();
    Arc::new(reference.into_contigs(&contigs()).unwrap())
}

/// All that is said of the records, which are cut into parts before these numbers; parts come in the order that
/// `shuffle` gives, to one process or several.
fn reports(
    records: &[Placed],
    spec: &MosdepthSpec,
    (cuts, processes): (&[usize], usize),
    shuffle: u64,
) -> HashMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, is_wanted: bool| {
        is_wanted.then(|| BedFile::create(&folder.path().join(name), &contigs()).unwrap())
    };
    let files = BedFiles {
        regions: file("regions", spec.by.is_some()),
        thresholds: file("thresholds", spec.by.is_some()),
        per_base: file("per-base", true),
        quantized: file("quantized", spec.quantize.is_some()),
    };
    let targets = || Targets::parse("x", TARGETS, &contigs()).unwrap();
    let capture = (spec.by.is_some()).then(|| Arc::new(Capture { targets: targets(), baits: targets() }));
    let (input, made_by) = ("x.bam".to_owned(), "test".to_owned());
    let picard = Some(PicardSpec { reference: reference(), capture, input, made_by, rounds: 20 });
    let of_all = ReportSpec {
        contigs: contigs(),
        mosdepth: spec.clone(),
        heading: String::new(),
        stats_reference: spec.quantize.is_some().then(reference),
        picard,
        methyldackel: Some(MethylDackel {
            spec: MethylDackelSpec { contexts: [true; 3], merges: spec.is_fast, ..MethylDackelSpec::plain() },
            reference: reference(),
            prefix: "x".to_owned(),
        }),
    };
    let contexts = ["CpG", "CHG", "CHH"].map(|context| folder.path().join(context));
    let of_contexts = contexts.iter().map(|path| LineFile::create(path).unwrap()).collect();
    let all = Reports::new(of_all.clone(), files, of_contexts).unwrap();
    let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (records.len() + 1)).collect();
    bounds.extend([0, records.len()]);
    bounds.sort_unstable();
    bounds.dedup();
    if records.is_empty() {
        bounds = vec![0, 0];
    }
    let mut parts: Vec<usize> = (0..bounds.len() - 1).collect();
    parts.sort_by_key(|part| (*part as u64 + 1).wrapping_mul(shuffle | 1) >> 5);
    let place = |part: usize| match records.get(bounds[part]) {
        _ if part == 0 => (0, 0),
        Some(record) => (record.contig, record.position),
        None => (u32::MAX, 0),
    };
    let see = |visitor: &mut dyn Visit, part: usize| {
        visitor.begin(part, place(part)..place(part + 1));
        for record in &records[bounds[part]..bounds[part + 1]] {
            visitor.see(&record.bytes(), record.flags).unwrap();
        }
        visitor.end().unwrap();
    };
    if processes == 1 {
        let mut visitor = all.visitor();
        parts.iter().for_each(|part| see(&mut *visitor, *part));
    } else {
        let path = |process: usize| folder.path().join(process.to_string());
        for process in 0..processes {
            let own = RankReports::new(&of_all, &path(process)).unwrap();
            let mut visitor = own.visitor();
            let of_process = parts.iter().filter(|part| **part % processes == process);
            of_process.for_each(|part| see(&mut *visitor, *part));
            drop(visitor);
            all.add_sums(&own.finish().unwrap()).unwrap();
        }
        let kept = KeptParts::open((0..processes).map(path).collect()).unwrap();
        parts.iter().for_each(|part| all.take_up(&kept, *part..*part + 1).unwrap());
    }
    let finished = all.finish().unwrap();
    for file in finished.lines.into_iter().flat_map(|file| file.finish().unwrap()) {
        file.complete().unwrap();
    }
    for file in finished.cytosines {
        file.finish().unwrap().complete().unwrap();
    }
    let mut texts = HashMap::from([
        ("stats".to_owned(), finished.stats),
        ("coverage".to_owned(), finished.coverage),
        ("picard".to_owned(), finished.picard.unwrap().into_all().concat()),
        ("mosdepth".to_owned(), finished.mosdepth.concat() + &finished.regions.unwrap_or_default()),
    ]);
    for name in ["regions", "thresholds", "per-base", "quantized"] {
        texts.extend(read(&folder.path().join(name)).map(|text| (name.to_owned(), text)));
    }
    for path in contexts {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        texts.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    texts
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    MultiGzDecoder::new(File::open(path).ok()?).read_to_string(&mut text).unwrap();
    Some(text)
}

/// Depths of all places of each contig, as mosdepth computes them.
fn depths(records: &[Placed], is_fast: bool) -> Vec<Vec<i64>> {
    let mut changes: Vec<Vec<i64>> = CONTIGS.iter().map(|(_, length)| vec![0; *length as usize + 1]).collect();
    let mut seen: HashMap<u32, &Placed> = HashMap::new();
    for record in records.iter().filter(|record| record.flags & LEFT_OUT == 0) {
        let changes = &mut changes[record.contig as usize];
        let mut add = |places: Range<u32>, by: i64| {
            changes[places.start as usize] += by;
            changes[places.end as usize] -= by;
        };
        if is_fast {
            add(record.position..record.end(), 1);
            continue;
        }
        record.blocks().into_iter().for_each(|block| add(block, 1));
        if record.flags & 2 == 0 || record.flags & 0x800 != 0 {
            continue;
        }
        let (start, mate) = (record.position, record.mate);
        if record.end() > mate && (start < mate || start == mate && !seen.contains_key(&record.name)) {
            seen.insert(record.name, record);
        } else if let Some(first) = seen.remove(&record.name) {
            if record.cigar.len() == 1 && first.cigar.len() == 1 {
                add(start..first.end(), -1);
                continue;
            }
            for at in 0..CONTIGS[record.contig as usize].1 {
                let has = |read: &Placed| read.blocks().iter().any(|block| block.contains(&at));
                if has(record) && has(first) {
                    add(at..at + 1, -1);
                }
            }
        }
    }
    let sums = |changes: Vec<i64>| {
        changes
            .iter()
            .scan(0, |depth, by| {
                *depth += by;
                Some(*depth)
            })
            .collect()
    };
    changes.into_iter().map(sums).collect()
}

/// The lines of mosdepth, out of the depth of each place and of one place behind each contig.
fn lines(depths: &[Vec<i64>], spec: &MosdepthSpec) -> HashMap<String, String> {
    let mut texts: HashMap<String, String> = HashMap::from([("per-base".to_owned(), String::new())]);
    for ((name, length), depths) in CONTIGS.iter().zip(depths) {
        let text = texts.get_mut("per-base").unwrap();
        runs(
            *length,
            |at| depths[at as usize].to_string(),
            |run, depth| *text += &format!("{name}\t{}\t{}\t{depth}\n", run.start, run.end),
        );
    }
    if spec.quantize.is_some() {
        texts.insert("quantized".to_owned(), quantized(depths, spec));
    }
    let Some(by) = &spec.by else { return texts };
    let (mut regions, mut thresholds) = (String::new(), "#chrom\tstart\tend\tregion\t1X\t2X\t5X\n".to_owned());
    for ((name, length), depths) in CONTIGS.iter().zip(depths) {
        for (positions, region) in regions_of(by, name, *length) {
            let in_array = positions.start.min(length + 1) as usize..positions.end.min(length + 1) as usize;
            let mut all: Vec<i64> = depths[in_array].to_vec();
            let value = if spec.tells_median {
                all.sort_unstable();
                let half = (0.5 + all.len() as f64 * 0.5) as usize;
                all.get(half.saturating_sub(1)).map_or(0.0, |depth| *depth as f64)
            } else {
                all.iter().map(|depth| *depth as f64 / positions.len() as f64).fold(0.0, |sum, share| sum + share)
            };
            let Range { start, end } = positions;
            let column = region.as_ref().map_or(String::new(), |region| format!("{region}\t"));
            regions += &format!("{name}\t{start}\t{end}\t{column}{value:.2}\n");
            let over = [1, 2, 5].map(|least| all.iter().filter(|depth| **depth >= least).count());
            let region = region.unwrap_or("unknown".to_owned());
            thresholds += &format!("{name}\t{start}\t{end}\t{region}\t{}\t{}\t{}\n", over[0], over[1], over[2]);
        }
    }
    texts.extend([("regions".to_owned(), regions), ("thresholds".to_owned(), thresholds)]);
    texts
}

/// Bounds of the depth, as `specs` has them; the last place of a contig is not looked at.
fn quantized(depths: &[Vec<i64>], spec: &MosdepthSpec) -> String {
    let all: [&[(i64, i64, &str)]; 4] =
        [&[], &[(0, 1, "0:1"), (1, 2, "1:2"), (2, i64::MAX, "2:inf")], &[(2, 3, "2:3")], &[(0, 1, "0:1")]];
    let bins = QUANTIZERS.iter().position(|text| spec.quantize == Quantizer::parse(text)).map_or(all[0], |at| all[at]);
    let mut text = String::new();
    for ((name, length), depths) in CONTIGS.iter().zip(depths) {
        let bin = |at: u32| {
            let depth = depths[at.min(length.saturating_sub(2)) as usize];
            let bin = bins.iter().find(|(from, to, _)| (*from..*to).contains(&depth));
            bin.map_or("", |(_, _, label)| *label).to_owned()
        };
        runs(*length, bin, |run, label| {
            if !label.is_empty() {
                text += &format!("{name}\t{}\t{}\t{label}\n", run.start, run.end);
            }
        });
    }
    text
}

fn regions_of(by: &By, contig: &str, length: u32) -> Vec<(Range<u32>, Option<String>)> {
    if let By::Windows(places) = by {
        let starts = (0..length).step_by(places.get() as usize);
        return starts.map(|start| (start..(start + places.get()).min(length), None)).collect();
    }
    let mut regions = Vec::new();
    for line in BED.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[0] == contig {
            let positions = fields[1].parse().unwrap()..fields[2].parse().unwrap();
            regions.push((positions, fields.get(3).map(|name| (*name).to_owned())));
        }
    }
    regions.sort_by_key(|(positions, _)| positions.start);
    regions
}

/// Gives runs of the same value to `each`.
fn runs(length: u32, value: impl Fn(u32) -> String, mut each: impl FnMut(Range<u32>, String)) {
    let mut start = 0;
    for at in 1..=length {
        if at == length || value(at) != value(start) {
            each(start..at, value(start));
            start = at;
        }
    }
}

proptest! {
    #[test]
    fn reports_by_parts_are_those_of_the_whole(
        records in records(),
        spec in specs(),
        cuts in prop::collection::vec(0usize..60, 0..12),
        processes in 1usize..4,
        shuffle in any::<u64>(),
    ) {
        let whole = reports(&records, &spec, (&[], 1), 1);
        for (name, text) in reports(&records, &spec, (&cuts, processes), shuffle) {
            prop_assert_eq!(&whole[&name], &text, "{}", name);
        }
        for (name, text) in lines(&depths(&records, spec.is_fast), &spec) {
            prop_assert_eq!(&whole[&name], &text, "{}", name);
        }
    }
}
