//! Word boundaries in different scripts.

/// Class of a script by how it separates words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// Words are separated by blanks.
    Spaced,
    /// Words are not separated: Han, Hiragana, Thai, Lao, Khmer, Burmese.
    Unspaced,
    /// Words end at a change of script.
    Katakana,
    /// Words are separated by blanks, but a particle follows its word directly.
    Hangul,
}

impl Writing {
    fn of(letter: char) -> Self {
        match letter {
            '\u{30a0}'..='\u{30ff}' => Self::Katakana,
            '\u{ac00}'..='\u{d7af}' => Self::Hangul,
            '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Self::Unspaced,
            '\u{3005}' | '\u{3040}'..='\u{309f}' | '\u{3400}'..='\u{9fff}' => Self::Unspaced,
            '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => Self::Unspaced,
            _ => Self::Spaced,
        }
    }
}

/// Checks whether a word may end between two characters: next to a non-letter, at a change of script, and anywhere in a
/// script without word separation.
pub(crate) fn is_border(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    if !before.is_alphanumeric() || !after.is_alphanumeric() {
        return true;
    }
    let (before, after) = (Writing::of(before), Writing::of(after));
    before != after || before == Writing::Unspaced
}

/// Checks whether a letter stands for a word or a syllable, so that short names are distinctive.
pub(super) fn is_sign(letter: char) -> bool {
    Writing::of(letter) != Writing::Spaced
}

/// Checks whether a particle may follow a word that ends with this letter.
pub(super) fn may_have_particle(letter: char) -> bool {
    Writing::of(letter) == Writing::Hangul
}
