//! What is said where the library ends the process: by exit(3) where a file is not what it expects, by abort(3) or a
//! memory fault where it cannot have memory. It has no other way to say any of these.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::io::{Cursor, Write};
use std::ptr::{null, null_mut};
use std::sync::{Once, OnceLock};
use zerohop_process::remove_temporaries;

/// Bytes of the longest line, and of the name of a read in it.
const LINE: usize = 1024;
const NAME: usize = 128;
/// What a library raises that cannot go on.
const SIGNALS: [c_int; 2] = [libc::SIGABRT, libc::SIGSEGV];

/// What a thread has the library do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Load an index.
    Loading,
    /// Read an index that was kept in memory.
    Attaching,
    /// Make what a worker needs.
    Starting,
    /// Map reads.
    Mapping,
}

thread_local! {
    // Both without a destructor: a signal handler reads them.
    static DOING: Cell<Option<Doing>> = const { Cell::new(None) };
    /// The name of the first read that is being mapped.
    static READ: Cell<(*const u8, usize)> = const { Cell::new((null(), 0)) };
}

/// Has the library do something. If it ends the process meanwhile, the message says what it was doing.
pub(crate) fn said<T>(doing: Doing, body: impl FnOnce() -> T) -> T {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(watch);
    let before = DOING.replace(Some(doing));
    let result = body();
    DOING.set(before);
    result
}

/// Whether this thread is in the library.
pub(crate) fn is_inside() -> bool {
    DOING.get().is_some()
}

/// Maps reads, the first of which has this name.
pub(crate) fn from_read<T>(name: &[u8], body: impl FnOnce() -> T) -> T {
    /// `name` may be gone behind this, also if `body` panics.
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            READ.set((null(), 0));
        }
    }
    let _forget = Forget;
    READ.set((name.as_ptr(), name.len()));
    body()
}

/// What the signals did before.
static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

fn watch() {
    let before = SIGNALS.map(|signal| {
        // SAFETY: an all-zero sigaction is a valid one; both pointers are to local variables; the handler has the
        // signature that SA_SIGINFO asks for, and does what signal-safety(7) allows alone.
        unsafe {
            let (mut action, mut before) = (std::mem::zeroed::<libc::sigaction>(), std::mem::zeroed());
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &action, &mut before);
            before
        }
    });
    let _first = BEFORE.set(before);
    // SAFETY: the handler takes and gives nothing.
    let _registered = unsafe { libc::atexit(on_exit) };
}

/// On the thread that called abort(3), or whose instruction was at fault.
extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel gives a valid pointer. Codes above 0 are the kernel's.
    let at_fault = signal == libc::SIGSEGV && unsafe { (*info).si_code } > 0;
    if at_fault || signal == libc::SIGABRT {
        end_if_inside();
    }
    // Not the library's: what would have happened happens. A faulty instruction is executed once more.
    // SAFETY: an all-zero sigaction is the default action; the other one was found there; raise(3) takes any signal.
    unsafe {
        let default = std::mem::zeroed();
        let before = BEFORE.get().map(|all| &all[usize::from(signal == libc::SIGSEGV)]).unwrap_or(&default);
        libc::sigaction(signal, before, null_mut());
        if !at_fault {
            libc::raise(signal);
        }
    }
}

/// On the thread that called exit(3).
extern "C" fn on_exit() {
    end_if_inside();
}

/// Ends the process with words, if this thread is in the library; allocates nothing and takes no lock.
fn end_if_inside() {
    let Some(doing) = DOING.get() else { return };
    let (read, length) = READ.get();
    // SAFETY: it is empty, or the name that `from_read` was given, which outlives its body.
    let read = if read.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(read, length) } };
    remove_temporaries();
    let mut line = [0; LINE];
    let length = words(doing, read, &mut line);
    // SAFETY: the bytes are there to be read; both calls may be made at any time.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), length);
        libc::_exit(1)
    }
}

/// Writes what is to be said, without allocating; returns its length.
fn words(doing: Doing, read: &[u8], line: &mut [u8]) -> usize {
    let mut out = Cursor::new(line);
    // What does not fit is cut off.
    let _fits = match doing {
        Doing::Loading => writeln!(
            out,
            "error: bwa-mem3 has ended the process while it loaded its index: is there enough memory for it? If there \
             is, make the index again with 'zerohop index --engine bwa-mem'"
        ),
        Doing::Attaching => writeln!(
            out,
            "error: bwa-mem3 has ended the process while it read the copy of its index in /dev/shm: is there enough \
             memory for it? If there is, remove the copy with 'zerohop cache --clear --all'"
        ),
        Doing::Starting => writeln!(
            out,
            "error: out of memory: bwa-mem3 cannot allocate what a worker needs: allow more (ulimit -v, the memory of \
             the job), or use fewer threads (-t)"
        ),
        Doing::Mapping => writeln!(
            out,
            "error: bwa-mem3 failed on the reads from '{}' on. It may be out of memory: allow more (ulimit \
             -v, the memory of the job), or use fewer threads (-t) or index copies (--replicas). Or an alignment has \
             over 65,535 CIGAR operations: --engine bwa takes such reads",
            read[..read.len().min(NAME)].escape_ascii()
        ),
    };
    out.position() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_name_the_read() {
        let mut line = [0; LINE];
        let length = words(Doing::Loading, b"", &mut line);
        assert!(line[..length].ends_with(b"bwa-mem'\n"));
        let length = words(Doing::Mapping, &[b'x'; 1000], &mut line);
        assert!(line[..length].ends_with(b"--engine bwa takes such reads\n"));
        let length = words(Doing::Mapping, b"a\x1bb", &mut line);
        assert!(line[..length].starts_with(br"error: bwa-mem3 failed on the reads from 'a\x1bb' on. "));
    }

    /// How the process that a test starts ends, and the file that it is writing then.
    const HOW: &str = "ZEROHOP_TEST_END";
    const FILE: &str = "ZEROHOP_TEST_FILE";

    /// The process that the next test starts.
    #[test]
    fn ends_itself_if_asked_to() {
        let (Ok(how), Some(file)) = (std::env::var(HOW), std::env::var_os(FILE)) else { return };
        let _file = zerohop_process::NewFile::create(file.as_ref()).unwrap();
        let (place, how) = how.split_once(' ').unwrap();
        // SAFETY: the first two may be called at any time; what the third reads is not there, which is its purpose.
        let end = || unsafe {
            match how {
                "abort" => libc::abort(),
                "exit" => libc::exit(0),
                _ => std::hint::black_box(std::ptr::dangling::<u8>().with_addr(8)).read_volatile(),
            }
        };
        match place {
            "mapping" => said(Doing::Mapping, || from_read(b"read7", end)),
            "loading" => said(Doing::Loading, end),
            _ => {
                said(Doing::Starting, || ());
                end()
            }
        };
    }

    #[test]
    fn every_end_inside_is_one_line_and_leaves_nothing() {
        use std::os::unix::process::ExitStatusExt;
        let folder = tempfile::tempdir().unwrap();
        for (how, signal) in [("abort", Some(libc::SIGABRT)), ("exit", None), ("fault", Some(libc::SIGSEGV))] {
            for (place, begin) in [
                ("mapping", "error: bwa-mem3 failed on the reads from 'read7' on. "),
                ("loading", "error: bwa-mem3 has ended the process while it loaded its index: "),
                ("outside", ""),
            ] {
                let child = std::process::Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "crashes::tests::ends_itself_if_asked_to", "--nocapture"])
                    .env(HOW, format!("{place} {how}"))
                    .env(FILE, folder.path().join("out.sam"))
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&child.stderr);
                let left = std::fs::read_dir(folder.path()).unwrap().count();
                if place == "outside" {
                    assert_eq!(child.status.signal(), signal, "{how}: {said}");
                    assert!(!said.contains("bwa-mem3"), "{how}: {said}");
                    std::fs::read_dir(folder.path()).unwrap().for_each(|file| {
                        std::fs::remove_file(file.unwrap().path()).unwrap();
                    });
                } else {
                    assert_eq!(child.status.code(), Some(1), "{place}, {how}: {said}");
                    assert!(said.lines().any(|line| line.starts_with(begin)), "{place}, {how}: {said}");
                    assert_eq!(left, 0, "{place}, {how}");
                }
            }
        }
    }
}
