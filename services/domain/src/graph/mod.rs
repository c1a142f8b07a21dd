//! The graph: relations between skills, memories and the entities they name. This module has the rules; the store saves
//! the graph.

mod body;
mod cue;
mod entity;
mod fade;
mod frontmatter;
mod importance;
mod markdown;
mod mentioned;
mod names;
mod offers;
mod proper;
mod references;
mod relation;
mod writing;

pub use body::{Extracted, MOST_EXTRACTED, extract_relations, may_say_relations};
pub use entity::{ENTITIES_PER_MEMORY, Entity, EntityKind, EntityName, canonical};
pub use fade::{
    COMPUTED_DAILY, DAILY_IMPORTANCE, DAILY_MEMORY, IMPORTANCE_FLOOR, SHARED_FOR_AFFINITY, affinity, computed_strength,
    faded, idle_days,
};
pub use frontmatter::declared_relations;
pub use importance::{Fading, Outcomes, link_factor};
pub use mentioned::Things;
pub use offers::Offers;
pub use references::{find_references, names_in_piece};
pub use relation::{Relation, RelationDirection, RelationSource, RelationType};
pub(crate) use writing::is_border;
