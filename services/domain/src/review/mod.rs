//! Submissions, the scanner, and the mark of untrusted text.

pub mod scanner;
pub mod submission;
pub mod untrusted;
