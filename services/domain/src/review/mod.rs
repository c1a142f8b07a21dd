//! Submissions, the scanner, and the mark on untrusted text.

pub mod scanner;
pub mod submission;
pub mod untrusted;
