//! One way to read a Python buffer as a slice, and one to hand a vector back as an array.

use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Bytes of any object with a contiguous buffer of one-byte items. Take it as an argument of a `#[pyfunction]`.
///
/// The buffer is held for as long as this value lives, so `as_slice` stays valid outside the interpreter.
pub struct Bytes(PyUntypedBuffer);

impl Bytes {
    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        let length = self.0.len_bytes();
        if length == 0 {
            return &[];
        }
        // SAFETY: the constructor checked that the buffer is contiguous, so `buf_ptr` points at `len_bytes`
        // readable bytes, and the buffer protocol keeps them in place until `self.0` is released. Any bit
        // pattern is a valid u8. As everywhere in the buffer protocol, the caller must not write to the
        // object while it is being read.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), length) }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Bytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(&object)?;
        if buffer.item_size() != 1 {
            let size = buffer.item_size();
            return Err(PyTypeError::new_err(format!("buffer has items of {size} bytes, wanted bytes")));
        }
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("buffer is not contiguous"));
        }
        Ok(Self(buffer))
    }
}

/// Bytes of a writable buffer.
pub struct BytesMut(Bytes);

impl BytesMut {
    /// The bytes, to write to. `&mut` keeps Rust from making two of them out of one argument.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        let length = self.0.0.len_bytes();
        if length == 0 {
            return &mut [];
        }
        // SAFETY: as in `Bytes::as_slice`; the constructor also checked that the buffer is writable.
        unsafe { std::slice::from_raw_parts_mut(self.0.0.buf_ptr().cast::<u8>(), length) }
    }

    /// Whether the two arguments share a byte; then no slice of this one may be made.
    pub fn overlaps(&self, other: &Bytes) -> bool {
        let here = self.0.as_slice().as_ptr_range();
        let there = other.as_slice().as_ptr_range();
        here.start < there.end && there.start < here.end
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for BytesMut {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let bytes = Bytes::extract(object)?;
        if bytes.0.readonly() {
            return Err(PyValueError::new_err("buffer is read-only, wanted one that can be written to"));
        }
        Ok(Self(bytes))
    }
}

/// The values of a one-dimensional C-contiguous array.
pub fn values<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err("array is not contiguous"));
    }
    Ok(array.as_slice()?)
}

/// The vector as a new array, which owns its memory; nothing is copied.
pub fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}
