//! The summary as custom content for MultiQC (its documentation, "Custom content"): columns of the general statistics
//! table.

use crate::methylation;
use crate::summary::Summary;
use crate::usual;
use serde_json::{Map, Value, json};

impl Summary {
    /// The summary for MultiQC. The file's name must end in `_mqc.json` for MultiQC to find it.
    ///
    /// # Errors
    /// None in practice: all its parts can be expressed.
    pub fn multiqc(&self) -> Result<String, serde_json::Error> {
        let percentage = |title: &str, text: &str, odd: Option<Value>| {
            let (least, most, format) = (0, 100, "{:,.2f}");
            let red: Map<String, Value> = odd.map(|rule| ("fail".to_owned(), json!([rule]))).into_iter().collect();
            json!({"title": title, "description": text, "min": least, "max": most, "suffix": "%", "format": format,
                "cond_formatting_rules": red})
        };
        let (few, many) = (Some(json!({"lt": usual::MAPPED})), Some(json!({"gt": usual::DUPLICATES})));
        let (fragments, count) = ("zerohop: different fragments in the library, estimated", "{:,.0f}");
        let all_reads = "zerohop: reads in, all accounted for";
        let figures = match serde_json::to_value(self.figures())? {
            Value::Object(figures) => figures,
            _ => Map::new(),
        };
        let methylation = self.run.methylation.iter().flat_map(methylation::columns);
        let (mut of_methylation, mut values) = (Vec::new(), Map::new());
        for (key, title, text, value) in methylation {
            let mut column = Map::new();
            column.insert(key.clone(), percentage(&title, &text, None));
            of_methylation.push(Value::Object(column));
            values.insert(key, json!(value));
        }
        let known = figures.into_iter().filter(|(_, value)| !value.is_null());
        let known = known.map(|(name, value)| (format!("zerohop_{name}"), value));
        let row: Map<String, Value> = known.chain(values).collect();
        let columns = json!([
                {"zerohop_reads": {"title": "Reads", "description": all_reads, "format": "{:,.0f}"}},
                {"zerohop_mapped": percentage("Mapped", "zerohop: reads mapped", few)},
                {"zerohop_proper": percentage("Proper", "zerohop: paired reads properly paired", None)},
                {"zerohop_insert": {"title": "Insert", "description": "zerohop: median insert size", "suffix": " b"}},
                {"zerohop_duplicates": percentage("Duplicates", "zerohop: mapped reads that are duplicates", many)},
                {"zerohop_library_size": {"title": "Library size", "description": fragments, "format": count}},
                {"zerohop_n50": {"title": "N50", "description": "zerohop: N50 of long reads", "suffix": " b",
                    "format": count}},
                {"zerohop_identity": percentage("Identity", "zerohop: columns alike, of long reads", None)},
                {"zerohop_coverage": {"title": "Coverage", "description": "zerohop: of the reference, by long reads",
                    "suffix": "x", "format": "{:,.1f}"}},
                {"zerohop_reads_per_second": {"title": "Reads/s", "description": "zerohop: reads mapped per second"}},
        ]);
        let columns = columns.as_array().into_iter().flatten().cloned().chain(of_methylation);
        let content = json!({
            "id": "zerohop",
            "plot_type": "generalstats",
            "pconfig": columns.collect::<Vec<_>>(),
            "data": {&self.sample: row},
        });
        serde_json::to_string_pretty(&content).map(|text| text + "\n")
    }

    /// M-bias for MultiQC, of reads that were converted.
    ///
    /// # Errors
    /// As for [`Self::multiqc`].
    pub fn multiqc_m_bias(&self) -> Option<Result<String, serde_json::Error>> {
        let section = methylation::multiqc(self.run.methylation.as_ref()?, &self.sample);
        Some(serde_json::to_string_pretty(&section).map(|text| text + "\n"))
    }
}
