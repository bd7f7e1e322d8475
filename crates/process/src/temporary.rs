//! Names of files that are not complete, and of folders for them, and their removal when a signal ends the process.
//!
//! A signal handler may do very little: no allocation, no lock. So each name is a C string that is never freed (about
//! 100 bytes for each file of a run), in a list that only grows, and the handler calls unlink(2) and rmdir(2), which
//! are async-signal-safe (signal-safety(7)). SIGKILL cannot be handled: what it leaves is removed by the next run that
//! writes the same file, see [`crate::NewFile`].
#![allow(unsafe_code)]

use crate::cut::{self, CutWatch};
use crate::interruption::{self, Interruption};
use crate::system::{self, errno, is_of_kernel};
use libc::{c_char, c_int, c_void, siginfo_t};
use std::ffi::CString;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

/// What ends a process unless it is handled, but for SIGKILL, and for SIGPIPE, which Rust ignores.
const ASKED: [c_int; 11] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
    libc::SIGABRT,
];
/// What a faulty instruction raises. Rust handles SIGSEGV and SIGBUS itself, to tell of stack overflows.
const FAULTS: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// The last entry of the list.
static LAST: AtomicPtr<TemporaryEntry> = AtomicPtr::new(null_mut());
/// How many are giving files their names now: a signal waits for them, so that all files of a run get their names or
/// none.
static NAMING: AtomicUsize = AtomicUsize::new(0);
/// The signal that has waited; 0 for none.
static PENDING: AtomicI32 = AtomicI32::new(0);
/// What the signals did before.
static BEFORE: OnceLock<Vec<(c_int, libc::sigaction)>> = OnceLock::new();
static HANDLED: Once = Once::new();

#[derive(Debug)]
struct TemporaryEntry {
    /// Never freed.
    name: *const c_char,
    /// Whether the file is there under this name; false when it has another, or is gone.
    is_there: AtomicBool,
    before: *mut TemporaryEntry,
}

// SAFETY: once an entry can be reached from `LAST` its pointers are only read, and what they point to is never freed.
unsafe impl Sync for TemporaryEntry {}

/// A file that is not complete: dropped, it is removed.
#[derive(Debug)]
pub(crate) struct Temporary(&'static TemporaryEntry);

impl Temporary {
    /// Enters an absolute path, before the file is made.
    ///
    /// # Errors
    /// A path with a NUL byte.
    pub(crate) fn enter(path: &Path) -> std::io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?.into_raw();
        handle_signals();
        let (is_there, before) = (AtomicBool::new(true), LAST.load(Ordering::Acquire));
        let entry = Box::leak(Box::new(TemporaryEntry { name, is_there, before }));
        let new: *mut TemporaryEntry = entry;
        loop {
            // SAFETY: `new` points to the leaked entry, which nobody else can reach before the exchange succeeds.
            let before = unsafe { (*new).before };
            match LAST.compare_exchange(before, new, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: the entry is leaked, so it lives as long as the process, and from here on only its atomic is
                // written.
                Ok(_) => return Ok(Temporary(unsafe { &*new })),
                // SAFETY: as above, nobody else can reach it yet.
                Err(other) => unsafe { (*new).before = other },
            }
        }
    }

    /// The file has its name: it stays.
    pub(crate) fn keep(self) {
        self.0.is_there.store(false, Ordering::Release);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(self.0);
    }
}

/// A symbolic link that is removed when it is dropped, or a signal ends the process.
#[derive(Debug)]
pub struct TemporaryLink {
    _entered: Temporary,
}

impl TemporaryLink {
    /// A link at `path`, an absolute one.
    ///
    /// # Errors
    /// What the system says: a file that is there stays.
    pub fn create(target: &Path, path: &Path) -> std::io::Result<Self> {
        let entered = Temporary::enter(path)?;
        match std::os::unix::fs::symlink(target, path) {
            Ok(()) => Ok(TemporaryLink { _entered: entered }),
            Err(error) => {
                entered.keep();
                Err(error)
            }
        }
    }
}

/// A folder that is removed when it is dropped, or a signal ends the process, unless something is in it then.
#[derive(Debug)]
pub struct NewFolder {
    _entered: Temporary,
}

impl NewFolder {
    /// Makes a folder at `path`, an absolute one.
    ///
    /// # Errors
    /// What the system says: a folder that is there stays.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let entered = Temporary::enter(path)?;
        match std::fs::create_dir(path) {
            Ok(()) => Ok(NewFolder { _entered: entered }),
            Err(error) => {
                entered.keep();
                Err(error)
            }
        }
    }
}

/// A folder that is removed when it is dropped, with all that is in it. If a signal ends the process, it is removed
/// with its files that were named before.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// Before the folder: it must be empty to be removed.
    files: Vec<Temporary>,
    _folder: NewFolder,
}

impl TemporaryFolder {
    /// Makes a folder at `path`, an absolute one.
    ///
    /// # Errors
    /// As for [`NewFolder::create`].
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let folder = NewFolder::create(path)?;
        Ok(TemporaryFolder { path: path.to_owned(), files: Vec::new(), _folder: folder })
    }

    /// Where a file of this name will be in it; it is removed with the folder.
    ///
    /// # Errors
    /// A name with a NUL byte.
    pub fn file(&mut self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        self.files.push(Temporary::enter(&path)?);
        Ok(path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed is named by whoever looks there.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn remove(entry: &TemporaryEntry) {
    if entry.is_there.swap(false, Ordering::AcqRel) {
        // SAFETY: the name came from `CString::into_raw` in `enter` and is never freed.
        unsafe {
            if libc::unlink(entry.name) != 0 {
                libc::rmdir(entry.name);
            }
        }
    }
}

/// Removes all files that are not complete. To be called by who is about to end the process without unwinding; it
/// allocates nothing and takes no lock.
pub fn remove_temporaries() {
    let mut entry = LAST.load(Ordering::Acquire);
    // SAFETY: entries are leaked and never changed but for their atomic, once they can be reached from `LAST`.
    while let Some(found) = unsafe { entry.as_ref() } {
        remove(found);
        entry = found.before;
    }
}

/// While this lives, a signal waits.
#[derive(Debug)]
pub(crate) struct Naming;

impl Naming {
    pub(crate) fn begin() -> Self {
        NAMING.fetch_add(1, Ordering::AcqRel);
        Naming
    }
}

impl Drop for Naming {
    fn drop(&mut self) {
        if NAMING.fetch_sub(1, Ordering::AcqRel) == 1 {
            let signal = PENDING.swap(0, Ordering::AcqRel);
            if signal != 0 {
                // SAFETY: raise(3) takes any signal; that of a signal that came before is one.
                unsafe { libc::raise(signal) };
            }
        }
    }
}

/// The signals that would end the process, and what they do now. Who ignores a signal (nohup), or handles it, is left
/// alone.
fn unhandled() -> Vec<(c_int, libc::sigaction)> {
    let mut handled = Vec::new();
    for signal in ASKED.into_iter().chain(system::ASKED).chain(FAULTS).chain([libc::SIGXFSZ]) {
        // SAFETY: an all-zero sigaction is a valid one; sigaction(2) only writes to it.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the old action is asked for and none is set; the pointer is to a local variable.
        let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &mut before) };
        let is_default = before.sa_sigaction == libc::SIG_DFL;
        let is_fault = FAULTS.contains(&signal) && before.sa_sigaction != libc::SIG_IGN;
        if asked == 0 && (is_default || is_fault) {
            handled.push((signal, before));
        }
    }
    handled
}

/// Installs the handler.
fn handle(signals: &[(c_int, libc::sigaction)]) {
    for (signal, _) in signals {
        // SAFETY: an all-zero sigaction is a valid one.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does what signal-safety(7) allows alone.
        unsafe { libc::sigaction(*signal, &action, null_mut()) };
    }
}

/// Removes what is not complete, and has the signal do what it would have done.
extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    if signal == libc::SIGXFSZ {
        // The write that went too far fails with EFBIG, and is reported as any other failure.
        return;
    }
    // SAFETY: with SA_SIGINFO the kernel gives a valid pointer.
    let at_fault = FAULTS.contains(&signal) && is_of_kernel(unsafe { (*info).si_code });
    if !at_fault && NAMING.load(Ordering::Acquire) > 0 {
        PENDING.store(signal, Ordering::Release);
        // Whoever was naming may have ended in between.
        if NAMING.load(Ordering::Acquire) > 0 || PENDING.swap(0, Ordering::AcqRel) == 0 {
            return;
        }
    }
    // SAFETY: this thread's errno is there as long as the thread; it is put back, for the handler may return.
    let former = unsafe { *errno() };
    remove_temporaries();
    if at_fault && signal == libc::SIGBUS {
        // SAFETY: as above; such a signal has an address.
        end_if_cut(unsafe { (*info).si_addr() }.addr());
    }
    if signal == libc::SIGINT {
        interruption::tell();
    }
    // Rust's own action for faults expects the instruction to fault again, which one that was sent does not.
    // SAFETY: an all-zero sigaction is the default action.
    let default: libc::sigaction = unsafe { std::mem::zeroed() };
    let before = BEFORE.get().and_then(|handled| handled.iter().find(|(handled, _)| *handled == signal));
    let action = before.filter(|_| at_fault).map_or(&default, |(_, before)| before);
    // SAFETY: the action is the default one, or the one that was found there.
    unsafe { libc::sigaction(signal, action, null_mut()) };
    if !at_fault {
        end_by(signal);
    }
    // SAFETY: as above. An instruction at fault is executed once more, and meets the action that was there before.
    unsafe { *errno() = former };
}

/// Has the process end with a message if what lies at these addresses cannot be read: this file, which is mapped there,
/// was made shorter, or its disk fails.
pub fn tell_if_cut(path: &Path, addresses: Range<usize>) -> CutWatch {
    handle_signals();
    cut::watch(path, addresses)
}

/// Ends the process with what is to be said of a mapped file, if one lies at this address.
fn end_if_cut(address: usize) {
    let Some(words) = cut::words_at(address) else { return };
    // SAFETY: the bytes are there to be read; both calls may be made in a signal handler.
    unsafe {
        libc::write(libc::STDERR_FILENO, words.as_ptr().cast(), words.len());
        libc::_exit(1);
    }
}

/// Ends the process by a signal whose action is the default one. The first process of a container is not ended by it:
/// it exits with the status that a shell gives.
fn end_by(signal: c_int) {
    // SAFETY: sigset_t is plain numbers, for which zeros are values; both functions write to it alone.
    let only = unsafe {
        let mut only: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        only
    };
    // SAFETY: all three are async-signal-safe. The signal is blocked while its handler runs, so it is let through; the
    // process ends in raise(3), or in _exit(2), which runs nothing of ours.
    unsafe {
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &only, null_mut());
        libc::_exit(128 + signal);
    }
}

/// Has signals end the process also if it is the first one of a container, where the default actions do nothing.
pub fn end_as_first_process() {
    if std::process::id() == 1 {
        handle_signals();
    }
}

/// Has these words said if SIGINT ends the process while what is returned lives, in place of others before them.
pub fn tell_if_interrupted(words: &str) -> Interruption {
    let interruption = Interruption::new(words);
    handle_signals();
    interruption
}

/// Has signals that end the process remove what is not complete.
fn handle_signals() {
    HANDLED.call_once(|| handle(BEFORE.get_or_init(unhandled)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_removed_and_what_is_kept_stays() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["dropped", "kept", "left"].map(|name| folder.path().join(name));
        let [dropped, kept, left] = paths.each_ref().map(|path| {
            let entered = Temporary::enter(path).unwrap();
            std::fs::write(path, "x").unwrap();
            entered
        });
        drop(dropped);
        kept.keep();
        assert_eq!(paths.each_ref().map(|path| path.exists()), [false, true, true]);
        drop(left);
        assert!(!paths[2].exists());
        assert!(Temporary::enter(Path::new("a\0b")).is_err(), "no file has such a name");
    }

    #[test]
    fn folders_go_unless_something_is_to_stay() {
        let parent = tempfile::tempdir().unwrap();
        let [used, empty, scratch] = ["used", "empty", "scratch"].map(|name| parent.path().join(name));
        let folders = [&used, &empty].map(|path| NewFolder::create(path).unwrap());
        assert!(NewFolder::create(&used).is_err());
        std::fs::write(used.join("result"), "x").unwrap();
        drop(folders);
        assert_eq!((used.exists(), empty.exists()), (true, false));
        let mut folder = TemporaryFolder::create(&scratch).unwrap();
        std::fs::write(folder.file("named").unwrap(), "x").unwrap();
        // As on a signal: first what was entered last.
        folder.files.iter().for_each(|file| remove(file.0));
        remove(folder._folder._entered.0);
        assert!(!scratch.exists());
        drop(folder);
        let folder = TemporaryFolder::create(&scratch).unwrap();
        std::fs::write(scratch.join("not named"), "x").unwrap();
        drop(folder);
        assert!(!scratch.exists());
    }
}
