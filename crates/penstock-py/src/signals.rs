//! Long work that hears signals (Ctrl-C) between its steps.

use penstock_core::look::Looks;
use pyo3::prelude::*;

use crate::errors::raised;

/// Do `work`, within the interpreter or outside of it; an exception of a signal's handler ends it and is raised.
pub fn hearing<T>(work: impl FnOnce(&mut Looks<'_>) -> penstock_core::Result<T>) -> PyResult<T> {
    let mut heard = None;
    let mut look = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => true,
        Err(error) => {
            heard = Some(error);
            false
        }
    };
    let done = work(&mut Looks::new(&mut look));
    match heard {
        Some(error) => Err(error),
        None => done.map_err(raised),
    }
}
