//! Statements across tenants. Each file explains why its statements cannot run for a single tenant. Only this folder
//! and the inspection at startup open a `vault::tx::SystemTx`. The audit of rejected logins is here although it has a
//! tenant, because it has no caller.

pub(crate) mod backlog;
pub(crate) mod dreams;
pub mod due;
pub(crate) mod erasures;
pub(crate) mod job_admin;
pub(crate) mod library;
pub(crate) mod library_copy;
pub mod library_scans;
pub mod months;
pub mod processes;
pub(crate) mod prune;
pub(crate) mod queues;
pub(crate) mod reflections;
pub(crate) mod rejected_logins;
pub(crate) mod replica;
pub(crate) mod sealed;
pub mod seals;
pub(crate) mod stale;
pub(crate) mod suspensions;
pub(crate) mod system;
pub mod tenants;
pub(crate) mod webhooks;
