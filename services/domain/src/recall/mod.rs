//! Recall: which of a user's skills a message asks for, by name, by words and by meaning.

mod catalogue;
mod claims;
mod count;
mod embedded;
mod examples;
mod floor;
mod fold;
mod hash;
mod meaning;
mod mentions;
mod names;
mod ordinary;
mod phrases;
mod postings;
mod score;
mod search;
mod spelling;
mod stop_words;
mod tokens;

pub use catalogue::{Catalogue, SkillText};
pub use embedded::embedded_text;
pub use examples::Examples;
pub use meaning::Meaning;
pub use names::{Mention, SHORT_MESSAGE_CHARS, is_short};
pub use ordinary::find_rarity;
pub use score::Signals;
pub use search::{Hit, Ranking, search, search_with};
pub use tokens::{list_distinct_terms, list_terms};

#[cfg(test)]
mod tests;
