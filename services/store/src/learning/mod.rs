//! Rows of dreams, reflections, directives and examples.

pub mod directives;
pub mod dreams;
pub mod examples;
pub mod reflections;
