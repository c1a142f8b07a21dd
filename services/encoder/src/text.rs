//! Prepares texts like BERT's tokenizer: cleans them, removes accents, and splits them into words and single
//! punctuation marks.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Returns the cleaned characters of a text. Each CJK ideograph is surrounded by spaces.
pub(crate) fn clean(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|&c| !is_dropped(c)).map(|c| if c.is_whitespace() { ' ' } else { c }).flat_map(|c| {
        let ideograph = is_ideograph(c);
        [ideograph.then_some(' '), Some(c), ideograph.then_some(' ')].into_iter().flatten()
    })
}

/// Returns the decomposed characters without nonspacing marks, which removes accents.
pub(crate) fn without_accents(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    chars.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark)
}

/// Returns whether a character is punctuation, which forms a word of its own.
pub(crate) fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_dropped(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => matches!(c.general_category(), Control | Format | PrivateUse),
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x2a6df
        | 0x2a700..=0x2b73f | 0x2b740..=0x2b81f | 0x2b820..=0x2ceaf | 0x2f800..=0x2fa1f)
}
