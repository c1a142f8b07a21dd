//! The graph of a user: entities mentioned by memories, including skills, and relations between skills.

pub(crate) mod declare;
pub(crate) mod entities;
pub(crate) mod entity_names;
pub(crate) mod finish_relating;
pub(crate) mod forget;
pub(crate) mod importance;
pub(crate) mod knowledge;
pub(crate) mod link;
pub(crate) mod linked_items;
pub(crate) mod neighbours;
pub(crate) mod pending;
pub(crate) mod ranking;
pub(crate) mod relate;
pub(crate) mod relations;
pub(crate) mod short_relations;
pub(crate) mod subgraph;

pub use declare::{DeclaredRelation, Removed, declare, remove};
pub use entities::{EntityFilter, list_entities};
pub use entity_names::list_things;
pub use finish_relating::finish_relating;
pub(crate) use forget::forget;
pub use importance::{SetImportance, set_importance};
pub use knowledge::{DayOfUse, LinkedMemory, list_days_of_use, list_linked_memories};
pub use link::{Link, link};
pub use linked_items::{Hop, HopConnection, Start, list_hops};
pub use neighbours::list_neighbours;
pub use pending::{MemoryInputs, take_pending};
pub use ranking::{RankedFilter, SkillRank, find_standing, list_ranked, list_standings};
pub(crate) use relate::outdate;
pub use relate::{ExtractionRun, ReadState, Related, StatedRelation, UnreadSkill, list_unread, relate};
pub use relations::list_relations;
pub(crate) use short_relations::write_and_list_relations;
pub use short_relations::{Neighbour, RelationLimits, list_surroundings};
pub use subgraph::{AskedEdges, Edge, Node, list_edges, list_nodes, list_strongest};

/// Maximum number of relations of one skill per direction that are stored and shown.
pub const RELATIONS_PER_SKILL: i64 = 200;

/// Maximum number of a user's entities other than skills.
pub const ENTITIES: i64 = 20_000;
