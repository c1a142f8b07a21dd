//! Starts scheduled work for all tenants. Each statement explains why it cannot run for a single tenant.

mod end;
mod enqueue;
mod reconcile;
mod renew;

pub use end::{end_silent_sessions, leave_unread_to_people};
pub use enqueue::{Unenriched, enqueue_enriching, enqueue_relating, enqueue_rescans};
pub use reconcile::{Reconciled, Unrelated, add_reconciled, count_unrelated, sum_reconciled};
pub use renew::{RenewedSnapshots, renew_snapshots};
