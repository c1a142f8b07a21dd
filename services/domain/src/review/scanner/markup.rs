//! Decodes addresses that contain percent escapes or HTML entities.

use std::ops::Range;

use percent_encoding::percent_decode_str;

/// Maximum number of bytes in a decoded address.
const LONGEST: usize = 8 * 1024;

/// Maximum number of bytes of context before an address.
const BEFORE: usize = 256;

/// Decodes the addresses with escapes. Returns the range of each address, and the decoded address with the text before
/// it on the line.
pub(super) fn escaped(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("://").map(|scheme| at + scheme) {
        let rest = &text[start..];
        let to = rest.floor_char_boundary(LONGEST);
        let end =
            rest[..to].find([' ', '\n', '\t', '"', '\'', '`', '<', '>', ')']).map_or(start + to, |end| start + end);
        // Includes the text before the address on its line, such as a command, back to the previous address.
        let near = text.floor_char_boundary(start.saturating_sub(BEFORE).max(at));
        let from = text[near..start].rfind('\n').map_or(near, |end| near + end + 1);
        let address = &text[start..end];
        if address.contains('%') || address.contains('&') {
            let decoded = percent_decode_str(address).decode_utf8_lossy();
            let decoded = decoded.replace("&amp;", "&").replace("&#x2F;", "/").replace("&#47;", "/");
            if decoded != address {
                found.push((start..end, format!("{}{decoded}", &text[from..start])));
            }
        }
        at = end.max(start + "://".len());
    }
    found
}
