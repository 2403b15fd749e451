//! Samples of other types than a file has, converted where they stand, as TensorFlow's `DecodeImage` converts them.

use super::{Format, Want, Wrong, decode, format_of};

/// The type of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Samples {
    /// 0 to 255.
    U8,
    /// 0 to 65535. PNG has them; of other formats each sample counts 256.
    U16,
    /// 0 to 1: of PNG those of 16 bits, of other formats those of 8.
    F32,
}

impl Samples {
    /// Bytes of a sample.
    pub fn size_bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }
}

/// As `decode`, with samples of a type; `out` has room for them.
pub fn decode_samples(bytes: &[u8], want: &Want, kind: Samples, out: &mut [u8]) -> Result<(), Wrong> {
    let sixteen_bit = kind != Samples::U8 && format_of(bytes) == Some(Format::Png);
    let want = Want { sixteen_bit, ..*want };
    // Samples are decoded to the end of the room: each is read before what is written reaches it.
    let count = out.len().checked_div(kind.size_bytes()).unwrap_or_default();
    let start = out.len().saturating_sub(count.saturating_mul(want.sample_bytes()));
    decode(bytes, &want, out.get_mut(start..).unwrap_or_default())?;
    match (kind, sixteen_bit) {
        (Samples::U16, false) => spread(out, start, count, |[sample]| (u16::from(sample) << 8).to_ne_bytes()),
        (Samples::F32, false) => {
            spread(out, start, count, |[sample]| (f32::from(sample) * (1.0 / 255.0)).to_ne_bytes());
        }
        (Samples::F32, true) => spread(out, start, count, |sample| {
            (f32::from(u16::from_ne_bytes(sample)) * (1.0 / 65535.0)).to_ne_bytes()
        }),
        (Samples::U8, _) | (Samples::U16, true) => {}
    }
    Ok(())
}

/// Samples of `FROM` bytes, the first of which stands at `start`, as ones of `TO` bytes from the beginning on.
fn spread<const FROM: usize, const TO: usize>(
    out: &mut [u8],
    start: usize,
    count: usize,
    convert: impl Fn([u8; FROM]) -> [u8; TO],
) {
    for i in 0..count {
        let from = start.saturating_add(i.saturating_mul(FROM));
        let Some(sample) = out.get(from..).and_then(|rest| rest.first_chunk::<FROM>()) else { return };
        let made = convert(*sample);
        let to = i.saturating_mul(TO);
        if let Some(place) = out.get_mut(to..).and_then(|rest| rest.first_chunk_mut::<TO>()) {
            *place = made;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_where_they_stand() {
        let mut room = [0, 0, 0, 1, 2, 255];
        spread(&mut room, 3, 3, |[sample]| (u16::from(sample) << 8).to_be_bytes());
        assert_eq!(room, [1, 0, 2, 0, 255, 0]);
    }
}
