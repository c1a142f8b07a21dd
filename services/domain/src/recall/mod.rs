//! Recall: which of a user's skills a message asks for, by name, by words and by meaning.

mod bits;
mod catalogue;
mod chatter;
mod claims;
mod count;
mod counter;
mod embedded;
mod examples;
mod exchange;
mod fitted;
mod floor;
mod fold;
mod hash;
mod learned;
mod meaning;
mod mentions;
mod merge;
mod names;
mod ordinary;
mod passages;
mod phrases;
mod postings;
mod score;
mod search;
mod segment;
mod spelling;
mod stance;
mod stop_words;
mod tokens;
mod triggers;

pub use catalogue::{Catalogue, Listed, SkillText};
pub use chatter::list_chatter;
pub use embedded::{EmbeddedKind, embedded_text};
pub use examples::Examples;
pub use exchange::{
    Exchange, Interpretation, Origin, SearchText, first_of_message, interpret, last_of_reply, own_words, refers_back,
};
pub use floor::FLOOR;
pub(crate) use fold::{Class, class_of, fold};
pub use names::{Mention, has_words};
pub use ordinary::{find_rarity, is_ordinary_word};
pub use passages::text_to_embed;
pub use score::{Context, Signals};
pub use search::{Evidence, Hit, Query, Ranking, gather, search};
pub use stance::Stance;
pub use tokens::{list_distinct_terms, list_terms};

#[cfg(test)]
mod tests;
