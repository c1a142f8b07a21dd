//! Checks for invisible characters, and makes them visible.

use std::fmt::Write;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Normalises a text to the letters that a reader sees: lower case, Unicode compatibility forms (NFKD), no accents, no
/// invisible characters. Blanks and line breaks stay.
pub(crate) fn seen(text: &str) -> impl Iterator<Item = char> {
    let seen = text.chars().filter(|c| !is_invisible(*c) && (!c.is_control() || c.is_whitespace()));
    seen.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase)
}

/// Checks whether a character is in Unicode's `Default_Ignorable_Code_Point` (zero width, direction, variation and tag
/// characters) or is an annotation mark.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Checks whether a browser or terminal may hide a character, show it as a line break, or show other characters
/// differently because of it. These are invisible and control characters, line and paragraph separators, Unicode's
/// format characters (`Cf`), blank letters and symbols, and noncharacters. Tabs and line feeds are included.
pub fn is_unseen(c: char) -> bool {
    is_invisible(c)
        || c.is_control()
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(c,
            '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{2028}'..='\u{2029}'
            | '\u{2800}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffc}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{13440}'
            | '\u{16fe4}' | '\u{1d159}')
}

/// Replaces unseen characters ([`is_unseen`]) by their code points, such as `<U+200B>`, so that a reviewer sees them.
/// Tabs and line feeds stay.
pub fn show_invisible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ if is_unseen(c) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "<U+{:04X}>", u32::from(c));
            }
            _ => shown.push(c),
        }
    }
    shown
}

/// Returns the text of [`show_invisible`]; `None` if the text stays the same.
pub fn shown_otherwise(text: &str) -> Option<String> {
    let has_unseen = text.chars().any(|c| is_unseen(c) && !matches!(c, '\n' | '\t'));
    has_unseen.then(|| show_invisible(text))
}

#[cfg(test)]
mod tests;
