//! Framing against a slow twin, every flipped bit, every cut, and lengths that lie.

use penstock_core::Error;
use penstock_core::crc;
use penstock_core::frame::{self, End, Found, Rules, Scan};
use penstock_core::look::{Looks, STEP_BYTES};

const ALL: Rules = Rules { verify: true, limit: usize::MAX, max_record_bytes: 1 << 28 };

/// CRC-32C a bit at a time.
fn plain_crc(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in data {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82F6_3B78 } else { crc >> 1 };
        }
    }
    !crc
}

fn plain_masked(data: &[u8]) -> [u8; 4] {
    plain_crc(data).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

fn plain_header(length: u64) -> Vec<u8> {
    let length = length.to_le_bytes();
    [&length[..], &plain_masked(&length)].concat()
}

fn plain_record(payload: &[u8]) -> Vec<u8> {
    [&plain_header(payload.len() as u64)[..], payload, &plain_masked(payload)].concat()
}

/// The meaning of `frame::scan`.
fn plain_scan(data: &[u8], start: usize, stop: usize, rules: Rules) -> Scan {
    let mut scan = Scan { starts: vec![], lengths: vec![], position: start, end: End::Done };
    while scan.position < stop && scan.starts.len() < rules.limit {
        let rest = &data[scan.position..stop];
        if rest.len() < 12 {
            scan.end = End::Partial { need: 12 };
            break;
        }
        if rest[8..12] != plain_masked(&rest[..8]) {
            scan.end = End::LengthChecksum;
            break;
        }
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap());
        let need = u128::from(length) + 16;
        if length > rules.max_record_bytes {
            scan.end = End::TooLong { need };
            break;
        }
        if need > rest.len() as u128 {
            scan.end = End::Partial { need };
            break;
        }
        let (payload, after) = rest[12..].split_at(length as usize);
        if rules.verify && after[..4] != plain_masked(payload) {
            scan.end = End::PayloadChecksum { need };
            break;
        }
        scan.starts.push(scan.position as i64 + 12);
        scan.lengths.push(length as i64);
        scan.position += need as usize;
    }
    scan
}

fn whole((position, found): (usize, Found)) -> Option<usize> {
    (found == Found::Whole).then_some(position)
}

/// The meaning of `frame::find_last`.
fn plain_find_whole(data: &[u8], mut start: usize, stop: usize, max_record_bytes: u64) -> Option<usize> {
    loop {
        match plain_find(data, start, stop, max_record_bytes) {
            (position, Found::Partial { .. }) => start = position + 1,
            other => return whole(other),
        }
    }
}

/// The meaning of `frame::find`.
fn plain_find(data: &[u8], start: usize, stop: usize, max_record_bytes: u64) -> (usize, Found) {
    let one = Rules { limit: 1, max_record_bytes, verify: true };
    for position in start..stop {
        if stop - position < 12 {
            return (position, Found::Nothing);
        }
        let scan = plain_scan(data, position, stop, one);
        match scan.end {
            End::Done => return (position, Found::Whole),
            End::Partial { need } => return (position, Found::Partial { need }),
            _ => {}
        }
    }
    (stop, Found::Nothing)
}

/// Marsaglia's xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    fn file(&mut self, records: usize, most: usize) -> Vec<u8> {
        (0..records)
            .flat_map(|_| {
                let length = self.below(most);
                plain_record(&self.bytes(length))
            })
            .collect()
    }
}

#[test]
fn checksums_agree_with_the_plain_one() {
    let mut random = Random(1);
    for length in (0..300).chain([1000, 4096, 10_001]) {
        let data = random.bytes(length);
        let cut = random.below(length + 1);
        assert_eq!(crc::crc32c(&data), plain_crc(&data));
        assert_eq!(crc::crc32c_from(crc::crc32c(&data[..cut]), &data[cut..]), plain_crc(&data));
        let joined = crc::joined(crc::crc32c(&data[..cut]), crc::crc32c(&data[cut..]), length - cut);
        assert_eq!(joined, plain_crc(&data));
    }
    assert_eq!(crc::crc32c(b"123456789"), 0xE306_9283);
    assert_eq!(crc::masked(0xE306_9283), 0xC78A_B0E5);
}

#[test]
fn checksums_of_lengths_agree_with_the_plain_one() {
    let mut random = Random(2);
    let places = (0..64).flat_map(|bit| [1u64 << bit, (1u64 << bit) - 1, random.next() >> bit]);
    for length in places.chain([0, u64::MAX]) {
        assert_eq!(crc::crc32c_of_length(length), plain_crc(&length.to_le_bytes()), "{length}");
    }
}

#[test]
fn records_are_the_bytes_of_the_format() {
    let (framed, places) = frame::frame(b"hello", &[0, 0, 5], &mut Looks::default()).unwrap();
    let empty = [0, 0, 0, 0, 0, 0, 0, 0, 0x29, 0x03, 0x98, 0x07, 0xD8, 0xEA, 0x82, 0xA2];
    let hello = [
        5, 0, 0, 0, 0, 0, 0, 0, 0xEA, 0xB2, 0x04, 0x3E, b'h', b'e', b'l', b'l', b'o', 0xBB, 0x1F, 0x1C, 0x19,
    ];
    assert_eq!(framed, [&empty[..], &hello].concat());
    assert_eq!(places, [0, 16, 37]);
}

#[test]
fn framing_one_long_payload_looks_at_every_step_and_ends_where_it_is_told_to() {
    let data = vec![7; 3 * STEP_BYTES + 5];
    let offsets = [0, data.len() as i64];
    let mut looks = 0;
    let mut go_on = || {
        looks += 1;
        true
    };
    let (framed, _) = frame::frame(&data, &offsets, &mut Looks::new(&mut go_on)).unwrap();
    assert_eq!((framed, looks), (plain_record(&data), 3));
    let mut end = || false;
    assert_eq!(frame::frame(&data, &offsets, &mut Looks::new(&mut end)), Err(Error::Stopped));
}

#[test]
fn a_record_closed_in_place_is_the_same_record() {
    let mut out = b"before".to_vec();
    let place = frame::open_record(&mut out);
    out.extend_from_slice(b"payload");
    frame::close_record(&mut out, place);
    assert_eq!(out, [b"before".to_vec(), plain_record(b"payload")].concat());
}

#[test]
fn scanning_agrees_with_its_twin_on_mutated_files() {
    let mut random = Random(3);
    for case in 0..3000 {
        let records = 1 + random.below(12);
        let mut data = random.file(records, 1 + case % 90);
        for _ in 0..random.below(3) {
            let at = random.below(data.len());
            data[at] = random.next() as u8;
        }
        let stop = random.below(data.len() + 1);
        let start = if case % 3 == 0 { random.below(stop + 1) } else { 0 };
        let verify = case % 2 == 0;
        let limit = if case % 5 == 0 { random.below(4) } else { usize::MAX };
        let rules = Rules { verify, limit, max_record_bytes: if case % 7 == 0 { 20 } else { 1 << 28 } };
        let expected = plain_scan(&data, start, stop, rules);
        assert_eq!(frame::scan(&data, start, stop, rules).unwrap(), expected, "case {case}");
        let found = frame::find(&data, start, stop, rules.max_record_bytes).unwrap();
        assert_eq!(found, plain_find(&data, start, stop, rules.max_record_bytes), "case {case}");
        let found = frame::find_last(&data, start, stop, rules.max_record_bytes).unwrap();
        assert_eq!(whole(found), plain_find_whole(&data, start, stop, rules.max_record_bytes), "case {case}");
    }
}

#[test]
fn finding_agrees_with_its_twin_where_headers_crowd() {
    let mut random = Random(4);
    for case in 0..300 {
        let length = random.below(5000) as u64;
        let mut data = plain_header(length).repeat(600);
        if case % 2 == 0 {
            // A payload that is right after all, far behind many that are wrong.
            let whole = plain_record(&data[..random.below(3000)]);
            data.extend_from_slice(&whole);
        }
        data.extend_from_slice(&random.bytes(5200));
        let found = frame::find(&data, 0, data.len(), 1 << 28).unwrap();
        assert_eq!(found, plain_find_fast(&data), "case {case}");
    }
}

/// `plain_find` with the core's checksum, which the tests above have compared.
fn plain_find_fast(data: &[u8]) -> (usize, Found) {
    for position in 0..=data.len() - 12 {
        let length: [u8; 8] = data[position..position + 8].try_into().unwrap();
        let header = frame_header(length);
        if data[position..position + 12] != header {
            continue;
        }
        let need = u128::from(u64::from_le_bytes(length)) + 16;
        if need > (data.len() - position) as u128 {
            return (position, Found::Partial { need });
        }
        let (payload, stored) = data[position + 12..position + need as usize].split_at(need as usize - 16);
        if stored == crc::masked(crc::crc32c(payload)).to_le_bytes() {
            return (position, Found::Whole);
        }
    }
    (data.len() - 11, Found::Nothing)
}

fn frame_header(length: [u8; 8]) -> Vec<u8> {
    [&length[..], &crc::masked(crc::crc32c(&length)).to_le_bytes()].concat()
}

#[test]
fn finding_takes_linear_time_on_a_million_candidates() {
    // Each of the headers is right and claims 4 MB. Computed one by one, their checksums would take 4 TB of reading.
    let mut data = plain_header(4 << 20).repeat(1 << 20);
    data.resize(data.len() + (5 << 20), 7);
    let begin = std::time::Instant::now();
    let (position, found) = frame::find(&data, 0, data.len(), 1 << 28).unwrap();
    assert_eq!((position, found), (data.len() - 11, Found::Nothing));
    assert!(begin.elapsed().as_secs() < 60, "took {:?}", begin.elapsed());
}

#[test]
fn every_flipped_bit_is_found_and_no_byte_of_its_record_given_out() {
    let data = Random(5).file(20, 180);
    assert!(data.len() > 1500, "{}", data.len());
    let whole = frame::scan(&data, 0, data.len(), ALL).unwrap();
    assert_eq!((whole.starts.len(), whole.end), (20, End::Done));
    let mut flipped = data.clone();
    for bit in 0..data.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        let scan = frame::scan(&flipped, 0, data.len(), ALL).unwrap();
        let intact =
            whole.starts.iter().zip(&whole.lengths).filter(|(s, l)| (**s + **l) as usize + 4 <= bit / 8);
        assert_eq!(scan.starts.len(), intact.count(), "bit {bit}");
        assert!(
            matches!(scan.end, End::LengthChecksum | End::PayloadChecksum { .. }),
            "bit {bit}: {:?}",
            scan.end
        );
        assert_eq!(scan.starts, whole.starts[..scan.starts.len()]);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_cut_is_found() {
    let data = Random(6).file(20, 180);
    let whole = frame::scan(&data, 0, data.len(), ALL).unwrap();
    let ends: Vec<usize> =
        whole.starts.iter().zip(&whole.lengths).map(|(s, l)| (s + l) as usize + 4).collect();
    for stop in 0..data.len() {
        let scan = frame::scan(&data, 0, stop, ALL).unwrap();
        let there = ends.iter().filter(|end| **end <= stop).count();
        assert_eq!(scan.starts.len(), there, "cut at {stop}");
        let clean = stop == 0 || ends.contains(&stop);
        assert_eq!(scan.end == End::Done, clean, "cut at {stop}: {:?}", scan.end);
    }
}

#[test]
fn lengths_beyond_the_bytes_ask_for_more_or_are_too_long() {
    for length in [1 << 31, 1 << 40, 1 << 63, u64::MAX] {
        let data = [plain_record(b"first"), plain_header(length), b"rest".to_vec()].concat();
        let need = u128::from(length) + 16;
        let scan = frame::scan(&data, 0, data.len(), ALL).unwrap();
        assert_eq!((scan.position, scan.end), (21, End::TooLong { need }));
        let rules = Rules { max_record_bytes: u64::MAX, ..ALL };
        let scan = frame::scan(&data, 0, data.len(), rules).unwrap();
        assert_eq!((scan.position, scan.end), (21, End::Partial { need }));
        let found = frame::find(&data, 21, data.len(), u64::MAX).unwrap();
        assert_eq!(found, (21, Found::Partial { need }));
        let found = frame::find(&data, 21, data.len(), 1 << 28).unwrap();
        assert_eq!(found, (data.len() - 11, Found::Nothing));
    }
}

#[test]
fn without_verifying_only_payload_checksums_are_left_out() {
    let mut data = [plain_record(b"abc"), plain_record(b"def")].concat();
    data[12] ^= 1;
    let rules = Rules { verify: false, ..ALL };
    assert_eq!(frame::scan(&data, 0, data.len(), rules).unwrap().starts, [12, 31]);
    data[19] ^= 1;
    let scan = frame::scan(&data, 0, data.len(), rules).unwrap();
    assert_eq!((scan.position, scan.end), (19, End::LengthChecksum));
}

#[test]
fn ranges_outside_the_data_are_refused() {
    assert!(frame::scan(b"abc", 0, 4, ALL).is_err());
    assert!(frame::scan(b"abc", 3, 2, ALL).is_err());
    assert!(frame::find(b"abc", 3, 2, 1).is_err());
    for offsets in [&[][..], &[0, 4], &[-1, 2], &[2, 1], &[0, 3, 1]] {
        assert!(frame::frame(b"abc", offsets, &mut Looks::default()).is_err(), "{offsets:?}");
    }
}
