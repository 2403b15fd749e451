//! What one step of reading did.

/// Bytes used up and bytes written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Input bytes used up.
    pub taken: usize,
    /// Output bytes written.
    pub made: usize,
}
