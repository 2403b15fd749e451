//! Numbers at a place in a file that may be shorter.

/// The bytes `[start, start + N)`, or nothing where the file ends before.
pub fn bytes_at<const N: usize>(bytes: &[u8], start: usize) -> Option<[u8; N]> {
    bytes.get(start..start.checked_add(N)?)?.try_into().ok()
}

/// Two bytes, lowest first.
pub fn u16_at(bytes: &[u8], start: usize) -> Option<u16> {
    bytes_at(bytes, start).map(u16::from_le_bytes)
}

/// Three bytes, lowest first.
pub fn u24_at(bytes: &[u8], start: usize) -> Option<u32> {
    let [low, middle, high] = bytes_at(bytes, start)?;
    Some(u32::from_le_bytes([low, middle, high, 0]))
}

/// Four bytes, lowest first.
pub fn u32_at(bytes: &[u8], start: usize) -> Option<u32> {
    bytes_at(bytes, start).map(u32::from_le_bytes)
}

/// Four bytes, lowest first, with a sign.
pub fn i32_at(bytes: &[u8], start: usize) -> Option<i32> {
    bytes_at(bytes, start).map(i32::from_le_bytes)
}

/// Four bytes, highest first.
pub fn u32_high_first(bytes: &[u8], start: usize) -> Option<u32> {
    bytes_at(bytes, start).map(u32::from_be_bytes)
}
