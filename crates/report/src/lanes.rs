//! Time lines: a lane per thread, or per group of threads, with coloured bands of what was done when.

use crate::colour::css;
use crate::escape::escaped;
use std::fmt::Write;
use zerohop_model::timeline::Timeline;

/// Height of a lane in the units of its drawing.
const HEIGHT: f64 = 100.0;

/// What is done in a stage, in words, and its colour.
pub type Band = (&'static str, &'static str);

/// One lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// Whose it is.
    pub name: String,
    /// How many threads are in it.
    pub workers: usize,
    /// Length of a step, in microseconds.
    pub step_us: u64,
    /// Microseconds of each step in each stage.
    pub steps: Vec<Vec<u64>>,
}

impl Lane {
    /// What `timeline` holds of so many threads.
    pub fn new<const COUNT: usize>(name: String, workers: usize, timeline: &Timeline<COUNT>) -> Self {
        let steps = timeline.steps.iter().map(|step| step.to_vec()).collect();
        Lane { name, workers, step_us: timeline.step_us, steps }
    }

    /// Seconds to the beginning of the last step.
    pub(crate) fn seconds(&self) -> f64 {
        self.steps.len().saturating_sub(1) as f64 * self.step_us as f64 / 1e6
    }
}

/// Lanes below each other over the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanes {
    /// The stages, in the order of [`Lane::steps`].
    pub bands: &'static [Band],
    /// The lanes.
    pub lanes: Vec<Lane>,
    /// Seconds from the left to the right.
    pub seconds: f64,
}

impl Lanes {
    pub(crate) fn html(&self) -> String {
        let chip = |(name, colour): &Band| format!("<span>{}{name}</span>", square(colour));
        let legend: String = self.bands.iter().map(chip).collect();
        let lane = |lane: &Lane| format!("<span>{}</span>{}\n", escaped(&lane.name), self.drawn(lane));
        let lanes: String = self.lanes.iter().map(lane).collect();
        let tick = |quarter: u32| format!("<span>{}</span>", short(self.seconds * f64::from(quarter) / 4.0));
        let ticks: String = (0..=4).map(tick).collect();
        format!(
            "<figure class=\"lanes\"><div class=\"legend\">{legend}</div><div class=\"grid\">{lanes}<span></span>\
             <div class=\"ticks\">{ticks}</div></div></figure>\n"
        )
    }

    /// A lane as SVG that is stretched to the width that there is: bands on top of each other, as high as their part of
    /// a step.
    fn drawn(&self, lane: &Lane) -> String {
        let Lane { step_us, steps, .. } = lane;
        // What several threads did at a time for one worker may add up to more than the time that passed.
        let fullest = steps.iter().map(|step| step.iter().sum()).max().unwrap_or(0);
        let full = (step_us * lane.workers as u64).max(fullest).max(1) as f64;
        let width = (self.seconds * 1e6 / *step_us as f64).max(1e-6);
        let mut below = vec![0.0; steps.len()];
        let mut bands = String::new();
        for (stage, (_, colour)) in self.bands.iter().enumerate() {
            let heights: Vec<f64> = steps.iter().map(|step| HEIGHT * step[stage] as f64 / full).collect();
            if heights.iter().any(|&height| height > 0.0) {
                let _ = write!(bands, "<path fill=\"{colour}\" d=\"{}\"/>", band(&mut below, &heights));
            }
        }
        let title = format!("What {} did over time", escaped(&lane.name));
        format!(
            "<svg viewBox=\"0 0 {width:.3} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{title}\"><title>{title}</title>{bands}</svg>"
        )
    }
}

/// The outline of a band that lies on what is below it; what is below the next one is returned in `below`.
fn band(below: &mut [f64], heights: &[f64]) -> String {
    let mut path = String::new();
    let mut along = |y: f64, first: bool, forth: bool| {
        let y = (HEIGHT - y).round();
        let _ = match (first, forth) {
            (true, _) => write!(path, "M0 {y}h1"),
            (_, true) => write!(path, "V{y}h1"),
            _ => write!(path, "V{y}h-1"),
        };
    };
    for (i, (below, height)) in below.iter().zip(heights).enumerate() {
        along(below + height, i == 0, true);
    }
    below.iter().rev().for_each(|&y| along(y, false, false));
    below.iter_mut().zip(heights).for_each(|(below, height)| *below += height);
    path + "z"
}

/// A small square of a colour.
fn square(colour: &str) -> String {
    format!("<b style=\"background:{colour}\"></b>")
}

/// A small square of the colour with this number.
pub(crate) fn chip(colour: usize) -> String {
    square(&css(colour))
}

/// Seconds with as many digits as matter.
fn short(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 || s == 0.0 => format!("{s:.0} s"),
        s if s >= 1.0 => format!("{s:.1} s"),
        s => format!("{s:.3} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BANDS: &[Band] = &[("claim", "#111"), ("wait", "#222"), ("map", "#333")];

    #[test]
    fn bands_lie_on_each_other() {
        let timeline = Timeline { step_us: 10, steps: vec![[5, 0, 5], [0, 0, 10]] };
        let lanes = Lanes { bands: BANDS, lanes: vec![Lane::new("<0>".into(), 1, &timeline)], seconds: 20e-6 };
        let html = lanes.html();
        assert!(html.contains("viewBox=\"0 0 2.000 100\"") && html.contains("&lt;0&gt;"), "{html}");
        assert!(html.contains("d=\"M0 50h1V100h1V100h-1V100h-1z\""), "claim: half of the first step: {html}");
        assert!(html.contains("d=\"M0 0h1V0h1V100h-1V50h-1z\""), "map on top of it: {html}");
        assert_eq!(html.matches("<path").count(), 2, "no band for what was not done");
    }

    #[test]
    fn nothing_leaves_its_lane() {
        let lane = Lane::new(String::new(), 1, &Timeline { step_us: 10, steps: vec![[10, 0, 10]] });
        let html = Lanes { bands: BANDS, lanes: vec![lane], seconds: 1.0 }.html();
        assert!(html.contains("M0 50h1") && html.contains("M0 0h1") && !html.contains("V-"), "{html}");
        let empty = Lane::new(String::new(), 0, &Timeline::<3>::default());
        assert!(!Lanes { bands: BANDS, lanes: vec![empty], seconds: 0.0 }.html().contains("NaN"));
    }
}
