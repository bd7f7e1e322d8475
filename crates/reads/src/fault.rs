//! Errors of the system and of the inflater, in words for the user.

use std::path::Path;
use zerohop_model::error::InputError;

/// What an error of the system or of the inflater means.
pub(crate) fn read_fault(path: &Path, e: &std::io::Error) -> InputError {
    use std::io::ErrorKind;
    let what = match e.kind() {
        ErrorKind::UnexpectedEof => "the compressed data end early: the file is truncated".to_owned(),
        ErrorKind::InvalidData | ErrorKind::InvalidInput => format!("the compressed data are damaged: {e}"),
        _ => format!("cannot read: {e}"),
    };
    InputError::new(path, what)
}
