//! Decodes texts encoded in base64, hexadecimal or escape sequences.

use std::ops::Range;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::memchr3;

/// Maximum number of bytes decoded from one encoded text.
pub(super) const LARGEST: usize = 64 * 1024;
/// Minimum number of characters in an encoded run; shorter runs are ordinary words.
const SHORTEST: usize = 16;
/// Minimum number of characters in a line that may continue on the next line. A shorter line ends the encoded text.
const LONG: usize = 40;
/// Maximum white space between two lines of an encoded text, in bytes.
const MARGIN: usize = 12;
/// Minimum number of bytes in a decoded text; shorter texts cannot contain an attack.
const SHORTEST_DECODED: usize = 8;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// A decoded text.
pub(super) struct Decoded {
    /// Range of the encoded text.
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// Whether the text was longer than `LARGEST` and was cut.
    pub(super) is_cut: bool,
}

/// Finds and decodes all encoded texts in a text.
pub(super) fn all_in(text: &str) -> Vec<Decoded> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    // Looks only at the last of every `SHORTEST` bytes. If that byte is not a letter, none of these bytes begins a long
    // enough run. So most bytes are skipped.
    while let Some(byte) = bytes.get(at + SHORTEST - 1) {
        if !is_letter(*byte) {
            at += SHORTEST;
            continue;
        }
        let before = bytes[at..at + SHORTEST].iter().rposition(|byte| !is_letter(*byte));
        let run = run_at(bytes, at + before.map_or(0, |before| before + 1));
        if run.end - run.start >= SHORTEST {
            found.extend(decode_run(text, &run));
        }
        at = run.end;
    }
    found.extend(escapes(text));
    found
}

/// Returns the run of base64 letters that begins at `start`. If a run has at least `LONG` letters on a line, it
/// continues on the next line.
fn run_at(bytes: &[u8], start: usize) -> Range<usize> {
    let mut end = start;
    loop {
        let line = end;
        end += bytes[end..].iter().take_while(|byte| is_letter(**byte)).count();
        if end - line < LONG {
            return start..end;
        }
        let next = end + bytes[end..].iter().take(MARGIN).take_while(|byte| byte.is_ascii_whitespace()).count();
        let has_break = bytes[end..next].contains(&b'\n') && next - end < MARGIN;
        let goes_on = has_break && bytes[next..].iter().take(4).filter(|byte| is_letter(**byte)).count() == 4;
        if !goes_on {
            return start..end;
        }
        end = next;
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

fn decode_run(text: &str, run: &Range<usize>) -> Option<Decoded> {
    let letters: Vec<u8> =
        text.as_bytes()[run.clone()].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_hex = letters.len().is_multiple_of(2) && letters.iter().all(u8::is_ascii_hexdigit);
    // Skips the name in `key=VALUE`.
    let value =
        letters.iter().position(|byte| *byte == b'=').filter(|at| letters[*at..].iter().any(|byte| *byte != b'='));
    let value = &letters[value.map_or(0, |at| at + 1)..];
    let cut = |most: usize| &value[..value.len().min(most)];
    let hex = || hex::decode(cut(LARGEST * 2)).ok();
    let trimmed = || {
        let value = cut(LARGEST / 3 * 4);
        let end = value.iter().position(|byte| *byte == b'=').unwrap_or(value.len());
        // A single last letter encodes no byte.
        let end = if end % 4 == 1 { end - 1 } else { end };
        &value[..end]
    };
    let base64 = || STANDARD.decode(trimmed()).or_else(|_| URL_SAFE.decode(trimmed())).ok();
    let is_cut = value.len() > if is_hex { LARGEST * 2 } else { LARGEST / 3 * 4 };
    let decoded = if is_hex {
        hex().and_then(as_text).or_else(|| base64().and_then(as_text))
    } else {
        base64().and_then(as_text)
    };
    decoded.map(|text| Decoded { range: run.clone(), text, is_cut })
}

/// Converts decoded bytes to text. They must be UTF-8, or UTF-16 as PowerShell uses it, and almost all printable.
fn as_text(bytes: Vec<u8>) -> Option<String> {
    if bytes.len() < SHORTEST_DECODED {
        return None;
    }
    let is_wide = bytes.len().is_multiple_of(2) && bytes.iter().skip(1).step_by(2).all(|byte| *byte == 0);
    let text = if is_wide {
        bytes.iter().step_by(2).map(|byte| char::from(*byte)).collect()
    } else {
        match String::from_utf8(bytes) {
            Ok(text) => text,
            // The limit on decoded bytes may have split the last character.
            Err(error) if error.utf8_error().error_len().is_none() => {
                let valid = error.utf8_error().valid_up_to();
                String::from_utf8(error.into_bytes()[..valid].to_vec()).ok()?
            }
            Err(_) => return None,
        }
    };
    let (mut all, mut odd) = (0, 0);
    for c in text.chars() {
        all += 1;
        odd += usize::from((c.is_control() && !c.is_whitespace()) || c == '\u{fffd}');
    }
    (odd * 20 <= all).then_some(text)
}

/// Decodes runs of `\x41`, `\101`, `\u0041`, `%41` and `&#65;`.
fn escapes(text: &str) -> Vec<Decoded> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(gap) = memchr3(b'\\', b'%', b'&', &bytes[at..]) {
        at += gap;
        let (start, mut decoded, mut count) = (at, Vec::new(), 0);
        // Unescaped characters may occur between escapes, as in addresses.
        while let Some((length, byte)) = escape_at(&bytes[at..]).or_else(|| plain_at(&bytes[at..])) {
            count += usize::from(length > 1);
            decoded.push(byte);
            at += length;
        }
        at = at.max(start + 1);
        if count >= 6 && count * 3 >= decoded.len() {
            let is_cut = decoded.len() > LARGEST;
            decoded.truncate(LARGEST);
            found.extend(as_text(decoded).map(|text| Decoded { range: start..at, text, is_cut }));
        }
    }
    found
}

/// Returns the length of the escape at the start of `bytes`, and the byte that it encodes.
fn escape_at(bytes: &[u8]) -> Option<(usize, u8)> {
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    match bytes {
        [b'\\', b'x', a, b, ..] => Some((4, hex(&[*a, *b])?)),
        [b'\\', a @ b'0'..=b'1', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            Some((4, (a - b'0') * 64 + (b - b'0') * 8 + (c - b'0')))
        }
        [b'\\', b'u', b'0', b'0', a, b, ..] => Some((6, hex(&[*a, *b])?)),
        [b'%', a, b, ..] => Some((3, hex(&[*a, *b])?)),
        [b'&', b'#', rest @ ..] => {
            let end = rest.iter().take(5).position(|byte| *byte == b';')?;
            let digits = std::str::from_utf8(&rest[..end]).ok()?;
            let byte = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u8::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            Some((end + 3, byte))
        }
        _ => None,
    }
}

fn plain_at(bytes: &[u8]) -> Option<(usize, u8)> {
    bytes
        .first()
        .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'-' | b'_' | b':'))
        .map(|byte| (1, *byte))
}
