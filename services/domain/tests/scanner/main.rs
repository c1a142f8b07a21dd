//! Accuracy of the scanner. `make bench-scan` prints the tables of docs/users/review.md. The folder `golden` has the
//! recorded verdicts; the environment variable `UPDATE_GOLDEN=1` records them again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a switch of whoever runs the tests; there is no configuration here")]

mod benign;
mod contexts;
mod corpus;
#[path = "../../../testing/src/corpus.rs"]
mod corpus_folder;
mod evasions;
mod foreign;
mod fuzz;
mod golden;
mod own;
mod secrets;
mod sets;
mod speed;
