//! The order of names in which numbers count as numbers: S2 comes before S10.

use std::cmp::Ordering;

/// Compares two names.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let ((one, rest_of_one), (other, rest_of_other)) = (piece(left), piece(right));
        if one.is_empty() && other.is_empty() {
            // Names that differ in zeros before numbers alone are still different ones.
            return a.cmp(b);
        }
        let order = match (is_number(one), is_number(other)) {
            (true, true) => by_value(one, other),
            _ => one.cmp(other),
        };
        if order.is_ne() {
            return order;
        }
        (left, right) = (rest_of_one, rest_of_other);
    }
}

/// The digits, or what is before the next digit, and the rest.
fn piece(text: &str) -> (&str, &str) {
    let of_digits = is_number(text);
    let end = text.find(|letter: char| letter.is_ascii_digit() != of_digits).unwrap_or(text.len());
    text.split_at(end)
}

fn is_number(piece: &str) -> bool {
    piece.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Numbers of any length.
fn by_value(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn numbers_count_as_numbers() {
        let mut names = ["S10", "S2", "S02", "S2_L10", "S2_L9", "A", "", "S", "ü1", "10", "9"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(names, ["", "9", "10", "A", "S", "S02", "S2", "S2_L9", "S2_L10", "S10", "ü1"]);
        assert_eq!(compare("x184467440737095516160", "x99"), std::cmp::Ordering::Greater);
    }
}
