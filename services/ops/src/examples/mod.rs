//! What recall learns from use: messages after which a skill was used, as its examples, and messages to which it did not apply, as
//! its counter-examples.

mod delete;
mod file;
mod learn;
mod list;

pub use delete::{DeleteExample, delete_example, delete_examples};
pub use file::{EXAMPLES_FILE, ImportedExamples, RefusedLine, is_apart, set_apart};
pub use list::{ListExamples, list_examples};

pub(crate) use file::{ReadLines, import_lines, read_lines, write_lines};
pub(crate) use learn::{Applicability, forget_session, learn_against, learn_later, taught_since};

use knowhow_domain::lesson::SAME_MEANING;

/// Cosine distance up to which two examples say the same.
pub(crate) const SAME_UP_TO: f64 = 1.0 - SAME_MEANING;
