//! How the process keeps memory that is free.

use pyo3::prelude::*;

/// Allocations up to this size come from the heap instead of a mapping of their own; the most that glibc allows.
#[cfg(target_env = "gnu")]
const HEAP_BYTES: libc::c_int = 32 << 20;
/// Free memory at the end of the heap that is kept for the next allocation.
#[cfg(target_env = "gnu")]
const KEPT_BYTES: libc::c_int = 64 << 20;

/// Keep the memory of one chunk for the next.
///
/// Columns and blocks of some megabytes come and go with every chunk. By default glibc gives such memory back each time
/// and takes it again page by page, which costs more than filling it. This holds for the whole process: it keeps up to
/// 64 MiB at the end of each heap that it would have given back. TensorFlow sets it back to what it was when it begins
/// to work, so this is called again before rows are made.
#[pyfunction]
pub fn keep_between_chunks() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt takes any two numbers; those it cannot use it refuses.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, HEAP_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}
