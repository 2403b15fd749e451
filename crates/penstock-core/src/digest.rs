//! The digest of files in saved datasets: XXH3-128, written as the xxHash specification's canonical form has it
//! (big-endian).

use std::fmt;

use twox_hash::XxHash3_128;

/// The digest of bytes that come piece by piece.
#[derive(Clone, Default)]
pub struct Digest(XxHash3_128);

impl Digest {
    /// The digest of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Take the next bytes.
    pub fn update(&mut self, data: &[u8]) {
        self.0.write(data);
    }

    /// The digest of all bytes so far; more may follow.
    pub fn value(&self) -> u128 {
        self.0.finish_128()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:032x}", self.value())
    }
}
