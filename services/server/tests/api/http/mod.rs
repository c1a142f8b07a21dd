//! Rules that apply to every request.

pub mod bodies;
pub mod documented;
mod extremes;
mod hostile;
mod idempotency;
mod logs;
mod misfits;
mod order;
mod proxies;
mod query_tokens;
mod rates;
mod stranger_statuses;
mod stranger_steps;
pub mod stranger_walk;
mod strangers;
mod tls;
mod tokens;
