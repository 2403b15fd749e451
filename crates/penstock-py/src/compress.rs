//! Compressed streams: documented in `_native.pyi`.

use std::borrow::Cow;

use penstock_core::compress::{self, Format, Limits, Point};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::buffer::{Bytes, BytesMut};
use crate::errors::raised;

/// (output offset, input offset, bits, window)
type PointTuple = (u64, u64, u8, Cow<'static, [u8]>);

#[pyclass(module = "penstock._native")]
pub struct Decompressor(compress::Decompressor);

#[pymethods]
impl Decompressor {
    #[new]
    #[pyo3(signature = (format, *, max_ratio = 1000, free_bytes = 1 << 24, point_span = 0))]
    fn new(format: &str, max_ratio: u64, free_bytes: u64, point_span: u64) -> PyResult<Self> {
        let limits = Limits { max_ratio, free_bytes };
        let format = Format::named(format).map_err(raised)?;
        Ok(Self(compress::Decompressor::new(format, limits, point_span).map_err(raised)?))
    }

    fn decompress(
        &mut self,
        py: Python<'_>,
        data: Bytes,
        start: usize,
        stop: usize,
        mut out: BytesMut,
        out_start: usize,
    ) -> PyResult<(usize, usize)> {
        if out.overlaps(&data) {
            return Err(PyValueError::new_err("out shares memory with data"));
        }
        let bytes = data.as_slice();
        let input = bytes.get(start..stop).ok_or_else(|| {
            PyValueError::new_err(format!("range {start}..{stop} is not within the {} bytes", bytes.len()))
        })?;
        let out = out.as_mut_slice();
        let size = out.len();
        let room = out.get_mut(out_start..).ok_or_else(|| {
            PyValueError::new_err(format!("out_start is {out_start}, wanted at most the {size} bytes of out"))
        })?;
        let step = py.detach(|| self.0.decompress(input, room)).map_err(raised)?;
        Ok((step.taken, step.made))
    }

    #[getter]
    fn at_end(&self) -> bool {
        self.0.at_end()
    }

    #[getter]
    fn total_in(&self) -> u64 {
        self.0.total_in()
    }

    #[getter]
    fn total_out(&self) -> u64 {
        self.0.total_out()
    }

    fn take_points(&mut self) -> Vec<PointTuple> {
        let points = self.0.take_points().into_iter();
        points.map(|point| (point.output, point.input, point.bits, point.window.into())).collect()
    }

    #[staticmethod]
    #[pyo3(signature = (format, point, *, max_ratio = 1000, free_bytes = 1 << 24))]
    fn resume(format: &str, point: (u64, u64, u8, Bytes), max_ratio: u64, free_bytes: u64) -> PyResult<Self> {
        let (output, input, bits, window) = point;
        let point = Point { output, input, bits, window: window.as_slice().to_vec() };
        let limits = Limits { max_ratio, free_bytes };
        let format = Format::named(format).map_err(raised)?;
        Ok(Self(compress::Decompressor::resume(format, &point, limits).map_err(raised)?))
    }
}

#[pyclass(module = "penstock._native")]
pub struct Compressor(compress::Compressor);

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(signature = (format, *, level = None))]
    fn new(format: &str, level: Option<i32>) -> PyResult<Self> {
        let format = Format::named(format).map_err(raised)?;
        Ok(Self(compress::Compressor::new(format, level).map_err(raised)?))
    }

    fn compress(&mut self, py: Python<'_>, data: Bytes) -> PyResult<Cow<'static, [u8]>> {
        py.detach(|| self.0.compress(data.as_slice())).map(Cow::Owned).map_err(raised)
    }

    fn cut(&mut self, py: Python<'_>) -> PyResult<Cow<'static, [u8]>> {
        py.detach(|| self.0.cut()).map(Cow::Owned).map_err(raised)
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<Cow<'static, [u8]>> {
        py.detach(|| self.0.finish()).map(Cow::Owned).map_err(raised)
    }
}
