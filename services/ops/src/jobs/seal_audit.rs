//! Seals entries of the audit log into its chain.

use knowhow_domain::jobs::job::task;

use super::{JobResult, SystemJob};
use crate::App;
use crate::platform::chain;

pub(super) struct SealAudit;

impl SystemJob for SealAudit {
    const TASK: &'static str = task::SEAL_AUDIT;
    const SCHEDULE: &'static str = "*/2 * * * *";

    async fn run(app: &App) -> JobResult {
        let entries = chain::seal(app).await?;
        tracing::debug!(entries, "sealed entries of the audit log");
        Ok(())
    }
}
