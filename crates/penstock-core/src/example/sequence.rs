//! A batch of SequenceExamples into columns.

use std::collections::HashMap;

use crate::column::{Builder, Column, Misfit};
use crate::error::Result;
use crate::finished::marks;
use crate::room::push;
use crate::wire::Span;

use super::decode::{Finder, Records, take_found};
use super::message::{Found, UNSET, walk_sequence_example};
use super::plan::{Feature, Layout, Missing, Plan};
use super::strict;
use super::wrong::{DecodeError, Wrong};

/// How to decode a batch of SequenceExamples.
#[derive(Clone, Debug)]
pub struct SequencePlan {
    context: Plan,
    lists: Plan,
}

/// The steps of a feature list over all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ListColumn {
    /// A row for each step.
    pub steps: Column,
    /// Where the steps of each row begin.
    pub step_offsets: Vec<i64>,
    /// Which rows have the list, unless all have.
    pub present: Option<Vec<bool>>,
}

/// A decoded batch.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedSequences {
    /// A column for each context feature.
    pub context: Vec<Column>,
    /// A column for each feature list.
    pub lists: Vec<ListColumn>,
    /// Rows decoded.
    pub rows: usize,
    /// Why there are not more.
    pub error: Option<DecodeError>,
}

impl SequencePlan {
    /// Check and index the features. The switches are those of `Plan::new`.
    pub fn new(
        context: Vec<Feature>,
        lists: Vec<Feature>,
        strict_tf: bool,
        refuse_unknown: bool,
    ) -> Result<Self> {
        let context = Plan::new(context, strict_tf, refuse_unknown)?;
        Ok(Self { context, lists: Plan::new(lists, strict_tf, refuse_unknown)? })
    }

    /// Decode the records data[starts[i]..][..lengths[i]] up to the first that is wrong.
    pub fn decode(&self, data: &[u8], starts: &[i64], lengths: &[i64]) -> Result<DecodedSequences> {
        let records = Records::new(data, starts, lengths)?;
        let mut columns = Columns {
            context: records.builders(self.context.features())?,
            lists: self.lists.features().iter().map(ListBuilder::new).collect(),
        };
        let mut places = Places::default();
        let mut error = None;
        for row in 0..records.len() {
            let record = records.get(row)?;
            if let Err(wrong) = self.take_record(record, &mut columns, &mut places) {
                columns.cut(row);
                error = Some(wrong.at(row)?);
                break;
            }
        }
        let rows = error.map_or(records.len(), |error: DecodeError| error.row);
        let context = columns.context.into_iter().map(Builder::finish).collect::<Result<_>>()?;
        let lists = columns.lists.into_iter().map(ListBuilder::finish).collect::<Result<_>>()?;
        Ok(DecodedSequences { context, lists, rows, error })
    }

    fn take_record<'a>(
        &self,
        record: &'a [u8],
        columns: &mut Columns<'_>,
        places: &mut Places<'a>,
    ) -> std::result::Result<(), Wrong> {
        if self.context.strict_tf {
            return self.take_strict(record, columns);
        }
        let Places { context, lists } = places;
        context.reset(&self.context);
        lists.reset(&self.lists);
        walk_sequence_example(
            record,
            &mut |key, found| context.keep(&self.context, record, key, found),
            &mut |key, steps| lists.keep(&self.lists, record, key, steps),
        )?;
        context.take(record, &mut columns.context)?;
        lists.take(record, &mut columns.lists).map_err(|wrong| self.in_lists(wrong))
    }

    fn take_strict(&self, record: &[u8], columns: &mut Columns<'_>) -> std::result::Result<(), Wrong> {
        let entries = strict::read_sequence_example(record)?;
        for (slot, column) in columns.context.iter_mut().enumerate() {
            let feature = entries.context(record, &column.feature().name);
            strict::take_context(record, slot, feature, column)?;
        }
        if self.context.refuse_unknown {
            entries.refuse_unknown(record, &self.context, &self.lists)?;
        }
        for (slot, list) in columns.lists.iter_mut().enumerate() {
            let steps = entries.list(record, &list.steps.feature().name);
            let taken = match steps {
                None => list.end_missing_row(slot, record.len()),
                Some(steps) => {
                    strict::take_steps(record, slot, steps, &mut list.steps).and_then(|()| list.end_row(slot))
                }
            };
            taken.map_err(|wrong| self.in_lists(wrong))?;
        }
        Ok(())
    }

    /// Lists are counted after the context.
    fn in_lists(&self, wrong: Wrong) -> Wrong {
        let slot = wrong.slot.map(|slot| slot.saturating_add(self.context.features().len()));
        Wrong { slot, ..wrong }
    }
}

struct Columns<'p> {
    context: Vec<Builder<'p>>,
    lists: Vec<ListBuilder<'p>>,
}

impl Columns<'_> {
    fn cut(&mut self, rows: usize) {
        self.context.iter_mut().for_each(|column| column.cut(rows));
        self.lists.iter_mut().for_each(|list| list.cut(rows));
    }
}

struct ListBuilder<'p> {
    steps: Builder<'p>,
    // Steps before each finished row, and after the last.
    ends: Vec<usize>,
    absent: Vec<usize>,
}

impl<'p> ListBuilder<'p> {
    fn new(feature: &'p Feature) -> Self {
        Self { steps: Builder::new(feature), ends: vec![0], absent: Vec::new() }
    }

    fn end_row(&mut self, slot: usize) -> std::result::Result<(), Wrong> {
        push(&mut self.ends, self.steps.rows()).ok_or(Wrong::misfit(slot, Misfit::Memory, 0))
    }

    fn end_missing_row(&mut self, slot: usize, offset: usize) -> std::result::Result<(), Wrong> {
        let feature = self.steps.feature();
        match (&feature.missing, feature.layout) {
            (Missing::Error, Layout::Fixed | Layout::Raw) => {
                return Err(Wrong::misfit(slot, Misfit::Missing, offset));
            }
            (Missing::Mark, _) => push(&mut self.absent, self.ends.len().saturating_sub(1))
                .ok_or(Wrong::misfit(slot, Misfit::Memory, offset))?,
            _ => {}
        }
        self.end_row(slot)
    }

    fn cut(&mut self, rows: usize) {
        self.ends.truncate(rows.saturating_add(1));
        self.steps.cut(self.ends.last().copied().unwrap_or(0));
        self.absent.retain(|&row| row < rows);
    }

    fn finish(self) -> Result<ListColumn> {
        let rows = self.ends.len().saturating_sub(1);
        let present = if self.absent.is_empty() { None } else { Some(marks(rows, &self.absent)?) };
        let step_offsets = self.ends.iter().map(|&end| i64::try_from(end).unwrap_or(i64::MAX)).collect();
        Ok(ListColumn { steps: self.steps.finish()?, step_offsets, present })
    }
}

#[derive(Default)]
struct Places<'a> {
    context: Finder<'a>,
    lists: ListFinder<'a>,
}

/// Where the steps of the feature lists of a record lie, by number in the plan.
#[derive(Default)]
struct ListFinder<'a> {
    found: Vec<Option<Vec<Found>>>,
    // Keys that are not in the plan: where, and whether any step is set.
    unknown: HashMap<&'a [u8], (Span, bool)>,
}

impl<'a> ListFinder<'a> {
    fn reset(&mut self, plan: &Plan) {
        self.found.clear();
        self.found.resize(plan.features().len(), None);
        self.unknown.clear();
    }

    /// Of equal keys the last one counts.
    fn keep(&mut self, plan: &Plan, record: &'a [u8], key: Span, steps: &mut Vec<Found>) {
        if let Some(place) = plan.slot(key.of(record)).and_then(|slot| self.found.get_mut(slot)) {
            *place = Some(std::mem::take(steps));
        } else if plan.refuse_unknown {
            let is_set = steps.iter().any(|step| step.kind != UNSET);
            self.unknown.insert(key.of(record), (key, is_set));
        }
    }

    fn take(&self, record: &'a [u8], lists: &mut [ListBuilder<'_>]) -> std::result::Result<(), Wrong> {
        for (slot, (found, list)) in self.found.iter().zip(lists).enumerate() {
            let Some(steps) = found else {
                list.end_missing_row(slot, record.len())?;
                continue;
            };
            for step in steps {
                take_step(record, slot, step, &mut list.steps)?;
            }
            list.end_row(slot)?;
        }
        let set = self.unknown.values().filter(|(_, is_set)| *is_set);
        match set.map(|(key, _)| key).min_by_key(|key| key.start) {
            None => Ok(()),
            Some(key) => Err(Wrong::unknown(key.start, key.len())),
        }
    }
}

// A step with no kind set has no values; only a whole list can be missing.
fn take_step(
    record: &[u8],
    slot: usize,
    step: &Found,
    steps: &mut Builder<'_>,
) -> std::result::Result<(), Wrong> {
    let wanted = steps.feature().wanted();
    take_found(record, slot, step, steps).map_err(|wrong| wrong.of_step(wanted))
}
