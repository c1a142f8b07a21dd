//! Sessions, messages, memories, souls, channels and prompts.

pub(crate) mod channel;
pub mod conversation;
pub mod memory;
pub mod message;
pub mod prompt;
pub mod session;
pub mod soul;
