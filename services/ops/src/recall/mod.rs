//! Recall: finds the skills that a message asks for, and the memories, skills and conversations that answer a
//! question.
//!
//! Data that is searched in memory implements `SearchCopy` and is cached in `UserCopies`. Each source of answers
//! implements `RecallSource`. [`recall`] merges the answers of several sources by score.

mod all_sources;
mod catalogue;
mod catalogues;
mod changes;
mod conversations;
mod explain;
mod find;
mod graph_hop;
pub mod judge;
mod matching;
mod meaning;
mod memories;
mod own_changes;
mod question;
mod recalled_item;
mod refresh;
mod search;
mod session_question;
mod skills;
mod source;
mod suggest;
#[cfg(test)]
mod tests;
mod user_cache;

pub use all_sources::{Recall, RecalledItems, recall};
pub use catalogues::{CacheCounts, Catalogues};
pub use explain::{Candidate, Explanation, Parts};
pub use matching::{MatchSkills, Matched, Matches, match_skills};
pub use recalled_item::{RecalledItem, RecalledKind};
pub use suggest::{SuggestSkills, Suggested, Suggestions, suggest_skills};

pub(crate) use catalogue::{KnownSkill, UserCatalogue};
pub(crate) use catalogues::{cached_catalogue, catalogue_now};
pub(crate) use conversations::Conversations;
pub(crate) use find::{
    EmbeddedTexts, Query, Recalled, embed, embed_all, embed_document, find_all_in, find_in, is_expensive,
};
pub(crate) use own_changes::{SkillChanged, note_own_changes, row_of};
pub(crate) use search::{SearchedSkill, has_evidence, list_found, rank, reason, search_skills, search_skills_in};
pub(crate) use source::{RecallSource, SourceHit, SourceQuery};
pub(crate) use suggest::describe_outcomes;
