//! Helpers: the database, its tenants, one row of each table, and saves as the operations make them.

pub mod harness;
pub mod rows;
pub mod writer;
