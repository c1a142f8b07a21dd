//! Examples, dreams and reflections.

mod counter_examples;
mod dreams;
pub mod examples;
mod reflections;
