//! Skills: saved, embedded, deleted and restored, and starters.

mod archive;
mod embeddings;
pub mod flights;
mod passages;
mod pruning;
mod retention;
mod starter_references;
pub mod starters;
