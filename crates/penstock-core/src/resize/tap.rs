//! Places between two old rows or columns, which both ways of the bilinear method go by.

#![allow(clippy::arithmetic_side_effects, reason = "sizes of pictures are bounded and above 0")]

use super::scale;
use crate::error::{Result, reserved};

/// Where a new row or column lies between two old ones: `lower + (upper - lower) * along`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tap {
    pub lower: u32,
    pub upper: u32,
    pub along: f32,
}

pub(super) fn taps(from: usize, to: usize) -> Result<Vec<Tap>> {
    let scale = scale(from, to);
    let mut taps = reserved(to as u64)?;
    taps.extend((0..to).map(|i| {
        let place = (i as f32 + 0.5) * scale - 0.5;
        let floor = place.floor();
        let lower = (floor.max(0.0) as usize).min(from - 1) as u32;
        let upper = (place.ceil().max(0.0) as usize).min(from - 1) as u32;
        Tap { lower, upper, along: place - floor }
    }));
    Ok(taps)
}

#[inline(always)]
pub(super) fn lerp(a: f32, b: f32, along: f32) -> f32 {
    a + (b - a) * along
}
