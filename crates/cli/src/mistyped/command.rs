//! A command that is to be typed.

use super::network::{self, is_url};
use zerohop_process::quoted;

/// A command of `align`, in parts.
#[derive(Debug, Default)]
pub(super) struct AlignCommand {
    /// Options of zerohop, with their values.
    pub(super) options: Vec<String>,
    /// Options of the aligner.
    pub(super) engine_args: Vec<String>,
    pub(super) reference: Option<String>,
    /// Files of reads: one each, or two of mates.
    pub(super) lanes: Vec<Vec<String>>,
    /// Where the output was to go, if that is on the network. Among the options is the name of a file here.
    pub(super) output: Option<String>,
}

impl AlignCommand {
    /// A file that was to be read on the network.
    pub(super) fn url(&self) -> Option<&str> {
        self.reference.iter().chain(self.lanes.iter().flatten()).map(String::as_str).find(|name| is_url(name))
    }

    /// What is to be typed. What is on the network comes here first, if it is the reference, or through pipes.
    pub(super) fn line(&self) -> String {
        let mut words = vec!["align".to_owned()];
        words.extend(self.options.iter().cloned());
        if !self.engine_args.is_empty() {
            words.extend(["--engine-args".to_owned(), self.engine_args.join(" ")]);
        }
        let fetched = self.reference.as_deref().filter(|name| is_url(name));
        words.extend(fetched.map(network::copy).or_else(|| self.reference.clone()));
        let zerohop = line(&words);
        let zerohop = match fetched {
            Some(url) => format!("{} && {zerohop}", network::fetch(url)),
            None => zerohop,
        };
        match &self.lanes[..] {
            [] => zerohop,
            [lane] if lane.len() == 1 && is_url(&lane[0]) && fetched.is_none() => {
                format!("{} | {zerohop} -", network::stream(&lane[0]))
            }
            lanes => {
                format!("{zerohop} {}", lanes.iter().map(|lane| piped(lane)).collect::<Vec<_>>().join(" --reads "))
            }
        }
    }
}

/// The files of a lane; those on the network come through pipes.
fn piped(lane: &[String]) -> String {
    let file = |name: &String| if is_url(name) { format!("<({})", network::stream(name)) } else { quoted(name) };
    lane.iter().map(file).collect::<Vec<_>>().join(" ")
}

/// A command of zerohop as it is to be typed.
pub(super) fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("zerohop {}", words.join(" "))
}
