//! Columns as they are handed over.

use crate::error::{Result, reserved};

/// The values of a column, joined.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Of byte strings, or of raw rows.
    Bytes(Vec<u8>),
    /// Of floats.
    Floats(Vec<f32>),
    /// Of integers.
    Ints(Vec<i64>),
}

/// A finished column. Meanings are those of `Parts` in `_native.pyi`.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The values, joined.
    pub values: Values,
    /// Where each byte string begins in the values.
    pub value_offsets: Option<Vec<i64>>,
    /// Where each row begins, counted in values.
    pub list_offsets: Option<Vec<i64>>,
    /// Which rows are there, unless all are.
    pub valid: Option<Vec<bool>>,
}

/// Which rows are there, of all but the absent ones.
pub fn marks(rows: usize, absent: &[usize]) -> Result<Vec<bool>> {
    let mut valid = reserved(rows as u64)?;
    valid.resize(rows, true);
    for &row in absent {
        if let Some(mark) = valid.get_mut(row) {
            *mark = false;
        }
    }
    Ok(valid)
}
