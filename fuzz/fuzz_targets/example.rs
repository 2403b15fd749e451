//! Any bytes as an Example and as a SequenceExample: never a panic, and always what the plain twin reads.

#![no_main]

#[path = "../../crates/penstock-core/tests/plain/mod.rs"]
#[allow(dead_code, reason = "the twin also writes, for the tests")]
mod plain;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use penstock_core::column::Values;
use penstock_core::example::message;
use penstock_core::example::{Feature, Kind, Layout, Missing, Plan, SequencePlan};
use penstock_core::look::Looks;

fn feature(name: &str, kind: Kind, layout: Layout, count: usize) -> Feature {
    Feature { name: name.into(), kind, layout, count, missing: Missing::Mark }
}

fn features(layout: Layout, count: usize) -> Vec<Feature> {
    vec![
        feature("b", Kind::Bytes, layout, count),
        feature("f", Kind::Float, layout, count),
        feature("i", Kind::Int64, layout, count),
    ]
}

static INTS: LazyLock<Plan> = LazyLock::new(|| {
    let features = vec![feature("i", Kind::Int64, Layout::Ragged, 0)];
    Plan::new(features, false, false).expect("the plan is right")
});

static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let switches = [(false, false), (false, true), (true, false), (true, true)];
    let layouts = [features(Layout::Ragged, 0), features(Layout::Fixed, 1)];
    let plans = layouts.iter().flat_map(|features| {
        switches.map(|(strict_tf, refuse)| {
            Plan::new(features.clone(), strict_tf, refuse).expect("the plan is right")
        })
    });
    plans.collect()
});

static SEQUENCES: LazyLock<Vec<SequencePlan>> = LazyLock::new(|| {
    let plan = |strict_tf| {
        let (context, lists) = (features(Layout::Ragged, 0), features(Layout::Fixed, 1));
        SequencePlan::new(context, lists, strict_tf, true).expect("the plan is right")
    };
    vec![plan(false), plan(true)]
});

fuzz_target!(|data: &[u8]| {
    let twin = plain::read_example(data);
    let read = message::read_example(data, &mut Looks::default());
    assert_eq!(read.is_ok(), twin.is_some());
    assert_eq!(
        message::read_sequence_example(data, &mut Looks::default()).is_ok(),
        plain::read_sequence_example(data).is_some()
    );

    // Four times the same record: the last ones are taken by their form.
    let length = data.len() as i64;
    let data = data.repeat(4);
    let starts = [0, length, 2 * length, 3 * length];
    let lengths = [length; 4];
    for plan in PLANS.iter() {
        let decoded = plan.decode(&data, &starts, &lengths).expect("the records lie in the data");
        assert!(decoded.rows == if decoded.error.is_some() { 0 } else { 4 });
    }
    for plan in SEQUENCES.iter() {
        let decoded = plan.decode(&data, &starts, &lengths).expect("the records lie in the data");
        assert!(decoded.rows == if decoded.error.is_some() { 0 } else { 4 });
    }

    let decoded = INTS.decode(&data, &starts, &lengths).expect("the records lie in the data");
    let ints = match twin.map(|features| features.get(b"i".as_slice()).cloned().flatten()) {
        None => return assert_eq!(decoded.error.map(|error| error.code), Some(1)),
        Some(Some(plain::List::Ints(values))) => values,
        Some(Some(_)) => return assert_eq!(decoded.error.map(|error| error.code), Some(2)),
        Some(None) => Vec::new(),
    };
    assert_eq!(decoded.columns[0].values, Values::Ints(ints.repeat(4)));
});
