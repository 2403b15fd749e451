//! Checksums of uncompressed data.

use crc_fast::{CrcAlgorithm, Digest};

/// A checksum being computed.
#[derive(Debug, Clone)]
pub enum Checksum {
    /// CRC-32, for gzip. Boxed, since its state is large.
    Crc32(Box<Digest>),
    /// Adler-32, for zlib.
    Adler32(u32),
}

impl Checksum {
    pub fn crc32() -> Self {
        Self::Crc32(Box::new(Digest::new(CrcAlgorithm::Crc32IsoHdlc)))
    }

    pub fn adler32() -> Self {
        Self::Adler32(1)
    }

    /// The CRC-32 that has this value so far.
    pub fn crc32_from(value: u32) -> Self {
        Self::Crc32(Box::new(Digest::new_with_init_state(CrcAlgorithm::Crc32IsoHdlc, u64::from(!value))))
    }

    /// The Adler-32 that has this value so far.
    pub fn adler32_from(value: u32) -> Self {
        Self::Adler32(value)
    }

    pub fn update(&mut self, data: &[u8]) {
        match self {
            Self::Crc32(digest) => digest.update(data),
            Self::Adler32(value) => *value = zlib_rs::adler32::adler32(*value, data),
        }
    }

    pub fn value(&self) -> u32 {
        match self {
            Self::Crc32(digest) => digest.finalize() as u32,
            Self::Adler32(value) => *value,
        }
    }
}
