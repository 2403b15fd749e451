//! Over 4 x 4 pixels, with the weights of Keys' kernel (A = -1/2) from a table of 1024 steps.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "taps are inside the picture, whose length was checked"
)]

use std::mem::MaybeUninit;

use super::{Sample, row_of, scale};
use crate::error::{Result, reserved};

const STEPS: usize = 1024;

/// Four old rows or columns and their weights. Those outside the picture weigh nothing, the others as much more.
#[derive(Debug, Clone, Copy)]
struct Taps {
    places: [u32; 4],
    weights: [f32; 4],
}

#[derive(Debug, Clone)]
pub(super) struct Cubic {
    rows: Vec<Taps>,
    columns: Vec<Taps>,
}

impl Cubic {
    pub fn new(from: [usize; 2], to: [usize; 2]) -> Result<Self> {
        let table = table();
        Ok(Self { rows: taps(&table, from[0], to[0])?, columns: taps(&table, from[1], to[1])? })
    }

    #[inline(always)]
    pub fn run<T: Sample>(
        &self,
        picture: &[T],
        width: usize,
        channels: usize,
        new_width: usize,
        out: &mut [MaybeUninit<f32>],
    ) -> Result<()> {
        let (stride, new_stride) = (width * channels, new_width * channels);
        let mut row = row_of(stride)?;
        for (taps, new_row) in self.rows.iter().zip(out.chunks_exact_mut(new_stride)) {
            let [a, b, c, d] = taps.places.map(|place| &picture[place as usize * stride..][..stride]);
            for i in 0..stride {
                row[i] = weighted(taps.weights, [a[i].float(), b[i].float(), c[i].float(), d[i].float()]);
            }
            for (taps, new) in self.columns.iter().zip(new_row.chunks_exact_mut(channels)) {
                let [a, b, c, d] = taps.places.map(|place| &row[place as usize * channels..][..channels]);
                for (i, slot) in new.iter_mut().enumerate() {
                    slot.write(weighted(taps.weights, [a[i], b[i], c[i], d[i]]));
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn weighted(weights: [f32; 4], values: [f32; 4]) -> f32 {
    values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2] + values[3] * weights[3]
}

/// For every step the weights of the pixel at that distance, and of the one behind it.
fn table() -> Vec<[f32; 2]> {
    const A: f64 = -0.5;
    (0..=STEPS)
        .map(|i| {
            let near = f64::from((i as f64 / STEPS as f64) as f32);
            let far = f64::from((near + 1.0) as f32);
            [
                (((A + 2.0) * near - (A + 3.0)) * near * near + 1.0) as f32,
                (((A * far - 5.0 * A) * far + 8.0 * A) * far - 4.0 * A) as f32,
            ]
        })
        .collect()
}

fn taps(table: &[[f32; 2]], from: usize, to: usize) -> Result<Vec<Taps>> {
    let scale = scale(from, to);
    let mut taps = reserved(to as u64)?;
    taps.extend((0..to).map(|i| {
        let place = (i as f32 + 0.5) * scale - 0.5;
        let floor = place.floor() as i64;
        let step = (((place - floor as f32) * STEPS as f32).round_ties_even() as usize).min(STEPS);
        let near = [table[step][1], table[step][0], table[STEPS - step][0], table[STEPS - step][1]];
        let mut found = Taps { places: [0; 4], weights: [0.0; 4] };
        for (tap, &weight) in near.iter().enumerate() {
            let wanted = floor - 1 + tap as i64;
            let inside = wanted.clamp(0, from as i64 - 1);
            found.places[tap] = inside as u32;
            found.weights[tap] = if inside == wanted { weight } else { 0.0 };
        }
        let [a, b, c, d] = found.weights;
        let sum = a + b + c + d;
        if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
            let share = 1.0 / sum;
            found.weights = found.weights.map(|weight| weight * share);
        }
        found
    }));
    Ok(taps)
}
