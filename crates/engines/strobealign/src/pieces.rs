//! Work in pieces, for all threads that make an index copy.

use std::sync::Mutex;
use zerohop_model::error::Error;

/// Bytes of a table that are read, checked or copied together; part of the format of the index file.
pub(crate) const PIECE: usize = 8 << 20;

/// Does `each` with every piece on so many threads. The calling one does `own` first, whose result is given back.
///
/// The others inherit its memory policy and its CPUs: what they are the first to write lies where it wants it.
///
/// # Errors
/// The first of `own`, of the calling thread, of the others; all have ended then.
pub(crate) fn share<P: Send, R, E: Send + From<Error>>(
    pieces: Vec<P>,
    threads: usize,
    own: impl FnOnce() -> Result<R, E>,
    each: impl Fn(P) -> Result<(), E> + Sync,
) -> Result<R, E> {
    let most = threads.min(pieces.len() + 1);
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
        let result = own()?;
        work()?;
        let lost = |_| Err(Error::Internal("a thread that made the index died".to_owned()).into());
        others.into_iter().try_for_each(|other| other.join().unwrap_or_else(lost))?;
        Ok(result)
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
            let own = share::<_, _, Error>(
                pieces,
                threads,
                || Ok(7),
                |piece| {
                    *piece += 1;
                    Ok(())
                },
            );
            assert_eq!(own.unwrap(), 7);
            assert!(done.iter().all(|&times| times == 1), "{threads} threads, {count} pieces");
        }
    }

    #[test]
    fn whoever_fails_is_heard() {
        for threads in [1, 2, 5] {
            let done = AtomicUsize::new(0);
            let own = share((0..50).collect(), threads, || Err::<(), _>(failed("own")), |_| Ok(()));
            assert!(own.unwrap_err().to_string().contains("own"));
            let each = share(
                (0..50).collect(),
                threads,
                || Ok(()),
                |piece| {
                    done.fetch_add(1, Ordering::Relaxed);
                    if piece == 49 { Err(failed("piece 49")) } else { Ok(()) }
                },
            );
            assert!(each.unwrap_err().to_string().contains("piece 49"));
            assert_eq!(done.into_inner(), 50);
        }
        // A thread that dies is an error, whichever it is.
        let slow = || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            Ok(())
        };
        let died = share(vec![()], 2, slow, |()| panic!("on purpose"));
        assert!(matches!(died, Err(Error::Internal(_))));
    }
}
