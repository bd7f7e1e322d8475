//! Numbers as C's printf writes them: where Rust writes others, or takes long for it.

use std::ops::Range;

/// Values are told to a hundredth.
const HUNDRED: u64 = 100;

/// Appends an integer.
pub(crate) fn push_integer(out: &mut String, number: impl Into<u64>) {
    out.push_str(itoa::Buffer::new().format(number.into()));
}

/// Appends a place as a line of BED begins with it.
pub(crate) fn push_place(out: &mut String, contig: &str, positions: &Range<u32>) {
    /// What the numbers of a line take, at most.
    const NUMBERS: usize = 40;
    out.reserve(contig.len() + NUMBERS);
    out.push_str(contig);
    for position in [positions.start, positions.end] {
        out.push('\t');
        push_integer(out, position);
    }
    out.push('\t');
}

/// `%.2f`, appended.
pub(crate) fn push_hundredths(out: &mut String, value: f64) {
    let scaled = value * HUNDRED as f64;
    // Next to a half, which way it is rounded depends on digits that `scaled` has lost.
    let is_clear = (scaled - scaled.floor() - 0.5).abs() > 1e-6;
    if !is_clear || !(0.0..1e9).contains(&scaled) {
        return out.push_str(&format!("{value:.2}"));
    }
    let rounded = scaled.round() as u64;
    push_integer(out, rounded / HUNDRED);
    let digits = rounded % HUNDRED;
    out.push_str(if digits < 10 { ".0" } else { "." });
    push_integer(out, digits);
}

/// `%.{digits}g`: so many significant digits, without zeros at the end.
pub(crate) fn general(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if exponent < -4 || exponent >= digits as i32 {
        return format!("{}e{}", without_zeros(mantissa), signed(exponent));
    }
    without_zeros(&format!("{value:.*}", (digits as i32 - 1 - exponent) as usize)).to_owned()
}

/// `%e`.
pub(crate) fn scientific(value: f64) -> String {
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa}e{}", signed(exponent.parse().unwrap_or_default())),
        None => text,
    }
}

/// An exponent has its sign and two digits at least.
fn signed(exponent: i32) -> String {
    format!("{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundredths_are_those_of_format() {
        let halves = (0..4000).map(|eighths| f64::from(eighths) / 8.0);
        let others = (0..4000).map(|number| f64::from(number) / 7.0);
        for value in halves.chain(others).chain([0.005, 0.015, 1.005, 0.995, 0.004999, 1e-9, 12345678.995, 1e12]) {
            let mut text = String::new();
            push_hundredths(&mut text, value);
            assert_eq!(text, format!("{value:.2}"));
        }
    }

    #[test]
    fn numbers_are_as_printf_writes_them() {
        let six = [
            (100.0, "100"),
            (99.999, "99.999"),
            (1234567.0, "1.23457e+06"),
            (0.0001234567, "0.000123457"),
            (0.00001234567, "1.23457e-05"),
            (0.0, "0"),
            (999999.9, "1e+06"),
        ];
        for (value, text) in six {
            assert_eq!(general(value, 6), text);
        }
        assert_eq!((&*general(36.46, 3), &*general(59.96, 3), &*general(1e-9, 3)), ("36.5", "60", "1e-09"));
        assert_eq!((&*scientific(0.0), &*scientific(0.00123456789)), ("0.000000e+00", "1.234568e-03"));
    }
}
