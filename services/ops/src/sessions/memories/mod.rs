//! Memories: facts, events and reflections of a user. Recall finds them by words and vectors, along with skills.

mod change;
mod conversation;
mod delete;
mod list;
mod prepare;
mod save;

pub use change::{ChangeMemory, change_memory, get_memory, list_memory_versions};
pub(crate) use conversation::remember_conversation;
pub use delete::delete_memory;
pub use list::{ListMemories, ListedMemory, list_memories};
pub(crate) use prepare::{PreparedText, prepare_text};
pub use save::{SaveMemory, save_memory};
