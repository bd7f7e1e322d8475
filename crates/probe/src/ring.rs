//! Cache lines in one random circle.

/// Bytes of a line: that of x86 and of most Arm processors.
pub const LINE: usize = 64;
/// Eight words: a line. The first is the number of the next line, the others make it one.
type RingLine = [u64; LINE / 8];

/// Lines, each of which names the next.
#[derive(Debug)]
pub struct Ring {
    lines: Vec<RingLine>,
}

impl Ring {
    /// A circle through all lines of `bytes`, in an order that depends on `seed` alone. Made under the present thread's
    /// placement.
    pub fn new(bytes: usize, seed: u64) -> Self {
        let count = (bytes / LINE).max(2);
        let mut lines: Vec<RingLine> = vec![[0; LINE / 8]; count];
        let mut random = fastrand::Rng::with_seed(seed);
        lines.iter_mut().zip(0..).for_each(|(line, number)| line[0] = number);
        // Sattolo's shuffle (1986): like that of Fisher and Yates, but never leaving an element in place, which makes
        // one circle.
        for i in (1..count).rev() {
            let other = random.usize(..i);
            let (low, high) = lines.split_at_mut(i);
            std::mem::swap(&mut low[other][0], &mut high[0][0]);
        }
        Ring { lines }
    }

    /// Bytes of all lines.
    pub fn bytes(&self) -> usize {
        self.lines.len() * LINE
    }

    /// The line that is `part` (0 to 1) of the way through the memory.
    pub fn at(&self, part: f64) -> usize {
        ((self.lines.len() as f64 * part) as usize).min(self.lines.len() - 1)
    }

    /// Goes `steps` lines on from `line`, each load waiting for the one before.
    pub fn follow(&self, mut line: usize, steps: usize) -> usize {
        for _ in 0..steps {
            line = self.lines[line][0] as usize;
        }
        line
    }

    /// Reads `count` lines from `line` on, around the end; gives something that depends on all of them.
    pub fn read(&self, line: usize, count: usize) -> u64 {
        let to_end = count.min(self.lines.len() - line);
        sum(&self.lines[line..line + to_end]) ^ sum(&self.lines[..(count - to_end).min(line)])
    }

    /// The line `count` lines behind `line` in memory, around the end.
    pub fn behind(&self, line: usize, count: usize) -> usize {
        (line + count) % self.lines.len()
    }
}

/// The sum of every word, in eight sums side by side, which need not wait for one another.
fn sum(lines: &[RingLine]) -> u64 {
    let mut sums = RingLine::default();
    for line in lines {
        sums.iter_mut().zip(line).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_circle_through_all_lines() {
        let ring = Ring::new(100 * LINE, 7);
        let (mut line, mut seen) = (0, vec![false; 100]);
        for _ in 0..100 {
            assert!(!std::mem::replace(&mut seen[line], true), "back too early");
            line = ring.follow(line, 1);
        }
        assert_eq!(line, 0);
        assert_eq!(ring.follow(3, 250), ring.follow(3, 50));
    }

    #[test]
    fn reading_goes_around_the_end() {
        let ring = Ring::new(10 * LINE, 1);
        let all = (0..10).fold(0u64, |all, line| all.wrapping_add(ring.follow(line, 1) as u64));
        assert_eq!(ring.read(0, 10), all);
        assert_eq!(ring.behind(8, 5), 3);
        assert_eq!(ring.read(8, 10), sum(&ring.lines[8..]) ^ sum(&ring.lines[..8]));
    }
}
