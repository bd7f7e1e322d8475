//! The reports of a run: a few lines for the user, JSON for programs, custom content for MultiQC.
//!
//! 1. The program fills a [`Summary`] from its command, its plan and its measurements.
//! 2. [`Summary::text`], [`Summary::json`] and [`Summary::multiqc`] put it into words.
//! 3. `Recorded` is what a file of results holds, and [`report`] puts such files on one HTML [`Page`]: tunings
//!    (tuning_page.rs), samples (samples_page.rs), runs (comparison.rs, sequenced.rs, pictures.rs, runs.rs,
//!    placement.rs), searches (search_page.rs) and memory maps (map_page.rs). They are made of tables, charts, bars,
//!    shaded tables, time lines and machines, a file each. What the laboratory measured, its own program adds to such a
//!    page ([`Laboratory`]).
//!
//! What it refuses to do: compute anything that was not measured, or leave out what the kernel refused.
#![forbid(unsafe_code)]

mod bars;
mod chart;
mod colour;
mod comparison;
mod curves;
mod escape;
mod figures;
mod files;
#[cfg(test)]
mod fixtures;
mod heat;
mod lanes;
mod m_bias;
mod map_page;
mod map_text;
mod methylation;
mod multiqc;
mod natural;
mod outliers;
mod page;
mod pictures;
mod placement;
mod recorded;
mod runs;
mod sample_table;
mod samples_page;
mod search_page;
mod sequenced;
mod stages;
mod steps;
mod summary;
mod text;
mod topology;
mod tuning_page;
mod tuning_text;
pub mod usual;
mod utc;

pub use bars::{Bar, Bars};
pub use chart::{Axes, Chart, ChartError, Kind, Part, Series};
pub use figures::Figures;
pub use files::{Laboratory, OfLaboratory, ReportError, files_of, report};
pub use heat::{Cell, Dark, Heat};
pub use lanes::{Band, Lane, Lanes};
pub use map_page::MeasuredMachine;
pub use map_text::map_text;
pub use page::{Page, Table};
pub use summary::{IndexOrigin, IndexReport, RankSummary, ResourceUse, SCHEMA_VERSION, Summary, WithFigures};
pub use text::instance_line;
pub use topology::Topology;
pub use tuning_text::tuning_text;
