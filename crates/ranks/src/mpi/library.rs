//! The compiled shim: its functions, behind types that cannot be mixed up.
//!
//! All calls but `zh_exit` are made by one thread ([`super::Mpi`] is neither `Send` nor `Sync`, for it holds pointers),
//! after `zh_init`. Memory that the library uses after a call has come back is lent to it ([`super::loan`]): it goes
//! only when the library has said that it is done with it.
#![allow(unsafe_code)]

use super::loan::{Loan, LoanRequest, Requests};
use super::watch::Watch;
use crate::transport::TransportError;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// The version of shim.c that this is for.
const VERSION: c_int = 3;

/// Something of the library's: a request, a window, or memory in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointer(*mut c_void);

impl Pointer {
    pub(super) const NULL: Pointer = Pointer(std::ptr::null_mut());
}

/// Declares the functions of shim.c, and how they are found in the library.
macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*);)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($argument),*) -> c_int,)* }

        impl Functions {
            fn find(library: &libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of shim.c, whose version is asked before any other call is made; the
                // library is never unloaded, so the pointers stay good.
                unsafe { Ok(Functions { $($field: *library.get($name)?,)* }) }
            }
        }
    };
}

functions! {
    version = b"zh_version\0": fn();
    init = b"zh_init\0": fn(*mut c_int, *mut c_int);
    finalize = b"zh_finalize\0": fn();
    abort = b"zh_abort\0": fn(c_int);
    exit = b"zh_exit\0": fn(c_int);
    library = b"zh_library\0": fn(*mut c_char, c_int);
    error = b"zh_error\0": fn(c_int, *mut c_char, c_int);
    test = b"zh_test\0": fn(*mut c_void, *mut c_int);
    barrier = b"zh_barrier\0": fn(*mut *mut c_void);
    allgather = b"zh_allgather\0": fn(*const u8, c_int, *mut u8, *mut *mut c_void);
    allgatherv = b"zh_allgatherv\0": fn(*const u8, c_int, *mut u8, *const c_int, *const c_int, *mut *mut c_void);
    send = b"zh_send\0": fn(c_int, c_int, *const u8, c_int, *mut *mut c_void);
    progress = b"zh_progress\0": fn();
    probe = b"zh_probe\0": fn(c_int, c_int, *mut c_int, *mut c_int);
    receive = b"zh_receive\0": fn(c_int, c_int, *mut u8, c_int);
    window = b"zh_window\0": fn(i64, c_int, *mut *mut c_void, *mut *mut c_void);
    window_free = b"zh_window_free\0": fn(*mut c_void, c_int);
    put = b"zh_put\0": fn(*mut c_void, c_int, i64, *const u8, c_int);
    get = b"zh_get\0": fn(*mut c_void, c_int, i64, *mut u8, c_int, *mut *mut c_void);
    fetch_add = b"zh_fetch_add\0": fn(*mut c_void, c_int, i64, u64, *mut u64);
    replace = b"zh_replace\0": fn(*mut c_void, c_int, i64, *const u64);
    fetch = b"zh_fetch\0": fn(*mut c_void, c_int, i64, *mut u64);
    flush = b"zh_flush\0": fn(*mut c_void, c_int);
    sync = b"zh_sync\0": fn(*mut c_void);
    fence = b"zh_fence\0": fn(*mut c_void);
    post = b"zh_post\0": fn(*mut c_void, *const c_int, c_int);
    start = b"zh_start\0": fn(*mut c_void, *const c_int, c_int);
    complete = b"zh_complete\0": fn(*mut c_void);
    exposed = b"zh_exposed\0": fn(*mut c_void, *mut c_int);
}

/// Bytes of one put, get or message: their counts are of 31 bits.
pub(super) const MOST_AT_ONCE: usize = 1 << 30;

/// What ranks give each other, all to all.
pub(super) struct Gathered {
    /// What this rank gives.
    pub(super) mine: Vec<u8>,
    /// What all give, one after the other.
    pub(super) all: Vec<u8>,
    /// How many bytes each gives, and where they begin in `all`; nothing if all give as many.
    pub(super) counts: Vec<c_int>,
    pub(super) starts: Vec<c_int>,
}

impl Gathered {
    /// Room for what all give, so many bytes each; together they are [`MOST_AT_ONCE`] at most.
    pub(super) fn of(mine: Vec<u8>, ranges: &[Range<usize>]) -> Self {
        let (mut all, mut starts) = (0, Vec::with_capacity(ranges.len()));
        for range in ranges {
            starts.push(all as c_int);
            all += range.len();
        }
        Gathered { mine, all: vec![0; all], counts: ranges.iter().map(|range| range.len() as c_int).collect(), starts }
    }

    /// What each rank has given.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.starts.iter().zip(&self.counts).map(|(&start, &count)| &self.all[start as usize..][..count as usize])
    }
}

/// The bytes of a message, as MPI counts them.
fn message_count(bytes: usize) -> Result<c_int, TransportError> {
    let fits = c_int::try_from(bytes).ok().filter(|_| bytes <= MOST_AT_ONCE);
    fits.ok_or(TransportError::TooLong { bytes, most: MOST_AT_ONCE })
}

/// The library, loaded.
pub(super) struct Library {
    functions: Functions,
    watch: Watch,
}

/// Calls a function of the library and puts its error into words.
macro_rules! call {
    ($library:expr, $function:ident($($argument:expr),*)) => {{
        let watched = $library.watch.begin(stringify!($function));
        // SAFETY: the arguments are those of shim.c; only one thread calls. Pointers are of this call, of live windows
        // or requests, or of memory that the library uses after this call: that is in a `Loan`, which neither moves nor
        // frees it before the library has said that it is done, also when nobody waits for that any more.
        let error = unsafe { ($library.functions.$function)($($argument),*) };
        drop(watched);
        $library.outcome(stringify!($function), error)
    }};
}

impl Requests for Library {
    fn test(&self, request: Pointer) -> Result<bool, TransportError> {
        let mut done = 0;
        call!(self, test(request.0, &mut done))?;
        Ok(done != 0)
    }
}

impl Library {
    /// Loads it. If a call takes longer than `limit`, `tell` is told and the process ends.
    ///
    /// # Errors
    /// What the system says, or another version.
    pub(super) fn load(
        path: &Path,
        limit: Duration,
        tell: impl FnOnce(&TransportError) + Send + 'static,
    ) -> Result<Self, TransportError> {
        let fault = |what: String| TransportError::NoLibrary(format!("{}: {what}", path.display()));
        // A name without a folder would be looked for among the system's libraries.
        let path = std::path::absolute(path).map_err(|error| fault(error.to_string()))?;
        // OpenMPI and MPICH load parts of themselves, which must find the symbols of the first part.
        let flags = libloading::os::unix::RTLD_NOW | libloading::os::unix::RTLD_GLOBAL;
        // SAFETY: initialisers of MPI libraries only set up themselves; the path is what the user built with `zerohop
        // mpi`.
        let library = unsafe { libloading::os::unix::Library::open(Some(&path), flags) };
        let library =
            libloading::Library::from(library.map_err(|error| fault(format!("it cannot be loaded: {error}")))?);
        let functions = Functions::find(&library)
            .map_err(|error| fault(format!("it is of another version: build it anew ('zerohop mpi'): {error}")))?;
        // Its functions are called until the process ends.
        std::mem::forget(library);
        // SAFETY: it takes nothing.
        let version = unsafe { (functions.version)() };
        if version != VERSION {
            return Err(fault(format!(
                "it is version {version} and {VERSION} is needed: build it anew ('zerohop mpi')"
            )));
        }
        let exit = functions.exit;
        let end = move |call| {
            tell(&TransportError::Stuck { call, limit });
            // What MPI has for the end of a process could wait for the call that does not come back.
            // SAFETY: it ends the process, and may be called at any time by any thread.
            let _ = unsafe { exit(1) };
        };
        let watch = Watch::start(limit, end).map_err(TransportError::NoThread)?;
        Ok(Library { functions, watch })
    }

    fn outcome(&self, call: &'static str, error: c_int) -> Result<(), TransportError> {
        if error == 0 {
            return Ok(());
        }
        let said = self.text(|text, room| {
            // SAFETY: `text` has `room` bytes.
            unsafe { (self.functions.error)(error, text, room) }
        });
        Err(TransportError::Library { call, said: said.unwrap_or_else(|| format!("error {error}")) })
    }

    /// Text that a function writes, with a zero at its end.
    fn text(&self, write: impl FnOnce(*mut c_char, c_int) -> c_int) -> Option<String> {
        let mut text = vec![0u8; 1 << 14];
        let error = write(text.as_mut_ptr().cast(), text.len() as c_int);
        let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| error == 0)?;
        Some(text.to_string_lossy().into_owned())
    }

    pub(super) fn init(&self) -> Result<(usize, usize), TransportError> {
        let (mut rank, mut size) = (0, 0);
        call!(self, init(&mut rank, &mut size))?;
        Ok((rank as usize, size as usize))
    }

    pub(super) fn finalize(&self) -> Result<(), TransportError> {
        call!(self, finalize())
    }

    pub(super) fn abort(&self, status: i32) {
        // It does not come back.
        let _ = call!(self, abort(status));
    }

    /// The first line of what the library says of itself.
    pub(super) fn name(&self) -> String {
        let whole = self.text(|text, room| {
            // SAFETY: `text` has `room` bytes.
            unsafe { (self.functions.library)(text, room) }
        });
        whole.unwrap_or_default().lines().next().unwrap_or("MPI").trim().to_owned()
    }

    /// Begins a request with memory that is lent to it, also if beginning it fails: then nobody knows how far it came.
    fn begun<M>(
        memory: M,
        begin: impl FnOnce(&mut M, *mut *mut c_void) -> Result<(), TransportError>,
    ) -> Result<LoanRequest<M>, TransportError> {
        let (mut loan, mut request) = (Loan::new(memory), Pointer::NULL);
        loan.memory().map_or(Ok(()), |memory| begin(memory, &mut request.0))?;
        Ok(LoanRequest::new(request, loan))
    }

    pub(super) fn barrier(&self) -> Result<LoanRequest<()>, TransportError> {
        Self::begun((), |(), out| call!(self, barrier(out)))
    }

    /// `all` has room for as many bytes of each rank as `mine` has.
    pub(super) fn all_gather(&self, mine: Vec<u8>, all: Vec<u8>) -> Result<LoanRequest<Gathered>, TransportError> {
        let gathered = Gathered { mine, all, counts: Vec::new(), starts: Vec::new() };
        Self::begun(gathered, |memory, out| {
            let (bytes, count) = (memory.mine.as_ptr(), memory.mine.len() as c_int);
            call!(self, allgather(bytes, count, memory.all.as_mut_ptr(), out))
        })
    }

    /// `all` has room for `counts` bytes of each rank, from `starts` on.
    pub(super) fn all_gather_varying(&self, gathered: Gathered) -> Result<LoanRequest<Gathered>, TransportError> {
        Self::begun(gathered, |memory, out| {
            let (bytes, count) = (memory.mine.as_ptr(), memory.mine.len() as c_int);
            let (counts, starts) = (memory.counts.as_ptr(), memory.starts.as_ptr());
            call!(self, allgatherv(bytes, count, memory.all.as_mut_ptr(), counts, starts, out))
        })
    }

    pub(super) fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<LoanRequest<Vec<u8>>, TransportError> {
        let count = message_count(bytes.len())?;
        Self::begun(bytes, |bytes, out| call!(self, send(to as c_int, tag as c_int, bytes.as_ptr(), count, out)))
    }

    /// Lets the library get on.
    pub(super) fn progress(&self) -> Result<(), TransportError> {
        call!(self, progress())
    }

    pub(super) fn receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError> {
        let (mut there, mut count) = (0, 0);
        call!(self, probe(from as c_int, tag as c_int, &mut there, &mut count))?;
        if there == 0 {
            return Ok(None);
        }
        // What MPI cannot count is a negative number.
        let uncounted =
            |_| TransportError::Library { call: "probe", said: "a message of bytes past counting".to_owned() };
        let mut bytes = vec![0u8; usize::try_from(count).map_err(uncounted)?];
        call!(self, receive(from as c_int, tag as c_int, bytes.as_mut_ptr(), count))?;
        Ok(Some(bytes))
    }

    /// A window, and our own memory in it.
    pub(super) fn window(&self, bytes: usize, passive: bool) -> Result<(Pointer, Pointer), TransportError> {
        let (mut window, mut base) = (Pointer::NULL, Pointer::NULL);
        call!(self, window(bytes as i64, c_int::from(passive), &mut window.0, &mut base.0))?;
        Ok((window, base))
    }

    pub(super) fn free(&self, window: Pointer, passive: bool) -> Result<(), TransportError> {
        call!(self, window_free(window.0, c_int::from(passive)))
    }

    /// Begins to write what `loan` holds; it must be taken back after the epoch, or a flush, that ends it. Also with an
    /// error it may be under way in part.
    pub(super) fn put(
        &self,
        window: Pointer,
        rank: usize,
        offset: usize,
        loan: &mut Loan<Vec<u8>>,
    ) -> Result<(), TransportError> {
        let pieces = loan.memory().into_iter().flat_map(|bytes| bytes.chunks(MOST_AT_ONCE)).enumerate();
        for (number, piece) in pieces {
            let at = (offset + number * MOST_AT_ONCE) as i64;
            call!(self, put(window.0, rank as c_int, at, piece.as_ptr(), piece.len() as c_int))?;
        }
        Ok(())
    }

    /// Begins to read `bytes` bytes, [`MOST_AT_ONCE`] at most.
    pub(super) fn get(
        &self,
        window: Pointer,
        rank: usize,
        offset: usize,
        bytes: usize,
    ) -> Result<LoanRequest<Vec<u8>>, TransportError> {
        Self::begun(vec![0; bytes], |into, out| {
            call!(self, get(window.0, rank as c_int, offset as i64, into.as_mut_ptr(), bytes as c_int, out))
        })
    }

    pub(super) fn fetch_add(
        &self,
        window: Pointer,
        rank: usize,
        offset: usize,
        value: u64,
    ) -> Result<u64, TransportError> {
        let mut before = 0;
        call!(self, fetch_add(window.0, rank as c_int, offset as i64, value, &mut before))?;
        Ok(before)
    }

    /// Begins to replace a number by what `loan` holds; it must be taken back after a flush.
    pub(super) fn replace(
        &self,
        window: Pointer,
        rank: usize,
        offset: usize,
        loan: &mut Loan<u64>,
    ) -> Result<(), TransportError> {
        let value: *const u64 = loan.memory().map_or(std::ptr::null(), |value| value);
        call!(self, replace(window.0, rank as c_int, offset as i64, value))
    }

    /// A number in the memory of `rank`.
    pub(super) fn fetch(&self, window: Pointer, rank: usize, offset: usize) -> Result<u64, TransportError> {
        let mut value = 0;
        call!(self, fetch(window.0, rank as c_int, offset as i64, &mut value))?;
        Ok(value)
    }

    pub(super) fn flush(&self, window: Pointer, rank: usize) -> Result<(), TransportError> {
        call!(self, flush(window.0, rank as c_int))
    }

    /// Makes what others have put visible to loads, and stores to others; only within a passive epoch.
    pub(super) fn sync(&self, window: Pointer) -> Result<(), TransportError> {
        call!(self, sync(window.0))
    }

    pub(super) fn fence(&self, window: Pointer) -> Result<(), TransportError> {
        call!(self, fence(window.0))
    }

    pub(super) fn post(&self, window: Pointer, ranks: &[usize]) -> Result<(), TransportError> {
        let ranks: Vec<c_int> = ranks.iter().map(|&rank| rank as c_int).collect();
        call!(self, post(window.0, ranks.as_ptr(), ranks.len() as c_int))
    }

    pub(super) fn start(&self, window: Pointer, ranks: &[usize]) -> Result<(), TransportError> {
        let ranks: Vec<c_int> = ranks.iter().map(|&rank| rank as c_int).collect();
        call!(self, start(window.0, ranks.as_ptr(), ranks.len() as c_int))
    }

    pub(super) fn complete(&self, window: Pointer) -> Result<(), TransportError> {
        call!(self, complete(window.0))
    }

    /// Whether all who were let in are through.
    pub(super) fn exposed(&self, window: Pointer) -> Result<bool, TransportError> {
        let mut over = 0;
        call!(self, exposed(window.0, &mut over))?;
        Ok(over != 0)
    }

    /// Copies from our own memory of `bytes` bytes in a window. It is over before any later call begins, on processors
    /// too that would do it later.
    pub(super) fn read(&self, base: Pointer, bytes: usize, offset: usize, into: &mut [u8]) {
        assert!(offset + into.len() <= bytes, "within the window");
        // SAFETY: the range lies in the window, which is live. Nobody puts there meanwhile: who puts waits until it is
        // told that this was read, and numbers that change at any time are fetched by MPI (`Window` says so, and the
        // twin checks it).
        unsafe { std::ptr::copy_nonoverlapping(base.0.cast::<u8>().add(offset), into.as_mut_ptr(), into.len()) }
        fence(Ordering::SeqCst);
    }

    /// Copies to our own memory of `bytes` bytes in a window.
    pub(super) fn write(&self, base: Pointer, bytes: usize, offset: usize, from: &[u8]) {
        assert!(offset + from.len() <= bytes, "within the window");
        // SAFETY: as for `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), base.0.cast::<u8>().add(offset), from.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_too_long_is_refused() {
        assert_eq!(message_count(MOST_AT_ONCE).unwrap(), 1 << 30);
        for bytes in [MOST_AT_ONCE + 1, 1 << 31, (1 << 32) + 5] {
            let said = message_count(bytes).unwrap_err().to_string();
            assert!(said.contains(&format!("of {bytes} bytes")) && said.contains("1073741824"), "{said}");
        }
    }
}
