//! Any bytes decompress to the same bytes or the same error, however they are fed, and from every access point.
#![no_main]

use libfuzzer_sys::fuzz_target;
use penstock_core::compress::{Check, Compressor, Decompressor, Format, Limits, Piece, Point};
use penstock_core::look::Looks;
use penstock_core::{Error, Result};

const LIMITS: Limits = Limits { max_ratio: 100, free_bytes: 1 << 18 };

fuzz_target!(|data: &[u8]| {
    // The options are the last byte, so that files are seeds as they are.
    let options = data.last().copied().unwrap_or_default();
    for format in [Format::Gzip, Format::Zlib, Format::Zstd] {
        check_reading(format, data, options);
        check_resuming(format, data, options);
    }
    check_writing(data, options);
});

/// Everything that comes out of the stream, fed in pieces.
fn drain(reader: &mut Decompressor, data: &[u8], feed: usize, room: usize) -> Result<Vec<u8>> {
    let (mut taken, mut all, mut out) = (0, Vec::new(), vec![0; room]);
    loop {
        let stop = data.len().min(taken + feed);
        let step = reader.decompress(&data[taken..stop], &mut out)?;
        taken += step.taken;
        all.extend_from_slice(&out[..step.made]);
        let most = LIMITS.free_bytes.max(LIMITS.max_ratio * reader.total_in());
        assert!(reader.total_out() <= most + room as u64);
        if step.taken == 0 && step.made == 0 {
            return Ok(all);
        }
    }
}

fn check_reading(format: Format, data: &[u8], options: u8) {
    let mut whole = Decompressor::new(format, LIMITS, 0).unwrap();
    let expected = drain(&mut whole, data, usize::MAX / 2, 1 << 16);
    let mut pieces = Decompressor::new(format, LIMITS, u64::from(options) * 16).unwrap();
    let found = drain(&mut pieces, data, usize::from(options) + 1, usize::from(options % 64) * 8 + 1);
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            assert_eq!(expected, found);
            assert_eq!(whole.at_end(), pieces.at_end());
            check_points(format, data, &expected, whole.at_end(), &pieces.take_points());
        }
        // In small pieces a bomb is noticed before the damage behind it, or the other way round.
        (Err(_), Err(_)) | (Err(Error::Bomb(_)), Ok(_)) | (Ok(_), Err(Error::Bomb(_))) => {}
        (expected, found) => panic!("{expected:?} in one piece, {found:?} in many"),
    }
}

fn check_points(format: Format, data: &[u8], expected: &[u8], ended: bool, points: &[Point]) {
    for point in points.iter().take(8) {
        let mut reader = Decompressor::resume(format, point, LIMITS, 0).unwrap();
        match drain(&mut reader, &data[point.input as usize..], 1 << 16, 1 << 16) {
            Ok(rest) => {
                assert_eq!(rest, expected[point.output as usize..]);
                assert_eq!(reader.at_end(), ended);
            }
            Err(error) => assert!(matches!(error, Error::Bomb(_)), "{error}"),
        }
    }
    for pair in points.windows(2).take(8) {
        let (begin, end) = (pair[0].output as usize, pair[1].output as usize);
        let mut out = vec![0; end - begin];
        let mut piece = Piece::new(format, &pair[0], &pair[1], &mut out).unwrap();
        assert!(piece.feed(&data[pair[0].input as usize..]).unwrap());
        assert_eq!(out, expected[begin..end]);
    }
}

/// An access point may come from a damaged index.
fn check_resuming(format: Format, data: &[u8], options: u8) {
    let window = data[..data.len() / 2].to_vec();
    let point = Point {
        output: 1 << 40,
        input: u64::from(options),
        bits: options % 9,
        window,
        check: Check::default(),
    };
    if let Ok(mut reader) = Decompressor::resume(format, &point, LIMITS, 0) {
        let _ = drain(&mut reader, data, 1 << 16, 1 << 16);
    }
    let next = Point { output: point.output + 1000, ..point.clone() };
    if let Ok(mut piece) = Piece::new(format, &point, &next, &mut [0; 1000]) {
        let _ = piece.feed(data);
    }
}

fn check_writing(data: &[u8], options: u8) {
    let format = [Format::Gzip, Format::Zlib, Format::Zstd][usize::from(options % 3)];
    let mut writer = Compressor::new(format, Some(1)).unwrap();
    let (first, second) = data.split_at(data.len() / 2);
    let mut stream = writer.compress(first, &mut Looks::default()).unwrap();
    stream.extend(writer.cut().unwrap());
    stream.extend(writer.compress(second, &mut Looks::default()).unwrap());
    stream.extend(writer.finish().unwrap());
    let wide = Limits { max_ratio: u64::MAX, free_bytes: 0 };
    let mut reader = Decompressor::new(format, wide, 0).unwrap();
    let mut out = vec![0; data.len()];
    let step = reader.decompress(&stream, &mut out).unwrap();
    assert_eq!((step.taken, step.made), (stream.len(), data.len()));
    assert!(out == data && reader.at_end());
}
