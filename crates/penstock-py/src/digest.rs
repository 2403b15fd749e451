//! The digest of files: documented in `_native.pyi`.

use penstock_core::digest;
use pyo3::prelude::*;

use crate::buffer::Items;

#[pyclass(module = "penstock._native")]
pub struct Digest(digest::Digest);

#[pymethods]
impl Digest {
    #[new]
    fn new() -> Self {
        Self(digest::Digest::new())
    }

    fn update(&mut self, py: Python<'_>, data: Items) {
        py.detach(|| self.0.update(data.as_slice()));
    }

    fn hexdigest(&self) -> String {
        self.0.to_string()
    }
}

#[pyfunction(name = "digest")]
pub fn digest_of(py: Python<'_>, data: Items) -> String {
    py.detach(|| {
        let mut digest = digest::Digest::new();
        digest.update(data.as_slice());
        digest.to_string()
    })
}
