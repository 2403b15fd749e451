//! What TensorFlow's batch parser takes, which is not what protobuf says. `formats.md` 2.3, column `op`.
//!
//! Follows its reading order, so that of several things wrong the same one is found.

use crate::column::Builder;
use crate::wire::{Malformed, Span};

use super::message::{BYTES, FLOAT, INT64, Take, UNSET};
use super::plan::{Layout, Plan};
use super::stream::Stream;
use super::wrong::{BAD_KIND, BAD_LIST, WRONG_KIND, Wrong};

const FIELD_1_LEN: u8 = 0x0a;
const FIELD_2_LEN: u8 = 0x12;
const FIELD_1_VARINT: u8 = 0x08;
const FIELD_1_FIXED32: u8 = 0x0d;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: Span,
    feature: Span,
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

fn read_part(stream: &mut Stream<'_>) -> Option<Span> {
    let length = stream.varint32()?;
    let start = stream.position;
    stream.bytes(length)?;
    Some(Span { start, end: stream.position })
}

/// The entries of a SequenceExample.
#[derive(Debug, Default)]
pub(super) struct Entries {
    context: Vec<Entry>,
    lists: Vec<Entry>,
}

fn last<'e>(entries: &'e [Entry], record: &[u8], name: &[u8]) -> Option<&'e Entry> {
    entries.iter().rev().find(|entry| entry.key.of(record) == name)
}

impl Entries {
    pub(super) fn context(&self, record: &[u8], name: &[u8]) -> Option<Span> {
        last(&self.context, record, name).map(|entry| entry.feature)
    }

    pub(super) fn list(&self, record: &[u8], name: &[u8]) -> Option<Span> {
        last(&self.lists, record, name).map(|entry| entry.feature)
    }

    pub(super) fn refuse_unknown(&self, record: &[u8], context: &Plan, lists: &Plan) -> Result<(), Wrong> {
        let of = |entries: &[Entry], plan: &Plan| {
            let is_unknown =
                |entry: &&Entry| !entry.feature.is_empty() && plan.slot(entry.key.of(record)).is_none();
            entries.iter().find(is_unknown).map(|entry| entry.key)
        };
        match of(&self.context, context).or_else(|| of(&self.lists, lists)) {
            Some(key) => Err(Wrong::unknown(key.start, key.len())),
            None => Ok(()),
        }
    }
}

/// Read the entries of a SequenceExample. Here a key comes before its value.
pub(super) fn read_sequence_example(record: &[u8]) -> Result<Entries, Malformed> {
    let mut stream = Stream { record, position: 0, limit: record.len() };
    let mut entries = Entries::default();
    read_parts(&mut stream, &mut entries)
        .map(|()| entries)
        .ok_or(Malformed { offset: stream.position, reason: "not a SequenceExample that TensorFlow reads" })
}

fn read_parts(stream: &mut Stream<'_>, entries: &mut Entries) -> Option<()> {
    while !stream.at_end() {
        if stream.expect(FIELD_1_LEN) {
            read_map(stream, &mut entries.context)?;
        } else if stream.expect(FIELD_2_LEN) {
            read_map(stream, &mut entries.lists)?;
        } else {
            skip_field(stream)?;
        }
    }
    Some(())
}

fn read_map(stream: &mut Stream<'_>, entries: &mut Vec<Entry>) -> Option<()> {
    let before = entries.len();
    read_features(stream, entries)?;
    let new = entries.get(before..).unwrap_or_default();
    new.iter().all(|entry| entry.key.end <= entry.feature.start).then_some(())
}

/// Append a feature of the context.
pub(super) fn take_context(
    record: &[u8],
    slot: usize,
    feature: Option<Span>,
    column: &mut Builder<'_>,
) -> Result<(), Wrong> {
    let feature = feature.unwrap_or_default();
    if feature.is_empty() {
        return column.end_missing_row().map_err(|misfit| Wrong::misfit(slot, misfit, record.len()));
    }
    take_feature(record, slot, feature, column).map(|_| ())
}

/// Append the steps of a feature list. A step with anything after its first list is refused.
pub(super) fn take_steps(
    record: &[u8],
    slot: usize,
    list: Span,
    steps: &mut Builder<'_>,
) -> Result<(), Wrong> {
    let kind = steps.feature().kind.number();
    let bad = |offset| Wrong {
        slot: Some(slot),
        code: BAD_LIST,
        found: usize::from(kind),
        wanted: usize::from(kind),
        offset,
    };
    let mut stream = Stream { record, position: list.start, limit: list.end };
    while !stream.at_end() {
        let at = stream.position;
        let is_step = stream.expect(FIELD_1_LEN);
        let step = read_part(&mut stream).filter(|_| is_step).ok_or_else(|| bad(at))?;
        if step.is_empty() {
            let wanted = steps.feature().wanted();
            let ended = steps.end_missing_row();
            ended.map_err(|misfit| Wrong::misfit(slot, misfit, step.start).of_step(wanted))?;
        } else if take_feature(record, slot, step, steps)? != step.end {
            return Err(bad(step.start));
        }
    }
    Ok(())
}

// Returns where it stopped reading.
fn take_feature(record: &[u8], slot: usize, feature: Span, column: &mut Builder<'_>) -> Result<usize, Wrong> {
    let wanted = column.feature().kind.number();
    let wrong = |code, found: u8| {
        let (found, wanted) = (usize::from(found), usize::from(wanted));
        Wrong { slot: Some(slot), code, found, wanted, offset: feature.start }
    };
    let mut stream = Stream { record, position: feature.start, limit: feature.end };
    let kind = read_kind(&mut stream).ok_or_else(|| wrong(BAD_KIND, 0))?;
    if kind != wanted {
        return Err(wrong(WRONG_KIND, kind));
    }
    read_list(&mut stream, kind, column).ok_or_else(|| wrong(BAD_LIST, kind))?;
    column.end_row().map_err(|misfit| Wrong::misfit(slot, misfit, feature.start))?;
    Ok(stream.position)
}

/// Append the record to the columns.
pub(super) fn take_record(record: &[u8], plan: &Plan, columns: &mut [Builder<'_>]) -> Result<(), Wrong> {
    let row = columns.first().map_or(0, Builder::rows);
    let mut last_is_unset = vec![false; columns.len()];
    for entry in read_example(record)?.iter().rev() {
        let key = entry.key.of(record);
        match plan
            .slot(key)
            .and_then(|slot| Some((slot, columns.get_mut(slot)?, last_is_unset.get_mut(slot)?)))
        {
            Some((slot, column, is_unset)) => take_entry(record, row, *entry, slot, column, is_unset)?,
            None if plan.refuse_unknown && !entry.feature.is_empty() => {
                return Err(Wrong::unknown(entry.key.start, key.len()));
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
    if column.rows() != row || *last_is_unset {
        return check_kind(record, slot, entry.feature, column);
    }
    if entry.feature.is_empty() {
        // Of equal keys a dense feature takes the last that is set, a sparse one the last.
        *last_is_unset = column.feature().layout == Layout::Ragged;
        return Ok(());
    }
    take_feature(record, slot, entry.feature, column).map(|_| ())
}

// A key that comes again later does not count, but its kind is looked at.
fn check_kind(record: &[u8], slot: usize, feature: Span, column: &Builder<'_>) -> Result<(), Wrong> {
    let mut stream = Stream { record, position: feature.start, limit: feature.end };
    let wanted = usize::from(column.feature().kind.number());
    let wrong = Wrong { slot: Some(slot), code: BAD_KIND, found: 0, wanted, offset: feature.start };
    read_kind(&mut stream).map(|_| ()).ok_or(wrong)
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
