//! The next record nearly always looks like one before it: same keys, same lengths, other values.
//!
//! A form remembers which bits of a short record are structure. A record that has the same bits there holds its
//! values at the same places, and the fast reader would take it exactly as it took the first.

use crate::column::{Builder, Place};

use super::fast::{Guess, field, field_to_end};

const LONGEST: usize = 1024;
const SLOTS: usize = 16;
// Bytes that are compared at once. Shorter records have no form.
const CHUNK: usize = 8;
// Records that are taken column by column: they stay in the first-level cache from the first column to the last.
const RUN_BYTES: usize = 1 << 14;

/// A record, and the number of the form that it has.
pub type Look<'a> = (&'a [u8], usize);

/// Structure of one record, and where each column finds its row in it.
#[derive(Debug, Default)]
pub struct Form {
    bytes: Vec<u8>,
    // Set where a bit is structure.
    mask: Vec<u8>,
    places: Vec<Place>,
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
    /// Consecutive records that look like ones before them, into `run`.
    #[inline]
    pub fn find<'a>(&mut self, records: impl Iterator<Item = &'a [u8]>, run: &mut Vec<Look<'a>>) {
        run.clear();
        let mut bytes = 0_usize;
        for record in records {
            let number = record.len() % SLOTS;
            if bytes > RUN_BYTES || !self.slots.get(number).is_some_and(|form| form.fits(record)) {
                break;
            }
            bytes = bytes.saturating_add(record.len());
            run.push((record, number));
        }
        self.hits = self.hits.saturating_add(run.len());
    }

    /// Append what was found to the columns, one column after the other; `None` where they may hold parts of it.
    pub fn take(&self, run: &[Look<'_>], columns: &mut [Builder<'_>]) -> Option<()> {
        columns.iter_mut().enumerate().try_for_each(|(slot, column)| {
            let place = |number: usize| self.slots.get(number).and_then(|form| form.places.get(slot));
            column.take_rows(run.iter().map(|&(record, number)| (record, place(number))))
        })
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
        let (bytes, mask) = (record.to_vec(), vec![0xff; record.len()]);
        let mut form = Self { bytes, mask, places: vec![Place::Missing; columns] };
        let mut rest = field_to_end(record, 0x0a)?;
        let mut position = 0_usize;
        while !rest.is_empty() {
            let (entry, after) = field(rest, 0x0a)?;
            rest = after;
            let (_, value) = field(entry, 0x0a)?;
            let feature = field_to_end(value, 0x12)?;
            let slot = guess.slot_at(position)?;
            if let Some(&tag) = feature.first() {
                let place = form.place_of(record, tag, field_to_end(feature, tag)?)?;
                if let Some(column) = slot {
                    *form.places.get_mut(column)? = place;
                }
            }
            position = position.saturating_add(1);
        }
        Some(form)
    }

    /// Where the values of a list lie, which are no structure.
    fn place_of(&mut self, record: &[u8], tag: u8, mut list: &[u8]) -> Option<Place> {
        if tag != 0x0a {
            let packed = if list.is_empty() { list } else { field_to_end(list, 0x0a)? };
            // The top bit of each byte of a varint says whether it goes on.
            let (start, end) = self.unmask(record, packed, if tag == 0x1a { 0x80 } else { 0 })?;
            return Some(Place::One(start, end));
        }
        let mut values = Vec::new();
        while !list.is_empty() {
            let (value, after) = field(list, 0x0a)?;
            list = after;
            values.push(self.unmask(record, value, 0)?);
        }
        Some(match *values {
            [(start, end)] => Place::One(start, end),
            _ => Place::Many(values),
        })
    }

    /// Keep only some bits of each byte of `value`, which is a part of `record`, as structure; where it lies.
    fn unmask(&mut self, record: &[u8], value: &[u8], kept: u8) -> Option<(usize, usize)> {
        let start = (value.as_ptr() as usize).checked_sub(record.as_ptr() as usize)?;
        let end = start.checked_add(value.len())?;
        self.mask.get_mut(start..end)?.fill(kept);
        Some((start, end))
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
}

#[inline]
fn differing(a: &[u8; CHUNK], b: &[u8; CHUNK], mask: &[u8; CHUNK]) -> u64 {
    (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b)) & u64::from_ne_bytes(*mask)
}
