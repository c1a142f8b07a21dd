//! The graph of relations between skills, memories and entities.

mod analytics;
mod entities;
mod importance;
mod knowledge;
mod link;
mod relate;
mod relation_sentences;
mod relations;
mod subgraph;

pub use analytics::{AnalyseSkills, NeverUsed, SkillAnalytics, SkillAtRisk, StaleSkill, UsedSkill, analyse_skills};
pub use entities::{ListEntities, list_entities};
pub use importance::{PutImportance, put_importance};
pub(crate) use knowledge::fading_of;
pub use knowledge::{DayOfSkill, Knowledge, MentioningMemory, get_knowledge};
pub(crate) use link::{MemoryEntities, NamedSkills, check_entities, link_memory, named_skills};
pub(crate) use relate::{RULES, relate_skills, says_other_relations};
pub(crate) use relation_sentences::{MOST_SAID, describe_relations, in_words};
pub use relations::{RelationPath, Relations, declare_relation, list_relations, remove_relation};
pub use subgraph::{EdgeKind, Graph, GraphEdge, GraphNode, LookAround, look_around};
