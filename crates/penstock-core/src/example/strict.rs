//! What TensorFlow's batch parser takes, which is not what protobuf says. `formats.md` 2.3, column `op`.
//!
//! Follows its reading order, so that of several things wrong the same one is found.

use crate::column::Builder;
use crate::wire::Malformed;

use super::decode::{BAD_KIND, BAD_LIST, UNKNOWN, WRONG_KIND, Wrong};
use super::message::{BYTES, FLOAT, INT64, Take, UNSET};
use super::plan::{Layout, Plan};

const FIELD_1_LEN: u8 = 0x0a;
const FIELD_1_VARINT: u8 = 0x08;
const FIELD_1_FIXED32: u8 = 0x0d;

/// An input stream with the limits of protobuf's own: a limit past the one around it is not kept.
#[derive(Clone, Copy, Debug)]
struct Stream<'a> {
    record: &'a [u8],
    position: usize,
    limit: usize,
}

impl<'a> Stream<'a> {
    fn left(&self) -> &'a [u8] {
        self.record.get(self.position..self.limit).unwrap_or_default()
    }

    fn at_end(&self) -> bool {
        self.position >= self.limit
    }

    fn skip(&mut self, count: usize) {
        self.position = self.position.saturating_add(count).min(self.limit);
    }

    fn varint(&mut self) -> Option<u64> {
        let before = self.left();
        let (value, after) = crate::wire::split_varint(before, 10)?;
        self.skip(before.len().saturating_sub(after.len()));
        Some(value)
    }

    // Bits past the 32nd are dropped.
    fn varint32(&mut self) -> Option<usize> {
        self.varint().map(|value| value as u32 as usize)
    }

    fn expect(&mut self, tag: u8) -> bool {
        let is_there = self.left().first() == Some(&tag);
        self.skip(usize::from(is_there));
        is_there
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.left().get(..count)?;
        self.skip(count);
        Some(bytes)
    }

    /// Set the limit `length` bytes on; returns the one to go back to.
    fn push_limit(&mut self, length: usize) -> usize {
        let before = self.limit;
        self.limit = self.position.saturating_add(length).min(before);
        before
    }

    fn message(&mut self) -> Option<usize> {
        let length = self.varint32()?;
        Some(self.push_limit(length))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: Part,
    feature: Part,
}

fn read_example(record: &[u8]) -> Result<Vec<Entry>, Malformed> {
    let mut stream = Stream { record, position: 0, limit: record.len() };
    let mut entries = Vec::new();
    read_into(&mut stream, &mut entries)
        .map(|()| entries)
        .ok_or(Malformed { offset: stream.position, reason: "not an Example that TensorFlow reads" })
}

fn read_into(stream: &mut Stream<'_>, entries: &mut Vec<Entry>) -> Option<()> {
    while !stream.at_end() {
        if stream.expect(FIELD_1_LEN) {
            read_features(stream, entries)?;
        } else {
            skip_field(stream)?;
        }
    }
    Some(())
}

fn skip_field(stream: &mut Stream<'_>) -> Option<()> {
    let tag = stream.varint32().unwrap_or(0);
    match tag & 7 {
        0 => drop(stream.varint()?),
        1 => drop(stream.bytes(8)?),
        2 => {
            let length = stream.varint32()?;
            // A length of 2^31 or more is negative there, and nothing is skipped.
            if i32::try_from(length).is_ok() {
                stream.skip(length);
            }
        }
        5 => drop(stream.bytes(4)?),
        _ => return None,
    }
    Some(())
}

fn read_features(stream: &mut Stream<'_>, entries: &mut Vec<Entry>) -> Option<()> {
    let limit = stream.message()?;
    while !stream.at_end() {
        if !stream.expect(FIELD_1_LEN) {
            return None;
        }
        entries.push(read_entry(stream)?);
    }
    stream.limit = limit;
    Some(())
}

fn read_entry(stream: &mut Stream<'_>) -> Option<Entry> {
    let limit = stream.message()?;
    let mut entry = Entry::default();
    // Exactly two fields, in either order.
    for _ in 0..2 {
        match stream.varint32()? {
            0x0a => entry.key = read_part(stream)?,
            0x12 => entry.feature = read_part(stream)?,
            _ => return None,
        }
    }
    if !stream.at_end() {
        return None;
    }
    stream.limit = limit;
    Some(entry)
}

fn read_part(stream: &mut Stream<'_>) -> Option<Part> {
    let length = stream.varint32()?;
    let start = stream.position;
    stream.bytes(length)?;
    Some(Part { start, end: stream.position })
}

/// Append the record to the columns.
pub(super) fn take_record(record: &[u8], plan: &Plan, columns: &mut [Builder<'_>]) -> Result<(), Wrong> {
    let row = columns.first().map_or(0, Builder::rows);
    let mut last_is_unset = vec![false; columns.len()];
    for entry in read_example(record)?.iter().rev() {
        let key = record.get(entry.key.start..entry.key.end).unwrap_or_default();
        match plan
            .slot(key)
            .and_then(|slot| Some((slot, columns.get_mut(slot)?, last_is_unset.get_mut(slot)?)))
        {
            Some((slot, column, is_unset)) => take_entry(record, row, *entry, slot, column, is_unset)?,
            None if plan.refuse_unknown && entry.feature.start < entry.feature.end => {
                let (found, wanted) = (entry.key.start, key.len());
                return Err(Wrong { slot: None, code: UNKNOWN, found, wanted, offset: found });
            }
            None => {}
        }
    }
    for (slot, column) in columns.iter_mut().enumerate().filter(|(_, column)| column.rows() == row) {
        column.end_missing_row().map_err(|misfit| Wrong::misfit(slot, misfit, record.len()))?;
    }
    Ok(())
}

fn take_entry(
    record: &[u8],
    row: usize,
    entry: Entry,
    slot: usize,
    column: &mut Builder<'_>,
    last_is_unset: &mut bool,
) -> Result<(), Wrong> {
    let offset = entry.feature.start;
    let wrong = |code, found: u8, wanted: u8| {
        let (found, wanted) = (usize::from(found), usize::from(wanted));
        Wrong { slot: Some(slot), code, found, wanted, offset }
    };
    let mut stream = Stream { record, position: offset, limit: entry.feature.end };
    let kind = read_kind(&mut stream).ok_or_else(|| wrong(BAD_KIND, 0, column.feature().kind.number()))?;
    let wanted = column.feature().kind.number();
    if column.rows() != row || *last_is_unset {
        return Ok(());
    }
    if kind == UNSET {
        // Of equal keys a dense feature takes the last that is set, a sparse one the last.
        *last_is_unset = column.feature().layout == Layout::Ragged;
        return Ok(());
    }
    if kind != wanted {
        return Err(wrong(WRONG_KIND, kind, wanted));
    }
    read_list(&mut stream, kind, column).ok_or_else(|| wrong(BAD_LIST, kind, wanted))?;
    column.end_row().map_err(|misfit| Wrong::misfit(slot, misfit, offset))
}

fn read_kind(stream: &mut Stream<'_>) -> Option<u8> {
    let Some(&tag) = stream.left().first() else {
        return Some(UNSET);
    };
    stream.skip(1);
    match tag {
        0x0a => Some(BYTES),
        0x12 => Some(FLOAT),
        0x1a => Some(INT64),
        _ => None,
    }
}

fn read_list<'a>(stream: &mut Stream<'a>, kind: u8, take: &mut impl Take<'a>) -> Option<()> {
    let length = stream.varint32()?;
    stream.push_limit(length);
    match kind {
        BYTES => read_bytes(stream, take),
        _ if length == 0 => Some(()),
        FLOAT => read_floats(stream, take),
        _ => read_ints(stream, take),
    }
}

fn read_bytes<'a>(stream: &mut Stream<'a>, take: &mut impl Take<'a>) -> Option<()> {
    while !stream.at_end() {
        if !stream.expect(FIELD_1_LEN) {
            return None;
        }
        let length = stream.varint32()?;
        take.bytes(stream.bytes(length)?);
    }
    Some(())
}

fn read_floats<'a>(stream: &mut Stream<'a>, take: &mut impl Take<'a>) -> Option<()> {
    if stream.expect(FIELD_1_LEN) {
        // The first packed piece is all that is read; what is not a whole float of it is left.
        let length = stream.varint32()?;
        take.floats(stream.bytes(length & !3)?);
        return Some(());
    }
    if stream.at_end() {
        return None;
    }
    while !stream.at_end() {
        if !stream.expect(FIELD_1_FIXED32) {
            return None;
        }
        take.floats(stream.bytes(4)?);
    }
    Some(())
}

fn read_ints<'a>(stream: &mut Stream<'a>, take: &mut impl Take<'a>) -> Option<()> {
    if stream.expect(FIELD_1_LEN) {
        // The first packed piece is all that is read.
        stream.message()?;
        while !stream.at_end() {
            take.int(stream.varint()?.cast_signed());
        }
        return Some(());
    }
    if stream.at_end() {
        return None;
    }
    while !stream.at_end() {
        if !stream.expect(FIELD_1_VARINT) {
            return None;
        }
        take.int(stream.varint()?.cast_signed());
    }
    Some(())
}
