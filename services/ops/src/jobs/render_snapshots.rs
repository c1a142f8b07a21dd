//! Finds the snapshots that are about to expire, of users that are active: those that would say the same are prolonged, the
//! others are rendered anew.

use knowhow_domain::job::task;
use knowhow_store::due::{self, Renewed};

use super::{JobResult, SystemJob};
use crate::App;

/// Snapshots of one round. A user beyond them is given one when a session asks for it.
const MOST: i64 = 20_000;

pub(super) struct RenderSnapshots;

impl SystemJob for RenderSnapshots {
    const TASK: &'static str = task::RENDER_SNAPSHOTS;
    const SCHEDULE: &'static str = "* * * * *";

    async fn run(app: &App) -> JobResult {
        let lifetime = app.snapshot_lifetime;
        let Renewed { prolonged, enqueued } = due::renew_snapshots(&app.db, lifetime, app.now(), MOST).await?;
        if prolonged + enqueued > 0 {
            tracing::info!(prolonged, enqueued, "snapshots are prolonged, or rendered anew");
        }
        Ok(())
    }
}
