//! The plain twin: Examples read and written slowly, by the book, with nothing shared with the core.

use std::collections::BTreeMap;

/// The values of a feature; floats as their bits, so that NaN equals itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    Bytes(Vec<Vec<u8>>),
    Floats(Vec<u32>),
    Ints(Vec<i64>),
}

impl List {
    pub fn kind(&self) -> u8 {
        match self {
            Self::Bytes(_) => 1,
            Self::Floats(_) => 2,
            Self::Ints(_) => 3,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Ints(values) => values.len(),
        }
    }
}

/// A feature; nothing where no kind is set.
pub type Feature = Option<List>;
pub type Features = BTreeMap<Vec<u8>, Feature>;
pub type FeatureLists = BTreeMap<Vec<u8>, Vec<Feature>>;

enum Field {
    Varint(u64),
    Fixed32(u32),
    Len(Vec<u8>),
    Other,
}

fn varint(data: &[u8], at: &mut usize, most: usize) -> Option<u64> {
    let mut value: u128 = 0;
    for i in 0..most {
        let byte = *data.get(*at)?;
        *at += 1;
        value |= u128::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some(value as u64);
        }
    }
    None
}

fn tag(data: &[u8], at: &mut usize) -> Option<(u32, u32)> {
    let tag = u32::try_from(varint(data, at, 5)?).ok()?;
    Some((tag >> 3, tag & 7))
}

fn field(data: &[u8], at: &mut usize, number: u32, wire_type: u32, depth: usize) -> Option<Field> {
    match wire_type {
        0 => Some(Field::Varint(varint(data, at, 10)?)),
        1 => take(data, at, 8).map(|_| Field::Other),
        2 => {
            let length = varint(data, at, 5)?;
            Some(Field::Len(take(data, at, usize::try_from(length).ok()?)?.to_vec()))
        }
        3 => group(data, at, number, depth.checked_sub(1)?).map(|()| Field::Other),
        5 => Some(Field::Fixed32(u32::from_le_bytes(take(data, at, 4)?.try_into().ok()?))),
        _ => None,
    }
}

fn take<'a>(data: &'a [u8], at: &mut usize, count: usize) -> Option<&'a [u8]> {
    let taken = data.get(*at..at.checked_add(count)?)?;
    *at += count;
    Some(taken)
}

fn group(data: &[u8], at: &mut usize, number: u32, depth: usize) -> Option<()> {
    loop {
        match tag(data, at)? {
            (inner, 4) => return (inner == number).then_some(()),
            (inner, wire_type) => drop(field(data, at, inner, wire_type, depth)?),
        }
    }
}

fn fields(data: &[u8], level: usize) -> Option<Vec<(u32, Field)>> {
    let mut at = 0;
    let mut fields = Vec::new();
    while at < data.len() {
        let (number, wire_type) = tag(data, &mut at)?;
        if number == 0 {
            return None;
        }
        fields.push((number, field(data, &mut at, number, wire_type, 100 - level)?));
    }
    Some(fields)
}

fn list(kind: u32, data: &[u8], level: usize, into: &mut List) -> Option<()> {
    for (number, field) in fields(data, level)? {
        match (number, field, kind, &mut *into) {
            (1, Field::Len(value), 1, List::Bytes(values)) => values.push(value),
            (1, Field::Fixed32(bits), 2, List::Floats(values)) => values.push(bits),
            (1, Field::Len(packed), 2, List::Floats(values)) => {
                if packed.len() % 4 != 0 {
                    return None;
                }
                values.extend(packed.chunks(4).map(|bits| u32::from_le_bytes(bits.try_into().unwrap())));
            }
            (1, Field::Varint(value), 3, List::Ints(values)) => values.push(value as i64),
            (1, Field::Len(packed), 3, List::Ints(values)) => {
                let mut at = 0;
                while at < packed.len() {
                    values.push(varint(&packed, &mut at, 10)? as i64);
                }
            }
            _ => {}
        }
    }
    Some(())
}

fn feature(data: &[u8], level: usize, into: &mut Feature) -> Option<()> {
    for (number, field) in fields(data, level)? {
        if let (1..=3, Field::Len(bytes)) = (number, field) {
            if into.as_ref().map(List::kind) != Some(number as u8) {
                *into = Some(match number {
                    1 => List::Bytes(Vec::new()),
                    2 => List::Floats(Vec::new()),
                    _ => List::Ints(Vec::new()),
                });
            }
            list(number, &bytes, level + 1, into.as_mut()?)?;
        }
    }
    Some(())
}

/// A map entry: nothing inside where upb keeps it apart, since it has fields that are not known.
fn entry<T: Default>(
    data: &[u8],
    value: impl Fn(&[u8], &mut T) -> Option<()>,
) -> Option<Option<(Vec<u8>, T)>> {
    let mut key = Vec::new();
    let mut read = T::default();
    let mut is_known = true;
    for (number, field) in fields(data, 2)? {
        match (number, field) {
            (1, Field::Len(bytes)) => key = String::from_utf8(bytes).ok()?.into_bytes(),
            (2, Field::Len(bytes)) => value(&bytes, &mut read)?,
            _ => is_known = false,
        }
    }
    Some(is_known.then_some((key, read)))
}

fn map<T: Default>(
    data: &[u8],
    into: &mut BTreeMap<Vec<u8>, T>,
    value: impl Fn(&[u8], &mut T) -> Option<()>,
) -> Option<()> {
    for (number, field) in fields(data, 1)? {
        if let (1, Field::Len(bytes)) = (number, field) {
            into.extend(entry(&bytes, &value)?);
        }
    }
    Some(())
}

pub fn read_example(data: &[u8]) -> Option<Features> {
    let mut features = Features::new();
    for (number, field) in fields(data, 0)? {
        if let (1, Field::Len(bytes)) = (number, field) {
            map(&bytes, &mut features, |data, into| feature(data, 3, into))?;
        }
    }
    Some(features)
}

fn steps(data: &[u8], into: &mut Vec<Feature>) -> Option<()> {
    for (number, field) in fields(data, 3)? {
        if let (1, Field::Len(bytes)) = (number, field) {
            let mut step = None;
            feature(&bytes, 4, &mut step)?;
            into.push(step);
        }
    }
    Some(())
}

pub fn read_sequence_example(data: &[u8]) -> Option<(Features, FeatureLists)> {
    let (mut context, mut lists) = (Features::new(), FeatureLists::new());
    for (number, field) in fields(data, 0)? {
        match (number, field) {
            (1, Field::Len(bytes)) => map(&bytes, &mut context, |data, into| feature(data, 3, into))?,
            (2, Field::Len(bytes)) => map(&bytes, &mut lists, steps)?,
            _ => {}
        }
    }
    Some((context, lists))
}

fn put_varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn put(tag: u8, bytes: &[u8]) -> Vec<u8> {
    [&[tag], put_varint(bytes.len() as u64).as_slice(), bytes].concat()
}

fn put_packed(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() { Vec::new() } else { put(0x0a, bytes) }
}

pub fn write_feature(feature: &Feature) -> Vec<u8> {
    match feature {
        None => Vec::new(),
        Some(List::Bytes(values)) => {
            put(0x0a, &values.iter().flat_map(|value| put(0x0a, value)).collect::<Vec<_>>())
        }
        Some(List::Floats(values)) => {
            put(0x12, &put_packed(&values.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<_>>()))
        }
        Some(List::Ints(values)) => put(
            0x1a,
            &put_packed(&values.iter().flat_map(|&value| put_varint(value as u64)).collect::<Vec<_>>()),
        ),
    }
}

fn write_map<T>(tag: u8, map: &BTreeMap<Vec<u8>, T>, value: impl Fn(&T) -> Vec<u8>) -> Vec<u8> {
    let entry = |(key, item): (&Vec<u8>, &T)| put(0x0a, &[put(0x0a, key), put(0x12, &value(item))].concat());
    if map.is_empty() { Vec::new() } else { put(tag, &map.iter().flat_map(entry).collect::<Vec<_>>()) }
}

pub fn write_example(features: &Features) -> Vec<u8> {
    write_map(0x0a, features, write_feature)
}

pub fn write_sequence_example(context: &Features, lists: &FeatureLists) -> Vec<u8> {
    let steps =
        |steps: &Vec<Feature>| steps.iter().flat_map(|step| put(0x0a, &write_feature(step))).collect();
    [write_example(context), write_map(0x12, lists, steps)].concat()
}
