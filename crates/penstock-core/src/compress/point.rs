//! Places in a compressed stream where reading can begin again.

/// Where reading can begin: the bits of the byte that it begins in, and the output before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Bits of the last byte taken that are still to be read.
    pub bits: u8,
    /// The last output, up to 32 KiB; empty at the beginning of a member or frame.
    pub window: Vec<u8>,
    /// Of the output of the member in progress.
    pub check: Check,
}

/// What the trailer of a member is compared with, so far. Both are 0 at the beginning of a member or frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Check {
    /// CRC-32 (gzip) or Adler-32 (zlib).
    pub checksum: u32,
    /// Bytes, modulo 2^32.
    pub size: u32,
}

/// An access point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Uncompressed bytes before it.
    pub output: u64,
    /// Compressed byte to feed first. With `bits` above 0 its lower bits were already read.
    pub input: u64,
    /// Upper bits of the first byte that are still to be read; 0 for the whole byte.
    pub bits: u8,
    /// The last output, up to 32 KiB; empty at the beginning of a member or frame.
    pub window: Vec<u8>,
    /// Of the output of the member in progress.
    pub check: Check,
}

/// Access points of a stream, one about every `span` output bytes.
#[derive(Debug, Default)]
pub struct Points {
    span: u64,
    last: u64,
    points: Vec<Point>,
}

impl Points {
    /// `span` 0 for no points; the next one at `output + span`.
    pub fn new(span: u64, output: u64) -> Self {
        Self { span, last: output, points: Vec::new() }
    }

    /// Whether the next good place should become a point.
    pub fn due(&self, output: u64) -> bool {
        self.span > 0 && output.saturating_sub(self.last) >= self.span
    }

    /// Output bytes until a point is due.
    pub fn left(&self, output: u64) -> u64 {
        if self.span == 0 { u64::MAX } else { self.last.saturating_add(self.span).saturating_sub(output) }
    }

    pub fn add(&mut self, output: u64, input: u64, place: Place) {
        self.points.push(point_at(output, input, place));
        self.last = output;
    }

    pub fn take(&mut self) -> Vec<Point> {
        std::mem::take(&mut self.points)
    }
}

/// The access point at a place, with so many bytes written and taken before.
pub fn point_at(output: u64, input: u64, place: Place) -> Point {
    let Place { bits, window, check } = place;
    let input = input.saturating_sub(u64::from(bits > 0));
    Point { output, input, bits, window, check }
}
