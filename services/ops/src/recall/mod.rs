//! Recall: which of a user's skills a message asks for, and what of all that is known of the user answers a question.
//!
//! What is searched in memory is `Searched`, and kept by `Kept`. What answers questions is a
//! `Source`, and [`recall`] puts the answers of several together by their scores.

mod catalogue;
mod catalogues;
mod changes;
mod conversations;
mod explain;
mod find;
mod handed;
mod hop;
mod kept;
mod matching;
mod memories;
mod question;
mod refresh;
mod search;
mod session_question;
mod skills;
mod source;
mod suggest;
#[cfg(test)]
mod tests;
mod together;

pub use catalogues::{CacheCounts, Catalogues};
pub use explain::{Candidate, Explanation, Parts};
pub use matching::{MatchSkills, Matched, Matches, match_skills};
pub use suggest::{SuggestSkills, Suggested, Suggestions, suggest_skills};
pub use together::{Recall, RecalledItem, RecalledItems, RecalledKind, recall};

pub(crate) use catalogue::{KnownSkill, UserCatalogue};
pub(crate) use catalogues::{catalogue_at_hand, catalogue_now};
pub(crate) use conversations::Conversations;
pub(crate) use find::{Query, Recalled, embed, embed_document, find_in, is_dear};
pub(crate) use handed::{SkillChanged, hand_in, row_of};
pub(crate) use search::{SearchedSkill, list_found, rank, reason, search_skills, search_skills_in};
pub(crate) use source::{Asked, Found, Source};
pub(crate) use suggest::tell_outcomes;
