//! The queue of jobs and their workers.

mod fairness;
mod queue;
mod worker;
