//! The summary as custom content for MultiQC (its documentation, "Custom content"): columns of the general statistics
//! table.

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
        let known = figures.into_iter().filter(|(_, value)| !value.is_null());
        let row: Map<String, Value> = known.map(|(name, value)| (format!("zerohop_{name}"), value)).collect();
        let content = json!({
            "id": "zerohop",
            "plot_type": "generalstats",
            "pconfig": [
                {"zerohop_reads": {"title": "Reads", "description": all_reads, "format": "{:,.0f}"}},
                {"zerohop_mapped": percentage("Mapped", "zerohop: reads mapped", few)},
                {"zerohop_proper": percentage("Proper", "zerohop: paired reads properly paired", None)},
                {"zerohop_insert": {"title": "Insert", "description": "zerohop: median insert size", "suffix": " b"}},
                {"zerohop_duplicates": percentage("Duplicates", "zerohop: mapped reads that are duplicates", many)},
                {"zerohop_library_size": {"title": "Library size", "description": fragments, "format": count}},
                {"zerohop_reads_per_second": {"title": "Reads/s", "description": "zerohop: reads mapped per second"}},
            ],
            "data": {&self.sample: row},
        });
        serde_json::to_string_pretty(&content).map(|text| text + "\n")
    }
}
