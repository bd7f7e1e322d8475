//! What the literature says of threads, locks and parsing, put to the test on this machine.
//!
//! A claim that a machine cannot show (because it has too few CPUs) is told with what was measured, and does not fail.
//! On a machine that others kept busy nothing is judged: they disturb one arm more than another.

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
    /// Something that it needs was not measured.
    NotMeasured,
    /// Others kept the machine busy.
    NotJudged,
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

/// What must be measured with `threads` threads: first with the engine that does nothing, then with one that takes some
/// time. Reads, machine and everything else are those of `like`.
pub fn plans(threads: usize, like: &Experiment) -> Vec<Plan> {
    let fragments = like.fragments;
    let base = Experiment { engine: EngineSpec::Null, scaling: Scaling::Weak, ..like.clone() };
    let aligner = EngineSpec::Synthetic { work_us: ALIGNER_US, sleep_us: 0.0, accesses: 0, table_bytes: 0, skew: None };
    let slow = Experiment { engine: aligner, fragments: (fragments / 10).max(1), ..base.clone() };
    vec![(base, arms_of_nothing(threads)), (slow, arms_of_work(threads))]
}

fn arm(input: InputKind, lock: LockKind, threads: usize, processes: usize) -> Arm {
    Arm { input, lock, output: OutputKind::Files, threads, processes }
}

fn arms_of_nothing(most: usize) -> Vec<Arm> {
    use InputKind::{B, D, L, O, Survey};
    let mut arms = Vec::new();
    for input in [O, D, B, L, Survey] {
        arms.push(arm(input, LockKind::Mcs, 1, 1));
        arms.push(arm(input, LockKind::Mcs, most, 1));
    }
    arms.extend(LOCKS.into_iter().filter(|lock| *lock != LockKind::Mcs).map(|lock| arm(O, lock, most, 1)));
    arms.extend([O, B, L].map(|input| arm(input, LockKind::Mcs, most, most)));
    arms
}

fn arms_of_work(most: usize) -> Vec<Arm> {
    use InputKind::{B, Farm, L, O};
    let mut arms: Vec<Arm> = LOCKS.into_iter().map(|lock| arm(O, lock, most, 1)).collect();
    arms.extend([B, L].map(|input| arm(input, LockKind::Mcs, most, 1)));
    arms.push(arm(O, LockKind::Mcs, most, most));
    for threads in thread_counts(most) {
        arms.push(arm(Farm, LockKind::Futex, threads, 1));
        arms.extend([LockKind::Ttas, LockKind::Futex].map(|lock| arm(B, lock, threads, 1)));
    }
    arms
}

/// 1, 2, 4 ... and all.
fn thread_counts(most: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |&n| Some(2 * n)).take_while(|&n| n < most).collect();
    counts.push(most);
    counts
}

/// The medians that claims are about.
struct MeasuredClaim<'p> {
    groups: Vec<Group<'p>>,
}

impl<'p> MeasuredClaim<'p> {
    fn group(&self, wanted: Arm) -> Option<&Group<'p>> {
        self.groups.iter().find(|group| group.arm == wanted)
    }

    /// Time of one arm over that of another, the median over repetitions.
    fn ratio(&self, one: Arm, other: Arm) -> Option<f64> {
        ratio(self.group(one)?, self.group(other)?, |point| point.slowest_s).filter(|ratio| ratio.is_finite())
    }

    /// Nanoseconds per fragment in which the reader was held.
    fn held_ns(&self, wanted: Arm) -> Option<f64> {
        Some(1e9 * self.group(wanted)?.median(Point::input_hold_s))
    }

    /// Time of the slowest lock over that of the fastest.
    fn spread(&self, arm: impl Fn(LockKind) -> Arm) -> Option<f64> {
        let times =
            LOCKS.map(|lock| self.ratio(arm(lock), arm(LockKind::Mcs))).into_iter().collect::<Option<Vec<f64>>>()?;
        Some(times.iter().copied().fold(0.0, f64::max) / times.iter().copied().fold(f64::INFINITY, f64::min))
    }
}

/// How many threads the largest arms have, and on how many CPUs.
#[derive(Clone, Copy)]
struct Size {
    threads: usize,
    cpus: usize,
}

impl Size {
    /// Threads that run at the same time: more of them than CPUs show nothing more.
    fn at_once(self) -> usize {
        self.threads.min(self.cpus)
    }

    /// Whether so many threads leave a CPU for the farm's emitter.
    fn has_cpu_for_emitter(self, threads: usize) -> bool {
        threads < self.cpus
    }
}

/// One claim: what it needs to have been measured, how that is said, and whether it holds.
struct PublishedClaim {
    claim: &'static str,
    says: &'static str,
    values: Option<Vec<f64>>,
    words: fn(&[f64], Size) -> String,
    holds: fn(&[f64], Size) -> bool,
    can_show: bool,
}

impl PublishedClaim {
    fn find(self, size: Size) -> Finding {
        let PublishedClaim { claim, says, values, words, holds, can_show } = self;
        let (measured, verdict) = match values {
            None => ("not all of it".to_owned(), Verdict::NotMeasured),
            Some(values) => (
                words(&values, size),
                match (can_show, holds(&values, size)) {
                    (false, _) => Verdict::NotHere,
                    (true, true) => Verdict::Holds,
                    (true, false) => Verdict::Fails,
                },
            ),
        };
        Finding { claim, says, measured, verdict }
    }
}

/// A point during which others kept more CPUs busy is measured again; and if that is the mean of all points, nothing is
/// judged.
const QUIET_CPUS: f64 = 0.2;

/// Whether others disturbed a point.
pub fn is_disturbed(point: &Point) -> bool {
    point.others.is_some_and(|others| others.cpus() > QUIET_CPUS)
}

/// CPUs that others kept busy on average while the points of `plans` were measured, if that was too much to judge by
/// them.
pub fn too_busy(points: &[Point], plans: &[Plan]) -> Option<f64> {
    let of_plans = |point: &&Point| plans.iter().any(|(experiment, _)| point.experiment == *experiment);
    let others =
        || points.iter().filter(of_plans).filter(|point| point.repetition > 0).filter_map(|point| point.others);
    let (cpu_s, window_s) = others().fold((0.0, 0.0), |(cpu, window), o| (cpu + o.cpu_s, window + o.window_s));
    Some(cpu_s / window_s).filter(|cpus| *cpus > QUIET_CPUS)
}

/// What the points say of every claim, the plans being those with so many threads.
pub fn findings(points: &[Point], plans: &[Plan], threads: usize) -> Vec<Finding> {
    let size = Size { threads, cpus: plans[0].0.cpus };
    let busy = too_busy(points, plans).is_some();
    let [nothing, work] = [0, 1].map(|i| MeasuredClaim { groups: groups(points, &plans[i].0) });
    let mut claims = lock_claims(&nothing, &work, size);
    claims.extend(parsing_claims(&nothing, &work, size));
    claims.extend(farm_claims(&work, size));
    let judged = |finding: Finding| match finding.verdict {
        Verdict::Holds | Verdict::Fails if busy => Finding { verdict: Verdict::NotJudged, ..finding },
        _ => finding,
    };
    claims.into_iter().map(|claim| judged(claim.find(size))).collect()
}

/// All values, if all were measured.
fn collected<const N: usize>(values: [Option<f64>; N]) -> Option<Vec<f64>> {
    values.into_iter().collect()
}

/// On kinds of lock, and on processes, which share none.
fn lock_claims(nothing: &MeasuredClaim<'_>, work: &MeasuredClaim<'_>, size: Size) -> Vec<PublishedClaim> {
    use InputKind::O;
    use LockKind::{Futex, Mcs, Tas, Ttas};
    let all = |input, lock| arm(input, lock, size.threads, 1);
    let mp = |input| arm(input, Mcs, size.threads, size.threads);
    let several = size.at_once() > 1;
    vec![
        PublishedClaim {
            claim: "L1",
            says: "the queueing lock is the best of the locks",
            values: collected([Tas, Ttas, Futex].map(|lock| nothing.ratio(all(O, Mcs), all(O, lock)))),
            words: |to, _| format!("{:.2}x, {:.2}x, {:.2}x of tas, ttas, futex (O)", to[0], to[1], to[2]),
            holds: |to, _| to.iter().all(|ratio| *ratio <= SAME),
            can_show: size.at_once() >= MANY_CPUS,
        },
        PublishedClaim {
            claim: "L2",
            says: "spinning on an atomic write is never better than spinning on a read",
            values: collected([nothing.ratio(all(O, Tas), all(O, Ttas))]),
            words: |to, _| format!("tas takes {:.2}x of ttas (O)", to[0]),
            holds: |to, _| to[0] >= 1.0 / SAME,
            can_show: several,
        },
        PublishedClaim {
            claim: "L3",
            says: "with O, processes beat threads",
            values: collected([nothing.ratio(mp(O), all(O, Mcs))]),
            words: |to, Size { threads, .. }| {
                format!("{threads} processes take {:.2}x of {threads} threads (O, mcs)", to[0])
            },
            holds: |to, _| to[0] < 1.0,
            can_show: several,
        },
        PublishedClaim {
            claim: "L4",
            says: "the more work per read, the less locks differ",
            values: collected([nothing.spread(|lock| all(O, lock)), work.spread(|lock| all(O, lock))]),
            words: |of, _| {
                format!(
                    "slowest over fastest lock: {:.2}x without work, {:.2}x with {ALIGNER_US} us per read",
                    of[0], of[1]
                )
            },
            holds: |of, _| of[1] <= of[0],
            can_show: several,
        },
    ]
}

/// On what is done while the reader is held.
fn parsing_claims(nothing: &MeasuredClaim<'_>, work: &MeasuredClaim<'_>, size: Size) -> Vec<PublishedClaim> {
    use InputKind::{B, D, L, O, Survey};
    use LockKind::Mcs;
    let all = |input, lock| arm(input, lock, size.threads, 1);
    let mp = |input| arm(input, Mcs, size.threads, size.threads);
    let several = size.at_once() > 1;
    vec![
        PublishedClaim {
            claim: "hold",
            says: "the reader is held for less time per read the later reads are looked at: O > D and B > L",
            values: collected([O, D, B, L].map(|input| nothing.held_ns(arm(input, Mcs, 1, 1)))),
            words: |held, _| {
                format!("{:.0} > {:.0} and {:.0} > {:.0} ns per fragment", held[0], held[1], held[2], held[3])
            },
            // D and B do the same under the lock for each read; what B saves is taking the lock for each.
            holds: |held, _| held[0] > held[1].max(held[2]) && held[1].min(held[2]) > held[3],
            can_show: true,
        },
        PublishedClaim {
            claim: "P1",
            says: "time falls from O over D to B",
            values: collected([nothing.ratio(all(D, Mcs), all(O, Mcs)), nothing.ratio(all(B, Mcs), all(D, Mcs))]),
            words: |to, _| format!("D {:.2}x of O, B {:.2}x of D (mcs)", to[0], to[1]),
            holds: |to, _| to.iter().all(|ratio| *ratio <= SAME),
            can_show: several,
        },
        PublishedClaim {
            claim: "P2",
            says: "L is at least as good as B",
            values: collected([nothing.ratio(all(L, Mcs), all(B, Mcs))]),
            words: |to, _| format!("L {:.2}x of B (mcs)", to[0]),
            holds: |to, _| to[0] <= SAME,
            can_show: several,
        },
        PublishedClaim {
            claim: "P5",
            says: "with B and L and the queueing lock, threads compete with processes that parse under their own locks \
                (O)",
            // Said of aligners. Threads that do nothing with a read queue at any lock: that is told, too.
            values: collected(
                [(work, B), (work, L), (nothing, B), (nothing, L)]
                    .map(|(engine, input)| engine.ratio(all(input, Mcs), mp(O))),
            ),
            words: |to, Size { threads, .. }| {
                format!(
                    "B {:.2}x, L {:.2}x of {threads} processes with {ALIGNER_US} us per read; {:.2}x, {:.2}x without \
                     work",
                    to[0], to[1], to[2], to[3]
                )
            },
            holds: |to, _| to[0].max(to[1]) <= 1.1,
            can_show: several,
        },
        PublishedClaim {
            claim: "Z1",
            says: "ordinary FASTQ, cut without a lock, is as fast as blocked FASTQ (L)",
            values: collected([nothing.ratio(all(Survey, Mcs), all(L, Mcs))]),
            words: |to, _| format!("{:.2}x (no work)", to[0]),
            holds: |to, _| to[0] <= SAME,
            can_show: true,
        },
        PublishedClaim {
            claim: "Z2",
            says: "threads that cut ordinary FASTQ without a lock need no more time than processes (O)",
            values: collected([nothing.ratio(all(Survey, Mcs), mp(O))]),
            words: |to, Size { threads, .. }| format!("{:.2}x of {threads} processes (no work)", to[0]),
            holds: |to, _| to[0] <= SAME,
            can_show: several,
        },
    ]
}

/// On dealing without a lock.
fn farm_claims(work: &MeasuredClaim<'_>, size: Size) -> Vec<PublishedClaim> {
    use InputKind::{B, Farm};
    use LockKind::{Futex, Ttas};
    let farms = thread_counts(size.threads).into_iter().map(|threads| {
        let to = |lock| work.ratio(arm(Farm, Futex, threads, 1), arm(B, lock, threads, 1));
        Some(to(Ttas)?.max(to(Futex)?))
    });
    vec![PublishedClaim {
        claim: "C4",
        says: "the farm is never slower than the lock pool, if there is a CPU for its emitter",
        values: farms.collect(),
        words: |to, size| {
            let each = thread_counts(size.threads).into_iter().zip(to);
            let each = each.map(|(threads, ratio)| {
                let without = if size.has_cpu_for_emitter(threads) { "" } else { " (no CPU for the emitter)" };
                format!("{ratio:.2}x with {threads}{without}")
            });
            each.collect::<Vec<_>>().join(", ")
        },
        holds: |to, size| {
            let each = thread_counts(size.threads).into_iter().zip(to);
            each.filter(|(threads, _)| size.has_cpu_for_emitter(*threads)).all(|(_, ratio)| *ratio <= SAME)
        },
        can_show: size.has_cpu_for_emitter(1),
    }]
}

/// The findings as a table.
pub fn table(findings: &[Finding]) -> Table {
    let row = |finding: &Finding| {
        let verdict = match finding.verdict {
            Verdict::Holds => "holds",
            Verdict::Fails => "FAILS",
            Verdict::NotHere => "not to be judged on so few CPUs",
            Verdict::NotMeasured => "NOT MEASURED",
            Verdict::NotJudged => "not judged",
        };
        vec![finding.claim.to_owned(), finding.says.to_owned(), finding.measured.clone(), verdict.to_owned()]
    };
    Table {
        head: ["claim", "says", "measured", "here"].map(str::to_owned).to_vec(),
        rows: findings.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found with so many threads on so many CPUs, all arms being as fast but for farms that have no CPU for
    /// their emitter.
    fn found(threads: usize, cpus: usize) -> Vec<Finding> {
        let like = Experiment {
            engine: EngineSpec::Null,
            scaling: Scaling::Weak,
            fragments: 10,
            batch: 1,
            chunk_bases: 1,
            queue: 1,
            pinned: false,
            interleaved: false,
            mixed: false,
            inputs: Vec::new(),
            machine: String::new(),
            cpus,
        };
        let plans = plans(threads, &like);
        let point = |experiment: &Experiment, arm: Arm| Point {
            arm,
            experiment: experiment.clone(),
            repetition: 1,
            fragments: 10,
            slowest_s: if arm.input == InputKind::Farm && arm.threads >= cpus { 9.0 } else { 1.0 },
            load_s: 0.0,
            processes: Vec::new(),
            others: None,
        };
        let points: Vec<Point> =
            plans.iter().flat_map(|(experiment, arms)| arms.iter().map(|arm| point(experiment, *arm))).collect();
        findings(&points, &plans, threads)
    }

    fn verdict(findings: &[Finding], claim: &str) -> Verdict {
        findings.iter().find(|finding| finding.claim == claim).unwrap().verdict
    }

    #[test]
    fn more_threads_than_cpus_show_nothing_more() {
        for (threads, cpus, many, several) in [
            (16, 16, Verdict::Holds, Verdict::Holds),
            (16, 2, Verdict::NotHere, Verdict::Holds),
            (2, 16, Verdict::NotHere, Verdict::Holds),
            (16, 1, Verdict::NotHere, Verdict::NotHere),
            (1, 16, Verdict::NotHere, Verdict::NotHere),
        ] {
            let found = found(threads, cpus);
            assert_eq!(verdict(&found, "L1"), many, "{threads} threads on {cpus} CPUs");
            for claim in ["L2", "P1", "P5"] {
                assert_eq!(verdict(&found, claim), several, "{claim}, {threads} threads on {cpus} CPUs");
            }
        }
    }

    #[test]
    fn the_farm_is_judged_where_its_emitter_has_a_cpu() {
        let measured = |threads, cpus| {
            let found = found(threads, cpus);
            let finding = found.into_iter().find(|finding| finding.claim == "C4").unwrap();
            (finding.verdict, finding.measured)
        };
        let without = " (no CPU for the emitter)";
        let of_two = format!("1.00x with 1, 9.00x with 2{without}, 9.00x with 4{without}");
        assert_eq!(measured(4, 2), (Verdict::Holds, of_two));
        assert_eq!(measured(4, 8), (Verdict::Holds, "1.00x with 1, 1.00x with 2, 1.00x with 4".to_owned()));
        assert_eq!(measured(1, 1), (Verdict::NotHere, format!("9.00x with 1{without}")));
    }
}
