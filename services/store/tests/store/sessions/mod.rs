//! Snapshots of prompts.

mod snapshots;
