//! The command line.

mod commands;
mod corpus;
mod imports;
mod movers;
mod scans;
mod setup;
