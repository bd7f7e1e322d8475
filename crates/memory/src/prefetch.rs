//! Cache lines that will be needed soon.

/// Asks for the cache line at `slice[at]`, if there is one, without waiting for it.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], at: usize) {
    if at < slice.len() {
        let address = slice.as_ptr().wrapping_add(at);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch never faults, and SSE is part of x86-64.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: a prefetch never faults; nothing is changed.
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, readonly, preserves_flags));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = address;
    }
}
