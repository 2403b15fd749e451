//! Records of an open file straight into columns: what was read is checked and decoded while the cache still holds it.
//!
//! Only whole records without any fault are taken. At whatever else comes, the reader that tells of damage begins.

use std::io::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

use penstock_core::Error as CoreError;
use penstock_core::column::Column;
use penstock_core::example::{Filling, Plan};
use penstock_core::frame::{self, End, FOOTER_BYTES, HEADER_BYTES, Rules};

use crate::files;

/// Bytes that are read at once. With what is made of them they stay in the second-level cache.
const BLOCK_BYTES: usize = 256 << 10;
/// Fewer are not worth asking the system for.
const SMALL_BYTES: usize = 16 << 10;
/// Bytes to read before the interpreter may look at signals (Ctrl-C) again.
const STEP_BYTES: usize = 8 << 20;

/// How far to read.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Records.
    pub rows: usize,
    /// Bytes of records, passed by less than a block.
    pub bytes: usize,
}

/// Columns of the records from `offset` on, how many there are, and the byte behind the last of them.
///
/// There are none where already the first is not whole within a block, has a fault, or does not fit the plan.
pub fn rows(
    plan: &Plan,
    fd: i32,
    offset: u64,
    limits: Limits,
    rules: Rules,
) -> Result<(Vec<Column>, usize, u64)> {
    let mut filling = Filling::new(plan, limits.rows, limits.bytes).map_err(refused)?;
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let mut taken = 0;
    while filling.rows() < limits.rows && (taken < limits.bytes || filling.rows() == 0) {
        let wanted = next_bytes(filling.rows(), taken, limits).saturating_sub(block.len());
        let begin = offset + (taken + block.len()) as u64;
        let has_ended = files::append(fd, begin, wanted, &mut block)? < wanted;
        let before = filling.rows();
        let scan = frame::scan(&block, 0, block.len(), Rules { limit: limits.rows - before, ..rules });
        let scan = scan.map_err(refused)?;
        let error = filling.take(&block, &scan.starts, &scan.lengths).map_err(refused)?;
        let whole = match scan.starts.get(filling.rows() - before) {
            Some(&start) => start as usize - HEADER_BYTES,
            None => scan.position,
        };
        taken += whole;
        block.drain(..whole);
        let goes_on = error.is_none() && matches!(scan.end, End::Done | End::Partial { .. });
        if !goes_on || has_ended || whole == 0 {
            break;
        }
    }
    let rows = filling.rows();
    Ok((filling.finish().map_err(refused)?, rows, offset + taken as u64))
}

/// How many bytes to have in the next block: not many more than the limits leave to be used.
fn next_bytes(rows: usize, taken: usize, limits: Limits) -> usize {
    let Some(average) = taken.checked_div(rows) else { return BLOCK_BYTES };
    let left = (limits.rows - rows).saturating_mul(average + 1).min(limits.bytes.saturating_sub(taken));
    left.clamp(SMALL_BYTES, BLOCK_BYTES)
}

/// A read of so many bytes a microsecond or fewer, and of no less time than this, was not served from memory.
const SLOW_BYTES_A_MICROSECOND: u128 = 500;
const SLOW_MICROSECONDS: u128 = 40;
/// Bytes of records that the system is asked for at once before they are read.
const AHEAD_BYTES: u64 = 8 << 20;

/// Records that are asked for by place, while they are being decoded.
pub struct Gathering<'a> {
    fds: &'a [i64],
    offsets: &'a [i64],
    lengths: &'a [i64],
    rules: Rules,
    filling: Filling<'a>,
    block: Vec<u8>,
    /// Records that were read, or that the system was asked for.
    expected: usize,
}

impl<'a> Gathering<'a> {
    /// Of payloads of these lengths, each with its header at such a place of such a file, in which all have to lie.
    pub fn new(
        plan: &'a Plan,
        fds: &'a [i64],
        offsets: &'a [i64],
        lengths: &'a [i64],
        rules: Rules,
    ) -> Result<Self> {
        let bytes = files::total_of_frames(fds, offsets, lengths)?;
        let filling = Filling::new(plan, offsets.len(), bytes).map_err(refused)?;
        let block = Vec::with_capacity(BLOCK_BYTES);
        Ok(Self { fds, offsets, lengths, rules, filling, block, expected: 0 })
    }

    /// Decode some more of them: whether there may be others. None where one has a fault.
    pub fn step(&mut self) -> Result<Option<bool>> {
        let mut taken = 0;
        while taken < STEP_BYTES {
            let count = self.read_block()?;
            if count == 0 {
                return Ok(Some(false));
            }
            taken += self.block.len();
            if !self.take_block(count)? {
                return Ok(None);
            }
        }
        Ok(Some(true))
    }

    /// Read the next records, as many as fit and at least one; how many.
    fn read_block(&mut self) -> Result<usize> {
        self.block.clear();
        let first = self.filling.rows();
        let mut count = 0;
        while let Some((fd, offset, size)) = self.frame(first + count) {
            if count > 0 && self.block.len().saturating_add(size) > BLOCK_BYTES {
                break;
            }
            let start = Instant::now();
            if files::append(fd, offset, size, &mut self.block)? < size {
                break; // the file was cut meanwhile
            }
            count += 1;
            if first + count > self.expected && is_slow(size, start.elapsed()) {
                self.expect(first + count);
            }
        }
        Ok(count)
    }

    /// The descriptor, the place and the bytes of a record.
    fn frame(&self, row: usize) -> Option<(i32, u64, usize)> {
        let (fd, offset) = (*self.fds.get(row)?, *self.offsets.get(row)?);
        let size = self.lengths.get(row)?.saturating_add(FRAME_BYTES);
        Some((fd as i32, offset as u64, size as usize))
    }

    /// Have the system begin to read the records from `row` on, many at a time, as a disk serves them fastest.
    fn expect(&mut self, row: usize) {
        self.expected = row;
        let mut asked = 0;
        while let Some((fd, offset, size)) = self.frame(self.expected).filter(|_| asked < AHEAD_BYTES) {
            files::begin_read(fd, offset, size as u64);
            asked += size as u64;
            self.expected += 1;
        }
    }

    fn take_block(&mut self, count: usize) -> Result<bool> {
        let first = self.filling.rows();
        let rules = Rules { limit: count, ..self.rules };
        let scan = frame::scan(&self.block, 0, self.block.len(), rules).map_err(refused)?;
        let wanted = self.lengths.get(first..first + count).unwrap_or_default();
        if scan.lengths != wanted {
            return Ok(false);
        }
        let error = self.filling.take(&self.block, &scan.starts, &scan.lengths).map_err(refused)?;
        Ok(error.is_none())
    }

    /// The columns, of all records where no step has found a fault.
    pub fn finish(self) -> Result<(Vec<Column>, usize)> {
        let rows = self.filling.rows();
        Ok((self.filling.finish().map_err(refused)?, rows))
    }
}

/// Whether so many bytes came from a disk or from afar.
fn is_slow(bytes: usize, took: Duration) -> bool {
    took.as_micros() > SLOW_MICROSECONDS + bytes as u128 / SLOW_BYTES_A_MICROSECOND
}

const FRAME_BYTES: i64 = (HEADER_BYTES + FOOTER_BYTES) as i64;

fn refused(error: CoreError) -> Error {
    let kind = match error {
        CoreError::Memory(_) => ErrorKind::OutOfMemory,
        _ => ErrorKind::InvalidInput,
    };
    Error::new(kind, error)
}
