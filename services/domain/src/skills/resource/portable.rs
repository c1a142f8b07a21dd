//! Detects names that a file system hides, reserves, or resolves to other names.

use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

use crate::text::invisible::is_invisible;

/// Names of Windows devices. `COM` and `LPT` with a digit are device names too.
const DEVICES: [&str; 7] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"];
/// Ordinary letters and digits that Unicode lists as similar to `.`, `/` or `\`.
const EVERYDAY: [char; 6] = ['ノ', 'ﾉ', '丿', '丶', '٠', '۰'];

/// Returns the rule that a segment of a path breaks, if any.
pub(super) fn broken_rule(segment: &str) -> Option<String> {
    // Some file systems ignore invisible characters when they compare names.
    let visible: String = segment.chars().filter(|c| !is_invisible(*c)).collect();
    let shown = segment.escape_default();
    if visible.is_empty() {
        return Some(format!("no part of the path may be invisible, but '{shown}' is"));
    }
    if visible.starts_with('.') {
        return Some(format!("no part of the path may be hidden, but '{shown}' starts with a dot"));
    }
    if visible.ends_with('.') || visible.ends_with(char::is_whitespace) {
        return Some(format!("no part of the path may end with a dot or a blank, but '{shown}' does"));
    }
    if is_device(&visible) {
        return Some(format!("'{shown}' is a device of Windows; choose another name"));
    }
    is_short_name(&visible)
        .then(|| format!("'{shown}' may be the short name of another file on Windows; choose another name"))
}

/// Checks whether a character looks like a dot or a slash.
pub(super) fn looks_like_punctuation(c: char) -> bool {
    let mut buffer = [0; 4];
    let text = &*c.encode_utf8(&mut buffer);
    !c.is_ascii() && !EVERYDAY.contains(&c) && (is_punctuation(text.nfkc()) || is_punctuation(skeleton(text)))
}

fn is_punctuation(text: impl Iterator<Item = char>) -> bool {
    // An invisible character has no form to compare.
    let mut text = text.peekable();
    text.peek().is_some() && text.all(|c| matches!(c, '.' | '/' | '\\'))
}

/// Checks whether a character is invisible and has no use within a word. Joiners and variation selectors have a use
/// there.
pub(super) fn is_needlessly_invisible(c: char) -> bool {
    let has_use = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    (is_invisible(c) && !has_use) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Checks whether a name is that of a Windows device, with any extension.
pub(crate) fn is_device(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let has_number = |port: &str| {
        stem.strip_prefix(port).is_some_and(|number| {
            let mut digits = number.chars();
            matches!((digits.next(), digits.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
        })
    };
    DEVICES.contains(&stem.as_str()) || has_number("COM") || has_number("LPT")
}

/// Checks whether a name has the form of a Windows short name, such as `GIT~1` for `.git`.
fn is_short_name(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default();
    stem.rsplit_once('~').is_some_and(|(_, number)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}
