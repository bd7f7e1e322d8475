//! Work in pieces, for all threads that make an index copy.

use std::sync::Mutex;
use zerohop_model::error::Error;

/// Bytes of a table that are read, checked or copied together; part of the format of the index file.
pub(crate) const PIECE: usize = 8 << 20;

/// Does `each` with every piece on so many threads, the calling one among them.
///
/// The others inherit its memory policy and its CPUs: what they write first lies where that policy puts it.
///
/// # Errors
/// The first of the calling thread, of the others; all have ended then.
pub(crate) fn share<P: Send, E: Send + From<Error>>(
    pieces: Vec<P>,
    threads: usize,
    each: impl Fn(P) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let most = threads.min(pieces.len());
    let queue = Mutex::new(pieces.into_iter());
    let work = || -> Result<(), E> {
        loop {
            let next = queue.lock().unwrap_or_else(|p| p.into_inner()).next();
            let Some(piece) = next else { return Ok(()) };
            each(piece)?;
        }
    };
    std::thread::scope(|scope| {
        // Where no more threads can be had, those that there are do it all.
        let spawn = |_| std::thread::Builder::new().name("index".into()).spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..most).map_while(spawn).collect();
        work()?;
        let lost = |_| Err(Error::Internal("a thread that made the index died".to_owned()).into());
        others.into_iter().try_for_each(|other| other.join().unwrap_or_else(lost))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn failed(what: &str) -> Error {
        Error::Internal(what.to_owned())
    }

    #[test]
    fn each_piece_is_done_once() {
        for (threads, count) in [(1, 0), (1, 5), (2, 1), (3, 100), (9, 4)] {
            let mut done = vec![0; count];
            let pieces: Vec<_> = done.iter_mut().collect();
            let each = |piece: &mut i32| {
                *piece += 1;
                Ok(())
            };
            share::<_, Error>(pieces, threads, each).unwrap();
            assert!(done.iter().all(|&times| times == 1), "{threads} threads, {count} pieces");
        }
    }

    #[test]
    fn whoever_fails_is_heard() {
        for threads in [1, 2, 5] {
            let done = AtomicUsize::new(0);
            let each = share((0..50).collect(), threads, |piece| {
                done.fetch_add(1, Ordering::Relaxed);
                if piece == 49 { Err(failed("piece 49")) } else { Ok(()) }
            });
            assert!(each.unwrap_err().to_string().contains("piece 49"));
            assert_eq!(done.into_inner(), 50);
        }
        // A thread that dies is an error, whichever it is.
        let own = std::thread::current().id();
        let died = share(vec![(); 9], 2, |()| match std::thread::current().id() == own {
            true => {
                std::thread::sleep(std::time::Duration::from_millis(50));
                Ok(())
            }
            false => panic!("on purpose"),
        });
        assert!(matches!(died, Err(Error::Internal(_))));
    }
}
