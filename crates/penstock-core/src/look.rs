//! Long work asks between its steps whether to go on: signals are for those to know who call it.

/// Bytes of work between two looks: some milliseconds where they are copied.
pub const STEP_BYTES: usize = 8 << 20;

/// The work was ended between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Asks the caller now and then; the default never does, and goes on.
#[derive(Default)]
pub struct Looks<'a> {
    look: Option<&'a mut dyn FnMut() -> bool>,
    next: usize,
}

impl<'a> Looks<'a> {
    /// Looks with `look`, which tells whether to go on. The first is after a step.
    pub fn new(look: &'a mut dyn FnMut() -> bool) -> Self {
        Self { look: Some(look), next: STEP_BYTES }
    }

    /// The work has come to byte `at`: look, where that is a step beyond the last look.
    #[inline]
    pub fn at(&mut self, at: usize) -> Result<(), Stopped> {
        if at < self.next {
            return Ok(());
        }
        self.next = at.saturating_add(STEP_BYTES);
        self.now()
    }

    /// Look.
    #[cold]
    pub fn now(&mut self) -> Result<(), Stopped> {
        let goes_on = self.look.as_mut().is_none_or(|look| look());
        if goes_on { Ok(()) } else { Err(Stopped) }
    }
}
