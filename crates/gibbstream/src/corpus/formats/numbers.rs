//! Whole numbers in text, and why something is not one.

/// Digits only.
#[inline]
pub(crate) fn whole_number(digits: &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for &digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    (!digits.is_empty()).then_some(number)
}

/// A count, which may be written like a fraction (`3.0`).
pub(crate) fn count(name: &str, field: &[u8]) -> Result<u32, String> {
    let number = whole_number(field).or_else(|| {
        let value: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
        // Beyond 2^53 not every whole number has a fraction of its own.
        ((0.0..=9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0).then_some(value as u64)
    });
    let number = number.ok_or_else(|| not_a_number(name, field))?;
    u32::try_from(number).map_err(|_| format!("{name} {number} is larger than 4294967295"))
}

/// What is wrong with a field that should be a whole number.
pub(crate) fn not_a_number(name: &str, field: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(field).chars().take(40).flat_map(char::escape_debug).collect();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(&text) {
        format!("{name} `{text}` is too large")
    } else if text.strip_prefix('-').is_some_and(digits) {
        format!("{name} `{text}` is negative")
    } else if text.parse::<f64>().is_ok_and(f64::is_finite) {
        format!("{name} `{text}` is not a whole number")
    } else {
        format!("{name} `{text}` is not a number")
    }
}
