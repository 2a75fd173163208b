//! Fixed-size hexadecimal, both ways. No other base, no variable length.

use core::fmt;

fn nibble(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|n| u8::try_from(n).ok())
}

/// Reads exactly `N` bytes from `2·N` hexadecimal digits of either case.
pub(crate) fn read<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() || pairs.len() != N {
        return None;
    }
    let mut out = [0; N];
    for (slot, [high, low]) in out.iter_mut().zip(pairs) {
        *slot = nibble(*high)?
            .saturating_mul(16)
            .saturating_add(nibble(*low)?);
    }
    Some(out)
}

/// Writes lower-case digits.
pub(crate) fn write(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
