//! Helpers of all tests: the service, callers, answers, hand-written HTTP and SQL.

pub mod admin_cli;
pub mod answers;
pub mod callers;
pub mod certificate;
pub mod hostile;
pub mod raw;
pub mod redis;
pub mod reviewing;
pub mod service;
pub mod signing;
pub mod sql;
pub mod talk;
pub mod zone;
