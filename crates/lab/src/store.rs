//! Points on disk, a line each, saved as soon as they are measured.

use crate::arm::Arm;
use crate::error::LabError;
use crate::experiment::{Experiment, Point};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The points of a folder.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    points: Vec<Point>,
}

impl Store {
    /// The points of a folder that is there.
    ///
    /// # Errors
    /// No points; as for [`Store::open`].
    pub fn existing(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join("points.jsonl");
        if !path.exists() {
            return Err(LabError::file(&path, "there are no points"));
        }
        Self::open(folder)
    }

    /// Opens `points.jsonl` in `folder`, which is made if it is not there. A last line that was cut off is dropped: its
    /// point will be measured anew.
    ///
    /// # Errors
    /// A file that cannot be read or written, or holds something else.
    pub fn open(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join("points.jsonl");
        std::fs::create_dir_all(folder).map_err(|error| LabError::file(folder, error))?;
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(&path)
            .map_err(|error| LabError::file(&path, error))?;
        // What was cut off need not be text.
        let bytes = std::fs::read(&path).map_err(|error| LabError::file(&path, error))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).and_then(|()| file.flush()).map_err(|error| LabError::file(&path, error))?;
        }
        let text = std::str::from_utf8(&bytes[..whole]).map_err(|error| LabError::file(&path, error))?;
        let points = points_of(text).map_err(|what| LabError::file(&path, what))?;
        Ok(Store { path, file, points })
    }

    /// Whether a point was measured already.
    pub fn has(&self, experiment: &Experiment, arm: &Arm, repetition: usize) -> bool {
        self.points
            .iter()
            .any(|point| (&point.arm, point.repetition, &point.experiment) == (arm, repetition, experiment))
    }

    /// Saves a point.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn add(&mut self, point: Point) -> Result<(), LabError> {
        let line = serde_json::to_string(&point).map_err(|error| LabError::file(&self.path, error))?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(|error| LabError::file(&self.path, error))?;
        self.points.push(point);
        Ok(())
    }

    /// All points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }
}

/// The points in `text`, one on each line. A last line that was cut off is left out.
///
/// # Errors
/// Says which line is no point.
pub fn points_of(text: &str) -> Result<Vec<Point>, String> {
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let point = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("line {} is no point: {error}", number + 1))
    };
    text[..whole].lines().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{InputKind, LockKind, OutputKind};
    use crate::experiment::Scaling;
    use crate::process::EngineSpec;

    #[test]
    fn points_are_found_again_and_a_torn_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let arm =
            Arm { input: InputKind::O, lock: LockKind::Mcs, output: OutputKind::Shared, threads: 2, processes: 1 };
        let experiment = Experiment {
            engine: EngineSpec::Null,
            scaling: Scaling::Weak,
            fragments: 3,
            batch: 1,
            chunk_bases: 1,
            queue: 1,
            pinned: false,
            interleaved: false,
            mixed: false,
            inputs: vec![("r.fq".into(), 7)],
            machine: "m".into(),
            cpus: 2,
        };
        let point = Point {
            arm,
            experiment: experiment.clone(),
            repetition: 1,
            fragments: 3,
            slowest_s: 1.0,
            load_s: 0.0,
            processes: vec![],
            others: None,
        };
        Store::open(folder.path()).unwrap().add(point.clone()).unwrap();
        let path = folder.path().join("points.jsonl");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(b"{\"arm\":\"\xff");
        std::fs::write(&path, bytes).unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert!(store.has(&experiment, &arm, 1) && !store.has(&experiment, &arm, 2));
        assert!(!store.has(&Experiment { batch: 2, ..experiment }, &arm, 1), "another experiment");
        store.add(Point { repetition: 2, ..point.clone() }).unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().points(), [point.clone(), Point { repetition: 2, ..point }]);
        std::fs::write(&path, "what\n").unwrap();
        assert!(Store::open(folder.path()).is_err());
    }
}
