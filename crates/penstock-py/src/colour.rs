//! Hue and saturation of colours: documented in `_native.pyi`.

use numpy::{PyArray1, PyReadonlyArray1};
use penstock_core::error::reserved;
use penstock_core::image::colour;
use pyo3::prelude::*;

use crate::buffer::{array, values};
use crate::errors::raised;

type Change = fn(&mut [f32], &[f32]) -> penstock_core::Result<()>;

#[pyfunction]
pub fn turn_hue<'py>(
    py: Python<'py>,
    samples: PyReadonlyArray1<'py, f32>,
    by: PyReadonlyArray1<'py, f32>,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    changed(py, &samples, &by, colour::turn_hue)
}

#[pyfunction]
pub fn scale_saturation<'py>(
    py: Python<'py>,
    samples: PyReadonlyArray1<'py, f32>,
    by: PyReadonlyArray1<'py, f32>,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    changed(py, &samples, &by, colour::scale_saturation)
}

fn changed<'py>(
    py: Python<'py>,
    samples: &PyReadonlyArray1<'py, f32>,
    by: &PyReadonlyArray1<'py, f32>,
    change: Change,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let (samples, by) = (values(samples)?, values(by)?);
    let made = py
        .detach(|| {
            let mut made = reserved(samples.len() as u64)?;
            made.extend_from_slice(samples);
            change(&mut made, by)?;
            Ok(made)
        })
        .map_err(raised)?;
    Ok(array(py, made))
}
