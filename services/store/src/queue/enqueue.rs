//! Putting a job into the queue, in the transaction of its cause.

use knowhow_domain::Result;
use serde_json::Value;

use crate::TenantTx;
use crate::error::refuse;

/// Enqueues `task` about `subject` for the transaction's own user: with it the job is there, without it it never was.
/// While such a job waits, it is the same one. `ids` is an object.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn enqueue(tx: &mut TenantTx, task: &str, ids: &Value, subject: &str) -> Result<()> {
    sqlx::query!("-- enqueue.enqueue\nselect app.enqueue($1, $2, $3)", task, ids, subject)
        .execute(tx.conn())
        .await
        .map_err(refuse)?;
    Ok(())
}
