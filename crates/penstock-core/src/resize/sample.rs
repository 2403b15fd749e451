//! The types of samples.

/// A sample of a picture, which becomes a float before anything is computed.
pub trait Sample: Copy + Send + Sync + 'static {
    /// Its value, rounded to the nearest float where it has more digits.
    fn float(self) -> f32;

    /// Its bytes, where a sample is a byte: there is a faster way for pictures of them.
    fn bytes(_samples: &[Self]) -> Option<&[u8]> {
        None
    }
}

impl Sample for u8 {
    #[inline(always)]
    fn float(self) -> f32 {
        f32::from(self)
    }

    #[inline(always)]
    fn bytes(samples: &[Self]) -> Option<&[u8]> {
        Some(samples)
    }
}

macro_rules! samples {
    ($($kind:ty),*) => {$(
        impl Sample for $kind {
            #[inline(always)]
            fn float(self) -> f32 {
                self as f32
            }
        }
    )*};
}

samples!(i8, u16, i16, u32, i32, u64, i64, f32, f64);
