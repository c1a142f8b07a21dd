//! What the service tells of itself: metrics, spans and logs, and what is in none of them.

pub mod measured;
mod receiver;
mod sent;
