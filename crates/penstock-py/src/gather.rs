//! Rows of columns in another order: documented in `_native.pyi`.

use numpy::{PyArray1, PyReadonlyArray1};
use penstock_core::gather::{self, Ranges};
use pyo3::prelude::*;

use crate::buffer::{Items, aligned, array, values};
use crate::errors::raised;

type Gathered<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>);
type Located<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

#[pyfunction]
#[pyo3(signature = (data, offsets, rows, width_bytes = 1))]
pub fn gather_ranges<'py>(
    py: Python<'py>,
    data: Items,
    offsets: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray1<'py, i64>,
    width_bytes: usize,
) -> PyResult<Gathered<'py>> {
    let (data, offsets, rows) = (data.as_slice(), values(&offsets)?, values(&rows)?);
    let (taken, ends) = py.detach(|| gather::ranges(data, width_bytes, offsets, rows)).map_err(raised)?;
    Ok((array(py, taken), array(py, ends)))
}

#[pyfunction]
#[pyo3(signature = (sources, which, rows, width_bytes = 1))]
pub fn gather_ranges_from<'py>(
    py: Python<'py>,
    sources: Vec<(Items, PyReadonlyArray1<'py, i64>)>,
    which: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray1<'py, i64>,
    width_bytes: usize,
) -> PyResult<Gathered<'py>> {
    let sources: PyResult<Vec<Ranges<'_>>> = sources
        .iter()
        .map(|(data, offsets)| Ok(Ranges { data: data.as_slice(), offsets: values(offsets)? }))
        .collect();
    let (sources, which, rows) = (sources?, values(&which)?, values(&rows)?);
    let (taken, ends) =
        py.detach(|| gather::ranges_from(&sources, width_bytes, which, rows)).map_err(raised)?;
    Ok((array(py, taken), array(py, ends)))
}

#[pyfunction]
pub fn gather_fixed_from<'py>(
    py: Python<'py>,
    sources: Vec<Items>,
    width_bytes: usize,
    which: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let sources: Vec<&[u8]> = sources.iter().map(Items::as_slice).collect();
    let (which, rows) = (values(&which)?, values(&rows)?);
    aligned(py, rows.len().saturating_mul(width_bytes), |out| {
        gather::fixed_from(&sources, width_bytes, which, rows, out)
    })
}

#[pyfunction]
pub fn locate<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    positions: PyReadonlyArray1<'py, i64>,
) -> PyResult<Located<'py>> {
    let (starts, positions) = (values(&starts)?, values(&positions)?);
    let (which, rows) = py.detach(|| gather::locate(starts, positions)).map_err(raised)?;
    Ok((array(py, which), array(py, rows)))
}
