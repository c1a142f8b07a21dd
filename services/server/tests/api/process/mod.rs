//! Processes of the service and the worker: killed, stopped, replaced, and several concurrently.

mod cached_answers;
pub mod cached_skills;
mod concurrency;
mod faults;
mod model_change;
mod rolling;
mod stops;
pub mod worker;
