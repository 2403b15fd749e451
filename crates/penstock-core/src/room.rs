//! Growth of vectors that says when there is no memory, where `push` and `extend` would end the process.

/// Room for `more` values; `None` where there is no memory for them.
#[inline(always)]
pub fn room<T>(values: &mut Vec<T>, more: usize) -> Option<()> {
    if values.capacity().saturating_sub(values.len()) >= more { Some(()) } else { grow(values, more) }
}

#[cold]
#[inline(never)]
fn grow<T>(values: &mut Vec<T>, more: usize) -> Option<()> {
    values.try_reserve(more).ok()
}

/// Append a value.
#[inline(always)]
pub fn push<T>(values: &mut Vec<T>, value: T) -> Option<()> {
    room(values, 1)?;
    values.push(value);
    Some(())
}

/// Append a copy of values.
#[inline(always)]
pub fn extend<T: Copy>(values: &mut Vec<T>, more: &[T]) -> Option<()> {
    room(values, more.len())?;
    values.extend_from_slice(more);
    Some(())
}

/// Append a value `count` times.
pub fn repeat<T: Copy>(values: &mut Vec<T>, value: T, count: usize) -> Option<()> {
    room(values, count)?;
    values.resize(values.len().saturating_add(count), value);
    Some(())
}
