//! Recall: which of a user's skills a message asks for.

mod catalogue;
mod explain;
mod find;
mod kept;
mod matching;
mod refresh;
mod search;
mod similar;
mod suggest;

pub use explain::{Candidate, Explanation, Parts};
pub use kept::{CacheCounts, Catalogues};
pub use matching::{MatchSkills, Matched, Matches, match_skills};
pub use suggest::{SuggestSkills, Suggested, Suggestions, suggest_skills};

pub(crate) use catalogue::{KnownSkill, UserCatalogue};
pub(crate) use find::{Query, Recalled, embed, recall};
pub(crate) use kept::catalogue_now;
pub(crate) use search::{NEAR, SearchedSkill, embed_searched, list_found, rank, reason, search_skills};
pub(crate) use similar::find_similar;
