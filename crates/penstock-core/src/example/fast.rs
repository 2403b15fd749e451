//! The usual record at speed: one Features message, each entry a key and then a value, each list in one piece.
//!
//! Whatever is not that is left to the general reader. What is taken here, any reader of the format takes alike.

use crate::column::Builder;
use crate::wire::split_varint;

use super::message::{Nothing, Take};
use super::plan::Plan;

const FIELD_1: u8 = 0x0a;
const FIELD_2: u8 = 0x12;
const FIELD_3: u8 = 0x1a;

/// Which keys the records before this one had, by position: the next one nearly always has the same.
#[derive(Debug, Default)]
pub struct Guess<'a> {
    keys: Vec<(&'a [u8], Option<usize>)>,
}

impl<'a> Guess<'a> {
    /// Number in the plan of the key at a position of the last record.
    pub fn slot_at(&self, position: usize) -> Option<Option<usize>> {
        self.keys.get(position).map(|&(_, slot)| slot)
    }

    #[inline]
    fn slot(&mut self, position: usize, key: &'a [u8], plan: &Plan) -> Option<Option<usize>> {
        match self.keys.get(position) {
            Some(&(known, slot)) if known == key => Some(slot),
            _ => self.learn(position, key, plan),
        }
    }

    #[cold]
    fn learn(&mut self, position: usize, key: &'a [u8], plan: &Plan) -> Option<Option<usize>> {
        std::str::from_utf8(key).ok()?;
        let slot = plan.slot(key);
        match self.keys.get_mut(position) {
            Some(known) => *known = (key, slot),
            None => self.keys.push((key, slot)),
        }
        Some(slot)
    }
}

/// Append the record to the columns; `None` where it is not the usual, and columns may hold parts of it.
#[inline]
pub fn take_record<'a>(
    record: &'a [u8],
    row: usize,
    plan: &Plan,
    columns: &mut [Builder<'_>],
    guess: &mut Guess<'a>,
) -> Option<()> {
    let mut rest = field_to_end(record, FIELD_1)?;
    let mut position = 0_usize;
    let mut filled = 0_usize;
    while !rest.is_empty() {
        let (entry, after) = field(rest, FIELD_1)?;
        rest = after;
        let (key, value) = field(entry, FIELD_1)?;
        let feature = field_to_end(value, FIELD_2)?;
        match guess.slot(position, key, plan)? {
            Some(slot) => filled = filled.saturating_add(take_feature(feature, row, columns.get_mut(slot)?)?),
            None => check_feature(feature, plan.refuse_unknown)?,
        }
        position = position.saturating_add(1);
    }
    if filled == columns.len() { Some(()) } else { fill_missing(row, columns) }
}

#[cold]
fn fill_missing(row: usize, columns: &mut [Builder<'_>]) -> Option<()> {
    for column in columns.iter_mut().filter(|column| column.rows() == row) {
        column.end_missing_row().ok()?;
    }
    Some(())
}

/// How many columns it filled: none where no kind is set.
#[inline]
fn take_feature(feature: &[u8], row: usize, column: &mut Builder<'_>) -> Option<usize> {
    // A key that came before in this record has filled its row: which of the two counts is not for us to say.
    if column.rows() != row {
        return None;
    }
    let Some(&tag) = feature.first() else {
        return Some(0);
    };
    let list = field_to_end(feature, tag)?;
    if tag != column.tag() {
        return None;
    }
    take_list(tag, list, column)?;
    column.end_row().ok()?;
    Some(1)
}

fn check_feature(feature: &[u8], refuse: bool) -> Option<()> {
    let Some(&tag) = feature.first() else {
        return Some(());
    };
    let list = field_to_end(feature, tag)?;
    if refuse { None } else { take_list(tag, list, &mut Nothing) }
}

#[inline]
fn take_list<'a>(tag: u8, list: &'a [u8], take: &mut impl Take<'a>) -> Option<()> {
    match tag {
        FIELD_1 => take_bytes(list, take),
        FIELD_2 => take_floats(list, take),
        FIELD_3 => take_ints(list, take),
        _ => None,
    }
}

#[inline]
fn take_bytes<'a>(mut list: &'a [u8], take: &mut impl Take<'a>) -> Option<()> {
    while !list.is_empty() {
        let (value, rest) = field(list, FIELD_1)?;
        take.bytes(value);
        list = rest;
    }
    Some(())
}

#[inline]
fn take_floats<'a>(list: &'a [u8], take: &mut impl Take<'a>) -> Option<()> {
    if list.is_empty() {
        return Some(());
    }
    let packed = field_to_end(list, FIELD_1)?;
    if !packed.len().is_multiple_of(4) {
        return None;
    }
    take.floats(packed);
    Some(())
}

#[inline]
fn take_ints<'a>(list: &'a [u8], take: &mut impl Take<'a>) -> Option<()> {
    if list.is_empty() {
        return Some(());
    }
    take_packed_ints(field_to_end(list, FIELD_1)?, take)
}

/// Varints to the end.
#[inline]
fn take_packed_ints<'a>(mut packed: &'a [u8], take: &mut impl Take<'a>) -> Option<()> {
    while !packed.is_empty() {
        let (value, rest) = split_varint(packed, 10)?;
        take.int(value.cast_signed());
        packed = rest;
    }
    Some(())
}

/// The bytes of a field with this tag at the front, and what follows it.
#[inline]
pub fn field(data: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, data) = data.split_first()?;
    if found != tag {
        return None;
    }
    let (length, data) = split_varint(data, 5)?;
    data.split_at_checked(usize::try_from(length).ok()?)
}

/// The bytes of a field with this tag that is all there is.
#[inline]
pub fn field_to_end(data: &[u8], tag: u8) -> Option<&[u8]> {
    match field(data, tag)? {
        (bytes, []) => Some(bytes),
        _ => None,
    }
}
