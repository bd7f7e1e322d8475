//! A process that reads what strangers wrote gives up what it does not need: it can read files, write to what is open,
//! and use memory. It can start nothing, open nothing to be written, connect to nothing and signal nobody.
//!
//! A system call that is not in the list fails (`EPERM`): a library that asks for something else goes on without it.
#![allow(unsafe_code)]

use libc::{c_long, sock_filter, sock_fprog};
use std::io;

/// System calls that are allowed with any arguments.
const ALLOWED: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_uname,
    libc::SYS_fadvise64,
    libc::SYS_memfd_create,
    libc::SYS_ftruncate,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_ppoll,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// What only x86-64 has beside them.
#[cfg(target_arch = "x86_64")]
const ALSO_ALLOWED: &[c_long] =
    &[libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink, libc::SYS_poll, libc::SYS_dup2];
#[cfg(not(target_arch = "x86_64"))]
const ALSO_ALLOWED: &[c_long] = &[];

/// The architecture as the kernel names it (`AUDIT_ARCH_*`, linux/audit.h): numbers of system calls are its own.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// What a file may not be opened with: to be written, made or emptied.
const TO_BE_WRITTEN: u32 = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u32;

/// Where the filter finds things (`struct seccomp_data`, linux/seccomp.h); of an argument the lower half.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const FLAGS_OF_OPENAT: u32 = 16 + 2 * 8;

/// Takes away from this process, for good, what its list does not have. Other threads keep what they have.
///
/// # Errors
/// A kernel without filters of system calls (seccomp).
pub fn confine() -> io::Result<()> {
    let mut filter = filter();
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: this kind of prctl takes numbers and no pointer.
    super::system::done(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: the kernel reads the program, which lives until it has.
    super::system::done(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) })
}

/// The program that the kernel asks about each system call.
fn filter() -> Vec<sock_filter> {
    let denied = returns(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    let mut filter = vec![load(ARCH), skip_unless(ARCHITECTURE, 1), skip(1), denied, load(NUMBER)];
    for &number in ALLOWED.iter().chain(ALSO_ALLOWED) {
        filter.extend([skip_unless(number as u32, 1), returns(libc::SECCOMP_RET_ALLOW)]);
    }
    filter.extend([skip_unless(libc::SYS_openat as u32, 4), load(FLAGS_OF_OPENAT)]);
    filter.extend([and(TO_BE_WRITTEN), skip_unless(0, 1), returns(libc::SECCOMP_RET_ALLOW), denied]);
    filter
}

fn instruction(code: u32, operand: u32, (if_true, if_false): (u8, u8)) -> sock_filter {
    sock_filter { code: code as u16, jt: if_true, jf: if_false, k: operand }
}

fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, (0, 0))
}

fn and(mask: u32) -> sock_filter {
    instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask, (0, 0))
}

/// Passes over so many instructions if what was loaded is another value.
fn skip_unless(value: u32, instructions: u8) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, (0, instructions))
}

fn skip(instructions: u32) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JA, instructions, (0, 0))
}

fn returns(what: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, what, (0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::fs::OpenOptionsExt;

    /// What `work` says in a thread that is confined: a filter holds for one thread, unless all are asked for.
    fn confined<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let run = move || {
            confine().unwrap();
            work()
        };
        std::thread::spawn(run).join().unwrap()
    }

    #[test]
    fn a_confined_process_reads_and_writes_what_is_open() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (path, mut open) = (file.path().to_owned(), file.reopen().unwrap());
        let text = confined(move || {
            open.write_all(b"written").unwrap();
            let mut text = String::new();
            File::open(path).unwrap().read_to_string(&mut text).unwrap();
            text
        });
        assert_eq!(text, "written");
    }

    #[test]
    fn a_confined_process_opens_nothing_to_be_written_and_starts_and_connects_to_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, there) = (folder.path().join("new"), folder.path().join("there"));
        std::fs::write(&there, "x").unwrap();
        let known = there.clone();
        let denied = confined(move || {
            let opened = File::options().write(true).open(&known).map(drop);
            let truncated = File::options().read(true).custom_flags(libc::O_TRUNC).open(&known).map(drop);
            let started = std::process::Command::new("/bin/true").spawn().map(drop);
            let thread = std::thread::Builder::new().spawn(|| ()).map(drop);
            [
                File::create(&path).map(drop),
                opened,
                truncated,
                std::fs::remove_file(&known),
                std::fs::rename(&known, &path),
                TcpListener::bind("127.0.0.1:0").map(drop),
                started,
                thread,
            ]
            .map(|result| result.map_err(|error| error.raw_os_error()))
        });
        assert_eq!(denied, [Err(Some(libc::EPERM)); 8]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(there).unwrap(), "x");
    }
}
