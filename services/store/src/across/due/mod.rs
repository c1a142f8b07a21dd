//! Starts the work that falls due by the clock, for all tenants. Each statement says why it cannot run as one tenant.

mod end;
mod enqueue;
mod reconcile;
mod renew;

pub use end::{end_silent_sessions, leave_unread_to_people};
pub use enqueue::{Unenriched, enqueue_enriching, enqueue_relating, enqueue_rescans};
pub use reconcile::{Reconciled, Unrelated, add_reconciled, count_unrelated, sum_reconciled};
pub use renew::{Renewed, renew_snapshots};
