//! The queue's tables: made by `knowhow migrate`, looked for at start.

use std::sync::Arc;
use std::time::Duration;

use graphile_worker::{Database as QueueDatabase, Schema, WorkerUtils};
use knowhow_domain::Result;
use sqlx::postgres::PgPoolOptions;
use sqlx::{Executor, PgConnection, Row};

use super::driver::RoleDriver;
use crate::error::refuse;
use crate::vault::held::Patience;
use crate::vault::pools::rolling_back;
use crate::vault::tx::{DatabaseRole, SystemTx};

/// The last of the library's own migrations, as of the version we build with.
const REVISION: i32 = 22;

/// A migration of the queue may rewrite its tables.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Brings the queue's tables up to date as their owner, and lets the roles of the service in. `conn` waits for others
/// that do the same.
pub(crate) async fn install(conn: &mut PgConnection, owner_url: &str) -> Result<(), sqlx::Error> {
    conn.execute("select pg_advisory_lock(hashtext('knowhow queue'))").await?;
    let patience = Patience { acquire: TIMEOUT, statement: TIMEOUT };
    let pool = rolling_back(PgPoolOptions::new(), patience).max_connections(1).connect(owner_url).await?;
    let driver = RoleDriver::new(pool.clone(), DatabaseRole::Owner, patience, Arc::default());
    let migrated = WorkerUtils::new(QueueDatabase::new(driver), Schema::default()).migrate().await;
    pool.close().await;
    migrated.map_err(|error| sqlx::Error::Configuration(error.into()))?;
    conn.execute("-- install.open\nbegin; set local role knowhow_owner; select app.open_queue(); commit").await?;
    conn.execute("select pg_advisory_unlock(hashtext('knowhow queue'))").await?;
    Ok(())
}

/// What is wrong with the queue's tables, in words.
pub(crate) async fn inspect(tx: &mut SystemTx) -> Result<Option<String>> {
    let there = tx
        .conn()
        .fetch_one(
            "-- install.find_queue\n\
             select coalesce(has_table_privilege(to_regclass('graphile_worker.migrations'), 'select'), false)",
        )
        .await
        .and_then(|row| row.try_get(0))
        .map_err(refuse)?;
    let revision: i32 = match there {
        true => tx
            .conn()
            .fetch_one("-- install.inspect\nselect coalesce(max(id), 0) from graphile_worker.migrations")
            .await
            .and_then(|row| row.try_get(0))
            .map_err(refuse)?,
        false => 0,
    };
    let behind = || format!("the queue of jobs is at revision {revision} of {REVISION}: run knowhow migrate");
    Ok((revision < REVISION).then(behind))
}
