//! Memory that MPI reads or writes after a call has come back.
//!
//! A request that takes too long is given up, but the library does not know: a message that comes later is still
//! written where the request said. So memory is lent with the request, and given back only when the library has said
//! that it is done with it. What is given up before is never freed, and so never anybody else's. That is rare, and the
//! end of the run.

use super::library::Pointer;
use crate::transport::TransportError;

/// Memory that is lent to the library. Dropped, it is leaked; it is freed by whoever takes it back.
pub(super) struct Loan<M>(Option<Box<M>>);

impl<M> Loan<M> {
    /// Lends `memory`, which stays where it is: the library may be given pointers to it.
    pub(super) fn new(memory: M) -> Self {
        Loan(Some(Box::new(memory)))
    }

    /// The memory, to be pointed to. None once it was taken back.
    pub(super) fn memory(&mut self) -> Option<&mut M> {
        self.0.as_deref_mut()
    }

    /// The memory, with which the library is done.
    pub(super) fn take_back(&mut self) -> Option<M> {
        self.0.take().map(|memory| *memory)
    }
}

impl<M> Drop for Loan<M> {
    fn drop(&mut self) {
        if let Some(memory) = self.0.take() {
            Box::leak(memory);
        }
    }
}

/// Who knows whether requests are done.
pub(super) trait Requests {
    /// Whether a request is done; it is forgotten then, and after an error.
    ///
    /// # Errors
    /// What MPI says.
    fn test(&self, request: Pointer) -> Result<bool, TransportError>;
}

/// A request, and the memory that is lent with it.
pub(super) struct LoanRequest<M> {
    pointer: Pointer,
    loan: Loan<M>,
}

impl<M> LoanRequest<M> {
    /// The request of `pointer`, for which `loan` was lent.
    pub(super) fn new(pointer: Pointer, loan: Loan<M>) -> Self {
        LoanRequest { pointer, loan }
    }

    /// The memory, if the request is done. Not to be asked again after that, or after an error.
    ///
    /// # Errors
    /// What MPI says: the memory is lost then.
    pub(super) fn try_end(&mut self, requests: &impl Requests) -> Result<Option<M>, TransportError> {
        Ok(if requests.test(self.pointer)? { self.loan.take_back() } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back_off::until;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Duration;

    /// Memory that says when it is freed.
    struct Memory(Rc<Cell<bool>>);

    impl Drop for Memory {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }

    /// A library whose requests are done after so many looks, or never.
    struct Library {
        looks: Cell<u32>,
        fails: bool,
    }

    impl Requests for Library {
        fn test(&self, _: Pointer) -> Result<bool, TransportError> {
            if self.fails {
                return Err(TransportError::Library { call: "test", said: "broken".to_owned() });
            }
            self.looks.set(self.looks.get().saturating_sub(1));
            Ok(self.looks.get() == 0)
        }
    }

    fn request() -> (LoanRequest<Memory>, Rc<Cell<bool>>) {
        let freed = Rc::<Cell<bool>>::default();
        (LoanRequest::new(Pointer::NULL, Loan::new(Memory(Rc::clone(&freed)))), freed)
    }

    /// Waits for the request, and gives it up at the limit.
    fn end(mut request: LoanRequest<Memory>, library: &Library, limit: Duration) -> Result<Memory, TransportError> {
        until(limit, &|| "the others".to_owned(), || request.try_end(library))
    }

    #[test]
    fn memory_of_a_request_that_never_ends_is_never_freed() {
        let never = Library { looks: Cell::new(u32::MAX), fails: false };
        let (one, freed) = request();
        let error = end(one, &never, Duration::from_millis(1)).err().unwrap();
        assert!(matches!(error, TransportError::Silent { .. }), "{error}");
        assert!(!freed.get(), "the library may still write there");
        // One that nobody waits for any more: a message under way when a run fails.
        let (mut two, freed) = request();
        assert!(two.try_end(&never).unwrap().is_none());
        drop(two);
        assert!(!freed.get());
    }

    #[test]
    fn memory_of_a_request_that_fails_is_never_freed() {
        let fails = Library { looks: Cell::new(0), fails: true };
        let (one, freed) = request();
        assert!(end(one, &fails, Duration::from_secs(20)).is_err());
        assert!(!freed.get());
    }

    #[test]
    fn memory_comes_back_when_the_request_is_done() {
        let done = Library { looks: Cell::new(3), fails: false };
        let (one, freed) = request();
        let memory = end(one, &done, Duration::from_secs(20)).unwrap();
        assert!(!freed.get());
        drop(memory);
        assert!(freed.get());
    }
}
