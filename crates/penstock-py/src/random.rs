//! Counted randomness: documented in `_native.pyi`.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use penstock_core::error::reserved;
use penstock_core::philox::Stream;
use penstock_core::shuffle::{self, Incoming};
use penstock_core::{permute, pick};
use pyo3::prelude::*;

use crate::buffer::{array, values};
use crate::errors::raised;

#[pyfunction]
pub fn philox(
    py: Python<'_>,
    seed: u64,
    seed2: u64,
    skip: u64,
    n: u64,
) -> PyResult<Bound<'_, PyArray1<u32>>> {
    let numbers = py.detach(|| Stream::new(seed, seed2).numbers(skip, n)).map_err(raised)?;
    Ok(array(py, numbers))
}

#[pyfunction]
pub fn stateless_numbers<'py>(
    py: Python<'py>,
    seeds: PyReadonlyArray2<'py, i64>,
    count: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let made = by_seed(py, &seeds, count, |stream, part| stream.fill(0, part))?;
    Ok(array(py, made))
}

#[pyfunction]
pub fn stateless_normals<'py>(
    py: Python<'py>,
    seeds: PyReadonlyArray2<'py, i64>,
    count: usize,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let made = by_seed(py, &seeds, count, Stream::fill_normal)?;
    Ok(array(py, made))
}

#[pyfunction]
pub fn stateless_truncated_normals<'py>(
    py: Python<'py>,
    seeds: PyReadonlyArray2<'py, i64>,
    count: usize,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let made = by_seed(py, &seeds, count, Stream::fill_truncated_normal)?;
    Ok(array(py, made))
}

fn by_seed<T: Copy + Default + Send>(
    py: Python<'_>,
    seeds: &PyReadonlyArray2<'_, i64>,
    count: usize,
    fill: fn(Stream, &mut [T]),
) -> PyResult<Vec<T>> {
    let (pairs, _) = seeds.as_slice()?.as_chunks::<2>();
    py.detach(|| {
        let total = pairs.len().saturating_mul(count);
        let mut numbers = reserved(total as u64)?;
        numbers.resize(total, T::default());
        for (&seed, part) in pairs.iter().zip(numbers.chunks_exact_mut(count.max(1))) {
            fill(Stream::stateless(seed), part);
        }
        Ok(numbers)
    })
    .map_err(raised)
}

type Shuffled<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, u64);

#[pyfunction]
#[pyo3(signature = (seed, seed2, draws, ring, first, incoming, *, buffer_size, ended, limit))]
#[allow(clippy::too_many_arguments, reason = "they are what the order depends on")]
pub fn shuffle_ring<'py>(
    py: Python<'py>,
    seed: u64,
    seed2: u64,
    draws: u64,
    ring: PyReadonlyArray1<'py, i64>,
    first: i64,
    incoming: u64,
    buffer_size: u64,
    ended: bool,
    limit: u64,
) -> PyResult<Shuffled<'py>> {
    let ring = values(&ring)?;
    let incoming = Incoming { first, count: incoming, ended, limit };
    let shuffled = py
        .detach(|| shuffle::ring(Stream::new(seed, seed2), draws, ring, incoming, buffer_size))
        .map_err(raised)?;
    let shuffle::Shuffled { rows: mut out, out: count, taken } = shuffled;
    let ring = out.split_off(count);
    out.shrink_to_fit(); // else the few rows that went out would keep the memory of a wide buffer
    Ok((array(py, out), array(py, ring), taken))
}

#[pyfunction]
pub fn permutation(
    py: Python<'_>,
    n: i64,
    key: u64,
    start: i64,
    count: i64,
) -> PyResult<Bound<'_, PyArray1<i64>>> {
    let entries = py.detach(|| permute::entries(n, key, start, count)).map_err(raised)?;
    Ok(array(py, entries))
}

#[pyfunction]
pub fn sample_picks<'py>(
    py: Python<'py>,
    seed: u64,
    seed2: u64,
    draws: u64,
    n: u64,
    cdf: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let cdf = values(&cdf)?;
    let picks = py.detach(|| pick::sources(Stream::new(seed, seed2), draws, n, cdf)).map_err(raised)?;
    Ok(array(py, picks))
}
