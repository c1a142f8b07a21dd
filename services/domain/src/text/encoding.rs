//! Decodes text files that are not UTF-8.

/// The sentence about a converted file in the report on an import.
pub const CONVERTED: &str = "converted it from UTF-16 to UTF-8";

/// Decodes UTF-16 in either byte order, with a byte order mark or with an ASCII character at the start; `None` for
/// other bytes.
pub fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let (units, is_little) = match *bytes {
        [0xff, 0xfe, ref rest @ ..] => (rest, true),
        [0xfe, 0xff, ref rest @ ..] => (rest, false),
        [1..=0x7f, 0, ..] => (bytes, true),
        [0, 1..=0x7f, ..] => (bytes, false),
        _ => return None,
    };
    let (pairs, []) = units.as_chunks::<2>() else { return None };
    let read = if is_little { u16::from_le_bytes } else { u16::from_be_bytes };
    char::decode_utf16(pairs.iter().map(|pair| read(*pair))).collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests;
