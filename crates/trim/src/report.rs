//! fastp's report as JSON, as its version 1.3.6 writes it (JsonReporter, FilterResult and Stats of fastp), but for
//! duplication: duplicates are found by where reads align, not here.

use crate::counts::{Amount, Counts};
use crate::cycles::{Cell, K, KINDS, Statistics, Sums};
use crate::filter::Reason;
use crate::poly::TAIL_LETTERS;
use crate::trimmer::Trimmer;

/// The version of fastp whose rules these are.
pub const FASTP_VERSION: &str = "1.3.6";
/// Letters of the curves, in fastp's order.
const LETTERS: [char; 5] = ['A', 'T', 'C', 'G', 'N'];
/// Letters that k-mers are of, in fastp's order.
const KMER_LETTERS: [char; 4] = ['A', 'T', 'C', 'G'];
/// Significant digits of figures.
const DIGITS: usize = 6;

/// The report of a run, one line end behind the last line. `command` is what was typed, as MultiQC finds the name of a
/// sample in it.
pub fn fastp_json(trimmer: &Trimmer, counts: &Counts, statistics: &Statistics, command: &str) -> String {
    let mut out = String::new();
    let (mates, after) = (if trimmer.is_paired() { 2 } else { 1 }, statistics.after());
    let (before, after) = (&statistics.before()[..mates], &after.each_ref()[..mates]);
    let mut members = vec![
        ("summary".to_owned(), summary(before, after)),
        ("filtering_result".to_owned(), filtering_result(trimmer, counts)),
    ];
    if trimmer.is_paired() {
        members.push(("insert_size".to_owned(), insert_size(counts)));
    }
    let is_cutting = trimmer.options().adapters.is_some() && (trimmer.is_paired() || trimmer.adapter(0).is_some());
    if is_cutting {
        members.push(("adapter_cutting".to_owned(), adapter_cutting(trimmer, counts, mates)));
    }
    if trimmer.options().poly_x.is_some() {
        members.push(("polyx_trimming".to_owned(), poly_x_trimming(counts)));
    }
    for (sums, when) in [(before, "before"), (after, "after")] {
        for (number, sums) in sums.iter().enumerate() {
            members.push((format!("read{}_{when}_filtering", number + 1), reads(sums)));
        }
    }
    members.push(("command".to_owned(), string(command)));
    out.push_str(&object(&members, "\n\t"));
    out.push('\n');
    out
}

/// An object, with what stands before each of its members.
fn object<N: AsRef<str>>(members: &[(N, String)], before: &str) -> String {
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}: {value}", string(name.as_ref()))).collect();
    let end = before.strip_suffix('\t').unwrap_or_default();
    format!("{{{before}{}{end}}}", members.join(&format!(",{before}")))
}

/// A text as JSON has it.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.extend(format!("\\u{:04x}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A list of numbers.
fn list(numbers: impl Iterator<Item = String>) -> String {
    format!("[{}]", numbers.collect::<Vec<_>>().join(","))
}

fn summary(before: &[&Sums], after: &[&Sums]) -> String {
    let cycles: Vec<String> = before.iter().map(|sums| format!("{} cycles", sums.cycles.len())).collect();
    let kind = if before.len() == 2 { "paired" } else { "single" };
    object(
        &[
            ("fastp_version", string(FASTP_VERSION)),
            ("sequencing", string(&format!("{kind} end ({})", cycles.join(" + ")))),
            ("before_filtering", totals(before)),
            ("after_filtering", totals(after)),
        ],
        "\n\t\t",
    )
}

fn totals(mates: &[&Sums]) -> String {
    let sum = |of: fn(&Sums) -> u64| mates.iter().map(|sums| of(sums)).sum::<u64>();
    let bases = sum(|sums| sums.bases);
    let share = |part: u64| general(if bases == 0 { 0.0 } else { part as f64 / bases as f64 });
    let (q20, q30) = (sum(|sums| sums.good[0]), sum(|sums| sums.good[1]));
    let gc = sum(|sums| sums.cycles.iter().map(|cells| cells[kind('G')].bases + cells[kind('C')].bases).sum());
    let mut members = vec![
        ("total_reads".to_owned(), sum(|sums| sums.reads).to_string()),
        ("total_bases".to_owned(), bases.to_string()),
        ("q20_bases".to_owned(), q20.to_string()),
        ("q30_bases".to_owned(), q30.to_string()),
        ("q20_rate".to_owned(), share(q20)),
        ("q30_rate".to_owned(), share(q30)),
    ];
    for (number, sums) in mates.iter().enumerate() {
        let mean = sums.bases.checked_div(sums.reads).unwrap_or_default();
        members.push((format!("read{}_mean_length", number + 1), mean.to_string()));
    }
    members.push(("gc_content".to_owned(), share(gc)));
    object(&members, "\n\t\t\t")
}

fn filtering_result(trimmer: &Trimmer, counts: &Counts) -> String {
    let options = trimmer.options();
    let dropped = |reason| counts.dropped_for(reason).to_string();
    let mut members = vec![
        ("passed_filter_reads", counts.passed().to_string()),
        ("low_quality_reads", dropped(Reason::LowQuality)),
        ("too_many_N_reads", dropped(Reason::TooManyN)),
    ];
    if options.complexity.is_some() {
        members.push(("low_complexity_reads", dropped(Reason::LowComplexity)));
    }
    if options.adapters.is_some() {
        members.push(("adapter_dimer_reads", dropped(Reason::AdapterDimer)));
    }
    members.push(("too_short_reads", dropped(Reason::TooShort)));
    members.push(("too_long_reads", dropped(Reason::TooLong)));
    object(&members, "\n\t\t")
}

fn insert_size(counts: &Counts) -> String {
    let (unknown, known) = counts.inserts.split_last().unwrap_or((&0, &[]));
    object(
        &[
            ("peak", counts.insert_peak().to_string()),
            ("unknown", unknown.to_string()),
            ("histogram", list(known.iter().map(u64::to_string))),
        ],
        "\n\t\t",
    )
}

fn adapter_cutting(trimmer: &Trimmer, counts: &Counts, mates: usize) -> String {
    let mut members = vec![
        ("adapter_trimmed_reads".to_owned(), counts.adapter_reads.to_string()),
        ("adapter_trimmed_bases".to_owned(), counts.adapter_bases.to_string()),
    ];
    for mate in 0..mates {
        let sequence = trimmer.adapter(mate).unwrap_or("unspecified");
        members.push((format!("read{}_adapter_sequence", mate + 1), string(sequence)));
    }
    for (mate, adapters) in counts.adapters.iter().enumerate().take(mates) {
        let (frequent, others) = adapters.frequent();
        let frequent = frequent.iter().map(|(letters, count)| (String::from_utf8_lossy(letters).into_owned(), *count));
        let others = (others > 0).then(|| ("others".to_owned(), others));
        let named: Vec<(String, String)> =
            frequent.chain(others).map(|(name, count)| (name, count.to_string())).collect();
        members.push((format!("read{}_adapter_counts", mate + 1), object(&named, "")));
    }
    object(&members, "\n\t\t")
}

fn poly_x_trimming(counts: &Counts) -> String {
    let of = |of: fn(&Amount) -> u64| {
        let by_letter = TAIL_LETTERS.iter().zip(&counts.poly_x);
        let by_letter: Vec<(String, String)> =
            by_letter.map(|(&letter, amount)| (char::from(letter).to_string(), of(amount).to_string())).collect();
        (counts.poly_x.iter().map(of).sum::<u64>().to_string(), object(&by_letter, ""))
    };
    let ((all_reads, reads), (all_bases, bases)) = (of(|amount| amount.reads), of(|amount| amount.bases));
    object(
        &[
            ("total_polyx_trimmed_reads", all_reads),
            ("polyx_trimmed_reads", reads),
            ("total_polyx_trimmed_bases", all_bases),
            ("polyx_trimmed_bases", bases),
        ],
        "\n\t\t",
    )
}

/// The number of the kind of a letter.
fn kind(letter: char) -> usize {
    letter as usize % KINDS
}

/// All that is told of first reads, or of second ones.
fn reads(sums: &Sums) -> String {
    object(
        &[
            ("total_reads", sums.reads.to_string()),
            ("total_bases", sums.bases.to_string()),
            ("q20_bases", sums.good[0].to_string()),
            ("q30_bases", sums.good[1].to_string()),
            ("q40_bases", sums.good[2].to_string()),
            ("total_cycles", sums.cycles.len().to_string()),
            ("quality_curves", quality_curves(sums)),
            ("content_curves", content_curves(sums)),
            ("kmer_count", kmer_count(sums)),
            // fastp looks for these only if it is asked to.
            ("overrepresented_sequences", "{}".to_owned()),
        ],
        "\n\t\t",
    )
}

/// A figure for each cycle, made of the cells of all letters.
fn curve(sums: &Sums, figure: impl Fn(&[Cell; KINDS], Cell) -> f64) -> String {
    let of = |cells: &[Cell; KINDS]| {
        let all = cells.iter().fold(Cell::default(), |all, cell| Cell {
            bases: all.bases + cell.bases,
            qualities: all.qualities + cell.qualities,
        });
        general(figure(cells, all))
    };
    list(sums.cycles.iter().map(of))
}

fn mean(cell: Cell) -> f64 {
    cell.qualities as f64 / cell.bases as f64
}

fn quality_curves(sums: &Sums) -> String {
    let of = |letter: char| {
        let figure = |cells: &[Cell; KINDS], all| match cells[kind(letter)] {
            Cell { bases: 0, .. } => mean(all),
            cell => mean(cell),
        };
        (letter.to_string(), curve(sums, figure))
    };
    let mut curves: Vec<_> = LETTERS.iter().filter(|letter| **letter != 'N').map(|&letter| of(letter)).collect();
    curves.push(("mean".to_owned(), curve(sums, |_, all| mean(all))));
    object(&curves, "\n\t\t\t")
}

fn content_curves(sums: &Sums) -> String {
    let of = |letters: &[char]| {
        let share = |cells: &[Cell; KINDS], all: Cell| {
            let bases: u64 = letters.iter().map(|&letter| cells[kind(letter)].bases).sum();
            bases as f64 / all.bases as f64
        };
        curve(sums, share)
    };
    let mut curves: Vec<_> = LETTERS.iter().map(|&letter| (letter.to_string(), of(&[letter]))).collect();
    curves.push(("GC".to_owned(), of(&['G', 'C'])));
    object(&curves, "\n\t\t\t")
}

fn kmer_count(sums: &Sums) -> String {
    let kmers = KMER_LETTERS.len().pow(K as u32);
    let letter = |number: usize, at: usize| KMER_LETTERS[number >> (2 * (K - 1 - at)) & 3];
    let count = |number: usize| {
        let own = (0..K).map(|at| (letter(number, at) as usize >> 1 & 3) << (2 * at)).sum::<usize>();
        let name: String = (0..K).map(|at| letter(number, at)).collect();
        (name, sums.kmers[own].to_string())
    };
    object(&(0..kmers).map(count).collect::<Vec<_>>(), "\n\t\t\t")
}

/// A figure below a million as C++ writes it by default (`%g`): with six significant digits. Where that would take an
/// exponent it is written out.
fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", DIGITS - 1);
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let digits = (DIGITS as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{value:.digits$}");
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_six_digits() {
        let figures = [0.0, 1.0, 36.123_456_78, 0.499_999_96, 0.000_012_345_67, 123_456.7, 0.1, 93.0];
        let texts = ["0", "1", "36.1235", "0.5", "0.0000123457", "123457", "0.1", "93"];
        assert_eq!(figures.map(general), texts);
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(string("a \"b\" \\ \t"), r#""a \"b\" \\ \u0009""#);
    }
}
