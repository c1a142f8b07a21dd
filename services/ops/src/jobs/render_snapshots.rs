//! Finds the snapshots that are about to expire, of users that are active: those that would say the same are prolonged, the
//! others are rendered anew.

use knowhow_domain::job::task;
use knowhow_store::due::{self, Renewed};

use super::{JobResult, SystemJob};
use crate::App;

/// Snapshots of one round. A user beyond them is given one when a session asks for it.
const MOST: i64 = 20_000;
/// Of one transaction: to enqueue some thousand jobs may take longer than a statement is given.
const PAGE: i64 = 1_000;

pub(super) struct RenderSnapshots;

impl SystemJob for RenderSnapshots {
    const TASK: &'static str = task::RENDER_SNAPSHOTS;
    const SCHEDULE: &'static str = "* * * * *";

    async fn run(app: &App) -> JobResult {
        for _ in 0..MOST / PAGE {
            let page = due::renew_snapshots(&app.db, app.snapshot_lifetime, app.now(), PAGE).await?;
            let Renewed { prolonged, enqueued } = page;
            if prolonged + enqueued > 0 {
                tracing::info!(prolonged, enqueued, "snapshots are prolonged, or rendered anew");
            }
            if prolonged + enqueued < PAGE {
                break;
            }
        }
        Ok(())
    }
}
