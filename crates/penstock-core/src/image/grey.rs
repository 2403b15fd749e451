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
/// Bits that libpng keeps in a table where 16 bits become 8.
const BITS_KEPT: u32 = 11;

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
}

impl Grey {
    /// What an sRGB chunk says, in parts of 100,000.
    pub const SRGB_GAMMA: u32 = 45_455;

    /// Tables for a gamma in parts of 100,000, for samples of 16 or 8 bits that become 16 or 8.
    pub fn new(gamma: Option<u32>, wide: bool, want_wide: bool) -> Self {
        let gamma = gamma.filter(|&gamma| gamma > 0 && gamma.abs_diff(ONE) > NOT_SIGNIFICANT);
        let shift = match (wide, want_wide) {
            (true, true) => 0,
            (true, false) => 16 - BITS_KEPT,
            (false, _) => 8,
        };
        Self { wide, gamma: gamma.map(|gamma| Gamma::new(gamma, shift)) }
    }

    /// The grey of red, green and blue.
    pub fn of(&self, colours: [u16; 3]) -> u16 {
        let [red, green, blue] = colours;
        if red == green && red == blue {
            return red;
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
    fn new(gamma: u32, shift: u32) -> Self {
        let gamma = f64::from(gamma) / f64::from(ONE);
        // As libpng keeps it: in parts of 100,000.
        let inverse = (f64::from(ONE) / gamma).round() / f64::from(ONE);
        Self { shift, to_linear: powers(inverse, shift), from_linear: powers(gamma, shift) }
    }

    fn light(&self, sample: u16) -> u16 {
        self.to_linear.get(usize::from(sample >> self.shift)).copied().unwrap_or(sample)
    }

    fn sample(&self, light: u16) -> u16 {
        self.from_linear.get(usize::from(light >> self.shift)).copied().unwrap_or(light)
    }
}

/// The power of each sample, of which `16 - shift` bits are known.
fn powers(exponent: f64, shift: u32) -> Vec<u16> {
    let most = (u16::MAX >> shift) as f64;
    // 8 bits are rounded as such, then repeated.
    let (scale, repeat) = if shift == 8 { (255.0, 257) } else { (65_535.0, 1) };
    (0..=u16::MAX >> shift)
        .map(|value| {
            let power = (scale * (f64::from(value) / most).powf(exponent) + 0.5).floor();
            (power as u16).saturating_mul(repeat)
        })
        .collect()
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
        let grey = Grey::new(None, false, false);
        assert_eq!(grey.of([255 * 257, 0, 0]) >> 8, 76);
        assert_eq!(grey.of([0, 255 * 257, 0]) >> 8, 149);
        assert_eq!(grey.of([9 * 257; 3]) >> 8, 9);
        assert_eq!(Grey::new(None, true, true).of([u16::MAX, 0, 0]), 19_594);
    }

    #[test]
    fn a_gamma_weighs_light() {
        let grey = Grey::new(Some(Grey::SRGB_GAMMA), false, false);
        assert_eq!(grey.of([0, 255 * 257, 0]) >> 8, 200);
        let none = Grey::new(Some(ONE), false, false);
        assert_eq!(none.of([0, 255 * 257, 0]) >> 8, 149);
    }
}
