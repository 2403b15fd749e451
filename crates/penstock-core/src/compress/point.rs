//! Places in a compressed stream where reading can begin again.

/// Where reading can begin: the bits of the byte that it begins in, and the output before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Bits of the last byte taken that are still to be read.
    pub bits: u8,
    /// The last output, up to 32 KiB; empty at the beginning of a member or frame.
    pub window: Vec<u8>,
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
        let Place { bits, window } = place;
        let input = input.saturating_sub(u64::from(bits > 0));
        self.points.push(Point { output, input, bits, window });
        self.last = output;
    }

    pub fn take(&mut self) -> Vec<Point> {
        std::mem::take(&mut self.points)
    }
}
