//! `/v1/submissions` and `/v1/reviews`: changes that wait for a reviewer, and untrusted content.

mod approvals;
pub mod canary;
mod deciding;
pub mod guards;
mod guards_over_mcp;
mod laundering;
mod laundering_reviews;
mod lineage;
mod marks;
mod rebases;
mod reviewed;
mod scans;
mod secrets;
mod shares;
mod submissions;
pub mod submitted;
mod unseen;
