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
mod wrong;

pub use decode::{Decoded, Filling};
pub use plan::{Default, Feature, Kind, Layout, Missing, Plan};
pub use sequence::SequencePlan;
pub use wrong::DecodeError;
