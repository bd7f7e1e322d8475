//! An error of a reader stays.

use crate::garbage::TrailingGarbage;
use std::io::{self, Read};
use zerohop_cram::Unreadable;

/// A reader of which every read after an error gives that error again. Otherwise whoever reads on might take the place
/// behind a fault for the end of the text.
pub(crate) struct Lasting<R> {
    inner: R,
    error: Option<io::Error>,
}

impl<R> Lasting<R> {
    pub(crate) fn new(inner: R) -> Self {
        Lasting { inner, error: None }
    }
}

impl<R: Read> Read for Lasting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = &self.error {
            return Err(again(error));
        }
        self.inner.read(buffer).inspect_err(|error| {
            // What was only interrupted is to be tried again.
            if error.kind() != io::ErrorKind::Interrupted {
                self.error = Some(again(error));
            }
        })
    }
}

/// The same error: those of `std` cannot be copied.
fn again(error: &io::Error) -> io::Error {
    if let Some(code) = error.raw_os_error() {
        return io::Error::from_raw_os_error(code);
    }
    let inner = error.get_ref();
    if let Some(garbage) = inner.and_then(|inner| inner.downcast_ref::<TrailingGarbage>()) {
        return io::Error::new(error.kind(), *garbage);
    }
    if let Some(unreadable) = inner.and_then(|inner| inner.downcast_ref::<Unreadable>()) {
        return io::Error::new(error.kind(), unreadable.clone());
    }
    io::Error::new(error.kind(), error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gzip::GzipMembers;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use std::io::Write;
    use std::path::Path;

    /// Reads with buffers of so many bytes to the first error, if there is one, and on: which errors came.
    fn errors(mut reader: impl Read, bytes: usize) -> Vec<String> {
        let (mut buffer, mut errors) = (vec![0; bytes], Vec::new());
        loop {
            match reader.read(&mut buffer) {
                Ok(0) if errors.is_empty() => return errors,
                Ok(n) => assert!(errors.is_empty(), "{n} bytes behind {errors:?}"),
                Err(error) => errors.push(crate::errors::read_fault(Path::new("x"), &error).to_string()),
            }
            if errors.len() == 4 {
                return errors;
            }
        }
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    proptest! {
        #[test]
        fn an_error_of_gzip_stays(
            texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..4),
            cut in 0usize..400,
            flipped in proptest::option::of(0usize..400),
            behind in proptest::collection::vec(any::<u8>(), 0..20),
            bytes in 1usize..50,
        ) {
            let mut raw: Vec<u8> = texts.iter().flat_map(|text| gzip(text)).collect();
            raw.extend(behind);
            raw.truncate(raw.len().saturating_sub(cut.saturating_sub(200)));
            if let Some(byte) = flipped.and_then(|at| raw.get_mut(at)) {
                *byte ^= 0x41;
            }
            let errors = errors(GzipMembers::new(&raw[..], 7), bytes);
            prop_assert!(errors.windows(2).all(|two| two[0] == two[1]), "{errors:?}");
        }
    }

    /// As a conversion of SAM or CRAM ends: the error comes once, and an end follows.
    struct FailsOnce(bool);

    impl Read for FailsOnce {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            match std::mem::replace(&mut self.0, true) {
                true => Ok(0),
                false => Err(io::Error::new(io::ErrorKind::InvalidData, "it has too few fields")),
            }
        }
    }

    #[test]
    fn each_kind_of_error_stays() {
        let whole = gzip(b"@r\nACGT\n+\n####\n");
        let garbage = [&whole[..], b"no gzip"].concat();
        let mut damaged = whole.clone();
        let at = damaged.len() - 6;
        damaged[at] ^= 1;
        for raw in [&whole[..whole.len() - 3], &garbage, &damaged] {
            let errors = errors(GzipMembers::new(raw, 7), 100);
            assert!(errors.len() == 4 && errors.windows(2).all(|two| two[0] == two[1]), "{errors:?}");
        }
        let errors = errors(Lasting::new(FailsOnce(false)), 1000);
        assert!(errors.len() == 4 && errors.windows(2).all(|two| two[0] == two[1]), "{errors:?}");
        let system = io::Error::from_raw_os_error(5);
        assert_eq!(again(&system).raw_os_error(), Some(5));
    }
}
