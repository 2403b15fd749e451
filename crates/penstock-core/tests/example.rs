//! Laws between the readers and writers of Examples and their plain twin.

mod plain;

use std::path::Path;

use penstock_core::Error;
use penstock_core::column::{Column, Values};
use penstock_core::example::DecodeError;
use penstock_core::example::encode::{self, Input, InputList, Source};
use penstock_core::example::write::{self, KeyOrder, write_example};
use penstock_core::example::{Default, Feature, Kind, Layout, Missing, Plan, SequencePlan, message};
use penstock_core::look::{Looks, STEP_BYTES};
use plain::List;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

fn golden(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/example").join(name);
    let cases: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let hex = |text: &str| {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    };
    cases.as_array().unwrap().iter().map(|case| hex(case["bytes_hex"].as_str().unwrap())).collect()
}

fn corpus() -> Vec<Vec<u8>> {
    let mut records = golden("examples.expected.json");
    records.extend(golden("sequence_examples.expected.json"));
    records.push(usual(7));
    records
}

/// A record as files hold them: i, f and b, and a feature that no plan has.
fn usual(value: i64) -> Vec<u8> {
    let features = [
        (b"i".to_vec(), Some(List::Ints(vec![value]))),
        (b"f".to_vec(), Some(List::Floats(vec![value as u32, 2]))),
        (b"b".to_vec(), Some(List::Bytes(vec![b"xyz".to_vec()]))),
        (b"u".to_vec(), Some(List::Ints(vec![value, 1]))),
    ];
    plain::write_example(&features.into_iter().collect())
}

const LIKELY: [u8; 12] = [0x0a, 0x12, 0x1a, 0x08, 0x0d, 0x0b, 0x0c, 0x13, 0x14, 0, 0x80, 0xff];

fn mutate(record: &mut Vec<u8>, numbers: &mut Numbers) {
    let at = numbers.below(record.len() + 1);
    let byte = if numbers.below(2) == 0 { *numbers.pick(&LIKELY) } else { numbers.next() as u8 };
    match numbers.below(6) {
        0 => record.insert(at, byte),
        1 => record.truncate(at),
        2 if at < record.len() => drop(record.remove(at)),
        3 if at < record.len() => record[at] = byte,
        4 if at < record.len() => record[at] ^= 1 << numbers.below(8),
        5 if at < record.len() => record[at] = record[at].wrapping_add([1, 255, 2, 254][numbers.below(4)]),
        _ => {}
    }
}

fn feature(name: &str, kind: Kind, layout: Layout, count: usize, missing: Missing) -> Feature {
    Feature { name: name.into(), kind, layout, count, missing }
}

fn plans() -> Vec<Plan> {
    use Layout::{Fixed, Ragged, Raw};
    let all = |layout, count, missing: Missing| {
        vec![
            feature("b", Kind::Bytes, layout, count, missing.clone()),
            feature("f", Kind::Float, layout, count, missing.clone()),
            feature("i", Kind::Int64, layout, count, missing),
        ]
    };
    let defaults = vec![
        feature("i", Kind::Int64, Fixed, 1, Missing::Default(Default::Ints(vec![-1]))),
        feature("b", Kind::Bytes, Raw, 3, Missing::Default(Default::Bytes(vec![b"def".to_vec()]))),
        feature("f", Kind::Float, Ragged, 0, Missing::Default(Default::Floats(vec![0.5; 3]))),
    ];
    vec![
        Plan::new(all(Ragged, 0, Missing::Error), false, false).unwrap(),
        Plan::new(all(Ragged, 0, Missing::Mark), false, true).unwrap(),
        Plan::new(all(Fixed, 1, Missing::Error), false, false).unwrap(),
        Plan::new(all(Fixed, 2, Missing::Mark), false, false).unwrap(),
        Plan::new(vec![feature("b", Kind::Bytes, Raw, 3, Missing::Mark)], false, false).unwrap(),
        Plan::new(defaults, false, false).unwrap(),
    ]
}

fn default_list(default: &Default) -> List {
    match default {
        Default::Bytes(values) => List::Bytes(values.clone()),
        Default::Floats(values) => List::Floats(values.iter().map(|value| value.to_bits()).collect()),
        Default::Ints(values) => List::Ints(values.clone()),
    }
}

fn blank(feature: &Feature) -> List {
    let count = if feature.layout == Layout::Ragged { 0 } else { feature.count };
    match (feature.kind, feature.layout) {
        (Kind::Bytes, Layout::Raw) => List::Bytes(vec![vec![0; count]]),
        (Kind::Bytes, _) => List::Bytes(vec![Vec::new(); count]),
        (Kind::Float, _) => List::Floats(vec![0; count]),
        (Kind::Int64, _) => List::Ints(vec![0; count]),
    }
}

/// What a row of the column should be: its values and whether it is there, or the code of an error.
fn expected_row(feature: &Feature, found: Option<&plain::Feature>) -> Result<(List, bool), u8> {
    let Some(Some(list)) = found else {
        return match (&feature.missing, feature.layout) {
            (Missing::Error, Layout::Ragged) => Ok((blank(feature), true)),
            (Missing::Error, _) => Err(4),
            (Missing::Mark, _) => Ok((blank(feature), false)),
            (Missing::Default(default), _) => Ok((default_list(default), true)),
        };
    };
    match (list, feature.layout) {
        _ if list.kind() != feature.kind.number() => Err(2),
        (_, Layout::Fixed) if list.len() != feature.count => Err(3),
        (_, Layout::Raw) if list.len() != 1 => Err(3),
        (List::Bytes(values), Layout::Raw) if values[0].len() != feature.count => Err(5),
        _ => Ok((list.clone(), true)),
    }
}

fn expected_rows(plan: &Plan, refuse: bool, record: &[u8]) -> Result<Vec<(List, bool)>, u8> {
    let read = plain::read_example(record).ok_or(1)?;
    let rows: Vec<_> = plan
        .features()
        .iter()
        .map(|feature| expected_row(feature, read.get(&feature.name)))
        .collect::<Result<_, _>>()?;
    let is_unknown =
        |(name, value): (&Vec<u8>, &plain::Feature)| value.is_some() && plan.slot(name).is_none();
    if refuse && read.iter().any(is_unknown) { Err(6) } else { Ok(rows) }
}

fn offset(offsets: Option<&Vec<i64>>, row: usize, otherwise: usize) -> usize {
    offsets.map_or(otherwise, |offsets| usize::try_from(offsets[row]).unwrap())
}

/// Row `row` of a decoded column.
fn row_of(feature: &Feature, column: &Column, row: usize) -> (List, bool) {
    let start = offset(column.list_offsets.as_ref(), row, row * feature.count);
    let end = offset(column.list_offsets.as_ref(), row + 1, (row + 1) * feature.count);
    let list = match (&column.values, &column.value_offsets) {
        (Values::Floats(values), _) => {
            List::Floats(values[start..end].iter().map(|value| value.to_bits()).collect())
        }
        (Values::Ints(values), _) => List::Ints(values[start..end].to_vec()),
        (Values::Bytes(values), None) => List::Bytes(vec![values[start..end].to_vec()]),
        (Values::Bytes(values), offsets) => {
            let bytes =
                |i| values[offset(offsets.as_ref(), i, 0)..offset(offsets.as_ref(), i + 1, 0)].to_vec();
            List::Bytes((start..end).map(bytes).collect())
        }
    };
    (list, column.valid.as_ref().is_none_or(|valid| valid[row]))
}

fn join(records: &[Vec<u8>]) -> (Vec<u8>, Vec<i64>, Vec<i64>) {
    let lengths: Vec<i64> = records.iter().map(|record| record.len() as i64).collect();
    let starts = lengths.iter().scan(0, |at, length| Some(std::mem::replace(at, *at + length))).collect();
    (records.concat(), starts, lengths)
}

fn check_lengths(feature: &Feature, column: &Column, rows: usize) {
    let values = match (&column.values, &column.value_offsets) {
        (Values::Bytes(values), Some(offsets)) => {
            assert_eq!(offsets.last(), Some(&(values.len() as i64)));
            offsets.len() - 1
        }
        (Values::Bytes(values), None) => values.len(),
        (Values::Floats(values), _) => values.len(),
        (Values::Ints(values), _) => values.len(),
    };
    match &column.list_offsets {
        Some(offsets) => assert_eq!((offsets.len(), offsets[rows]), (rows + 1, values as i64)),
        None => assert_eq!(values, rows * feature.count),
    }
    assert!(column.valid.as_ref().is_none_or(|valid| valid.len() == rows));
}

/// Decode records as one batch after another, each up to its first wrong record, and hold all against the twin.
fn check(plan: &Plan, refuse: bool, records: &[Vec<u8>]) {
    let expected: Vec<_> = records.iter().map(|record| expected_rows(plan, refuse, record)).collect();
    let (data, starts, lengths) = join(records);
    let mut first = 0;
    while first < records.len() {
        let decoded = plan.decode(&data, &starts[first..], &lengths[first..]).unwrap();
        for (feature, column) in plan.features().iter().zip(&decoded.columns) {
            check_lengths(feature, column, decoded.rows);
        }
        for row in 0..decoded.rows {
            let columns = plan.features().iter().zip(&decoded.columns);
            let read: Vec<_> = columns.map(|(feature, column)| row_of(feature, column, row)).collect();
            assert_eq!(Ok(read), expected[first + row], "{:02x?}", records[first + row]);
        }
        first += decoded.rows;
        match decoded.error {
            Some(DecodeError { row, code, .. }) => {
                assert_eq!(row, decoded.rows);
                assert_eq!(expected[first], Err(code), "{:02x?}", records[first]);
            }
            None => assert_eq!(first, records.len()),
        }
        first += 1;
    }
}

fn check_all(records: &[Vec<u8>]) {
    for (number, plan) in plans().iter().enumerate() {
        records.chunks(64).for_each(|records| check(plan, number == 1, records));
    }
}

#[test]
fn golden_records_decode_as_the_twin_reads_them() {
    check_all(&corpus());
}

#[test]
fn mutants_decode_as_the_twin_reads_them() {
    let mut numbers = Numbers(1);
    let corpus = corpus();
    for _ in 0..200 {
        let records: Vec<_> = (0..64)
            .map(|_| {
                let mut record = numbers.pick(&corpus).clone();
                if numbers.below(8) == 0 {
                    record.extend(numbers.pick(&corpus).clone());
                }
                (0..numbers.below(4)).for_each(|_| mutate(&mut record, &mut numbers));
                record
            })
            .collect();
        check_all(&records);
    }
}

/// Records that look alike are taken by their form: every byte of one, changed in every way, among others.
#[test]
fn a_record_that_nearly_looks_like_the_others_decodes_as_the_twin_reads_it() {
    let record = usual(7);
    for at in 0..record.len() {
        let mut records = vec![record.clone(); 4];
        for byte in 0..=255 {
            let mut other = record.clone();
            other[at] = byte;
            records.push(other);
            records.push(record.clone());
        }
        check_all(&records);
    }
}

#[test]
fn values_of_every_length_between_alike_records_decode_as_the_twin_reads_them() {
    let mut numbers = Numbers(2);
    let records: Vec<_> = (0..3000)
        .map(|_| usual(numbers.next().checked_shr(numbers.below(64) as u32).unwrap() as i64))
        .collect();
    check_all(&records);
}

fn plain_values(values: &message::Values<'_>) -> plain::Feature {
    match values {
        message::Values::Unset => None,
        message::Values::Bytes(values) => {
            Some(List::Bytes(values.iter().map(|value| value.to_vec()).collect()))
        }
        message::Values::Floats(values) => {
            Some(List::Floats(values.iter().map(|value| value.to_bits()).collect()))
        }
        message::Values::Ints(values) => Some(List::Ints(values.clone())),
    }
}

fn plain_features(features: message::Features<'_>) -> plain::Features {
    features.iter().map(|(key, values)| (key.to_vec(), plain_values(values))).collect()
}

#[test]
fn single_messages_read_as_the_twin_reads_them() {
    let mut numbers = Numbers(3);
    let corpus = corpus();
    for _ in 0..30_000 {
        let mut record = numbers.pick(&corpus).clone();
        (0..numbers.below(4)).for_each(|_| mutate(&mut record, &mut numbers));
        let read = message::read_example(&record, &mut Looks::default()).ok().map(plain_features);
        assert_eq!(read, plain::read_example(&record), "{record:02x?}");
        let read =
            message::read_sequence_example(&record, &mut Looks::default()).ok().map(|(context, lists)| {
                let steps = |steps: &Vec<message::Values<'_>>| steps.iter().map(plain_values).collect();
                let lists = lists.iter().map(|(key, values)| (key.to_vec(), steps(values)));
                (plain_features(context), lists.collect())
            });
        assert_eq!(read, plain::read_sequence_example(&record), "{record:02x?}");
    }
}

/// A SequenceExample's context and steps, decoded in a batch of one.
#[test]
fn sequences_decode_as_the_twin_reads_them() {
    let context = vec![feature("c", Kind::Int64, Layout::Ragged, 0, Missing::Mark)];
    let lists = vec![
        feature("f", Kind::Int64, Layout::Ragged, 0, Missing::Mark),
        feature("g", Kind::Bytes, Layout::Ragged, 0, Missing::Mark),
    ];
    let plan = SequencePlan::new(context.clone(), lists.clone(), false, false).unwrap();
    let mut numbers = Numbers(4);
    let corpus = golden("sequence_examples.expected.json");
    for _ in 0..20_000 {
        let mut record = numbers.pick(&corpus).clone();
        (0..numbers.below(4)).for_each(|_| mutate(&mut record, &mut numbers));
        let decoded = plan.decode(&record, &[0], &[record.len() as i64]).unwrap();
        let Some((read_context, read_lists)) = plain::read_sequence_example(&record) else {
            assert_eq!((decoded.rows, decoded.error.unwrap().code), (0, 1));
            continue;
        };
        let expected = expected_row(&context[0], read_context.get(b"c".as_slice()));
        let steps = lists.iter().map(|list| {
            let steps = read_lists.get(&list.name).map_or(&[][..], Vec::as_slice);
            steps.iter().map(|step| expected_row(list, Some(step))).collect::<Result<Vec<_>, u8>>()
        });
        let expected = expected.and_then(|row| Ok((row, steps.collect::<Result<Vec<_>, u8>>()?)));
        let read = match decoded.error {
            Some(error) => Err(error.code),
            None => {
                let steps = lists.iter().zip(&decoded.lists).map(|(list, column)| {
                    (0..column.step_offsets[1] as usize)
                        .map(|step| row_of(list, &column.steps, step))
                        .collect()
                });
                Ok((row_of(&context[0], &decoded.context[0], 0), steps.collect()))
            }
        };
        assert_eq!(read, expected, "{record:02x?}");
    }
}

struct RandomColumns {
    floats: Vec<f32>,
    ints: Vec<i64>,
    bytes: Vec<u8>,
    value_offsets: Vec<i64>,
    list_offsets: Vec<i64>,
    valid: Vec<u8>,
}

const ROWS: usize = 40;

impl RandomColumns {
    fn new(numbers: &mut Numbers) -> Self {
        let longest = *numbers.pick(&[1, 3, 40, 200]);
        let mut list_offsets = vec![0];
        for _ in 0..ROWS {
            list_offsets.push(list_offsets.last().unwrap() + numbers.below(longest + 1) as i64);
        }
        let values = *list_offsets.last().unwrap() as usize;
        let mut value_offsets = vec![0];
        for _ in 0..values {
            let longest = *numbers.pick(&[2, 10, 300]);
            value_offsets.push(value_offsets.last().unwrap() + numbers.below(longest) as i64);
        }
        Self {
            floats: (0..values).map(|_| f32::from_bits(numbers.next() as u32)).collect(),
            ints: (0..values).map(|_| (numbers.next() >> numbers.below(64)) as i64).collect(),
            bytes: (0..*value_offsets.last().unwrap()).map(|_| numbers.next() as u8).collect(),
            value_offsets,
            list_offsets,
            valid: (0..ROWS).map(|_| numbers.below(4).min(1) as u8).collect(),
        }
    }

    fn inputs(&self) -> Vec<Input<'_>> {
        let input = |name: &'static str, source, valid| Input {
            name: name.as_bytes(),
            count: 0,
            source,
            list_offsets: Some(&self.list_offsets),
            valid,
        };
        let raw = Source::Raw(&self.valid);
        vec![
            Input { name: b"raw", count: 1, source: raw, list_offsets: None, valid: None },
            input("ints", Source::Ints(&self.ints), None),
            input(
                "a name of more than a hundred and twenty-seven bytes, so that its length needs two bytes in the record, \
                   which is the other way of writing",
                Source::Bytes(&self.bytes, &self.value_offsets),
                Some(&self.valid),
            ),
            input("floats", Source::Floats(&self.floats), Some(&self.valid)),
        ]
    }

    fn list(&self, source: Source<'_>, row: usize) -> List {
        let range = self.list_offsets[row] as usize..self.list_offsets[row + 1] as usize;
        match source {
            Source::Raw(values) => List::Bytes(vec![values[row..=row].to_vec()]),
            Source::Floats(values) => {
                List::Floats(values[range].iter().map(|value| value.to_bits()).collect())
            }
            Source::Ints(values) => List::Ints(values[range].to_vec()),
            Source::Bytes(data, offsets) => List::Bytes(
                range.map(|i| data[offsets[i] as usize..offsets[i + 1] as usize].to_vec()).collect(),
            ),
        }
    }

    fn features(&self, row: usize) -> plain::Features {
        let inputs = self.inputs();
        let present = inputs.iter().filter(|input| input.valid.is_none_or(|valid| valid[row] != 0));
        present.map(|input| (input.name.to_vec(), Some(self.list(input.source, row)))).collect()
    }
}

fn rows(encoded: &(Vec<u8>, Vec<i64>)) -> Vec<&[u8]> {
    encoded.1.windows(2).map(|ends| &encoded.0[ends[0] as usize..ends[1] as usize]).collect()
}

/// A look that counts, and ends the work at one of them.
fn counting(looks: &mut usize, last: usize) -> impl FnMut() -> bool {
    move || {
        *looks += 1;
        *looks < last
    }
}

#[test]
fn one_long_example_looks_at_every_step_and_ends_where_it_is_told_to() {
    let count = 3 * STEP_BYTES;
    let (text, floats, ints) = (vec![b'x'; count], vec![0.5; count / 4], vec![-1; count / 8]);
    let lists: [write::List<'_>; 3] =
        [write::List::Raw(&text), write::List::Floats(&floats), write::List::Ints(&ints)];
    for list in lists {
        let write = |look: &mut dyn FnMut() -> bool| {
            write_example(vec![(&b"x"[..], list)], KeyOrder::Bytes, &mut Looks::new(look))
        };
        let mut looks = 0;
        let record = write(&mut counting(&mut looks, usize::MAX)).unwrap();
        assert!((3..=5).contains(&looks), "{looks}");
        assert_eq!(write(&mut counting(&mut 0, 2)), Err(Error::Stopped));
        let mut looks = 0;
        let read = message::read_example(&record, &mut Looks::new(&mut counting(&mut looks, usize::MAX)));
        let written = write_example(vec![(&b"x"[..], list)], KeyOrder::Bytes, &mut Looks::default());
        assert_eq!((read.map(|features| features.len()), written), (Ok(1), Ok(record.clone())));
        if matches!(list, write::List::Ints(_)) {
            assert_eq!(looks, 3);
            let ended = message::read_example(&record, &mut Looks::new(&mut counting(&mut 0, 2)));
            assert_eq!(ended, Err(Error::Stopped));
        }
    }
    let column = Input { name: b"x", count, source: Source::Raw(&text), list_offsets: None, valid: None };
    let encode = |look: &mut dyn FnMut() -> bool| {
        encode::encode(vec![column], vec![], 1, KeyOrder::Bytes, true, &mut Looks::new(look))
    };
    let mut looks = 0;
    assert!(encode(&mut counting(&mut looks, usize::MAX)).is_ok() && looks >= 4, "{looks}");
    assert_eq!(encode(&mut counting(&mut 0, 2)), Err(Error::Stopped));
}

#[test]
fn columns_encode_as_the_twin_writes_them_and_decode_to_themselves() {
    let mut numbers = Numbers(5);
    for _ in 0..60 {
        let columns = RandomColumns::new(&mut numbers);
        let encoded =
            encode::encode(columns.inputs(), vec![], ROWS, KeyOrder::Bytes, false, &mut Looks::default())
                .unwrap();
        for (row, bytes) in rows(&encoded).into_iter().enumerate() {
            assert_eq!(bytes, plain::write_example(&columns.features(row)));
            assert_eq!(plain::read_example(bytes), Some(columns.features(row)));
        }
        let mut features: Vec<_> = (columns.inputs().iter())
            .map(|input| Feature {
                name: input.name.to_vec(),
                kind: input.kind(),
                layout: Layout::Ragged,
                count: 0,
                missing: Missing::Mark,
            })
            .collect();
        features[0].layout = Layout::Raw;
        features[0].count = 1;
        for strict_tf in [false, true] {
            let plan = Plan::new(features.clone(), strict_tf, true).unwrap();
            let lengths: Vec<i64> = encoded.1.windows(2).map(|ends| ends[1] - ends[0]).collect();
            let decoded = plan.decode(&encoded.0, &encoded.1[..ROWS], &lengths).unwrap();
            assert_eq!((decoded.rows, decoded.error), (ROWS, None));
            for row in 0..ROWS {
                let expected = columns.features(row);
                for (feature, column) in features.iter().zip(&decoded.columns) {
                    assert_eq!(
                        Ok(row_of(feature, column, row)),
                        expected_row(feature, expected.get(&feature.name))
                    );
                }
            }
        }
    }
}

#[test]
fn sequences_encode_as_the_twin_writes_them() {
    let mut numbers = Numbers(6);
    for _ in 0..40 {
        let columns = RandomColumns::new(&mut numbers);
        // The rows of the columns as the steps of four records.
        let step_offsets = [0, 0, 7, 8, ROWS as i64];
        let present = [1, 1, 0, 1];
        let lists = columns.inputs().into_iter().map(|steps| InputList {
            steps,
            step_offsets: &step_offsets,
            present: Some(&present),
        });
        let encoded =
            encode::encode(vec![], lists.collect(), 4, KeyOrder::Bytes, false, &mut Looks::default())
                .unwrap();
        for (row, bytes) in rows(&encoded).into_iter().enumerate() {
            let steps = |input: &Input<'_>| {
                let steps = step_offsets[row] as usize..step_offsets[row + 1] as usize;
                steps.map(|step| columns.features(step).remove(input.name).flatten()).collect::<Vec<_>>()
            };
            let inputs = columns.inputs();
            let lists =
                inputs.iter().filter(|_| present[row] == 1).map(|input| (input.name.to_vec(), steps(input)));
            assert_eq!(bytes, plain::write_sequence_example(&plain::Features::new(), &lists.collect()));
        }
    }
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let ints = [1_i64, 2, 3];
    let input = |count, list_offsets, valid| Input {
        name: b"i",
        count,
        source: Source::Ints(&ints),
        list_offsets,
        valid,
    };
    let wrong = [
        input(2, None, None),
        input(1, Some(&[0, 1, 3][..]), None),
        input(1, Some(&[0, 2, 1, 3]), None),
        input(1, Some(&[0, 1, 2, 4]), None),
        input(1, Some(&[-1, 1, 2, 3]), None),
        input(1, None, Some(&[1, 1])),
        Input { name: b"\xff", ..input(1, None, None) },
    ];
    for input in wrong {
        assert!(
            encode::encode(vec![input], vec![], 3, KeyOrder::Bytes, true, &mut Looks::default()).is_err()
        );
    }
    let twice = vec![input(1, None, None), input(1, None, None)];
    assert!(encode::encode(twice, vec![], 3, KeyOrder::Given, true, &mut Looks::default()).is_err());
    assert!(
        encode::encode(vec![input(1, None, None)], vec![], 3, KeyOrder::Bytes, true, &mut Looks::default())
            .is_ok()
    );
}
