//! Forms of a sentence that read the same to a person and an agent but differ in their bytes.

mod letters;
mod lines;
mod marks;
mod spelled;

pub use letters::LETTERS;
pub use lines::LINES;
pub use marks::MARKS;
pub use spelled::{BYTES, ESCAPES, YAML};

/// Function that writes a text in one form.
pub type WriteText = fn(&str) -> String;
/// Function that writes a text as bytes that may not be UTF-8.
pub type WriteBytes = fn(&str) -> Vec<u8>;

/// Returns a sentence in every form, each with the name of the form.
pub fn write_all(sentence: &str) -> Vec<(&'static str, Vec<u8>)> {
    let texts = LETTERS.iter().chain(&LINES).chain(&MARKS).chain(&ESCAPES);
    let texts = texts.map(|(name, write)| (*name, write(sentence).into_bytes()));
    texts.chain(BYTES.iter().map(|(name, write)| (*name, write(sentence)))).collect()
}

/// Joins the words of a sentence after changing each of them.
fn each_word(sentence: &str, join: &str, change: impl Fn(usize, &str) -> String) -> String {
    let words: Vec<String> = sentence.split(' ').enumerate().map(|(place, word)| change(place, word)).collect();
    words.join(join)
}

/// Adds a text after every letter.
fn spread(sentence: &str, mark: &str) -> String {
    sentence.chars().map(|c| format!("{c}{mark}")).collect()
}

/// Breaks a sentence into pieces of `words` words, each after a mark.
fn pieces(sentence: &str, words: usize, mark: &str, join: &str) -> String {
    let all: Vec<&str> = sentence.split(' ').collect();
    all.chunks(words).map(|piece| format!("{mark}{}", piece.join(" "))).collect::<Vec<_>>().join(join)
}
