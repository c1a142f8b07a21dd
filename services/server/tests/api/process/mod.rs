//! The service and the worker as processes: killed, cut off, one of several, with models and without.

pub mod at_hand;
mod at_once;
pub mod background;
mod concurrency;
mod directed;
pub mod dreams;
mod dreams_canaries;
mod dreams_course;
mod dreams_faults;
mod dreams_hostile;
pub mod dreams_stage;
mod dreams_worlds;
mod enriched;
mod faults;
mod flights;
mod kept;
mod models;
pub mod pools;
mod reads;
mod reflected;
mod reflected_actions;
mod reviewed;
mod stops;
pub mod submitted;
mod told;
mod waiting;
pub mod worker;
