//! The summary in a few lines.

use crate::summary::{IndexOrigin, Summary, percent};
use std::fmt::Write;
use std::time::Duration;
use zerohop_model::measurement::ReplicaReport;
use zerohop_model::plan::Pages;

impl Summary {
    /// A few lines for the end of a run.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let t = &self.run.tally;
        let mut line = |name: &str, text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name:<10}{text}");
        };
        line("zerohop", format!("{} ({} {})", self.version, self.engine.0, self.engine.1));
        line("command", self.command.clone());
        line("reads", format!("{} in, {} accounted for", grouped(t.reads), grouped(t.primary_records)));
        line("mapped", format!("{:.2} %", percent(t.mapped, t.reads)));
        if t.paired > 0 {
            line(
                "proper",
                format!(
                    "{:.2} % of paired reads properly paired{}",
                    percent(t.properly_paired, t.paired),
                    self.insert()
                ),
            );
        }
        line("index", self.index_line());
        line("plan", self.plan.reasons.join(" "));
        self.replicas.iter().enumerate().for_each(|(i, replica)| line(&format!("copy {i}"), replica_line(replica)));
        line(
            "workers",
            format!(
                "{}, waiting {:.1} % of their time for input, {:.1} % for output",
                self.run.workers.len(),
                100.0 * self.share_of_workers(|w| w.wait_input),
                100.0 * self.share_of_workers(|w| w.wait_output)
            ),
        );
        line(
            "time",
            format!(
                "{} in all, {} mapping ({} reads/s); CPU {} user, {} system",
                seconds(self.wall),
                seconds(self.run.wall),
                grouped(self.reads_per_second() as u64),
                seconds(self.resources.user),
                seconds(self.resources.system)
            ),
        );
        line("memory", format!("{} at the peak", self.resources.peak_memory));
        for note in self.run.refused.iter().chain(&self.notes) {
            line("note", note.clone());
        }
        out
    }

    fn insert(&self) -> String {
        let insert = &self.run.tally.insert;
        match (insert.quantile(0.25), insert.quantile(0.5), insert.quantile(0.75)) {
            (Some(low), Some(middle), Some(high)) => {
                format!("; insert size {middle} (quartiles {low} and {high})")
            }
            _ => String::new(),
        }
    }

    fn index_line(&self) -> String {
        let from = match &self.index.origin {
            IndexOrigin::File(path) => format!("loaded from {path}"),
            IndexOrigin::Built => "built from the reference".to_owned(),
        };
        let (bytes, time, length) = (self.index.bytes, seconds(self.index.time), self.index.mean_read_length);
        format!("{from} in {time}, {bytes} per copy, for reads of about {length} bases")
    }
}

fn replica_line(replica: &ReplicaReport) -> String {
    let nodes: Vec<String> = replica.placement.nodes.iter().map(|n| n.to_string()).collect();
    let nodes = nodes.join(",");
    let wanted = match replica.placement.pages {
        Pages::Local => format!("bound to node {nodes}"),
        Pages::Interleave => format!("interleaved over nodes {nodes}"),
        Pages::FirstTouch => "where first touched".to_owned(),
    };
    let present = replica.census.present.0;
    let share = |bytes: u64| percent(bytes, present);
    let found: Vec<String> =
        replica.census.per_node.iter().map(|(node, bytes)| format!("{:.1} % on node {node}", share(bytes.0))).collect();
    let mut text = format!("{wanted}; {} found", replica.census.present);
    if !found.is_empty() {
        text += &format!(": {}; {:.0} % on huge pages", found.join(", "), share(replica.census.huge.0));
    }
    replica.refused.iter().for_each(|refused| text += &format!("; {refused}"));
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// `1234567` as `1,234,567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
