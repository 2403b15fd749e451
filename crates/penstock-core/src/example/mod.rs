//! Example and SequenceExample: from records to columns and back. `formats.md`, sections 2 and 3.

pub mod decode;
pub mod encode;
mod fast;
mod form;
pub mod message;
pub mod plan;
pub mod sequence;
mod stream;
mod strict;
pub mod write;

pub use decode::{DecodeError, Decoded, Filling};
pub use plan::{Default, Feature, Kind, Layout, Missing, Plan};
pub use sequence::SequencePlan;
