//! How threads queue at one reader and one writer: a simulation from event to event.
//!
//! Each thread goes round and round: it thinks (parses, maps, makes records), waits for the reader and holds it, thinks
//! on, and waits for the writer and holds it. Those who are at work share the cores; each station serves one at a time,
//! first come, first served. From times that were measured with one thread it says what more threads would reach; it
//! knows nothing of caches, of the cost of handing a lock over, nor of the scheduler, so it is checked against
//! measurements (`zerohop-lab scaling`).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Rounds per thread: enough for the queues to be as long as they get.
const ROUNDS: u32 = 60;
/// Thinking varies evenly by this part, so that threads do not march in step.
const VARIATION: f64 = 0.2;

/// What a thread does in one round, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// Work that nobody can disturb.
    pub think_s: f64,
    /// Whether thinking takes a core, and so is slowed down when there are fewer of them than threads.
    pub think_takes_core: bool,
    /// Holding the reader.
    pub input_s: f64,
    /// Holding the writer.
    pub output_s: f64,
}

impl Round {
    /// The number of threads from which on more of them bring nothing, if each has a core: the whole round over the
    /// longest of the times in which only one can go on (the asymptotic bounds of closed networks; Denning and Buzen,
    /// 1978).
    pub fn saturates_at(&self) -> f64 {
        let longest = self.input_s.max(self.output_s);
        if longest > 0.0 { (self.think_s + self.input_s + self.output_s) / longest } else { f64::INFINITY }
    }

    /// Rounds per second of all of `threads` threads on `cores` cores.
    pub fn throughput(&self, threads: usize, cores: usize) -> f64 {
        let mut network = Network::new(*self, threads.max(1), cores.max(1));
        while network.step() {}
        f64::from(ROUNDS) * threads.max(1) as f64 / network.now
    }
}

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum QueuePlace {
    Thinking,
    /// At a station, number 0 or 1, waiting or being served.
    Waiting(usize),
    Holding(usize),
    Done,
}

struct Thread {
    place: QueuePlace,
    rounds: u32,
}

/// When threads end what they do, the first on top: seconds, which are not negative, as bits, for these compare as the
/// numbers do.
type Ends = BinaryHeap<Reverse<(u64, usize)>>;

fn first_end(ends: &Ends) -> Option<f64> {
    ends.peek().map(|Reverse((end, _))| f64::from_bits(*end))
}

struct Network {
    round: Round,
    threads: Vec<Thread>,
    /// Those who wait for each station, and whether somebody holds it.
    queues: [VecDeque<usize>; 2],
    held: [bool; 2],
    cores: usize,
    now: f64,
    /// Seconds of work at full speed that each thread on a core has done until now: all are equally fast.
    work: f64,
    /// Threads on cores, by `work`; others who do something, by `now`.
    on_cores: Ends,
    elsewhere: Ends,
    random: u64,
}

impl Network {
    fn new(round: Round, threads: usize, cores: usize) -> Self {
        let all = (0..threads).map(|_| Thread { place: QueuePlace::Thinking, rounds: 0 }).collect();
        let mut network = Network {
            round,
            threads: all,
            queues: [VecDeque::new(), VecDeque::new()],
            held: [false; 2],
            cores,
            now: 0.0,
            work: 0.0,
            on_cores: Ends::new(),
            elsewhere: Ends::new(),
            random: 1,
        };
        // They start one after the other by some part of a round, as real threads do.
        for thread in 0..threads {
            let thinking = network.thinking() * network.uniform();
            network.start(thread, QueuePlace::Thinking, thinking);
        }
        network
    }

    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    fn thinking(&mut self) -> f64 {
        self.round.think_s * (1.0 + VARIATION * (2.0 * self.uniform() - 1.0))
    }

    /// A thread does something from now on that takes so many seconds at full speed.
    fn start(&mut self, thread: usize, place: QueuePlace, seconds: f64) {
        self.threads[thread].place = place;
        let takes_core = place != QueuePlace::Thinking || self.round.think_takes_core;
        let (ends, clock) = if takes_core { (&mut self.on_cores, self.work) } else { (&mut self.elsewhere, self.now) };
        ends.push(Reverse(((clock + seconds).to_bits(), thread)));
    }

    /// Goes on to the next moment at which something ends; false at the end.
    fn step(&mut self) -> bool {
        let speed = (self.cores as f64 / self.on_cores.len().max(1) as f64).min(1.0);
        let on_core = first_end(&self.on_cores).map_or(f64::INFINITY, |end| (end - self.work) / speed);
        let elsewhere = first_end(&self.elsewhere).map_or(f64::INFINITY, |end| end - self.now);
        let ends = if on_core <= elsewhere { &mut self.on_cores } else { &mut self.elsewhere };
        let Some(Reverse((_, thread))) = ends.pop() else { return false };
        let elapsed = on_core.min(elsewhere).max(0.0);
        self.now += elapsed;
        self.work += elapsed * speed;
        self.end(thread);
        true
    }

    /// A thread has ended what it did: reader, thinking, writer, and round again.
    fn end(&mut self, thread: usize) {
        match self.threads[thread].place {
            QueuePlace::Thinking => self.queue(thread, 0),
            QueuePlace::Holding(0) => {
                self.free(0);
                self.queue(thread, 1);
            }
            QueuePlace::Holding(_) => {
                self.free(1);
                self.threads[thread].rounds += 1;
                let thinking = self.thinking();
                match self.threads[thread].rounds == ROUNDS {
                    true => self.threads[thread].place = QueuePlace::Done,
                    false => self.start(thread, QueuePlace::Thinking, thinking),
                }
            }
            QueuePlace::Waiting(_) | QueuePlace::Done => {}
        }
    }

    fn queue(&mut self, thread: usize, station: usize) {
        self.threads[thread].place = QueuePlace::Waiting(station);
        self.queues[station].push_back(thread);
        if !self.held[station] {
            self.serve(station);
        }
    }

    fn free(&mut self, station: usize) {
        self.held[station] = false;
        self.serve(station);
    }

    fn serve(&mut self, station: usize) {
        if let Some(thread) = self.queues[station].pop_front() {
            self.held[station] = true;
            let seconds = if station == 0 { self.round.input_s } else { self.round.output_s };
            self.start(thread, QueuePlace::Holding(station), seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(think_s: f64, input_s: f64, output_s: f64) -> Round {
        Round { think_s, think_takes_core: true, input_s, output_s }
    }

    fn near(value: f64, wanted: f64, part: f64) {
        assert!((value / wanted - 1.0).abs() < part, "{value} is not {wanted}");
    }

    #[test]
    fn one_thread_does_one_thing_after_the_other() {
        near(round(0.8, 0.1, 0.1).throughput(1, 1), 1.0, 0.05);
    }

    #[test]
    fn without_stations_cores_are_the_limit() {
        let free = round(1.0, 0.0, 0.0);
        near(free.throughput(8, 8), 8.0, 0.05);
        near(free.throughput(8, 2), 2.0, 0.05);
        let sleeping = Round { think_takes_core: false, ..free };
        near(sleeping.throughput(8, 2), 8.0, 0.05);
    }

    #[test]
    fn a_station_is_the_limit_however_many_threads_there_are() {
        let busy = round(0.9, 0.1, 0.0);
        near(busy.saturates_at(), 10.0, 1e-9);
        near(busy.throughput(64, 64), 10.0, 0.05);
        assert!(busy.throughput(5, 64) < 5.1);
        near(round(0.9, 0.0, 0.2).throughput(32, 32), 5.0, 0.05);
    }

    /// The machine-repairman model with a fixed service: between its bounds, and never more with more threads than they
    /// allow.
    #[test]
    fn throughput_stays_within_the_asymptotic_bounds() {
        for (think, input, output) in [(1.0, 0.05, 0.02), (0.2, 0.2, 0.2), (3.0, 0.0, 0.5)] {
            let round = round(think, input, output);
            for threads in [1, 2, 3, 5, 8, 13, 40] {
                let all = threads as f64 / (think + input + output);
                let bound = all.min(1.0 / input.max(output).max(1e-12));
                let got = round.throughput(threads, 1000);
                assert!(got <= bound * 1.06, "{got} of {bound}");
                assert!(got >= bound * 0.5, "{got} of {bound}");
            }
        }
    }
}
