//! Colour to grey with libpng's weights, in linear light where a gamma is known.
//!
//! Facts: png_set_rgb_to_gray(0.299, 0.587) and png_build_gamma_table of libpng 1.6.

/// Parts of 32,768, cut off, not rounded: what is missing is added to blue.
const RED: u32 = 9_797;
const GREEN: u32 = 19_234;
const BLUE: u32 = 3_737;
const SHIFT: u32 = 15;
const HALF: u32 = 1 << (SHIFT - 1);
/// A gamma of 1, and how far from it one is none.
const ONE: u32 = 100_000;
const NOT_SIGNIFICANT: u32 = 5_000;
/// Gammas that libpng takes from a file.
const KNOWN: std::ops::RangeInclusive<u32> = 16..=625_000_000;
/// Bits that libpng keeps in a table where 16 bits become 8, and the fewest of any.
const BITS_KEPT: u32 = 11;
const FEWEST_BITS: u32 = 8;

/// How one file's colours become grey; samples of 8 bits come and go repeated (v * 257).
pub struct Grey {
    wide: bool,
    gamma: Option<Gamma>,
}

/// Light by sample and sample by light, for the leading bits of a sample.
struct Gamma {
    shift: u32,
    to_linear: Vec<u16>,
    from_linear: Vec<u16>,
    /// Samples by themselves, where colours are alike: libpng looks up those of 16 bits too.
    alike: Option<Vec<u16>>,
}

impl Grey {
    /// What an sRGB chunk says, in parts of 100,000.
    pub const SRGB_GAMMA: u32 = 45_455;

    /// Whether libpng takes it: with another it forgets what else the file says of light.
    pub fn is_known(gamma: u32) -> bool {
        KNOWN.contains(&gamma)
    }

    /// Tables for a gamma in parts of 100,000, for samples of 8 bits, or of 16 of which `wide` are significant.
    pub fn new(gamma: Option<u32>, wide: Option<u32>, want_wide: bool) -> Self {
        let gamma = gamma.filter(|&gamma| Self::is_known(gamma));
        let gamma = gamma.filter(|&gamma| is_significant(gamma) || is_significant(inverse(gamma)));
        let tables = |gamma| match wide {
            None => Gamma::narrow(gamma),
            Some(bits) => Gamma::wide(gamma, bits, want_wide),
        };
        Self { wide: wide.is_some(), gamma: gamma.map(tables) }
    }

    /// The grey of red, green and blue.
    pub fn of(&self, colours: [u16; 3]) -> u16 {
        let [red, green, blue] = colours;
        if red == green && red == blue {
            return self.gamma.as_ref().map_or(red, |gamma| gamma.alike(red));
        }
        match (&self.gamma, self.wide) {
            (None, true) => weighed(colours, HALF),
            // Samples of 8 bits are weighed as such, and here alone the sum is not rounded.
            (None, false) => repeated(weighed(colours.map(|sample| sample >> 8), 0)),
            (Some(gamma), true) => gamma.sample(weighed(colours.map(|sample| gamma.light(sample)), HALF)),
            (Some(gamma), false) => {
                let light = colours.map(|sample| gamma.light(sample) >> 8);
                gamma.sample(repeated(weighed(light, HALF)))
            }
        }
    }
}

impl Gamma {
    fn narrow(gamma: u32) -> Self {
        let repeated = |exponent| powers(exponent, 8, 255).into_iter().map(repeated).collect();
        let [to_linear, from_linear] = exponents(gamma).map(repeated);
        Self { shift: 8, to_linear, from_linear, alike: None }
    }

    fn wide(gamma: u32, significant_bits: u32, want_wide: bool) -> Self {
        let most = if want_wide { u16::BITS } else { BITS_KEPT };
        let shift = u16::BITS.saturating_sub(significant_bits.clamp(FEWEST_BITS, most));
        let [to_linear, from_linear] = exponents(gamma).map(|exponent| powers(exponent, shift, 65_535));
        let alike = if want_wide { powers(ONE, shift, 65_535) } else { nearest(gamma, shift) };
        Self { shift, to_linear, from_linear, alike: Some(alike) }
    }

    fn light(&self, sample: u16) -> u16 {
        self.looked_up(&self.to_linear, sample)
    }

    fn sample(&self, light: u16) -> u16 {
        self.looked_up(&self.from_linear, light)
    }

    fn alike(&self, sample: u16) -> u16 {
        self.alike.as_ref().map_or(sample, |table| self.looked_up(table, sample))
    }

    fn looked_up(&self, table: &[u16], value: u16) -> u16 {
        table.get(usize::from(value >> self.shift)).copied().unwrap_or(value)
    }
}

fn is_significant(gamma: u32) -> bool {
    gamma.abs_diff(ONE) > NOT_SIGNIFICANT
}

/// 1 by a gamma, as libpng keeps it: in parts of 100,000.
fn inverse(gamma: u32) -> u32 {
    (1e10 / f64::from(gamma) + 0.5).floor() as u32
}

/// To light and back. The way back is that of the screen's gamma, which is the inverse of the file's, rounded.
fn exponents(gamma: u32) -> [u32; 2] {
    let screen = inverse(gamma);
    [screen, inverse(screen)]
}

/// The power of each sample, of which `16 - shift` bits are known.
fn powers(exponent: u32, shift: u32, scale: u32) -> Vec<u16> {
    let most = u16::MAX >> shift;
    // As libpng has it, also where it rounds: a division is made once.
    let fraction = 1.0 / f64::from(most);
    let power = |value: u16| {
        (f64::from(scale) * (f64::from(value) * fraction).powf(f64::from(exponent) * 0.00001) + 0.5).floor()
            as u16
    };
    match is_significant(exponent) {
        true => (0..=most).map(power).collect(),
        false => (0..=most).map(|value| stretched(value, shift, scale)).collect(),
    }
}

/// A sample of `16 - shift` bits on a scale, rounded as libpng rounds it.
fn stretched(value: u16, shift: u32, scale: u32) -> u16 {
    let most = u32::from(u16::MAX >> shift);
    // Below 2 ** 32, as both factors are below 2 ** 16; half of the bits, not of the greatest sample.
    let sum = u32::from(value).saturating_mul(scale).saturating_add((most / 2).saturating_add(1));
    u16::try_from(sum.checked_div(most).unwrap_or_default()).unwrap_or(u16::MAX)
}

/// The nearest sample of 8 bits to each of 16, of which `16 - shift` are known, by way of the screen's gamma.
fn nearest(gamma: u32, shift: u32) -> Vec<u16> {
    let exponent = (f64::from(gamma) * 1e-5 * f64::from(inverse(gamma)) + 0.5).floor() * 0.00001;
    let most = u32::from(u16::MAX >> shift);
    let mut table = Vec::new();
    for narrow in 0..u8::MAX {
        let between = f64::from(narrow) * 257.0 + 128.0;
        let bound = (65_535.0 * (between / 65_535.0).powf(exponent) + 0.5).floor() as u32;
        // At most 65,535 times 2,047.
        let end = bound.saturating_mul(most).saturating_add(32_768) / 65_535;
        table.resize((end as usize).saturating_add(1), repeated(u16::from(narrow)));
    }
    table.resize((most as usize).saturating_add(1), u16::MAX);
    table
}

fn weighed([red, green, blue]: [u16; 3], rounding: u32) -> u16 {
    // The weights sum to 32,768, so the sum is below 2 ** 31 and the result below 65,536.
    let parts = [(red, RED), (green, GREEN), (blue, BLUE)];
    let sum = parts.iter().fold(rounding, |sum, &(sample, weight)| {
        sum.saturating_add(u32::from(sample).saturating_mul(weight))
    });
    u16::try_from(sum >> SHIFT).unwrap_or(u16::MAX)
}

fn repeated(sample: u16) -> u16 {
    sample.saturating_mul(257)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_are_those_of_libpng() {
        assert_eq!(RED + GREEN + BLUE, 1 << SHIFT);
        let grey = Grey::new(None, None, false);
        assert_eq!(grey.of([255 * 257, 0, 0]) >> 8, 76);
        assert_eq!(grey.of([0, 255 * 257, 0]) >> 8, 149);
        assert_eq!(grey.of([9 * 257; 3]) >> 8, 9);
        assert_eq!(Grey::new(None, Some(16), true).of([u16::MAX, 0, 0]), 19_594);
    }

    #[test]
    fn a_gamma_weighs_light() {
        let grey = Grey::new(Some(Grey::SRGB_GAMMA), None, false);
        assert_eq!(grey.of([0, 255 * 257, 0]) >> 8, 200);
        let none = Grey::new(Some(ONE), None, false);
        assert_eq!(none.of([0, 255 * 257, 0]) >> 8, 149);
    }

    #[test]
    fn of_sixteen_bits_those_that_are_significant_are_looked_up() {
        let grey = |bits| Grey::new(Some(Grey::SRGB_GAMMA), Some(bits), true);
        assert_eq!(grey(16).of([0x1234; 3]), 0x1234);
        assert_eq!(grey(8).of([0x1234; 3]), 0x1212);
        assert_eq!(grey(8).of([0x8034, 0x80ff, 0x8000]), 32_902);
        let narrow = Grey::new(Some(Grey::SRGB_GAMMA), Some(16), false);
        assert_eq!([0x1234, 0x12c0].map(|sample| narrow.of([sample; 3]) >> 8), [0x12, 0x13]);
    }
}
