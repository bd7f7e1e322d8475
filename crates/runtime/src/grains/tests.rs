use super::*;
use proptest::prelude::*;

fn tally(reads: u64) -> Tally {
    Tally { reads, ..Tally::default() }
}

proptest! {
    /// Chunks of several grains are submitted in any order; grains are placed in any order; all learn the right
    /// places in one file, or in some, and in files beside these.
    #[test]
    fn places_are_those_of_one_process(
        sizes in proptest::collection::vec(1u64..5, 1..8),
        lengths in proptest::collection::vec(0u64..50, 40),
        seed in 1u64..1000,
        files in 1u64..4,
        beside in 0u64..3,
    ) {
        let grains = Grains::with_beside(files as usize, beside as usize);
        let (mut start, mut given) = (0, Vec::new());
        let header: Vec<u64> = (0..files).map(|_| 7).chain((0..beside).map(|_| 3)).collect();
        grains.begin(header.clone());
        for size in sizes {
            grains.give(start..start + size);
            given.push(start..start + size);
            start += size;
        }
        let shuffled = |count: u64| {
            let mut order: Vec<u64> = (0..count).collect();
            order.sort_by_key(|&i| (i + 1).wrapping_mul(seed * 2 + 1) % 61);
            order
        };
        let of_file = |chunks: Range<u64>, file: u64| -> u64 {
            chunks.filter(|chunk| chunk % files == file).map(|chunk| lengths[chunk as usize]).sum()
        };
        // Beside the records, a chunk adds as many bytes as one of those after it has of records.
        let of_beside = |chunks: Range<u64>, file: u64| -> u64 {
            chunks.map(|chunk| lengths[((chunk + 1 + file) % 40) as usize]).sum()
        };
        let bytes = |chunks: Range<u64>| {
            let of_records = (0..files).map(|file| of_file(chunks.clone(), file));
            of_records.chain((0..beside).map(|file| of_beside(chunks.clone(), file))).collect::<Vec<u64>>()
        };
        let offsets = |number| -> Vec<u64> {
            header.iter().zip(bytes(0..number)).map(|(start, all)| start + all).collect()
        };
        for number in shuffled(start) {
            grains.submit(ChunkPart::Records, number, lengths[number as usize], &tally(number)).unwrap();
        }
        for file in 0..beside {
            prop_assert_eq!(grains.take_complete(), []);
            for number in shuffled(start).into_iter().rev() {
                let part = ChunkPart::Beside(file as usize);
                grains.submit(part, number, of_beside(number..number + 1, file), &tally(0)).unwrap();
            }
        }
        let mut complete = grains.take_complete();
        complete.sort_by_key(|grain| grain.chunks.start);
        prop_assert_eq!(complete.iter().map(|grain| grain.chunks.clone()).collect::<Vec<_>>(), given.clone());
        prop_assert!(complete.iter().all(|grain| grain.header == (grain.chunks.start == 0).then(|| header.clone())));
        for i in shuffled(given.len() as u64) {
            let chunks = given[i as usize].clone();
            prop_assert_eq!(grains.try_fetch(ChunkPart::Records, chunks.start), None);
            grains.place(chunks.start, &offsets(chunks.start));
            for number in chunks {
                let places = offsets(number);
                prop_assert_eq!(grains.try_fetch(ChunkPart::Records, number), Some(places[(number % files) as usize]));
                grains.wrote(number);
                for file in 0..3 {
                    let place = places.get((files + file) as usize).copied();
                    prop_assert_eq!(grains.try_fetch(ChunkPart::Beside(file as usize), number), place);
                    (0..u64::from(place.is_some())).for_each(|_| grains.wrote(number));
                }
            }
        }
        let mut written = grains.take_written();
        written.sort_by_key(|grain| grain.chunks.start);
        for (grain, complete) in written.iter().zip(&complete) {
            prop_assert_eq!((&grain.chunks, &grain.bytes), (&complete.chunks, &complete.bytes));
            let bytes = bytes(grain.chunks.clone());
            prop_assert_eq!((&grain.offsets, &grain.bytes), (&offsets(grain.chunks.start), &bytes));
            prop_assert_eq!(grain.tally.reads, grain.chunks.clone().sum::<u64>());
        }
        prop_assert_eq!(written.len(), given.len());
    }
}

proptest! {
    /// Several processes are given grains that know nothing of cohorts; each does those that begin in its own, as
    /// who deals them says. All chunks are done once, and go where one process writes them.
    #[test]
    fn cohorts_are_done_whole(
        sizes in proptest::collection::vec(1u64..6, 1..12),
        pieces in proptest::collection::vec(1u64..9, 1..20),
        ranks in 1usize..4,
        ahead in any::<bool>(),
        one_by_one in any::<bool>(),
    ) {
        // Of a stream, one chunk after the other is seen to belong elsewhere.
        let told = |chunks: Range<u64>, tell: &dyn Fn(Range<u64>)| match one_by_one {
            true => chunks.for_each(|chunk| tell(chunk..chunk + 1)),
            false if chunks.is_empty() => {}
            false => tell(chunks),
        };
        let chunks: u64 = sizes.iter().sum();
        let begins: Vec<u64> = pieces.iter().scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect();
        let cohort_from =
            |chunk: u64| begins.iter().copied().find(|&begin| begin >= chunk).unwrap_or(chunks).min(chunks);
        let mut given = vec![Vec::new(); ranks];
        let mut start = 0;
        for (i, size) in sizes.iter().enumerate() {
            given[i % ranks].push(start..start + size);
            start += size;
        }
        let all: Vec<Grains> = (0..ranks).map(|_| Grains::new(1)).collect();
        let mut done = vec![0; chunks as usize];
        for (grains, given) in all.iter().zip(&given) {
            grains.begin(vec![7]);
            if ahead {
                given.iter().for_each(|chunks| grains.give(chunks.clone()));
            }
            let mut from = 0;
            for grain in given {
                if !ahead {
                    grains.give(grain.clone());
                }
                let Granted::Chunks(granted) = grains.granted(from) else { continue };
                let first = cohort_from(granted.start).min(granted.end);
                let end = if first < granted.end { cohort_from(granted.end) } else { granted.end };
                told(granted.start..first, &|chunks| grains.begun_before(chunks));
                told(granted.end..end, &|chunks| grains.goes_on(chunks));
                (first..end).for_each(|number| done[number as usize] += 1);
                for number in (first..end).rev() {
                    prop_assert!(grains.submit(ChunkPart::Records, number, number + 1, &tally(1)).is_ok());
                }
                from = end;
            }
        }
        prop_assert!(done.iter().all(|&times| times == 1), "{done:?}");
        let mut complete: Vec<Complete> = all.iter().flat_map(Grains::take_complete).collect();
        complete.sort_by_key(|grain| grain.chunks.start);
        let mut wanted: Vec<_> = given.concat();
        wanted.sort_by_key(|grain| grain.start);
        prop_assert_eq!(complete.iter().map(|grain| grain.chunks.clone()).collect::<Vec<_>>(), wanted);
        let mut offset = 7;
        for grain in complete {
            all.iter().for_each(|grains| grains.place(grain.chunks.start, &[offset]));
            offset += grain.bytes[0];
        }
        for number in 0..chunks {
            let fetched = all.iter().filter_map(|grains| grains.try_fetch(ChunkPart::Records, number));
            let places: Vec<u64> = fetched.collect();
            prop_assert_eq!(places, vec![7 + (1..=number).sum::<u64>()]);
            all.iter().for_each(|grains| grains.wrote(number));
        }
        let written: Vec<Written> = all.iter().flat_map(Grains::take_written).collect();
        prop_assert_eq!(written.iter().map(|grain| grain.tally.reads).sum::<u64>(), chunks);
        // What is done with grains up to one of them is all before the cohort that begins behind it.
        for grain in &written {
            let before = written.iter().filter(|other| other.chunks.start <= grain.chunks.start);
            let done = before.map(|grain| grain.done).max();
            prop_assert_eq!(done, Some(cohort_from(grain.chunks.end)));
        }
    }
}

#[test]
fn what_is_granted_ascends_and_ends() {
    let grains = Grains::new(1);
    assert_eq!(grains.granted(0), Granted::NotYet);
    grains.give(3..5);
    grains.give(9..10);
    assert_eq!(grains.ahead(), 3);
    assert_eq!(grains.granted(0), Granted::Chunks(3..5));
    assert_eq!((grains.granted(4), grains.ahead()), (Granted::Chunks(4..5), 1));
    assert_eq!(grains.granted(5), Granted::Chunks(9..10));
    assert_eq!(grains.granted(10), Granted::NotYet);
    grains.end();
    assert_eq!(grains.granted(10), Granted::End);
}

#[test]
fn chunks_that_do_not_exist_are_not_waited_for() {
    let grains = Grains::new(1);
    grains.give(3..6);
    grains.submit(ChunkPart::Records, 3, 10, &tally(1)).unwrap();
    grains.absent(4..5);
    assert_eq!(grains.take_complete(), []);
    grains.absent(5..u64::MAX);
    assert_eq!((&*grains.take_complete()[0].bytes, grains.input_end()), (&[10][..], Some(5)));
    grains.give(6..9);
    assert_eq!(grains.take_complete(), [Complete { chunks: 6..9, bytes: vec![0], header: None }]);
    grains.place(3, &[100]);
    grains.place(6, &[110]);
    assert_eq!(grains.take_written().len(), 1, "nothing of the second is to be written");
    grains.wrote(3);
    let written = grains.take_written();
    assert_eq!((&*written[0].offsets, &*written[0].absent), (&[100][..], &[4, 5][..]));
}

#[test]
fn who_has_a_first_chunk_that_does_not_exist_owes_what_goes_before_the_records() {
    let grains = Grains::new(1);
    grains.give(0..3);
    grains.absent(0..1);
    let submit = |number, bytes| grains.submit(ChunkPart::Records, number, bytes, &tally(1));
    assert!(submit(1, 10).is_ok() && submit(2, 5).is_ok() && submit(3, 5).is_err());
    assert_eq!(grains.take_complete(), [], "others cannot place their records before they know where they begin");
    grains.begin(vec![7]);
    assert_eq!(grains.take_complete(), [Complete { chunks: 0..3, bytes: vec![15], header: Some(vec![7]) }]);
    grains.place(0, &[7]);
    [1, 2].into_iter().for_each(|number| grains.wrote(number));
    assert!(grains.owes_header() && grains.take_written().is_empty());
    grains.wrote_header();
    assert_eq!((grains.owes_header(), grains.take_written().len()), (false, 1));
    let silent = Grains::new(1);
    silent.give(0..1);
    silent.absent(0..u64::MAX);
    silent.no_header();
    assert_eq!(silent.take_complete(), [Complete { chunks: 0..1, bytes: vec![0], header: None }]);
}

#[test]
fn a_failure_wakes_who_waits() {
    let grains = Grains::new(1);
    grains.give(0..1);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| grains.fetch(ChunkPart::Records, 0));
        grains.close();
        assert_eq!(waiter.join().unwrap(), Err(Closed));
    });
}

#[test]
fn a_grain_whose_records_were_collected_is_written_when_all_are_safe() {
    let grains = Grains::new(1);
    grains.begin(vec![7]);
    grains.give(0..2);
    [0, 1].into_iter().for_each(|number| grains.collected(number, &tally(3)).unwrap());
    assert!(grains.collected(2, &tally(3)).is_err(), "it was never given");
    assert_eq!(grains.take_complete(), [Complete { chunks: 0..2, bytes: vec![0], header: Some(vec![7]) }]);
    grains.place(0, &[7]);
    grains.wrote(1);
    assert_eq!(grains.take_written(), []);
    grains.wrote(0);
    let written =
        Written { chunks: 0..2, done: 2, absent: Vec::new(), offsets: vec![7], bytes: vec![0], tally: tally(6) };
    assert_eq!(grains.take_written(), [written]);
}

/// A stream may end in a cohort that was begun grains before.
#[test]
fn nothing_is_ahead_of_whoever_has_come_to_the_end() {
    let grains = Grains::new(1);
    (0..3).for_each(|i| grains.give(4 * i..4 * i + 4));
    assert_eq!((grains.ahead(), grains.granted(0)), (12, Granted::Chunks(0..4)));
    assert_eq!(grains.ahead(), 8);
    (4..10).for_each(|chunk| grains.goes_on(chunk..chunk + 1));
    grains.absent(10..u64::MAX);
    assert_eq!(grains.ahead(), 2);
    grains.end();
    assert_eq!((grains.granted(10), grains.ahead()), (Granted::Chunks(10..12), 0));
}
