//! Learning: dreams, reflections, directives, examples and feedback.

pub mod directive;
pub mod dream;
pub mod enrich;
pub mod example;
pub mod feedback;
pub mod guidance;
pub mod lesson;
pub mod pause;
pub mod reflection;
