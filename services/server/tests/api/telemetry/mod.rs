//! Metrics, spans and logs of the service, and the data that they must not contain.

pub mod measured;
mod receiver;
mod sent;
