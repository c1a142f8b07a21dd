//! How words are told apart in the writings of the world.

/// How a letter's writing tells words apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// By blanks.
    Spaced,
    /// Not at all: Han, Hiragana, Thai, Lao, Khmer, Burmese.
    Unspaced,
    /// By another writing that follows.
    Katakana,
    /// By blanks, but for the particles that follow a word.
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

/// Whether a word may end between two letters: where one is none, where the writing changes, and anywhere in a writing that
/// tells no words apart.
pub(crate) fn is_border(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    if !before.is_alphanumeric() || !after.is_alphanumeric() {
        return true;
    }
    let (before, after) = (Writing::of(before), Writing::of(after));
    before != after || before == Writing::Unspaced
}

/// Whether a letter stands for a word or a syllable, so that a name needs few.
pub(super) fn is_sign(letter: char) -> bool {
    Writing::of(letter) != Writing::Spaced
}

/// Whether a word that ends with this letter may have a particle behind it.
pub(super) fn may_have_particle(letter: char) -> bool {
    Writing::of(letter) == Writing::Hangul
}
