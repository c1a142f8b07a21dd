//! Functions on text: lines, sentences, fences, invisible characters, differences.

pub(crate) mod chat_tokens;
pub mod diff;
pub mod encoding;
pub(crate) mod fence;
pub mod headline;
pub mod invisible;
pub(crate) mod lines;
pub(crate) mod phrase;
pub mod sanitize;
pub mod sentence;
pub mod visible;
