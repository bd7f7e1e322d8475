//! What a run says of itself: a few lines for the user, JSON for programs, custom content for MultiQC.
//!
//! 1. the program fills a [`Summary`] from its command, its plan and its measurements;
//! 2. [`Summary::text`], [`Summary::json`] and [`Summary::multiqc`] put it into words.
//!
//! [`Chart`], [`Table`] and [`Page`] make one HTML page of many runs.
//!
//! What it refuses to do: compute anything that was not measured, or leave out what the kernel refused.
#![forbid(unsafe_code)]

mod chart;
mod multiqc;
mod page;
mod summary;
mod text;

pub use chart::{Chart, ChartError, Series};
pub use page::{Page, Table};
pub use summary::{IndexOrigin, IndexReport, ResourceUse, SCHEMA_VERSION, Summary};
pub use text::instance_line;
