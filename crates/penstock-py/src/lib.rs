//! The only crate that knows Python: read the arguments, leave the interpreter, hand back.

use pyo3::prelude::*;

/// The native floor of penstock. Signatures and meanings are in `_native.pyi`.
#[pymodule]
mod _native {
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
