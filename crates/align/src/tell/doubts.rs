//! What of a run looks as if something else was meant, or as if something is wrong with the reads. Each says its
//! figure, and from where on that is odd.

use crate::job::{Job, NULL, STROBEALIGN, lanes, sorting};
use zerohop_model::measurement::{PairLayouts, Tally};
use zerohop_model::thousands::grouped;
use zerohop_output::Format;
use zerohop_report::{Summary, usual};

/// Of fewer reads, shares say little.
const JUDGED_READS: u64 = 1000;

/// All of them.
pub fn doubts(job: &Job, summary: &Summary) -> Vec<String> {
    let Summary { run, .. } = summary;
    let Tally { reads, paired, mapped, .. } = run.tally;
    let is_of_records = matches!(job.output.format(), Format::Sam | Format::Bam { .. } | Format::Cram { .. });
    let is_mapping = job.engine != NULL && is_of_records;
    let of_reads = match (reads, mapped) {
        (0, _) => {
            Some("There were no reads. Where they come through a pipe: did the program before zerohop fail?".into())
        }
        (_, 0) if is_mapping => Some(format!("No read was aligned: is {} their reference?", job.reference.display())),
        _ => None,
    };
    let is_interleaved = job.lanes.iter().any(|lane| lane.interleaved);
    let of_pairs = (is_interleaved && reads > 0 && paired == 0)
        .then(|| "No two neighbours have the same name: with -p all reads were single ones.".into());
    let barcodes = run.sorted.as_ref().and_then(|sorted| sorting::lacking_barcodes(job, sorted));
    let is_for_short_reads = is_mapping && job.engine == STROBEALIGN;
    let of_long_reads = summary.long_reads().filter(|_| is_for_short_reads).map(|lengths| {
        format!(
            "The reads are long (N50 about {} bases), and strobealign is for short ones: use --engine rammap \
             --engine-args '-x map-ont', or another of its presets.",
            grouped(lengths.n50())
        )
    });
    let told =
        of_reads.into_iter().chain(of_long_reads).chain(of_pairs).chain(lanes::given_twice(&job.lanes)).chain(barcodes);
    let is_judged = is_mapping && reads >= JUDGED_READS && mapped > 0;
    told.chain(if is_judged { shares(job, summary) } else { Vec::new() }).collect()
}

/// Shares of reads and pairs that are not usual.
fn shares(job: &Job, summary: &Summary) -> Vec<String> {
    let (figures, layouts) = (summary.figures(), &summary.run.tally.pairs);
    let unmapped = (figures.mapped < usual::MAPPED).then(|| {
        format!(
            "Only {:.2} % of the reads were aligned (usual: {} % at least): is {} their reference, and are they of \
             one species?",
            figures.mapped,
            usual::MAPPED,
            job.reference.display()
        )
    });
    let duplicates = figures.duplicates.filter(|percent| *percent > usual::DUPLICATES).map(|percent| {
        format!(
            "{percent:.2} % of the aligned reads are duplicates (usual: {} % at most): few molecules were sequenced \
             many times, or these are amplicons, of which duplicates are not to be marked.",
            usual::DUPLICATES
        )
    });
    unmapped.into_iter().chain(duplicates).chain(of_layouts(layouts)).chain(of_lengths(summary)).collect()
}

/// Pairs whose mates do not lie as those of the usual libraries do.
fn of_layouts(layouts: &PairLayouts) -> Option<String> {
    let PairLayouts { inward, outward, same_strand, far } = *layouts;
    if layouts.all() < JUDGED_READS / 2 {
        return None;
    }
    let percent = |pairs: u64, all: u64| 100.0 * pairs as f64 / all.max(1) as f64;
    let of_all = percent(far, layouts.all());
    if of_all > usual::FAR_PAIRS {
        return Some(format!(
            "In {of_all:.2} % of the pairs with both mates aligned these lie on different contigs, or more than {} \
             bases apart (usual: {} % at most): do both files have the mates in the same order?",
            grouped(PairLayouts::FAR),
            usual::FAR_PAIRS
        ));
    }
    let near = inward + outward + same_strand;
    let kinds = [(outward, "point away from each other (RF)"), (same_strand, "lie on the same strand (FF)")];
    let odd = kinds.into_iter().map(|(pairs, words)| (percent(pairs, near), words));
    let (share, words) = odd.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(share, _)| *share > usual::OTHER_LAYOUT)?;
    Some(format!(
        "In {share:.2} % of the pairs the mates {words} (usual: {} % at most; most point to each other, FR): aligners \
         take them for pairs that do not fit.",
        usual::OTHER_LAYOUT
    ))
}

/// Reads that the index is not for.
fn of_lengths(summary: &Summary) -> Option<String> {
    let Tally { reads, bases, .. } = summary.run.tally;
    let (mean, of_index) = (bases as f64 / reads.max(1) as f64, summary.index.read_length as f64);
    let is_far = of_index > 0.0
        && summary.long_reads().is_none()
        && !(of_index / usual::TIMES_LENGTH..=of_index * usual::TIMES_LENGTH).contains(&mean);
    is_far.then(|| {
        format!(
            "The reads have {mean:.0} bases in the mean, and the index is for reads of {of_index}: with '-r {mean:.0}' \
             more of them may be aligned."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_that_are_not_usual_are_told() {
        let told = |inward, outward, same_strand, far| {
            of_layouts(&PairLayouts { inward, outward, same_strand, far }).unwrap_or_default()
        };
        assert_eq!(told(900, 30, 20, 50), "");
        assert_eq!(told(10, 30, 20, 400), "", "too few to judge");
        assert!(told(500, 30, 20, 450).starts_with("In 45.00 % of the pairs with both mates aligned these lie on"));
        assert!(
            told(100, 880, 20, 50).starts_with("In 88.00 % of the pairs the mates point away from each other (RF)")
        );
        assert!(told(100, 20, 880, 50).starts_with("In 88.00 % of the pairs the mates lie on the same strand (FF)"));
    }
}
