//! `zerohop align`: what was typed is made sense of, and goes to the aligner that was asked for.

use crate::args::{AlignArgs, NULL, STROBEALIGN};
use crate::failure::Failure;
use crate::lanes::{self, Groups};
use crate::ranks::{self, Ranks};
use crate::seat::Seat;
use crate::{embedded, external, joint, outputs};
use std::path::PathBuf;
use std::time::Duration;
use zerohop_distribute::Transport;
use zerohop_reads::LaneSpec;

/// Runs the command; `typed` are the lanes given by `--reads`.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left.
pub fn run(args: &AlignArgs, typed: Vec<Vec<PathBuf>>) -> Result<(), Failure> {
    let checked = check(args, typed);
    if args.output.is_some() && !args.quiet {
        ranks::note_if_alone(args.ranks.ranks);
    }
    if !args.ranks.is_recorded() {
        let (specs, groups) = checked?;
        return with_engine(args, specs, groups, None);
    }
    let limit = Duration::from_secs(args.external.hang_limit.unwrap_or(external::HANG_LIMIT));
    let (ranks, (specs, groups)) = Ranks::join(args.ranks.ranks, args.ranks.mpi.as_deref(), limit, checked)?;
    let outcome = with_engine(args, specs, groups, Some(ranks.transport()));
    ranks.end(outcome)
}

/// What can be refused before anything is loaded.
fn check(args: &AlignArgs, typed: Vec<Vec<PathBuf>>) -> Result<(Vec<LaneSpec>, Groups), Failure> {
    let specs = lanes::specs(args, typed)?;
    let groups = lanes::read_groups(args, specs.len())?;
    outputs::check(args, &specs)?;
    if args.ranks.is_recorded() {
        joint::check(args, &specs)?;
    }
    Ok((specs, groups))
}

/// Over `transport` together with other ranks, if it is given.
fn with_engine(
    args: &AlignArgs,
    specs: Vec<LaneSpec>,
    groups: Groups,
    transport: Option<&dyn Transport>,
) -> Result<(), Failure> {
    let seat = transport.map(Seat::take).transpose()?.unwrap_or_default();
    match &*args.engine {
        STROBEALIGN | NULL => {
            external::refuse_options(args)?;
            embedded::run(args, specs, groups, transport, &seat)
        }
        _ => external::run(args, specs, groups, transport, &seat),
    }
}
