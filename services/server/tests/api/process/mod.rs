//! The service and the worker as processes: killed, cut off, one of several, with models and without.

mod at_hand;
mod at_once;
pub mod background;
mod concurrency;
mod faults;
mod flights;
mod kept;
mod models;
pub mod pools;
mod reads;
mod reviewed;
pub mod submitted;
mod told;
mod waiting;
pub mod worker;
