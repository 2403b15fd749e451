//! Columns while they are being filled, a row at a time.

use crate::error::{self, reserve};
use crate::example::message::{Take, floats_of};
use crate::example::plan::{Default, Feature, Kind, Layout, Missing};
use crate::finished::marks;
pub use crate::finished::{Column, Values};
use crate::room::{extend, push, repeat, room};
use crate::wire::split_varint;

/// Where a record holds the row of a column, as bytes [start, end) of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It has no such feature.
    Missing,
    /// One byte string, packed floats or packed integers.
    One(usize, usize),
    /// Byte strings.
    Many(Vec<(usize, usize)>),
}

// Byte strings up to this length are copied with a fixed number of bytes, which needs no call.
const SHORT_BYTES: usize = 16;

/// What is wrong with the values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// (values found, wanted)
    Count(usize, usize),
    /// (bytes found, wanted) of a raw value
    Length(usize, usize),
    /// The feature is not there.
    Missing,
    /// There is no memory for them.
    Memory,
}

/// A column that grows by appending; a row that turns out wrong is cut off again.
#[derive(Debug)]
pub struct Builder<'p> {
    feature: &'p Feature,
    tag: u8,
    rows: usize,
    // Values of the row being filled.
    taken: usize,
    // Whether there was no memory for one of them.
    is_full: bool,
    floats: Vec<f32>,
    ints: Vec<i64>,
    bytes: Vec<u8>,
    value_offsets: Vec<i64>,
    list_offsets: Vec<i64>,
    absent: Vec<usize>,
}

impl<'p> Builder<'p> {
    /// An empty column.
    #[must_use]
    pub fn new(feature: &'p Feature) -> Self {
        let mut builder = Self {
            feature,
            tag: tag_of(feature.kind),
            rows: 0,
            taken: 0,
            is_full: false,
            floats: Vec::new(),
            ints: Vec::new(),
            bytes: Vec::new(),
            value_offsets: Vec::new(),
            list_offsets: Vec::new(),
            absent: Vec::new(),
        };
        if feature.kind == Kind::Bytes && feature.layout != Layout::Raw {
            builder.value_offsets.push(0);
        }
        if feature.layout == Layout::Ragged {
            builder.list_offsets.push(0);
        }
        builder
    }

    /// An empty column for `rows` rows that hold `bytes` bytes of records in all.
    ///
    /// Room is asked for only where the records are long enough to fill it.
    pub fn with_room(feature: &'p Feature, rows: usize, bytes: usize) -> error::Result<Self> {
        let wanted = match feature.layout {
            // A guess: lists are seldom empty.
            Layout::Ragged => rows,
            Layout::Fixed | Layout::Raw => rows.saturating_mul(feature.count),
        };
        let mut builder = Self::new(feature);
        match (feature.kind, feature.layout) {
            (Kind::Float, _) => reserve(&mut builder.floats, wanted.min(bytes / 4))?,
            (Kind::Int64, _) => reserve(&mut builder.ints, wanted.min(bytes))?,
            (Kind::Bytes, Layout::Raw) => reserve(&mut builder.bytes, wanted.min(bytes))?,
            (Kind::Bytes, _) => reserve(&mut builder.value_offsets, wanted.min(bytes / 2))?,
        }
        if feature.layout == Layout::Ragged {
            reserve(&mut builder.list_offsets, rows)?;
        }
        Ok(builder)
    }

    /// Ask for room for `rows` records like the first of `first` bytes, within `bytes` bytes for all columns.
    ///
    /// Strings have no size that is known before, and growing step by step copies all of them once more.
    pub fn expect(&mut self, rows: usize, bytes: usize, first: usize) -> error::Result<()> {
        let have = self.bytes.len();
        let share = bytes.saturating_mul(have).checked_div(first).unwrap_or_default();
        reserve(&mut self.bytes, have.saturating_mul(rows).min(share).saturating_sub(have))
    }

    /// What the column is made for.
    #[must_use]
    #[inline]
    pub fn feature(&self) -> &'p Feature {
        self.feature
    }

    /// Tag in a Feature of the list that the column takes.
    #[must_use]
    #[inline]
    pub fn tag(&self) -> u8 {
        self.tag
    }

    /// Number of finished rows.
    #[must_use]
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn values(&self) -> usize {
        match (self.feature.kind, self.feature.layout) {
            (Kind::Float, _) => self.floats.len(),
            (Kind::Int64, _) => self.ints.len(),
            (Kind::Bytes, Layout::Raw) => self.rows,
            (Kind::Bytes, _) => self.value_offsets.len().saturating_sub(1),
        }
    }

    /// Finish the row with the values taken since the last one.
    #[inline]
    pub fn end_row(&mut self) -> Result<(), Misfit> {
        if self.is_full {
            return Err(Misfit::Memory);
        }
        match self.feature.layout {
            Layout::Fixed if self.taken != self.feature.count => {
                return Err(Misfit::Count(self.taken, self.feature.count));
            }
            Layout::Fixed => {}
            Layout::Ragged => {
                let end = offset(self.values());
                push(&mut self.list_offsets, end).ok_or(Misfit::Memory)?;
            }
            Layout::Raw => self.check_raw()?,
        }
        self.taken = 0;
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }

    fn check_raw(&self) -> Result<(), Misfit> {
        if self.taken != 1 {
            return Err(Misfit::Count(self.taken, 1));
        }
        let before = self.rows.saturating_mul(self.feature.count);
        let found = self.bytes.len().saturating_sub(before);
        if found == self.feature.count { Ok(()) } else { Err(Misfit::Length(found, self.feature.count)) }
    }

    /// Append the rows of records whose values are known to lie at these places, and to be of the right kind and count.
    ///
    /// `None` where that is not so, and part of them may have been appended.
    pub fn take_rows<'r>(&mut self, rows: impl Iterator<Item = (&'r [u8], Option<&'r Place>)>) -> Option<()> {
        match self.feature.kind {
            Kind::Float => self.take_each(rows, |column, record, start, end| {
                let packed = record.get(start..end)?;
                room(&mut column.floats, packed.len() / 4)?;
                column.floats.extend(floats_of(packed));
                Some(())
            }),
            Kind::Int64 => {
                self.take_each(rows, |column, record, start, end| column.push_ints(record.get(start..end)?))
            }
            Kind::Bytes => self.take_each(rows, Self::push_bytes),
        }
    }

    #[inline(always)]
    fn take_each<'r>(
        &mut self,
        rows: impl Iterator<Item = (&'r [u8], Option<&'r Place>)>,
        append: impl Fn(&mut Self, &'r [u8], usize, usize) -> Option<()>,
    ) -> Option<()> {
        let is_ragged = self.feature.layout == Layout::Ragged;
        for (record, place) in rows {
            match place? {
                Place::One(start, end) => append(self, record, *start, *end)?,
                Place::Many(values) => {
                    for &(start, end) in values {
                        append(self, record, start, end)?;
                    }
                }
                Place::Missing => {
                    self.end_missing_row().ok()?;
                    continue;
                }
            }
            if is_ragged {
                let end = offset(self.values());
                push(&mut self.list_offsets, end)?;
            }
            self.rows = self.rows.saturating_add(1);
        }
        Some(())
    }

    #[inline]
    fn push_ints(&mut self, mut packed: &[u8]) -> Option<()> {
        if let &[low, high] = packed
            && low >= 0x80
            && high < 0x80
        {
            return push(&mut self.ints, i64::from(low & 0x7f) | i64::from(high) << 7);
        }
        while !packed.is_empty() {
            let (value, rest) = split_varint(packed, 10)?;
            push(&mut self.ints, value.cast_signed())?;
            packed = rest;
        }
        Some(())
    }

    #[inline]
    fn push_bytes(&mut self, record: &[u8], start: usize, end: usize) -> Option<()> {
        let value = record.get(start..end)?;
        match record.get(start..).and_then(<[u8]>::first_chunk::<SHORT_BYTES>) {
            Some(chunk) if value.len() <= SHORT_BYTES => {
                let length = self.bytes.len().saturating_add(value.len());
                extend(&mut self.bytes, chunk)?;
                self.bytes.truncate(length);
            }
            _ => extend(&mut self.bytes, value)?,
        }
        if self.feature.layout == Layout::Raw {
            return Some(());
        }
        let end = offset(self.bytes.len());
        push(&mut self.value_offsets, end)
    }

    /// Finish the row as one that lacks the feature.
    pub fn end_missing_row(&mut self) -> Result<(), Misfit> {
        match (&self.feature.missing, self.feature.layout) {
            (Missing::Error, Layout::Ragged) => {}
            (Missing::Error, _) => return Err(Misfit::Missing),
            (Missing::Mark, _) => {
                push(&mut self.absent, self.rows).ok_or(Misfit::Memory)?;
                self.take_blank().ok_or(Misfit::Memory)?;
            }
            (Missing::Default(default), _) => self.take_default(default).ok_or(Misfit::Memory)?,
        }
        self.end_row()
    }

    fn take_default(&mut self, default: &'p Default) -> Option<()> {
        match default {
            Default::Bytes(values) => values.iter().for_each(|value| self.bytes(value)),
            Default::Ints(values) => {
                extend(&mut self.ints, values)?;
                self.taken = self.taken.saturating_add(values.len());
            }
            Default::Floats(values) => {
                extend(&mut self.floats, values)?;
                self.taken = self.taken.saturating_add(values.len());
            }
        }
        Some(())
    }

    // Zeros and empty strings under a mark.
    fn take_blank(&mut self) -> Option<()> {
        let count = self.feature.count;
        match (self.feature.layout, self.feature.kind) {
            (Layout::Ragged, _) => return Some(()),
            (Layout::Raw, _) => repeat(&mut self.bytes, 0, count)?,
            (Layout::Fixed, Kind::Float) => repeat(&mut self.floats, 0.0, count)?,
            (Layout::Fixed, Kind::Int64) => repeat(&mut self.ints, 0, count)?,
            (Layout::Fixed, Kind::Bytes) => {
                repeat(&mut self.value_offsets, offset(self.bytes.len()), count)?;
            }
        }
        self.taken = if self.feature.layout == Layout::Raw { 1 } else { count };
        Some(())
    }

    /// Cut off everything after the first `rows` rows.
    pub fn cut(&mut self, rows: usize) {
        let fixed = rows.saturating_mul(self.feature.count);
        self.list_offsets.truncate(rows.saturating_add(1));
        let values = match self.feature.layout {
            Layout::Ragged => self.list_offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or(0)),
            _ => fixed,
        };
        match (self.feature.kind, self.feature.layout) {
            (Kind::Float, _) => self.floats.truncate(values),
            (Kind::Int64, _) => self.ints.truncate(values),
            (Kind::Bytes, Layout::Raw) => self.bytes.truncate(fixed),
            (Kind::Bytes, _) => {
                self.value_offsets.truncate(values.saturating_add(1));
                let end = self.value_offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or(0));
                self.bytes.truncate(end);
            }
        }
        while self.absent.last().is_some_and(|&row| row >= rows) {
            self.absent.pop();
        }
        self.rows = rows;
        self.taken = 0;
        self.is_full = false;
    }

    /// The finished column.
    pub fn finish(self) -> error::Result<Column> {
        let is_strings = self.feature.kind == Kind::Bytes && self.feature.layout != Layout::Raw;
        let valid = if self.absent.is_empty() { None } else { Some(marks(self.rows, &self.absent)?) };
        Ok(Column {
            values: match self.feature.kind {
                Kind::Bytes => Values::Bytes(self.bytes),
                Kind::Float => Values::Floats(self.floats),
                Kind::Int64 => Values::Ints(self.ints),
            },
            value_offsets: is_strings.then_some(self.value_offsets),
            list_offsets: (self.feature.layout == Layout::Ragged).then_some(self.list_offsets),
            valid,
        })
    }
}

impl<'a> Take<'a> for Builder<'_> {
    #[inline]
    fn floats(&mut self, packed: &'a [u8]) {
        match room(&mut self.floats, packed.len() / 4) {
            Some(()) => self.floats.extend(floats_of(packed)),
            None => self.is_full = true,
        }
        self.taken = self.taken.saturating_add(packed.len() / 4);
    }

    #[inline]
    fn int(&mut self, value: i64) {
        self.is_full |= push(&mut self.ints, value).is_none();
        self.taken = self.taken.saturating_add(1);
    }

    #[inline]
    fn bytes(&mut self, value: &'a [u8]) {
        self.is_full |= extend(&mut self.bytes, value).is_none();
        if self.feature.layout != Layout::Raw {
            let end = offset(self.bytes.len());
            self.is_full |= push(&mut self.value_offsets, end).is_none();
        }
        self.taken = self.taken.saturating_add(1);
    }
}

// Lengths of vectors fit: no allocation passes isize::MAX bytes.
#[inline]
fn offset(length: usize) -> i64 {
    length.cast_signed() as i64
}

fn tag_of(kind: Kind) -> u8 {
    match kind {
        Kind::Bytes => 0x0a,
        Kind::Float => 0x12,
        Kind::Int64 => 0x1a,
    }
}
