//! Examples that recall learns from use. A message is an example of a skill if the skill was used after it, and a
//! counter-example if the skill did not apply.

mod delete;
mod file;
mod learn;
mod list;

pub use delete::{DeleteExample, delete_example, delete_examples};
pub use file::{EXAMPLES_FILE, ImportedExamples, RefusedLine, is_apart, set_apart};
pub use list::{ListExamples, list_examples};

pub(crate) use file::{ReadLines, import_lines, read_lines, write_lines};
pub(crate) use learn::{Applicability, forget_session, learn_against, learn_later, taught_since};

use knowhow_domain::learning::lesson::SAME_MEANING;

/// Maximum cosine distance of two examples with the same meaning.
pub(crate) const SAME_UP_TO: f64 = 1.0 - SAME_MEANING;
