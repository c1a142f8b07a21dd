//! Endpoints of dreams, reflections and directives.

pub mod directives;
pub mod dreams;
pub mod reflections;
