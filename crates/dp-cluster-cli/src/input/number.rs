//! Cells as numbers.

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The finite number that a cell holds, blanks around it aside; none for anything else.
///
/// Correctly rounded: short decimals by one exact division, all else by the standard library.
pub(crate) fn finite(cell: &[u8]) -> Option<f64> {
    let cell = cell.trim_ascii();
    let number = match short_decimal(cell) {
        Some(number) => number,
        None => std::str::from_utf8(cell).ok()?.parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// At most 15 digits with an optional sign and point: mantissa and power of ten are both exact in a double, so
/// their quotient is rounded once.
fn short_decimal(cell: &[u8]) -> Option<f64> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, cell),
    };
    // 15 digits and a point.
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let (mut mantissa, mut seen, mut decimals) = (0_u64, 0, None);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                seen += 1;
                if let Some(decimals) = &mut decimals {
                    *decimals += 1;
                }
            }
            b'.' if decimals.is_none() => decimals = Some(0_usize),
            _ => return None,
        }
    }
    if seen == 0 || seen > 15 {
        return None;
    }
    let value = mantissa as f64 / POWERS[decimals.unwrap_or(0)];
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_standard_library_reads_them() {
        for text in [
            "0",
            "-0",
            "7",
            "0.1",
            "-12.5",
            "123456789012345",
            "0.30000000000000004",
            "1e5",
            "-1E-5",
            ".5",
            "5.",
            "999999999999999.9",
            "1234567890.12345",
            "+3",
            "1e-320",
            "9007199254740993",
        ] {
            let expected: f64 = text.parse().expect("a number");
            let got = finite(text.as_bytes()).expect("a number");
            assert_eq!(got.to_bits(), expected.to_bits(), "{text}");
        }
        assert_eq!(finite(b" 4.5 "), Some(4.5));
    }

    #[test]
    fn what_is_no_finite_number_is_none() {
        for cell in [
            &b""[..],
            b" ",
            b"-",
            b".",
            b"-.",
            b"x",
            b"1.2.3",
            b"1,5",
            b"nan",
            b"inf",
            b"-infinity",
            b"1e999",
            b"0x10",
            b"1_000",
            b"\xff",
            b"1 2",
            b"--1",
        ] {
            assert_eq!(finite(cell), None, "{cell:?}");
        }
    }
}
