//! Removes what is past its time.

use super::{JobResult, SystemJob};
use crate::App;

/// Rows of each kind in one round.
const BATCH: i64 = 5000;

pub(super) struct Prune;

impl SystemJob for Prune {
    const TASK: &'static str = "prune";
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let pruned = knowhow_store::prune(&app.db, app.now(), BATCH).await?;
        tracing::info!(?pruned, "cleared up");
        Ok(())
    }
}
