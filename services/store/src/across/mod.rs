//! Statements across tenants. This folder is the list of those that need not name a tenant's rows: each file says why its
//! statements cannot run as one tenant, and nobody else opens a [`crate::vault::tx::SystemTx`], but for the inspection
//! at start. The audit of a refused login names its tenant; it is here as there is no caller to run it as.

pub(crate) mod backlog;
pub(crate) mod desk;
pub(crate) mod dreams;
pub mod due;
pub(crate) mod erasures;
pub(crate) mod library;
pub(crate) mod library_copy;
pub mod library_scans;
pub mod months;
pub mod processes;
pub(crate) mod prune;
pub(crate) mod queues;
pub(crate) mod reflections;
pub(crate) mod refused;
pub(crate) mod replica;
pub(crate) mod sealed;
pub mod seals;
pub(crate) mod stale;
pub(crate) mod suspensions;
pub(crate) mod system;
pub mod tenants;
pub(crate) mod webhooks;
