//! The mean of what a new pixel covers.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "spans are cut to the picture, whose length was checked"
)]

use std::mem::MaybeUninit;

use super::{Sample, row_of, scale};
use crate::error::{Result, reserved};

/// The old rows or columns that a new one covers, the first and the last in part.
#[derive(Debug, Clone, Copy)]
struct Cover {
    start: usize,
    end: usize,
    first: f32,
    last: f32,
}

#[derive(Debug, Clone)]
pub(super) struct Area {
    rows: Vec<Cover>,
    columns: Vec<Cover>,
    share: f32,
}

impl Area {
    pub fn new(from: [usize; 2], to: [usize; 2]) -> Result<Self> {
        let pixels = scale(from[0], to[0]) * scale(from[1], to[1]);
        Ok(Self {
            rows: covers(from[0], to[0])?,
            columns: covers(from[1], to[1])?,
            share: (1.0 / f64::from(pixels)) as f32,
        })
    }

    #[inline(always)]
    pub fn run<T: Sample>(
        &self,
        picture: &[T],
        from: [usize; 2],
        channels: usize,
        new_width: usize,
        out: &mut [MaybeUninit<f32>],
    ) -> Result<()> {
        let [height, width] = from;
        let (stride, new_stride) = (width * channels, new_width * channels);
        let mut sums = row_of(new_stride)?;
        for (rows, new_row) in self.rows.iter().zip(out.chunks_exact_mut(new_stride)) {
            sums.fill(0.0);
            for y in rows.start..rows.end {
                let source = &picture[y.min(height - 1) * stride..][..stride];
                match channels {
                    1 => self.add_row::<T, 1>(source, rows.weight(y), &mut sums),
                    3 => self.add_row::<T, 3>(source, rows.weight(y), &mut sums),
                    4 => self.add_row::<T, 4>(source, rows.weight(y), &mut sums),
                    _ => self.add_row_any(source, width, channels, rows.weight(y), &mut sums),
                }
            }
            for (slot, &sum) in new_row.iter_mut().zip(&sums) {
                slot.write(sum * self.share);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn add_row<T: Sample, const CHANNELS: usize>(&self, source: &[T], weight: f32, sums: &mut [f32]) {
        let (pixels, _) = source.as_chunks::<CHANNELS>();
        let (sums, _) = sums.as_chunks_mut::<CHANNELS>();
        for (cover, sums) in self.columns.iter().zip(sums) {
            let at = |x: usize| pixels[x.min(pixels.len() - 1)].map(T::float);
            let mut row = at(cover.start).map(|sample| sample * cover.first);
            if cover.start + 1 != cover.end {
                let whole = cover.start + 1..(cover.end - 1).min(pixels.len());
                for pixel in pixels.get(whole).unwrap_or_default() {
                    for (sum, sample) in row.iter_mut().zip(pixel) {
                        *sum += sample.float();
                    }
                }
                for (sum, sample) in row.iter_mut().zip(at(cover.end - 1)) {
                    *sum += sample * cover.last;
                }
            }
            for (sum, row) in sums.iter_mut().zip(row) {
                *sum += row * weight;
            }
        }
    }

    #[inline(always)]
    fn add_row_any<T: Sample>(
        &self,
        source: &[T],
        width: usize,
        channels: usize,
        weight: f32,
        sums: &mut [f32],
    ) {
        for (cover, sums) in self.columns.iter().zip(sums.chunks_exact_mut(channels)) {
            for (channel, sum) in sums.iter_mut().enumerate() {
                let at = |x: usize| source[x.min(width - 1) * channels + channel].float();
                let mut row = at(cover.start) * cover.first;
                if cover.start + 1 != cover.end {
                    for x in cover.start + 1..cover.end - 1 {
                        row += at(x);
                    }
                    row += at(cover.end - 1) * cover.last;
                }
                *sum += row * weight;
            }
        }
    }
}

impl Cover {
    fn weight(&self, i: usize) -> f32 {
        match i {
            _ if i == self.start => self.first,
            _ if i + 1 == self.end => self.last,
            _ => 1.0,
        }
    }
}

fn covers(from: usize, to: usize) -> Result<Vec<Cover>> {
    let scale = scale(from, to);
    let mut covers = reserved(to as u64)?;
    covers.extend((0..to).map(|i| {
        let (begin, stop) = (i as f32 * scale, (i + 1) as f32 * scale);
        let start = begin.floor() as usize;
        // Where floats round to nothing covered, it covers a pixel all the same.
        let end = (stop.ceil() as usize).max(start + 1);
        let part = |pixel: usize| {
            let (low, high) = (pixel as f32, (pixel + 1) as f32);
            match (low < begin, high > stop) {
                (true, true) => scale,
                (true, false) => high - begin,
                (false, true) => stop - low,
                (false, false) => 1.0,
            }
        };
        Cover { start, end, first: part(start), last: part(end - 1) }
    }));
    Ok(covers)
}
