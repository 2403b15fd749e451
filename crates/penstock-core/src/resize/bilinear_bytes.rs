//! Pictures of three channels of one byte that become smaller, the usual case: both rows of a pixel side by side.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "taps are inside the picture, whose length was checked"
)]

use std::arch::x86_64::{
    __m256, __m256i, _MM_HINT_T0, _mm_cvtsi64_si128, _mm_prefetch, _mm_storeu_ps, _mm256_add_ps,
    _mm256_castps256_ps128, _mm256_cvtepi32_ps, _mm256_extractf128_ps, _mm256_mul_ps, _mm256_permute2f128_ps,
    _mm256_set_m128i, _mm256_set1_ps, _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_sub_ps,
};
use std::mem::MaybeUninit;

use super::tap::{Tap, lerp};

/// One new row from two old ones, each `[width, 3]`; every sample of `out` is written.
///
/// Eight bytes of each row hold a pixel and the one to its right; their samples become floats in eight lanes, four for
/// each row, and the fourth of a pixel is written over by the next. Pixels at the edges are made one by one.
#[target_feature(enable = "avx2")]
pub(super) fn row(lower: &[u8], upper: &[u8], columns: &[Tap], along: f32, out: &mut [MaybeUninit<f32>]) {
    let last = lower.len().min(upper.len()).saturating_sub(8) / 3;
    let begin = columns.partition_point(|tap| tap.upper == tap.lower && tap.lower == 0);
    let room = (out.len() / 3).min(columns.len()).saturating_sub(1);
    let end = columns.partition_point(|tap| (tap.lower as usize) < last).min(room);
    let inner = columns.get(begin..end).unwrap_or_default();
    let (pairs, _) = inner.as_chunks::<2>();
    let between = _mm256_set1_ps(along);
    for (i, [first, second]) in pairs.iter().enumerate() {
        // SAFETY: `lower` of taps grows, so it is below `last` for all of `inner`, and eight bytes behind it are in both
        // rows. Pair i makes pixels begin + 2 i and the next; `inner` ends one before the last pixel of `out`, so the
        // four floats of each are in it.
        unsafe {
            let first = rows_of(lower, upper, first);
            let second = rows_of(lower, upper, second);
            let top = _mm256_permute2f128_ps::<0x20>(first, second);
            let bottom = _mm256_permute2f128_ps::<0x31>(first, second);
            let made = _mm256_add_ps(top, _mm256_mul_ps(_mm256_sub_ps(bottom, top), between));
            let place = out.as_mut_ptr().add((begin + 2 * i) * 3).cast::<f32>();
            _mm_storeu_ps(place, _mm256_castps256_ps128(made));
            _mm_storeu_ps(place.add(3), _mm256_extractf128_ps::<1>(made));
        }
    }
    let done = begin + 2 * pairs.len();
    let edges = columns.iter().zip(out.as_chunks_mut::<3>().0).enumerate();
    for (i, (tap, pixel)) in edges {
        if i < begin || i >= done {
            one(lower, upper, tap, along, pixel);
        }
    }
}

/// Ask for a row that is needed soon: rows lie too far apart for the processor to guess.
pub(super) fn fetch(row: &[u8]) {
    for line in row.chunks(64) {
        // SAFETY: fetching changes nothing that a program sees, and the place is inside the row.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}

/// A pixel along both rows: four floats of the lower row, then four of the upper.
///
/// # Safety
/// Eight bytes from the tap's lower pixel on are in both rows.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn rows_of(lower: &[u8], upper: &[u8], tap: &Tap) -> __m256 {
    let at = tap.lower as usize * 3;
    // SAFETY: the caller says that they are there.
    let (lower, upper) = unsafe {
        (
            lower.as_ptr().add(at).cast::<i64>().read_unaligned(),
            upper.as_ptr().add(at).cast::<i64>().read_unaligned(),
        )
    };
    let both = _mm256_set_m128i(_mm_cvtsi64_si128(upper), _mm_cvtsi64_si128(lower));
    let a = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(both, spread(0)));
    // Where a place is a pixel, `along` is 0, and nothing of the next one is taken.
    let b = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(both, spread(3)));
    _mm256_add_ps(a, _mm256_mul_ps(_mm256_sub_ps(b, a), _mm256_set1_ps(tap.along)))
}

/// Which bytes become whole numbers of 32 bits: four from this one on, of either half.
#[inline]
#[target_feature(enable = "avx2")]
fn spread(from: i8) -> __m256i {
    let (a, b, c, d) = (from, from + 1, from + 2, from + 3);
    #[rustfmt::skip]
    let bytes = _mm256_setr_epi8(
        a, -1, -1, -1, b, -1, -1, -1, c, -1, -1, -1, d, -1, -1, -1,
        a, -1, -1, -1, b, -1, -1, -1, c, -1, -1, -1, d, -1, -1, -1,
    );
    bytes
}

fn one(lower: &[u8], upper: &[u8], tap: &Tap, along: f32, out: &mut [MaybeUninit<f32>; 3]) {
    let (left, right) = (tap.lower as usize * 3, tap.upper as usize * 3);
    for (channel, slot) in out.iter_mut().enumerate() {
        let of =
            |row: &[u8]| lerp(f32::from(row[left + channel]), f32::from(row[right + channel]), tap.along);
        slot.write(lerp(of(lower), of(upper), along));
    }
}
