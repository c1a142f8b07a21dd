//! Memories: facts, events and reflections of a user; found again by words and meaning, beside skills.

mod delete;
mod list;
mod question;
mod recall;
mod save;
mod view;
mod words;

pub use delete::delete_memory;
pub use list::{ListMemories, list_memories};
pub use recall::{Recall, RecalledItem, RecalledItems, RecalledKind, recall};
pub use save::{SaveMemory, save_memory};
pub use view::{MemoryKind, MemoryView};

pub(crate) use question::Question;
pub(crate) use words::MemoryWords;
