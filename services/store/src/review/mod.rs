//! Rows of submissions and of the scanner's findings.

pub mod scans;
pub mod submissions;
