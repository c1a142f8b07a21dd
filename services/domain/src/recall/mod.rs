//! Recall: finds the user's skills that match a message, by name, words and meaning.

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
mod judge;
mod learned;
mod meaning;
mod mention;
mod merge;
mod named_skills;
mod names;
mod ordinary;
mod passages;
mod phrases;
mod postings;
mod ranking;
mod score;
mod search;
mod segment;
mod signals;
mod skill_text;
mod spelling;
mod stance;
mod stop_words;
mod tokens;
mod triggers;
mod weights;

pub use catalogue::{Catalogue, ListedSkill};
pub use chatter::list_chatter;
pub use embedded::{EmbeddedKind, embedded_text};
pub use examples::Examples;
pub use exchange::{
    Exchange, Interpretation, QueryOrigin, SearchText, first_of_message, interpret, last_of_reply, own_words,
    refers_back,
};
pub use floor::FLOOR;
pub(crate) use fold::{Class, class_of, fold};
pub use judge::Judge;
pub use mention::{Mention, Stance};
pub use names::has_words;
pub use ordinary::{find_rarity, is_ordinary_word};
pub use passages::text_to_embed;
pub use ranking::{Hit, Ranking};
pub use search::{Evidence, Query, gather, search};
pub use signals::{Context, Signals};
pub use skill_text::SkillText;
pub use tokens::{list_distinct_terms, list_terms};

#[cfg(test)]
mod tests;
