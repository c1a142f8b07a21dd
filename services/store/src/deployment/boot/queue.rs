//! Checks that the queue's tables exist in the revision that this build's library needs.

use knowhow_domain::Result;
use sqlx::{Executor, Row};

use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// The last migration of the library in this build.
const REVISION: i32 = 22;

/// Returns a description of the problem with the queue's tables; `None` if they are usable.
pub(super) async fn inspect(tx: &mut SystemTx) -> Result<Option<String>> {
    let there = tx
        .conn()
        .fetch_one(
            "-- boot.find_queue\n\
             select coalesce(has_table_privilege(to_regclass('graphile_worker.migrations'), 'select'), false)",
        )
        .await
        .and_then(|row| row.try_get(0))
        .map_err(refuse)?;
    let revision: i32 = match there {
        true => tx
            .conn()
            .fetch_one("-- boot.inspect_queue\nselect coalesce(max(id), 0) from graphile_worker.migrations")
            .await
            .and_then(|row| row.try_get(0))
            .map_err(refuse)?,
        false => 0,
    };
    let behind = || format!("the queue of jobs is at revision {revision} of {REVISION}: run knowhow migrate");
    Ok((revision < REVISION).then(behind))
}
