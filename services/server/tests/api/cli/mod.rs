//! The command line.

mod commands;
mod corpus;
mod dreams;
mod imports;
mod movers;
mod scans;
mod setup;
pub mod syncs;
mod watches;
