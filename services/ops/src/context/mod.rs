//! The context of operations: the application, the call, the caller and the page of a list.

pub(crate) mod app;
pub(crate) mod asker;
pub(crate) mod call;
pub(crate) mod ctx;
pub(crate) mod idempotency;
pub(crate) mod lookup;
pub mod page;
pub(crate) mod priority;
