//! Rows of a column in another order.

use crate::error::{Error, Result};

/// The bytes of range `row`: data[offsets[row]..offsets[row + 1]].
#[inline]
#[must_use]
pub fn range<'a>(data: &'a [u8], offsets: &[i64], row: usize) -> Option<&'a [u8]> {
    let start = usize::try_from(*offsets.get(row)?).ok()?;
    let end = usize::try_from(*offsets.get(row.checked_add(1)?)?).ok()?;
    data.get(start..end)
}

/// The ranges that `rows` name, joined, and where each begins in them.
pub fn ranges(data: &[u8], offsets: &[i64], rows: &[i64]) -> Result<(Vec<u8>, Vec<i64>)> {
    let mut taken = Vec::with_capacity(rows.len());
    let mut ends = Vec::with_capacity(rows.len().saturating_add(1));
    let mut total = 0_usize;
    ends.push(0);
    for &row in rows {
        let bytes = usize::try_from(row).ok().and_then(|row| range(data, offsets, row));
        let bytes = bytes.ok_or_else(|| {
            let count = offsets.len().saturating_sub(1);
            Error::Range(format!("row {row} is not one of {count} ranges inside the data").into())
        })?;
        total = total.saturating_add(bytes.len());
        ends.push(i64::try_from(total).unwrap_or(i64::MAX));
        taken.push(bytes);
    }
    Ok((taken.concat(), ends))
}
