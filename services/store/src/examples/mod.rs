//! Examples: messages after which a skill was used, and counter-examples, messages to which it did not apply; with the vectors
//! by which recall counts them. Every change of them
//! locks the user's catalogue row first, and raises `examples_revision` if a vector comes or goes.

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
