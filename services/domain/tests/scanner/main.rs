//! How well the scanner tells attacks from skills. `make bench-scan` prints the tables of docs/review.md; what may not change
//! unseen is in `golden`, and `UPDATE_GOLDEN=1` writes it anew.

mod benign;
mod corpus;
mod evasions;
mod golden;
mod own;
mod sets;
mod speed;
