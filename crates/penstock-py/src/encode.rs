//! Columns and single messages from Python into Examples and SequenceExamples.

use numpy::{PyArray1, PyReadonlyArray1};
use penstock_core::error::reserved;
use penstock_core::example::Kind;
use penstock_core::example::encode::{self, Input, InputList, Source};
use penstock_core::example::write::{self, KeyOrder, List, Named};
use penstock_core::look::STEP_BYTES;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::{Bytes, array, bytes_object, values};
use crate::errors::raised;
use crate::signals::hearing;

type Offsets<'py> = PyReadonlyArray1<'py, i64>;
type FeatureTuple<'py> =
    (Vec<u8>, u8, usize, Bound<'py, PyAny>, Option<Offsets<'py>>, Option<Offsets<'py>>, Option<Bytes>);
type ListTuple<'py> = (FeatureTuple<'py>, Offsets<'py>, Option<Bytes>);
type Encoded<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>);

/// Holds the values of a column while the core reads them.
enum Held<'py> {
    Bytes(Bytes),
    Floats(PyReadonlyArray1<'py, f32>),
    Ints(PyReadonlyArray1<'py, i64>),
}

/// Holds a column while the core reads it.
struct Column<'py> {
    name: Vec<u8>,
    count: usize,
    values: Held<'py>,
    value_offsets: Option<Offsets<'py>>,
    list_offsets: Option<Offsets<'py>>,
    valid: Option<Bytes>,
}

impl<'py> Column<'py> {
    fn new(tuple: FeatureTuple<'py>) -> PyResult<Self> {
        let (name, kind, count, values, value_offsets, list_offsets, valid) = tuple;
        let values = match Kind::new(kind).map_err(raised)? {
            Kind::Bytes => Held::Bytes(values.extract()?),
            Kind::Float => Held::Floats(values.extract()?),
            Kind::Int64 => Held::Ints(values.extract()?),
        };
        Ok(Self { name, count, values, value_offsets, list_offsets, valid })
    }

    fn input(&self) -> PyResult<Input<'_>> {
        let value_offsets = self.value_offsets.as_ref().map(values).transpose()?;
        let source = match (&self.values, value_offsets) {
            (Held::Bytes(data), Some(offsets)) => Source::Bytes(data.as_slice(), offsets),
            (Held::Bytes(data), None) => Source::Raw(data.as_slice()),
            (Held::Floats(floats), _) => Source::Floats(values(floats)?),
            (Held::Ints(ints), _) => Source::Ints(values(ints)?),
        };
        Ok(Input {
            name: &self.name,
            count: self.count,
            source,
            list_offsets: self.list_offsets.as_ref().map(values).transpose()?,
            valid: self.valid.as_ref().map(Bytes::as_slice),
        })
    }
}

fn columns(tuples: Vec<FeatureTuple<'_>>) -> PyResult<Vec<Column<'_>>> {
    tuples.into_iter().map(Column::new).collect()
}

fn inputs<'a>(columns: &'a [Column<'_>]) -> PyResult<Vec<Input<'a>>> {
    columns.iter().map(Column::input).collect()
}

/// Documented in `_native.pyi`.
#[pyfunction]
#[pyo3(signature = (features, n, *, key_order = "bytes", framed = true))]
pub fn encode_examples<'py>(
    py: Python<'py>,
    features: Vec<FeatureTuple<'py>>,
    n: usize,
    key_order: &str,
    framed: bool,
) -> PyResult<Encoded<'py>> {
    encode_sequence_examples(py, features, Vec::new(), n, key_order, framed)
}

/// Documented in `_native.pyi`.
#[pyfunction]
#[pyo3(signature = (context, lists, n, *, key_order = "bytes", framed = true))]
pub fn encode_sequence_examples<'py>(
    py: Python<'py>,
    context: Vec<FeatureTuple<'py>>,
    lists: Vec<ListTuple<'py>>,
    n: usize,
    key_order: &str,
    framed: bool,
) -> PyResult<Encoded<'py>> {
    let order = KeyOrder::new(key_order).map_err(raised)?;
    let context = columns(context)?;
    let held = lists
        .into_iter()
        .map(|(tuple, offsets, present)| Ok((Column::new(tuple)?, offsets, present)))
        .collect::<PyResult<Vec<_>>>()?;
    let lists = held
        .iter()
        .map(|(column, offsets, present)| {
            let (step_offsets, present) = (values(offsets)?, present.as_ref().map(Bytes::as_slice));
            Ok(InputList { steps: column.input()?, step_offsets, present })
        })
        .collect::<PyResult<Vec<_>>>()?;
    let context = inputs(&context)?;
    let encoded = py.detach(|| hearing(|looks| encode::encode(context, lists, n, order, framed, looks)));
    let (bytes, offsets) = encoded?;
    Ok((array(py, bytes), array(py, offsets)))
}

/// Holds the values of one feature of one message.
enum One<'py> {
    Unset,
    Bytes(Vec<u8>, Vec<i64>),
    Floats(PyReadonlyArray1<'py, f32>),
    Ints(PyReadonlyArray1<'py, i64>),
}

impl<'py> One<'py> {
    fn new(kind: u8, values: &Bound<'py, PyAny>) -> PyResult<Self> {
        if kind == 0 {
            return Ok(Self::Unset);
        }
        Ok(match Kind::new(kind).map_err(raised)? {
            Kind::Bytes => Self::join(values.py(), &values.extract::<Vec<Bytes>>()?)?,
            Kind::Float => Self::Floats(values.extract()?),
            Kind::Int64 => Self::Ints(values.extract()?),
        })
    }

    fn join(py: Python<'_>, values: &[Bytes]) -> PyResult<Self> {
        let total = values.iter().map(|value| value.as_slice().len()).fold(0, usize::saturating_add);
        let mut data: Vec<u8> = reserved(total as u64).map_err(raised)?;
        let mut offsets = reserved((values.len() as u64).saturating_add(1)).map_err(raised)?;
        offsets.push(0);
        for value in values {
            for step in value.as_slice().chunks(STEP_BYTES) {
                data.extend_from_slice(step);
                if step.len() == STEP_BYTES {
                    py.check_signals()?;
                }
            }
            offsets.push(data.len() as i64);
        }
        Ok(Self::Bytes(data, offsets))
    }

    fn list(&self) -> PyResult<List<'_>> {
        Ok(match self {
            Self::Unset => List::Unset,
            Self::Bytes(data, offsets) => List::Bytes(data, offsets),
            Self::Floats(floats) => List::Floats(values(floats)?),
            Self::Ints(ints) => List::Ints(values(ints)?),
        })
    }
}

type NamedTuple<'py> = (Vec<u8>, u8, Bound<'py, PyAny>);
type StepsTuple<'py> = (Vec<u8>, Vec<(u8, Bound<'py, PyAny>)>);

fn held(tuples: Vec<NamedTuple<'_>>) -> PyResult<Vec<(Vec<u8>, One<'_>)>> {
    tuples.into_iter().map(|(name, kind, values)| Ok((name, One::new(kind, &values)?))).collect()
}

fn named<'a>(held: &'a [(Vec<u8>, One<'_>)]) -> PyResult<Vec<Named<'a>>> {
    held.iter().map(|(name, one)| Ok((name.as_slice(), one.list()?))).collect()
}

/// Documented in `_native.pyi`.
#[pyfunction]
#[pyo3(signature = (features, *, key_order = "bytes"))]
pub fn write_example<'py>(
    py: Python<'py>,
    features: Vec<NamedTuple<'py>>,
    key_order: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let order = KeyOrder::new(key_order).map_err(raised)?;
    let features = held(features)?;
    let features = named(&features)?;
    let bytes = hearing(|looks| write::write_example(features, order, looks))?;
    bytes_object(py, &bytes)
}

/// Documented in `_native.pyi`.
#[pyfunction]
#[pyo3(signature = (context, lists, *, key_order = "bytes"))]
pub fn write_sequence_example<'py>(
    py: Python<'py>,
    context: Vec<NamedTuple<'py>>,
    lists: Vec<StepsTuple<'py>>,
    key_order: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let order = KeyOrder::new(key_order).map_err(raised)?;
    let context = held(context)?;
    let held = lists
        .iter()
        .map(|(name, steps)| {
            let steps = steps.iter().map(|(kind, values)| One::new(*kind, values));
            Ok((name.as_slice(), steps.collect::<PyResult<Vec<_>>>()?))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let lists = held
        .iter()
        .map(|(name, steps)| Ok((*name, steps.iter().map(One::list).collect::<PyResult<Vec<_>>>()?)))
        .collect::<PyResult<Vec<_>>>()?;
    let context = named(&context)?;
    let bytes = hearing(|looks| write::write_sequence_example(context, lists, order, looks))?;
    bytes_object(py, &bytes)
}
