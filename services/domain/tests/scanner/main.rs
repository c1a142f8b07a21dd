//! How well the scanner tells attacks from skills. `make bench-scan` prints the tables of docs/review.md; what may not change
//! unseen is in `golden`, and `UPDATE_GOLDEN=1` writes it anew.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a switch of whoever runs the tests; there is no configuration here")]

mod benign;
mod corpus;
mod evasions;
mod golden;
mod own;
mod secrets;
mod sets;
mod speed;
