//! What the literature says of threads, locks and parsing, put to the test on this machine.
//!
//! A claim that a machine cannot show (because it has too few CPUs) is told with what was measured, and does not fail.

use crate::arm::{Arm, InputKind, LockKind, OutputKind};
use crate::experiment::{Experiment, Point, Scaling};
use crate::process::EngineSpec;
use crate::summary::{Group, groups, ratio};
use zerohop_report::Table;

const LOCKS: [LockKind; 4] = [LockKind::Tas, LockKind::Ttas, LockKind::Futex, LockKind::Mcs];
/// What counts as the same.
const SAME: f64 = 1.03;
/// CPUs from which on threads queue at a lock for long enough to tell locks apart.
const MANY_CPUS: usize = 8;
/// Microseconds per read of the engine that stands for an aligner: a fast one.
const ALIGNER_US: f64 = 20.0;

/// What was found of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds here.
    Holds,
    /// It does not hold here.
    Fails,
    /// This machine cannot show it.
    NotHere,
}

/// A claim, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Its number in the literature; Z for our own.
    pub claim: &'static str,
    /// What it says.
    pub says: &'static str,
    /// What was measured.
    pub measured: String,
    /// Whether it holds.
    pub verdict: Verdict,
}

/// One experiment, and its arms.
pub type Plan = (Experiment, Vec<Arm>);

/// What must be measured, on `cpus` CPUs, with `fragments` fragments for each thread of the engine that does nothing.
pub fn plans(cpus: usize, fragments: usize) -> Vec<Plan> {
    let base = Experiment {
        engine: EngineSpec::Null,
        scaling: Scaling::Weak,
        fragments,
        batch: 32,
        chunk_bases: 100_000,
        queue: 2,
        pinned: false,
        interleaved: false,
        mixed: false,
    };
    let aligner = EngineSpec::Synthetic { work_us: ALIGNER_US, sleep_us: 0.0, accesses: 0, table_bytes: 0, skew: None };
    let slow = Experiment { engine: aligner, fragments: (fragments / 10).max(1), ..base.clone() };
    vec![(base, arms_of_nothing(cpus)), (slow, arms_of_work(cpus))]
}

fn arm(input: InputKind, lock: LockKind, threads: usize, processes: usize) -> Arm {
    Arm { input, lock, output: OutputKind::Files, threads, processes }
}

fn arms_of_nothing(cpus: usize) -> Vec<Arm> {
    use InputKind::{B, D, L, O, Survey};
    let mut arms = Vec::new();
    for input in [O, D, B, L, Survey] {
        arms.push(arm(input, LockKind::Mcs, 1, 1));
        arms.push(arm(input, LockKind::Mcs, cpus, 1));
    }
    arms.extend(LOCKS.into_iter().filter(|lock| *lock != LockKind::Mcs).map(|lock| arm(O, lock, cpus, 1)));
    arms.extend([O, B, L].map(|input| arm(input, LockKind::Mcs, cpus, cpus)));
    arms
}

fn arms_of_work(cpus: usize) -> Vec<Arm> {
    let mut arms: Vec<Arm> = LOCKS.into_iter().map(|lock| arm(InputKind::O, lock, cpus, 1)).collect();
    for threads in thread_counts(cpus) {
        arms.push(arm(InputKind::Farm, LockKind::Futex, threads, 1));
        arms.extend([LockKind::Ttas, LockKind::Futex].map(|lock| arm(InputKind::B, lock, threads, 1)));
    }
    arms
}

/// 1, 2, 4 ... and all CPUs.
fn thread_counts(cpus: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |&n| Some(2 * n)).take_while(|&n| n < cpus).collect();
    counts.push(cpus);
    counts
}

/// The medians that claims are about.
struct Measured<'p> {
    groups: Vec<Group<'p>>,
}

impl<'p> Measured<'p> {
    fn group(&self, wanted: Arm) -> Option<&Group<'p>> {
        self.groups.iter().find(|group| group.arm == wanted)
    }

    /// Time of one arm over that of another, the median over repetitions.
    fn ratio(&self, one: Arm, other: Arm) -> f64 {
        match (self.group(one), self.group(other)) {
            (Some(one), Some(other)) => ratio(one, other, |point| point.slowest_s),
            _ => f64::NAN,
        }
    }

    /// Nanoseconds per fragment in which the reader was held.
    fn held_ns(&self, wanted: Arm) -> f64 {
        self.group(wanted).map_or(f64::NAN, |group| 1e9 * group.median(Point::input_hold_s))
    }
}

/// What the points say of every claim.
pub fn findings(points: &[Point], plans: &[Plan], cpus: usize) -> Vec<Finding> {
    use InputKind::{B, D, Farm, L, O, Survey};
    use LockKind::{Futex, Mcs, Tas, Ttas};
    let [nothing, work] = [0, 1].map(|i| Measured { groups: groups(points, &plans[i].0.name()) });
    let many = cpus >= MANY_CPUS;
    let all = |input, lock| arm(input, lock, cpus, 1);
    let mp = |input| arm(input, Mcs, cpus, cpus);
    let finding = |claim, says, measured: String, holds: bool, can_show: bool| {
        let verdict = if !can_show {
            Verdict::NotHere
        } else if holds {
            Verdict::Holds
        } else {
            Verdict::Fails
        };
        Finding { claim, says, measured, verdict }
    };

    let held = [O, D, B, L].map(|input| nothing.held_ns(arm(input, Mcs, 1, 1)));
    let spin = nothing.ratio(all(O, Tas), all(O, Ttas));
    let others = [Tas, Ttas, Futex].map(|lock| nothing.ratio(all(O, Mcs), all(O, lock)));
    let mp_o = nothing.ratio(mp(O), all(O, Mcs));
    let spread = |measured: &Measured<'_>| {
        let times = LOCKS.map(|lock| measured.ratio(all(O, lock), all(O, Mcs)));
        times.iter().copied().fold(0.0, f64::max) / times.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let (spread_nothing, spread_work) = (spread(&nothing), spread(&work));
    let parsing = [
        nothing.ratio(all(D, Mcs), all(O, Mcs)),
        nothing.ratio(all(B, Mcs), all(D, Mcs)),
        nothing.ratio(all(L, Mcs), all(B, Mcs)),
    ];
    let to_mp = [B, L].map(|input| nothing.ratio(all(input, Mcs), mp(O)));
    let ours = nothing.ratio(all(Survey, Mcs), all(L, Mcs));
    let farms: Vec<(usize, f64)> = thread_counts(cpus)
        .into_iter()
        .map(|threads| {
            let to = |lock| work.ratio(arm(Farm, Futex, threads, 1), arm(B, lock, threads, 1));
            (threads, to(Ttas).max(to(Futex)))
        })
        .collect();

    vec![
        finding(
            "hold",
            "the reader is held for less time per read the later reads are looked at: O > D > B > L",
            format!("{:.0} > {:.0} > {:.0} > {:.0} ns per fragment", held[0], held[1], held[2], held[3]),
            held.windows(2).all(|pair| pair[0] > pair[1]),
            true,
        ),
        finding(
            "L1",
            "the queueing lock is the best of the locks",
            format!("{:.2}x, {:.2}x, {:.2}x of tas, ttas, futex (O)", others[0], others[1], others[2]),
            others.iter().all(|r| *r <= SAME),
            many,
        ),
        finding(
            "L2",
            "spinning on an atomic write is never better than spinning on a read",
            format!("tas takes {spin:.2}x of ttas (O)"),
            spin >= 1.0 / SAME,
            cpus > 1,
        ),
        finding(
            "L3",
            "with O, processes beat threads",
            format!("{cpus} processes take {mp_o:.2}x of {cpus} threads (O, mcs)"),
            mp_o < 1.0,
            cpus > 1,
        ),
        finding(
            "L4",
            "the more work per read, the less locks differ",
            format!(
                "slowest over fastest lock: {spread_nothing:.2}x without work, {spread_work:.2}x with {ALIGNER_US} us per read"
            ),
            spread_work <= spread_nothing,
            cpus > 1,
        ),
        finding(
            "P1",
            "time falls from O over D to B",
            format!("D {:.2}x of O, B {:.2}x of D (mcs)", parsing[0], parsing[1]),
            parsing[0] <= SAME && parsing[1] <= SAME,
            cpus > 1,
        ),
        finding(
            "P2",
            "L is at least as good as B",
            format!("L {:.2}x of B (mcs)", parsing[2]),
            parsing[2] <= SAME,
            cpus > 1,
        ),
        finding(
            "P5",
            "with B and L and the queueing lock, threads compete with processes that parse under their own locks (O)",
            format!("B {:.2}x, L {:.2}x of {cpus} processes", to_mp[0], to_mp[1]),
            to_mp.iter().all(|r| *r <= 1.1),
            cpus > 1,
        ),
        finding(
            "C4",
            "the farm is never slower than the lock pool",
            farms.iter().map(|(threads, r)| format!("{r:.2}x with {threads}")).collect::<Vec<_>>().join(", "),
            farms.iter().all(|(_, r)| *r <= SAME),
            true,
        ),
        finding(
            "Z1",
            "ordinary FASTQ, cut without a lock, is as fast as blocked FASTQ (L)",
            format!("{ours:.2}x (no work)"),
            ours <= SAME,
            true,
        ),
    ]
}

/// The findings as a table.
pub fn table(findings: &[Finding]) -> Table {
    let row = |finding: &Finding| {
        let verdict = match finding.verdict {
            Verdict::Holds => "holds",
            Verdict::Fails => "FAILS",
            Verdict::NotHere => "not to be judged on so few CPUs",
        };
        vec![finding.claim.to_owned(), finding.says.to_owned(), finding.measured.clone(), verdict.to_owned()]
    };
    Table {
        head: ["claim", "says", "measured", "here"].map(str::to_owned).to_vec(),
        rows: findings.iter().map(row).collect(),
    }
}
