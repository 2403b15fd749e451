//! CRC-32C as TFRecord uses it (formats.md, section 1.1).

use crc_fast::{CrcAlgorithm, Digest};

const POLYNOMIAL: u32 = 0x82F6_3B78;

/// Bytes below which a loop over the processor's own instruction is done before folding has begun.
#[cfg(target_arch = "x86_64")]
const SHORT_BYTES: usize = 256;

/// CRC-32C of `data`.
#[inline]
pub fn crc32c(data: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if data.len() < SHORT_BYTES && is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has just been found to have SSE 4.2.
        return unsafe { crc32c_of_short(data) };
    }
    crc_fast::crc32_iscsi(data)
}

/// One step waits for the one before it, but nothing else does: the processor works on several short records at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn crc32c_of_short(data: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};

    let (words, rest) = data.as_chunks::<8>();
    let long =
        words.iter().fold(u64::from(u32::MAX), |crc, word| _mm_crc32_u64(crc, u64::from_le_bytes(*word)));
    let (half, rest) = rest.as_chunks::<4>();
    let crc = half.iter().fold(long as u32, |crc, word| _mm_crc32_u32(crc, u32::from_le_bytes(*word)));
    !rest.iter().fold(crc, |crc, &byte| _mm_crc32_u8(crc, byte))
}

/// CRC-32C of what came before (with CRC `value`) and `data` after it.
pub fn crc32c_from(value: u32, data: &[u8]) -> u32 {
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, u64::from(!value));
    digest.update(data);
    digest.finalize() as u32
}

/// A CRC as it stands in a file.
#[inline]
pub fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// CRC-32C of the eight little-endian bytes of `length`.
///
/// Small lengths are what files hold, and the table of a zero byte holds zeros: the loop ends early.
#[inline]
#[allow(clippy::indexing_slicing, reason = "a byte is inside 256 entries")]
pub fn crc32c_of_length(length: u64) -> u32 {
    let mut crc = LENGTH_ZERO;
    let mut rest = length;
    for table in &LENGTH_TABLES {
        crc ^= table[(rest & 0xFF) as usize];
        rest >>= 8;
        if rest == 0 {
            break;
        }
    }
    crc
}

/// CRC-32C of `first` followed by `count` bytes whose own CRC-32C is `second`.
pub fn joined(first: u32, second: u32, count: usize) -> u32 {
    let mut power = 1 << 31; // the polynomial 1, reflected
    let mut rest = count as u64;
    for square in &SQUARES {
        if rest & 1 == 1 {
            power = product(power, *square);
        }
        rest >>= 1;
        if rest == 0 {
            break;
        }
    }
    product(power, first) ^ second
}

/// CRC-32C of eight zero bytes.
const LENGTH_ZERO: u32 = {
    let mut crc = u32::MAX;
    let mut count: u32 = 0;
    while count < 8 {
        crc = shifted_by_byte(crc);
        count = count.wrapping_add(1);
    }
    !crc
};

/// What byte value b at place k of eight adds to the CRC: a CRC is linear but for its constant.
static LENGTH_TABLES: [[u32; 256]; 8] = length_tables();

/// x^(8 * 2^k) modulo the polynomial: moves a CRC over 2^k bytes.
static SQUARES: [u32; 64] = squares();

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs at compile time on constants"
)]
const fn length_tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut place = 8;
        while place > 0 {
            place -= 1;
            crc = shifted_by_byte(crc);
            tables[place][byte] = crc;
        }
        byte += 1;
    }
    tables
}

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs at compile time on constants"
)]
const fn squares() -> [u32; 64] {
    let mut squares = [0; 64];
    let mut power = 1 << 23; // x^8, reflected
    let mut k = 0;
    while k < 64 {
        squares[k] = power;
        power = product(power, power);
        k += 1;
    }
    squares
}

const fn shifted_by_byte(mut crc: u32) -> u32 {
    let mut bit: u32 = 0;
    while bit < 8 {
        crc = times_x(crc);
        bit = bit.wrapping_add(1);
    }
    crc
}

const fn times_x(value: u32) -> u32 {
    if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 }
}

/// Product of two reflected polynomials modulo the polynomial.
const fn product(a: u32, mut b: u32) -> u32 {
    let mut sum = 0;
    let mut bit: u32 = 1 << 31;
    while bit != 0 {
        if a & bit != 0 {
            sum ^= b;
        }
        b = times_x(b);
        bit >>= 1;
    }
    sum
}
