//! The graph of a user: things that memories name, of which skills are some, and what skills have to do with each other.

pub(crate) mod around;
pub(crate) mod declare;
pub(crate) mod entities;
pub(crate) mod finish_relating;
pub(crate) mod forget;
pub(crate) mod hop;
pub(crate) mod importance;
pub(crate) mod knowledge;
pub(crate) mod link;
pub(crate) mod neighbours;
pub(crate) mod pending;
pub(crate) mod relate;
pub(crate) mod relations;
pub(crate) mod standings;
pub(crate) mod surroundings;
pub(crate) mod things;

pub use around::{AskedEdges, Edge, Node, list_edges, list_nodes, list_strongest};
pub use declare::{Declared, Removed, declare, remove};
pub use entities::{EntityFilter, list_entities};
pub use finish_relating::finish_relating;
pub(crate) use forget::forget;
pub use hop::{Hop, Start, Via, list_hops};
pub use importance::{SetImportance, set_importance};
pub use knowledge::{DayOfUse, LinkedMemory, list_days_of_use, list_linked_memories};
pub use link::{Link, link};
pub use neighbours::list_neighbours;
pub use pending::{Pending, take_pending};
pub(crate) use relate::outdate;
pub use relate::{ReadState, Reading, Related, Said, Unread, list_unread, relate};
pub use relations::list_relations;
pub use standings::{RankedFilter, Standing, find_standing, list_ranked, list_standings};
pub(crate) use surroundings::write_and_list_relations;
pub use surroundings::{Neighbour, Seen, list_surroundings};
pub use things::list_things;

/// Most relations of one skill, in each direction, that are kept and shown.
pub const RELATIONS_PER_SKILL: i64 = 200;

/// Most things of one user besides skills.
pub const ENTITIES: i64 = 20_000;
