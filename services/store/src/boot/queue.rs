//! Whether the queue's tables are there, as the version of their library that we build with wants them.

use knowhow_domain::Result;
use sqlx::{Executor, Row};

use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// The last of the library's own migrations, as of the version we build with.
const REVISION: i32 = 22;

/// What is wrong with the queue's tables, in words.
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
