//! Tensors as tf.data saves them: TensorProto messages into columns, and columns into records (formats.md, section 5.4).

pub mod dense;
pub mod dtype;
pub mod items;
pub mod optional;
pub mod proto;
pub mod ragged;
pub mod sparse;
pub mod typed;
pub mod variant;
pub mod write;

use crate::wire::Malformed;

/// Bytes that values may take without being written, beyond as many as there are: zeros and repeats are left out.
const FREE_BYTES: u64 = 16 << 20;

/// Why a record is not what is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// What was found, and what was wanted.
    pub message: String,
    /// Byte in the data where it was noticed.
    pub offset: usize,
}

/// Result of reading a record.
pub type Read<T> = Result<T, Wrong>;

impl Wrong {
    /// Something noticed at a byte.
    pub fn at(offset: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), offset }
    }
}

impl From<Malformed> for Wrong {
    fn from(malformed: Malformed) -> Self {
        Self::at(malformed.offset, format!("no TensorProto, {}", malformed.reason))
    }
}

/// The first record that is not what is wanted; those before it were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowError {
    /// Number among the records.
    pub row: usize,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// A record as bytes of the data.
pub(crate) fn record(start: i64, length: i64) -> Option<crate::wire::Span> {
    let (start, length) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
    Some(crate::wire::Span { start, end: start.checked_add(length)? })
}

/// Every record in order, until one is wrong: how many were read, and the error.
pub(crate) fn each(
    data: &[u8],
    starts: &[i64],
    lengths: &[i64],
    mut read: impl FnMut(crate::wire::Span) -> Read<()>,
) -> (usize, Option<RowError>) {
    for (row, (&start, &length)) in starts.iter().zip(lengths).enumerate() {
        let span = record(start, length).filter(|span| span.end <= data.len());
        let done = span.ok_or_else(|| Wrong::at(0, "a record outside the data")).and_then(&mut read);
        if let Err(wrong) = done {
            return (row, Some(RowError { row, wrong }));
        }
    }
    (starts.len().min(lengths.len()), None)
}
