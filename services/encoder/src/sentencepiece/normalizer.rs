//! SentencePiece's normalisation: replaces characters by a compiled table, and blanks by `▁`.

use std::borrow::Cow;

/// The character that represents a blank in pieces.
const BLANK: &str = "\u{2581}";

/// The table of replacements. `units` is a double array in the layout of Darts-clone. Each replacement ends with a
/// zero byte.
pub(super) struct Normalizer {
    units: Vec<u32>,
    replacements: Box<[u8]>,
}

impl Normalizer {
    /// Parses the table. Returns `None` if it is damaged.
    pub(super) fn new(charsmap: &[u8]) -> Option<Self> {
        let Some((size, rest)) = charsmap.split_first_chunk() else {
            return charsmap.is_empty().then(|| Self { units: Vec::new(), replacements: Box::default() });
        };
        let (units, replacements) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
        let units = units.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        let is_ended = replacements.last().is_none_or(|last| *last == 0);
        is_ended.then(|| Self { units, replacements: replacements.into() })
    }

    /// Returns the normalised text. Characters are replaced, blanks at both ends are removed, and each group of other
    /// blanks becomes one `▁`. The text starts with a `▁`.
    pub(super) fn normalize(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + text.len() / 4 + BLANK.len());
        let (mut rest, mut after_blank) = (text, true);
        while !rest.is_empty() {
            let (replacement, length) = self.replace_prefix(rest);
            rest = &rest[length..];
            for char in replacement.chars() {
                if char == ' ' {
                    after_blank = true;
                    continue;
                }
                if after_blank {
                    out.push_str(BLANK);
                }
                out.push(char);
                after_blank = false;
            }
        }
        out
    }

    /// Returns the replacement for the longest prefix in the table, and the number of bytes that it replaces. If the
    /// table has no prefix of the text, returns the first character.
    fn replace_prefix<'a>(&'a self, text: &'a str) -> (Cow<'a, str>, usize) {
        match self.find_longest(text.as_bytes()).filter(|(_, length)| text.is_char_boundary(*length)) {
            Some((replacement, length)) => (String::from_utf8_lossy(replacement), length),
            None => {
                let length = text.chars().next().map_or(0, char::len_utf8);
                (Cow::Borrowed(&text[..length]), length)
            }
        }
    }

    fn find_longest(&self, text: &[u8]) -> Option<(&[u8], usize)> {
        let mut found = None;
        let mut node = offset(*self.units.first()?);
        for (&byte, length) in text.iter().zip(1..) {
            node ^= usize::from(byte);
            let Some(&unit) = self.units.get(node).filter(|unit| *unit & 0x8000_00ff == u32::from(byte)) else { break };
            node ^= offset(unit);
            if unit & 0x100 != 0 {
                let value = self.units.get(node).map_or(usize::MAX, |unit| (unit & 0x7fff_ffff) as usize);
                let replacement = self.replacements.get(value..).and_then(|rest| rest.split(|byte| *byte == 0).next());
                found = replacement.map(|replacement| (replacement, length)).or(found);
            }
        }
        found
    }
}

/// Returns the offset from a node of the double array to its children.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}
