//! Reading as `CodedInputStream` of protobuf's C++ reads, on which TensorFlow's parsers are built.

use crate::wire::Span;

/// An input stream with the limits of protobuf's own: a limit past the one around it is not kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream<'a> {
    pub record: &'a [u8],
    pub position: usize,
    pub limit: usize,
}

impl<'a> Stream<'a> {
    pub fn of(record: &'a [u8], span: Span) -> Self {
        Self { record, position: span.start, limit: span.end }
    }

    pub fn left(&self) -> &'a [u8] {
        self.record.get(self.position..self.limit).unwrap_or_default()
    }

    pub fn at_end(&self) -> bool {
        self.position >= self.limit
    }

    pub fn skip(&mut self, count: usize) {
        self.position = self.position.saturating_add(count).min(self.limit);
    }

    pub fn varint(&mut self) -> Option<u64> {
        let before = self.left();
        let (value, after) = crate::wire::split_varint(before, 10)?;
        self.skip(before.len().saturating_sub(after.len()));
        Some(value)
    }

    // Bits past the 32nd are dropped.
    pub fn varint32(&mut self) -> Option<usize> {
        self.varint().map(|value| value as u32 as usize)
    }

    pub fn expect(&mut self, tag: u8) -> bool {
        let is_there = self.left().first() == Some(&tag);
        self.skip(usize::from(is_there));
        is_there
    }

    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.left().get(..count)?;
        self.skip(count);
        Some(bytes)
    }

    /// Set the limit `length` bytes on; returns the one to go back to.
    pub fn push_limit(&mut self, length: usize) -> usize {
        let before = self.limit;
        self.limit = self.position.saturating_add(length).min(before);
        before
    }

    pub fn message(&mut self) -> Option<usize> {
        let length = self.varint32()?;
        Some(self.push_limit(length))
    }
}
