//! What holds for every request, whatever it asks for.

pub mod bodies;
mod extremes;
mod hostile;
mod idempotency;
mod logs;
mod misfits;
mod order;
mod proxies;
mod query_tokens;
mod rates;
mod strangers;
mod tokens;
