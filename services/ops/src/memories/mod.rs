//! Memories: facts, events and reflections of a user; found again by words and meaning, beside skills.

mod delete;
mod kept;
mod list;
mod question;
mod recall;
mod save;
mod searched;

pub use delete::delete_memory;
pub use list::{ListMemories, list_memories};
pub use recall::{Recall, RecalledItem, RecalledItems, RecalledKind, recall};
pub use save::{SaveMemory, save_memory};

pub(crate) use kept::KeptMemories;
pub(crate) use question::Question;
