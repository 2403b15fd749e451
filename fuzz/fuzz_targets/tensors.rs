//! Any bytes as tensors that tf.data saved, and as a block of Snappy: never a panic; what is read can be written, and is
//! read again as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use penstock_core::snappy;
use penstock_core::tensor::dtype::DType;
use penstock_core::tensor::write::{self, Component, Form, Values};
use penstock_core::tensor::{dense, list, optional, ragged, sparse};

/// Bytes around a record: a length of eight with its checksum, and a checksum.
const HEADER_BYTES: usize = 12;
const FRAME_BYTES: usize = 16;

fn written(values: Values<'_>, form: Form<'_>) -> Vec<u8> {
    let framed = write::encode(&[Component { values, form }], 1).expect("what was read fits");
    framed[HEADER_BYTES..framed.len() - (FRAME_BYTES - HEADER_BYTES)].to_vec()
}

fn dense_again(record: &[u8], dtype: &'static DType, shape: &[i64]) {
    let lengths = [record.len() as i64];
    let read = dense::read(record, &[0], &lengths, dtype, shape, Vec::new()).expect("there is memory");
    if read.error.is_some() {
        return;
    }
    let values = Values { dtype, data: &read.items.data, offsets: &read.items.offsets };
    let form = if read.offsets.is_empty() {
        Form::Fixed { shape }
    } else {
        Form::Shaped { rank: shape.len(), shapes: &read.shapes, offsets: &read.offsets }
    };
    let again = written(values, form);
    let second = dense::read(&again, &[0], &[again.len() as i64], dtype, shape, Vec::new()).expect("memory");
    assert_eq!((second.items.data, second.shapes), (read.items.data, read.shapes));
}

fn ragged_again(record: &[u8], dtype: &'static DType, rank: usize, inner: &[i64]) {
    let lengths = [record.len() as i64];
    let read = ragged::read(record, &[0], &lengths, dtype, rank, inner).expect("there is memory");
    if read.error.is_some() {
        return;
    }
    let values = Values { dtype, data: &read.items.data, offsets: &read.items.offsets };
    let levels: Vec<&[i64]> = read.levels.iter().map(Vec::as_slice).collect();
    let again = written(values, Form::Ragged { levels, inner: &read.inner });
    let second = ragged::read(&again, &[0], &[again.len() as i64], dtype, rank, inner).expect("memory");
    assert_eq!((second.items.data, second.levels), (read.items.data, read.levels));
}

fn sparse_again(record: &[u8], dtype: &'static DType, rank: usize) {
    let lengths = [record.len() as i64];
    let read = sparse::read(record, &[0], &lengths, dtype, rank).expect("there is memory");
    if read.error.is_some() {
        return;
    }
    let values = Values { dtype, data: &read.items.data, offsets: &read.items.offsets };
    let (shapes, offsets, places) = (&read.shapes, &read.offsets, &read.places);
    let again = written(values, Form::Sparse { rank, shapes, offsets, places });
    let second = sparse::read(&again, &[0], &[again.len() as i64], dtype, rank).expect("memory");
    assert_eq!((second.items.data, second.places), (read.items.data, read.places));
}

fn list_is_counted(record: &[u8]) {
    let read = list::read(record, &[0], &[record.len() as i64]).expect("there is memory");
    assert_eq!(read.offsets.last().copied(), Some(read.starts.len() as i64));
    for (&start, &length) in read.starts.iter().zip(&read.lengths) {
        assert!((start, length) == (-1, -1) || start + length <= record.len() as i64);
    }
}

fn optional_is_counted(record: &[u8]) {
    let found = optional::read(record, &[0], &[record.len() as i64]).expect("there is memory");
    let there = found.present.iter().filter(|&&there| there).count();
    assert_eq!((found.starts.len(), found.lengths.len()), (there, there));
    assert!(found.starts.iter().zip(&found.lengths).all(|(start, n)| start + n <= record.len() as i64));
}

fuzz_target!(|data: &[u8]| {
    let _ = snappy::decompress(data, 1 << 20);
    let [number, rank, record @ ..] = data else { return };
    let Some(dtype) = DType::numbered(u64::from(number % 32)) else { return };
    let rank = usize::from(rank % 4);
    dense_again(record, dtype, &vec![-1; rank]);
    dense_again(record, dtype, &[2, 3][..rank.min(2)]);
    ragged_again(record, dtype, rank, &[]);
    ragged_again(record, dtype, rank, &[-1]);
    sparse_again(record, dtype, rank);
    optional_is_counted(record);
    list_is_counted(record);
});
