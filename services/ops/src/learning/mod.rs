//! Learning: dreams, reflections, directives, examples and extracted knowledge.

pub mod directives;
pub mod dream;
pub(crate) mod enrich;
pub mod examples;
pub mod reflect;
