//! The pages, one file each: extract the input, call an operation, fill a template.

pub mod analytics;
pub mod conversations;
pub mod dreams;
pub mod fallback;
pub mod graph;
pub mod login;
pub mod memories;
pub mod overview;
pub mod recall;
pub mod review;
pub mod sessions;
pub mod skill;
pub mod skills;
pub mod snapshot;
pub mod soul;
pub mod static_files;
pub mod tenant;
pub mod turn;
