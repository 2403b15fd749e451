//! The next record nearly always looks like one before it: same keys, same lengths, other values.
//!
//! A form remembers which bits of a short record are structure. A record that has the same bits there holds its
//! values at the same places, and the fast reader would take it exactly as it took the first.

use crate::column::Builder;

use super::fast::{Guess, field, field_to_end, fill_missing, take_packed_ints};
use super::message::Take;

const LONGEST: usize = 1024;
const SLOTS: usize = 16;
// Bytes that are compared at once. Shorter records have no form.
const CHUNK: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bytes,
    Floats,
    Ints,
}

/// A value, or the packed values of a list.
#[derive(Clone, Copy, Debug)]
struct Step {
    slot: usize,
    kind: Kind,
    start: usize,
    end: usize,
    ends_row: bool,
}

/// Structure of one record, where its values lie, and whether columns are left without one.
#[derive(Debug, Default)]
pub struct Form {
    bytes: Vec<u8>,
    // Set where a bit is structure.
    mask: Vec<u8>,
    steps: Vec<Step>,
    leaves_missing: bool,
}

/// The forms seen lately, by length of the record.
#[derive(Debug, Default)]
pub struct Forms {
    slots: [Form; SLOTS],
    // Lengths met once: a form is only worth making for a length that comes again.
    met: [usize; SLOTS],
    made: usize,
    hits: usize,
}

impl Forms {
    /// The form of a record that looks like one before it.
    #[inline]
    pub fn find(&mut self, record: &[u8]) -> Option<&Form> {
        let form = self.slots.get(record.len() % SLOTS).filter(|form| form.fits(record))?;
        self.hits = self.hits.saturating_add(1);
        Some(form)
    }

    /// Remember a record that the fast reader has just taken.
    #[inline]
    pub fn learn(&mut self, record: &[u8], guess: &Guess<'_>, columns: usize) {
        let place = record.len() % SLOTS;
        let (Some(form), Some(met)) = (self.slots.get_mut(place), self.met.get_mut(place)) else { return };
        // Records that are never alike again cost no more than a few forms.
        let is_worth = self.made <= SLOTS.saturating_add(self.hits / 8);
        if std::mem::replace(met, record.len()) == record.len() && record.len() <= LONGEST && is_worth {
            *form = Form::of(record, guess, columns).unwrap_or_default();
            self.made = self.made.saturating_add(1);
        }
    }
}

impl Form {
    #[cold]
    fn of(record: &[u8], guess: &Guess<'_>, columns: usize) -> Option<Self> {
        let mut form = Self { bytes: record.to_vec(), mask: vec![0xff; record.len()], ..Self::default() };
        let mut rest = field_to_end(record, 0x0a)?;
        let mut filled = 0_usize;
        let mut position = 0_usize;
        while !rest.is_empty() {
            let (entry, after) = field(rest, 0x0a)?;
            rest = after;
            let (_, value) = field(entry, 0x0a)?;
            let feature = field_to_end(value, 0x12)?;
            let slot = guess.slot_at(position)?;
            if let Some(&tag) = feature.first() {
                form.add_list(record, tag, field_to_end(feature, tag)?, slot)?;
                filled = filled.saturating_add(usize::from(slot.is_some()));
            }
            position = position.saturating_add(1);
        }
        form.leaves_missing = filled != columns;
        Some(form)
    }

    fn add_list(&mut self, record: &[u8], tag: u8, mut list: &[u8], slot: Option<usize>) -> Option<()> {
        if tag != 0x0a {
            let kind = if tag == 0x12 { Kind::Floats } else { Kind::Ints };
            let packed = if list.is_empty() { list } else { field_to_end(list, 0x0a)? };
            return self.add(record, packed, kind, slot, true);
        }
        if list.is_empty() {
            return self.add(record, list, Kind::Ints, slot, true);
        }
        while !list.is_empty() {
            let (value, after) = field(list, 0x0a)?;
            list = after;
            self.add(record, value, Kind::Bytes, slot, list.is_empty())?;
        }
        Some(())
    }

    fn add(
        &mut self,
        record: &[u8],
        value: &[u8],
        kind: Kind,
        slot: Option<usize>,
        ends_row: bool,
    ) -> Option<()> {
        // `value` is a part of `record`.
        let start = (value.as_ptr() as usize).checked_sub(record.as_ptr() as usize)?;
        let end = start.checked_add(value.len())?;
        // The top bit of each byte of a varint says whether it goes on.
        self.mask.get_mut(start..end)?.fill(if kind == Kind::Ints { 0x80 } else { 0 });
        if let Some(slot) = slot {
            self.steps.push(Step { slot, kind, start, end, ends_row });
        }
        Some(())
    }

    #[inline]
    fn fits(&self, record: &[u8]) -> bool {
        if record.len() != self.bytes.len() {
            return false;
        }
        let (Some(last), Some(bytes), Some(mask)) =
            (record.last_chunk::<CHUNK>(), self.bytes.last_chunk::<CHUNK>(), self.mask.last_chunk::<CHUNK>())
        else {
            return false;
        };
        // The last bytes overlap those before them, so that there is no rest.
        let mut differs = differing(last, bytes, mask);
        let chunks = record.as_chunks::<CHUNK>().0.iter();
        let known = self.bytes.as_chunks::<CHUNK>().0.iter().zip(self.mask.as_chunks::<CHUNK>().0);
        for (chunk, (bytes, mask)) in chunks.zip(known) {
            differs |= differing(chunk, bytes, mask);
        }
        differs == 0
    }

    /// Append a record that fits; `None` where columns may hold parts of it.
    #[inline]
    pub fn take_record(&self, record: &[u8], row: usize, columns: &mut [Builder<'_>]) -> Option<()> {
        for step in &self.steps {
            let column = columns.get_mut(step.slot)?;
            let value = record.get(step.start..step.end)?;
            match step.kind {
                Kind::Bytes => column.bytes(value),
                Kind::Floats => column.floats(value),
                Kind::Ints => match *value {
                    [byte] => column.int(i64::from(byte)),
                    _ => take_packed_ints(value, column)?,
                },
            }
            if step.ends_row {
                column.end_row().ok()?;
            }
        }
        if self.leaves_missing { fill_missing(row, columns) } else { Some(()) }
    }
}

#[inline]
fn differing(a: &[u8; CHUNK], b: &[u8; CHUNK], mask: &[u8; CHUNK]) -> u64 {
    (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b)) & u64::from_ne_bytes(*mask)
}
