//! The colours of all charts, bars and bands.

/// Red, green and blue.
pub(crate) type Rgb = (u8, u8, u8);

/// Colours that people with any sight can tell apart (Okabe and Ito), and some more.
pub(crate) const COLOURS: [Rgb; 12] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (80, 80, 80),
    (150, 110, 20),
    (120, 60, 160),
    (160, 200, 60),
    (90, 40, 40),
    (0, 60, 60),
];

/// Letters on light and on dark grounds.
const DARK_INK: &str = "#1a1a1a";
const LIGHT_INK: &str = "#fff";

/// Colour `number`, as CSS has it.
pub(crate) fn css(number: usize) -> String {
    let (red, green, blue) = COLOURS[number % COLOURS.len()];
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The colour of letters that can be read on colour `number`.
pub(crate) fn ink(number: usize) -> &'static str {
    let (red, green, blue) = COLOURS[number % COLOURS.len()];
    let bright = 0.3 * f64::from(red) + 0.59 * f64::from(green) + 0.11 * f64::from(blue);
    if bright > 130.0 { DARK_INK } else { LIGHT_INK }
}

/// A shade from white (0) to a dark blue (1), and the colour of letters that can be read on it.
pub(crate) fn shade(part: f64) -> (String, &'static str) {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    let mixed = |dark: f64| (255.0 + (dark - 255.0) * part).round();
    let background = format!("rgb({},{},{})", mixed(8.0), mixed(69.0), mixed(128.0));
    (background, if part > 0.55 { LIGHT_INK } else { DARK_INK })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_go_from_white_to_dark_with_letters_that_differ() {
        assert_eq!(css(1), "#d55e00");
        assert_eq!(css(13), css(1));
        assert_eq!((ink(0), ink(5)), (LIGHT_INK, DARK_INK));
        assert_eq!(shade(0.0), ("rgb(255,255,255)".to_owned(), "#1a1a1a"));
        assert_eq!(shade(f64::NAN), shade(-1.0));
        assert_eq!(shade(2.0), ("rgb(8,69,128)".to_owned(), "#fff"));
    }
}
