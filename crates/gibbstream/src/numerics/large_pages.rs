//! Large pages for the tables of `words x topics`.
//!
//! Sampling jumps from row to row. In pages of the usual size every row lies in one of its own, and finding its address
//! takes about as long as fetching what is there.

/// A table of zeros.
pub(crate) fn zeros(len: usize) -> Vec<f64> {
    let mut table = vec![0.0; len]; // fresh from the system, and so not touched yet
    prefer(&mut table);
    table
}

/// Changes the length of a table. What it holds is lost if it has to grow, and some room is left for the next time.
pub(crate) fn resize<T: Copy + Default>(table: &mut Vec<T>, len: usize) {
    if len > table.capacity() {
        *table = Vec::with_capacity(len + len / 4);
        prefer(table.spare_capacity_mut());
    }
    table.resize(len, T::default());
}

/// Asks for large pages behind memory that has not been touched yet.
#[cfg(target_os = "linux")]
fn prefer<T>(memory: &mut [T]) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 1 << 21;
    let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
    let before = start.align_offset(PAGE);
    let whole = bytes.saturating_sub(before) / PAGE * PAGE;
    if whole > 0 {
        #[allow(unsafe_code, reason = "a hint, which changes nothing")]
        // SAFETY: the range is part of the memory given, and the advice does not change what it holds. It may be refused.
        let _ = unsafe { madvise(start.wrapping_add(before).cast(), whole, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer<T>(_memory: &mut [T]) {}
