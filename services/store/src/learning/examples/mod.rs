//! Examples of skills, with the vectors that recall compares. An example is a message after which a skill was used. A
//! counter-example is a message that the skill did not apply to.
//!
//! Every change locks the user's catalogue row first. If a vector is added or removed, it increments
//! `examples_revision`.

pub(crate) mod exchange;
pub(crate) mod keep;
pub(crate) mod learn;
pub(crate) mod list;
pub(crate) mod vectors;

pub use exchange::{ExampleLine, Imported, NewExamples, import, list_for_export};
pub(crate) use keep::remove_of_turn;
pub use keep::{evict, hand_over, remove, remove_of_session};
pub use learn::{Lesson, NewExample, fail, find_lesson, learn, mark_inapplicable, unmark_inapplicable};
pub use list::list;
pub use vectors::{LearnedVectors, list_vectors};
