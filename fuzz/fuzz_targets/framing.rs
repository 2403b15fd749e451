//! Any bytes scan to records that lie inside them, in order, and frame to the same bytes again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use penstock_core::frame::{self, End, Found, Rules, Scan};
use penstock_core::look::Looks;

fuzz_target!(|data: &[u8]| {
    // The options are the last byte, so that files are seeds as they are.
    let options = data.last().copied().unwrap_or_default();
    check(data, options);
    check(&framed(data, options), options);
});

/// Pieces of the data as records, with a bit flipped: right checksums do not come about by chance.
fn framed(data: &[u8], options: u8) -> Vec<u8> {
    let size = usize::from(options % 32) + 1;
    let offsets: Vec<i64> = (0..=data.len() / size).map(|i| (i * size) as i64).collect();
    let (mut bytes, _) = frame::frame(data, &offsets, &mut Looks::default()).unwrap();
    let at = data.iter().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    if options & 64 != 0 && !bytes.is_empty() {
        let at = at % bytes.len();
        bytes[at] ^= 1 << (options % 8);
    }
    bytes
}

fn check(data: &[u8], options: u8) {
    let max_record_bytes = if options & 1 == 0 { 1 << 28 } else { 100 };
    let limit = if options & 2 == 0 { usize::MAX } else { 3 };
    let start = usize::from(options & 4).min(data.len());
    let checked =
        frame::scan(data, start, data.len(), Rules { verify: true, limit, max_record_bytes }).unwrap();
    let loose =
        frame::scan(data, start, data.len(), Rules { verify: false, limit, max_record_bytes }).unwrap();
    check_places(data, start, &loose);
    check_places(data, start, &checked);
    assert!(loose.starts.starts_with(&checked.starts));
    assert_eq!(again(data, &checked), &data[start..checked.position]);
    check_found(data, checked.position, max_record_bytes);
}

/// Each record follows the one before, and the end is the one that the position calls for.
fn check_places(data: &[u8], start: usize, scan: &Scan) {
    let mut position = start as i64;
    for (payload, length) in scan.starts.iter().zip(&scan.lengths) {
        assert_eq!(*payload, position + 12);
        position = payload + length + 4;
    }
    assert_eq!(scan.position as i64, position);
    let left = (data.len() - scan.position) as u128;
    match scan.end {
        End::Done => {}
        End::Partial { need } => assert!(left > 0 && need > left),
        End::PayloadChecksum { need } => assert!(need <= left),
        End::LengthChecksum | End::TooLong { .. } => assert!(left >= 12),
    }
}

fn again(data: &[u8], scan: &Scan) -> Vec<u8> {
    let mut out = Vec::new();
    for (start, length) in scan.starts.iter().zip(&scan.lengths) {
        frame::push_record(
            &mut out,
            &data[*start as usize..(start + length) as usize],
            &mut Looks::default(),
        )
        .expect("nobody stops it");
    }
    out
}

fn check_found(data: &[u8], start: usize, max_record_bytes: u64) {
    let (position, found) = frame::find(data, start, data.len(), max_record_bytes).unwrap();
    assert!(start <= position && position <= data.len());
    let rules = Rules { verify: true, limit: 1, max_record_bytes };
    let scan = frame::scan(data, position, data.len(), rules).unwrap();
    match found {
        Found::Nothing => assert!(data.len() - position < 12),
        Found::Whole => assert_eq!(scan.starts, [position as i64 + 12]),
        Found::Partial { need } => assert_eq!(scan.end, End::Partial { need }),
    }
}
