//! What is done with every sample of a new picture, while it is still in the processor's cache.

/// One operation of every sample with one number, as NumPy does it with `float32`: rounded after each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arithmetic {
    /// `x + number`
    Add(f32),
    /// `x - number`
    Subtract(f32),
    /// `x * number`
    Multiply(f32),
    /// `x / number`
    Divide(f32),
}

impl Arithmetic {
    /// The operation that Python's `operator` calls this; None for others.
    #[must_use]
    pub fn named(name: &str, number: f32) -> Option<Self> {
        Some(match name {
            "add" => Self::Add(number),
            "sub" => Self::Subtract(number),
            "mul" => Self::Multiply(number),
            "truediv" => Self::Divide(number),
            _ => return None,
        })
    }

    #[inline(always)]
    pub(super) fn run(self, samples: &mut [f32]) {
        match self {
            Self::Add(number) => samples.iter_mut().for_each(|sample| *sample += number),
            Self::Subtract(number) => samples.iter_mut().for_each(|sample| *sample -= number),
            Self::Multiply(number) => samples.iter_mut().for_each(|sample| *sample *= number),
            Self::Divide(number) => samples.iter_mut().for_each(|sample| *sample /= number),
        }
    }
}
