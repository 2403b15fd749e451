//! Lines of text: documented in `_native.pyi`.

use numpy::PyArray1;
use penstock_core::lines;
use pyo3::prelude::*;

use crate::buffer::{Bytes, array};
use crate::errors::raised;

type Split<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>, usize);

#[pyfunction]
#[pyo3(signature = (data, start, *, ended, limit))]
pub fn split_lines(
    py: Python<'_>,
    data: Bytes,
    start: usize,
    ended: bool,
    limit: usize,
) -> PyResult<Split<'_>> {
    let mut found = py.detach(|| lines::split(data.as_slice(), start, ended, limit)).map_err(raised)?;
    found.text.shrink_to_fit();
    Ok((array(py, found.text), array(py, found.offsets), found.position))
}
