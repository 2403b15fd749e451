//! The only crate that knows Python: read the arguments, leave the interpreter, hand back.

mod buffer;
mod columns;
mod compress;
mod encode;
mod errors;
mod example;
mod files;
mod frames;
mod memory;

use pyo3::prelude::*;

/// The native floor of penstock. Signatures and meanings are in `_native.pyi`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[allow(non_upper_case_globals, reason = "the name that Python expects")]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::memory::keep_between_chunks();
        Ok(())
    }

    #[pymodule_export]
    use super::compress::{Compressor, Decompressor};
    #[pymodule_export]
    use super::errors::{BombError, MessageError, NativeError, StreamError};
    #[pymodule_export]
    use super::frames::{crc32c, find_frame, frame_records, masked_crc32c, read_ranges, scan_frames};

    #[pymodule_export]
    use super::example::{ExamplePlan, SequencePlan, read_example, read_sequence_example};

    #[pymodule_export]
    use super::encode::{encode_examples, encode_sequence_examples, write_example, write_sequence_example};

    #[pymodule_export]
    use super::columns::{bytes_objects, gather_ranges, join_strings, text_objects};
}
