//! Modules shared by all operations: admission of expensive work, caches, webhooks, the audit chain.

pub(crate) mod admission;
pub(crate) mod answer_cache;
pub mod chain;
#[cfg(test)]
mod limits_page;
pub(crate) mod short_cache;
pub(crate) mod webhooks;
