//! The pixel at a place: nothing is computed, so samples keep their type.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "pixels are inside the picture, whose length was checked"
)]

use std::mem::MaybeUninit;

use super::{check_length, check_sizes, scale};
use crate::error::{Result, reserved};

/// Which old row and column each new one is.
#[derive(Debug, Clone)]
pub struct Nearest {
    from: [usize; 2],
    to: [usize; 2],
    rows: Vec<u32>,
    columns: Vec<u32>,
}

impl Nearest {
    /// From one size to another, each height and width in pixels.
    ///
    /// # Errors
    /// A size is 0 or above 2^31 - 1.
    pub fn new(from: [usize; 2], to: [usize; 2]) -> Result<Self> {
        check_sizes(from, to)?;
        Ok(Self { from, to, rows: places(from[0], to[0])?, columns: places(from[1], to[1])? })
    }

    /// The sizes that it was made for: from, to.
    #[must_use]
    pub fn sizes(&self) -> ([usize; 2], [usize; 2]) {
        (self.from, self.to)
    }

    /// One picture, whose pixels have this many bytes each, into its place; every byte of `out` is written.
    ///
    /// # Errors
    /// The bytes or the room for them are not as many as the sizes say.
    pub fn run(&self, picture: &[u8], pixel_bytes: usize, out: &mut [MaybeUninit<u8>]) -> Result<()> {
        check_length(self.from, pixel_bytes, picture.len())?;
        check_length(self.to, pixel_bytes, out.len())?;
        match pixel_bytes {
            0 => {}
            1 => self.copy::<1>(picture, out),
            3 => self.copy::<3>(picture, out),
            4 => self.copy::<4>(picture, out),
            12 => self.copy::<12>(picture, out),
            _ => self.copy_any(picture, pixel_bytes, out),
        }
        Ok(())
    }

    fn copy<const BYTES: usize>(&self, picture: &[u8], out: &mut [MaybeUninit<u8>]) {
        let (pixels, _) = picture.as_chunks::<BYTES>();
        let (places, _) = out.as_chunks_mut::<BYTES>();
        for (&row, new_row) in self.rows.iter().zip(places.chunks_exact_mut(self.to[1])) {
            let source = &pixels[row as usize * self.from[1]..][..self.from[1]];
            for (&column, place) in self.columns.iter().zip(new_row) {
                *place = source[column as usize].map(MaybeUninit::new);
            }
        }
    }

    fn copy_any(&self, picture: &[u8], bytes: usize, out: &mut [MaybeUninit<u8>]) {
        for (&row, new_row) in self.rows.iter().zip(out.chunks_exact_mut(self.to[1] * bytes)) {
            let source = &picture[row as usize * self.from[1] * bytes..][..self.from[1] * bytes];
            for (&column, place) in self.columns.iter().zip(new_row.chunks_exact_mut(bytes)) {
                for (slot, &byte) in place.iter_mut().zip(&source[column as usize * bytes..][..bytes]) {
                    slot.write(byte);
                }
            }
        }
    }
}

fn places(from: usize, to: usize) -> Result<Vec<u32>> {
    let scale = scale(from, to);
    let mut places = reserved(to as u64)?;
    places.extend((0..to).map(|i| (((i as f32 + 0.5) * scale).floor() as usize).min(from - 1) as u32));
    Ok(places)
}
