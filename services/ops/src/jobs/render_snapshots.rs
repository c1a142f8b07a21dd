//! Finds snapshots of active users that are about to expire. Unchanged snapshots are extended, changed snapshots are
//! rendered again.

use knowhow_domain::jobs::job::task;
use knowhow_store::across::due::{self, RenewedSnapshots};

use super::{JobResult, SystemJob};
use crate::App;

/// Maximum number of snapshots per round. For further users, a snapshot is rendered when a session requests it.
const MOST: i64 = 20_000;
/// Maximum number of snapshots per transaction, as enqueueing thousands of jobs may exceed the statement timeout.
const PAGE: i64 = 1_000;

pub(super) struct RenderSnapshots;

impl SystemJob for RenderSnapshots {
    const TASK: &'static str = task::RENDER_SNAPSHOTS;
    const SCHEDULE: &'static str = "* * * * *";

    async fn run(app: &App) -> JobResult {
        for _ in 0..MOST / PAGE {
            let page = due::renew_snapshots(&app.db, app.snapshot_lifetime, app.now(), PAGE).await?;
            let RenewedSnapshots { prolonged, enqueued } = page;
            if prolonged + enqueued > 0 {
                tracing::info!(prolonged, enqueued, "extended snapshots, or enqueued their rendering");
            }
            if prolonged + enqueued < PAGE {
                break;
            }
        }
        Ok(())
    }
}
