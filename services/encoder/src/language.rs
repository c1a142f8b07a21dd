//! Distinguishes English from other languages by letters and function words.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Maximum number of characters that are examined in a text.
const CHARS: usize = 2000;
/// Weight of a non-Latin letter, relative to a Latin one. It is high because names and commands are Latin in any
/// language.
const OTHER_LETTERS: usize = 3;
/// Score of a function word. A word with a letter that English does not use scores 1 against English.
const FUNCTION_WORD: usize = 2;

/// The function words, one line per language. English is the first language.
pub(crate) const LINES: &str = include_str!("../data/function_words.txt");

/// The languages that have each function word, as positions in the list.
static WORDS: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
    let mut words = HashMap::<&str, Vec<usize>>::new();
    for (language, line) in LINES.lines().filter(|line| !line.starts_with('#')).enumerate() {
        for word in line.split(' ').skip(1) {
            words.entry(word).or_default().push(language);
        }
    }
    words
});

/// Maximum number of languages in the list.
const LANGUAGES: usize = 16;

/// Returns whether a text is English or too short to recognise its language.
pub(crate) fn is_english(text: &str) -> bool {
    let mut count = Count::default();
    let mut word = String::new();
    for char in text.chars().take(CHARS) {
        if is_latin(char) {
            count.latin += 1;
            word.extend(char.to_lowercase());
            continue;
        }
        count.other += usize::from(is_letter(char));
        count.add(&word);
        word.clear();
    }
    count.add(&word);
    count.is_english()
}

#[derive(Default)]
struct Count {
    latin: usize,
    other: usize,
    scores: [usize; LANGUAGES],
    marked: usize,
}

impl Count {
    fn add(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        for &language in WORDS.get(word).into_iter().flatten() {
            self.scores[language] += FUNCTION_WORD;
        }
        self.marked += usize::from(!word.is_ascii());
    }

    fn is_english(&self) -> bool {
        let [english, others @ ..] = &self.scores;
        let best = others.iter().copied().max().unwrap_or_default();
        OTHER_LETTERS * self.other <= self.latin && *english >= best + self.marked
    }
}

fn is_letter(char: char) -> bool {
    char.general_category_group() == GeneralCategoryGroup::Letter
}

fn is_latin(char: char) -> bool {
    char.is_ascii_alphabetic() || (matches!(char, '\u{80}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && is_letter(char))
}

#[cfg(test)]
mod tests;
