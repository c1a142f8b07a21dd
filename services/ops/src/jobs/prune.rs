//! Removes what is past its time.

use std::time::{Duration, Instant};

use super::{JobResult, SystemJob};
use crate::App;

/// Rows of each kind in one round.
const BATCH: i64 = 5000;
/// No round begins later; the next job goes on.
const LONGEST: Duration = Duration::from_secs(300);

pub(super) struct Prune;

impl SystemJob for Prune {
    const TASK: &'static str = "prune";
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let began = Instant::now();
        loop {
            let pruned = knowhow_store::prune(&app.db, app.now(), BATCH).await?;
            tracing::info!(?pruned, "cleared up");
            if !pruned.has_more(BATCH) || began.elapsed() > LONGEST {
                return Ok(());
            }
        }
    }
}
