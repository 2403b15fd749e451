//! Any bytes are a picture of the size that was told before, or an error; twice the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use penstock_core::image::jpeg::{self, Region};
use penstock_core::image::{Samples, Want, decode_samples, format_of, header, samples, shape_of};

/// Samples of the largest picture that is decoded here: a run has little memory and many pictures.
const MOST: u64 = 1 << 22;

fuzz_target!(|data: &[u8]| {
    // The options are the last byte, so that files are seeds as they are.
    let options = data.last().copied().unwrap_or_default();
    let Ok(found) = header(data) else { return };
    assert!(format_of(data).is_some());
    if samples(found.frames, found.height, found.width, 4).is_none_or(|count| count > MOST) {
        return;
    }
    let want = Want {
        first_frame: options & 1 != 0,
        accurate: options & 2 != 0,
        fancy_upscaling: options & 4 == 0,
        ratio: 1 << (options >> 3 & 3),
        recover: options & 32 != 0,
        ..Want::default()
    };
    let channels = [0, 1, 3, 4][usize::from(options >> 6)];
    let Ok(shape) = shape_of(data, channels, &want) else { return };
    let want = Want { channels: shape.channels, ..want };
    let kind = [Samples::U8, Samples::U16, Samples::F32][usize::from(options) % 3];
    let mut first = vec![0; shape.samples() * kind.size_bytes()];
    let mut second = vec![0xff; first.len()];
    let ends = [&mut first, &mut second].map(|out| decode_samples(data, &want, kind, out).is_ok());
    assert_eq!(ends[0], ends[1]);
    if ends[0] {
        assert!(first == second, "every sample is written");
    }
    let part = Region {
        y: shape.height / 3,
        x: shape.width / 3,
        height: 1 + shape.height / 4,
        width: 1 + shape.width / 4,
    };
    if part.fits(shape.height, shape.width) {
        let mut out = vec![0; part.height * part.width * shape.channels];
        let _ = jpeg::decode_region(data, &want, part, &mut out);
    }
});
