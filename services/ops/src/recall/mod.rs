//! Recall: which of a user's skills a message asks for.

mod catalogue;
mod explain;
mod find;
mod matching;
mod search;
mod similar;
mod suggest;

pub use catalogue::{CacheCounts, Catalogues};
pub use explain::{Candidate, Explanation, Parts};
pub use matching::{MatchSkills, Matched, Matches, match_skills};
pub use suggest::{SuggestSkills, Suggested, Suggestions, suggest_skills};

pub(crate) use catalogue::{KnownSkill, UserCatalogue, catalogue_now};
pub(crate) use find::{Query, Recalled, embed, recall};
pub(crate) use search::{NEAR, SearchedSkill, embed_searched, list_found, rank, reason, search_skills};
pub(crate) use similar::find_similar;
