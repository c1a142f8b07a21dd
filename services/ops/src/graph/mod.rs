//! The graph: what skills, memories and the things that they name have to do with each other.

mod analytics;
mod around;
mod entities;
mod importance;
mod knowledge;
mod link;
mod relate;
mod relations;
mod said;

pub use analytics::{AnalyseSkills, NeverUsed, SkillAnalytics, SkillAtRisk, StaleSkill, UsedSkill, analyse_skills};
pub use around::{EdgeKind, Graph, GraphEdge, GraphNode, LookAround, look_around};
pub use entities::{ListEntities, list_entities};
pub use importance::{PutImportance, put_importance};
pub(crate) use knowledge::fading_of;
pub use knowledge::{DayOfSkill, Knowledge, MentioningMemory, get_knowledge};
pub(crate) use link::{Named, NamedSkills, check_entities, link_memory, named_skills};
pub(crate) use relate::{RULES, relate_skills, says_other_relations};
pub use relations::{RelationPath, Relations, declare_relation, list_relations, remove_relation};
pub(crate) use said::{MOST_SAID, in_words, said_relations};
