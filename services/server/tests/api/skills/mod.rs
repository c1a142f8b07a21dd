//! `/v1/skills`: what is written, read, found, moved and learned.

mod archives;
mod counter_examples;
mod delete;
pub mod examples;
pub mod exchange;
mod fields;
mod learned;
mod list;
mod load;
mod patch;
mod quotas;
mod reserved;
mod resources;
mod save;
mod starters;
mod synced;
mod used;
mod versions;
