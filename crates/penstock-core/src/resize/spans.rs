//! Weighted sums over spans of rows, then of columns, as TensorFlow's `ScaleAndTranslate`.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "spans are cut to the picture, whose length was checked"
)]

use std::f32::consts::PI;
use std::mem::MaybeUninit;

use super::{Sample, row_of};
use crate::error::{Result, reserved};

/// How much a pixel weighs at a distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Linear, to 1.
    Triangle,
    /// Keys' cubic, A = -1/2.
    KeysCubic,
    /// Mitchell and Netravali's cubic, B = C = 1/3.
    MitchellCubic,
    /// Sigma 1/2, to 3/2.
    Gaussian,
    /// A windowed sinc of this radius.
    Lanczos(u8),
}

impl Kernel {
    fn radius(self) -> f32 {
        match self {
            Self::Triangle => 1.0,
            Self::KeysCubic | Self::MitchellCubic => 2.0,
            Self::Gaussian => 1.5,
            Self::Lanczos(radius) => f32::from(radius),
        }
    }

    /// The weight at a distance, not negative.
    fn weight(self, x: f32) -> f32 {
        match self {
            Self::Triangle if x < 1.0 => 1.0 - x,
            Self::Triangle => 0.0,
            Self::KeysCubic | Self::MitchellCubic if x >= 2.0 => 0.0,
            Self::KeysCubic if x >= 1.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Self::KeysCubic => ((1.5 * x - 2.5) * x) * x + 1.0,
            Self::MitchellCubic if x >= 1.0 => (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
            Self::MitchellCubic => (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
            Self::Gaussian if x >= 1.5 => 0.0,
            Self::Gaussian => (f64::from(-x * x) / (2.0 * 0.5 * 0.5)).exp() as f32,
            Self::Lanczos(radius) => lanczos(x, f32::from(radius)),
        }
    }
}

fn lanczos(x: f32, radius: f32) -> f32 {
    match x {
        _ if x > radius => 0.0,
        _ if x <= 1e-3 => 1.0,
        _ => radius * (PI * x).sin() * (PI * x / radius).sin() / (PI * PI * x * x),
    }
}

#[derive(Debug, Clone)]
pub(super) struct Spans {
    rows: Axis,
    columns: Axis,
}

/// For each new row or column where its span begins, and `span` weights; those behind its end are 0.
#[derive(Debug, Clone)]
struct Axis {
    span: usize,
    starts: Vec<usize>,
    weights: Vec<f32>,
}

impl Spans {
    pub fn new(kernel: Kernel, antialias: bool, from: [usize; 2], to: [usize; 2]) -> Result<Self> {
        Ok(Self {
            rows: Axis::new(kernel, antialias, from[0], to[0])?,
            columns: Axis::new(kernel, antialias, from[1], to[1])?,
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
        let mut row = row_of(stride)?;
        for (y, new_row) in out.chunks_exact_mut(new_stride).enumerate() {
            row.fill(0.0);
            let (start, weights) = self.rows.at(y, height);
            for (&weight, source) in weights.iter().zip(picture[start * stride..].chunks_exact(stride)) {
                for (sum, &sample) in row.iter_mut().zip(source) {
                    *sum += weight * sample.float();
                }
            }
            match channels {
                1 => self.columns.sum::<1>(&row, new_row),
                3 => self.columns.sum::<3>(&row, new_row),
                4 => self.columns.sum::<4>(&row, new_row),
                _ => self.columns.sum_any(&row, channels, new_row),
            }
        }
        Ok(())
    }
}

impl Axis {
    fn new(kernel: Kernel, antialias: bool, from: usize, to: usize) -> Result<Self> {
        // As TensorFlow gets there: the scale is that of the new size to the old one.
        let inverse = (1.0 / f64::from(to as f32 / from as f32)) as f32;
        let stretch = if antialias { inverse.max(1.0) } else { 1.0 };
        let reach = kernel.radius() * stretch;
        let span = (2 * reach.ceil() as usize + 1).min(from);
        let mut axis = Self {
            span,
            starts: reserved(to as u64)?,
            weights: reserved((to as u64).saturating_mul(span as u64))?,
        };
        for i in 0..to {
            axis.add(kernel, (i as f32 + 0.5) * inverse, reach, 1.0 / stretch, from);
        }
        Ok(axis)
    }

    fn add(&mut self, kernel: Kernel, place: f32, reach: f32, shrink: f32, from: usize) {
        let last = from as i64 - 1;
        let start = ((place - reach - 0.5).ceil() as i64).clamp(0, last);
        let end = ((place + reach - 0.5).floor() as i64).clamp(0, last) + 1;
        // A place that floats have rounded out of the picture gets no weight at all.
        let is_inside = place >= 0.0 && place <= from as f32;
        let end = if is_inside { end.min(start + self.span as i64) } else { start };
        let begun = self.weights.len();
        let mut sum = 0.0;
        for source in start..end {
            let weight = kernel.weight(((source as f32 + 0.5 - place) * shrink).abs());
            sum += weight;
            self.weights.push(weight);
        }
        if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
            let share: f32 = 1.0 / sum;
            self.weights[begun..].iter_mut().for_each(|weight| *weight *= share);
        } else {
            self.weights.truncate(begun);
        }
        self.weights.resize(begun + self.span, 0.0);
        self.starts.push(if is_inside { start as usize } else { 0 });
    }

    /// Where the span of a new row begins, and the weights of all that are inside the picture.
    #[inline(always)]
    fn at(&self, i: usize, from: usize) -> (usize, &[f32]) {
        let start = self.starts[i];
        (start, &self.weights[i * self.span..][..self.span.min(from - start)])
    }

    #[inline(always)]
    fn sum<const CHANNELS: usize>(&self, row: &[f32], out: &mut [MaybeUninit<f32>]) {
        let (pixels, _) = row.as_chunks::<CHANNELS>();
        let (places, _) = out.as_chunks_mut::<CHANNELS>();
        for (x, place) in places.iter_mut().enumerate() {
            let (start, weights) = self.at(x, pixels.len());
            let mut sums = [0.0; CHANNELS];
            for (&weight, pixel) in weights.iter().zip(&pixels[start..]) {
                for (sum, &sample) in sums.iter_mut().zip(pixel) {
                    *sum += weight * sample;
                }
            }
            *place = sums.map(MaybeUninit::new);
        }
    }

    #[inline(always)]
    fn sum_any(&self, row: &[f32], channels: usize, out: &mut [MaybeUninit<f32>]) {
        for (x, place) in out.chunks_exact_mut(channels).enumerate() {
            let (start, weights) = self.at(x, row.len() / channels);
            for (channel, slot) in place.iter_mut().enumerate() {
                let mut sum = 0.0;
                for (i, &weight) in weights.iter().enumerate() {
                    sum += weight * row[(start + i) * channels + channel];
                }
                slot.write(sum);
            }
        }
    }
}
