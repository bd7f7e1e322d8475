//! Bytes as something that has a path: an unnamed file, or a pipe. Nothing is left behind when a target dies.

use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

fn path_of(fd: &impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()).into()
}

/// A regular file that lives as long as this.
pub struct Regular {
    path: PathBuf,
    _file: File,
}

impl Regular {
    /// A file that holds `bytes`, in memory where there is room for such.
    pub fn new(bytes: &[u8]) -> Self {
        let mut file = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile()).unwrap();
        file.write_all(bytes).unwrap();
        Regular { path: path_of(&file), _file: file }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A pipe that is being filled.
pub struct Pipe {
    path: PathBuf,
    reader: PipeReader,
    writer: Option<JoinHandle<()>>,
}

impl Pipe {
    /// A pipe out of which `bytes` come.
    pub fn new(bytes: Vec<u8>) -> Self {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let writer = std::thread::spawn(move || writer.write_all(&bytes).unwrap());
        Pipe { path: path_of(&reader), reader, writer: Some(writer) }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // Whoever read it may have stopped early. This end keeps the writer from dying of SIGPIPE (which only Rust's
        // own `main` ignores), and so has to empty the pipe for it.
        std::io::copy(&mut self.reader.by_ref(), &mut std::io::sink()).unwrap();
        self.writer.take().map(JoinHandle::join).transpose().unwrap();
    }
}
