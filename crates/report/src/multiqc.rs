//! The summary as custom content for MultiQC (its documentation, "Custom content"): columns of the general statistics
//! table.

use crate::summary::{Summary, percent};
use serde_json::{Value, json};
use zerohop_model::measurement::{DuplicateReport, LibraryReport};

impl Summary {
    /// The summary of `sample` for MultiQC. The file's name must end in `_mqc.json` for MultiQC to find it.
    ///
    /// # Errors
    /// None in practice: all its parts can be expressed.
    pub fn multiqc(&self, sample: &str) -> Result<String, serde_json::Error> {
        let t = &self.run.tally;
        let percentage = |title: &str, text: &str| {
            let (least, most, format) = (0, 100, "{:,.2f}");
            json!({"title": title, "description": text, "min": least, "max": most, "suffix": "%", "format": format})
        };
        let (fragments, count) = ("zerohop: different fragments in the library, estimated", "{:,.0f}");
        let all_reads = "zerohop: reads in, all accounted for";
        let mut row = json!({
            "zerohop_reads": t.reads,
            "zerohop_mapped": percent(t.mapped, t.reads),
            "zerohop_reads_per_second": self.reads_per_second(),
        });
        if t.paired > 0 {
            row["zerohop_proper"] = Value::from(percent(t.properly_paired, t.paired));
        }
        if let Some(median) = t.insert.quantile(0.5) {
            row["zerohop_insert"] = Value::from(median);
        }
        if let Some(found) = self.run.sorted.as_ref().and_then(|sorted| sorted.duplicates.as_ref()) {
            let DuplicateReport { paired, single, paired_duplicates, single_duplicates, .. } = *found;
            row["zerohop_duplicates"] = Value::from(percent(paired_duplicates + single_duplicates, paired + single));
            if let [LibraryReport { estimated_size: Some(size), .. }] = found.libraries[..] {
                row["zerohop_library_size"] = Value::from(size);
            }
        }
        let content = json!({
            "id": "zerohop",
            "plot_type": "generalstats",
            "pconfig": [
                {"zerohop_reads": {"title": "Reads", "description": all_reads, "format": "{:,.0f}"}},
                {"zerohop_mapped": percentage("Mapped", "zerohop: reads mapped")},
                {"zerohop_proper": percentage("Proper", "zerohop: paired reads properly paired")},
                {"zerohop_insert": {"title": "Insert", "description": "zerohop: median insert size", "suffix": " b"}},
                {"zerohop_duplicates": percentage("Duplicates", "zerohop: mapped reads that are duplicates")},
                {"zerohop_library_size": {"title": "Library size", "description": fragments, "format": count}},
                {"zerohop_reads_per_second": {"title": "Reads/s", "description": "zerohop: reads mapped per second"}},
            ],
            "data": {sample: row},
        });
        serde_json::to_string_pretty(&content).map(|text| text + "\n")
    }
}
