//! Creates the queue's tables in `knowhow migrate`.

use std::sync::Arc;
use std::time::Duration;

use graphile_worker::{Database as QueueDatabase, Schema, WorkerUtils};
use sqlx::{Executor, PgConnection};

use super::driver::RoleDriver;
use crate::DatabaseUrl;
use crate::vault::connect::{CheckedConnector, CheckedPool};
use crate::vault::pools::close;
use crate::vault::rollback_guard::Patience;
use crate::vault::tx::DatabaseRole;

/// Time limit for one statement. A migration of the queue may rewrite its tables.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Migrates the queue's tables as their owner and grants access to the service's roles. An advisory lock serializes
/// concurrent runs.
pub(crate) async fn install(conn: &mut PgConnection, owner: DatabaseUrl) -> Result<(), sqlx::Error> {
    conn.execute("select pg_advisory_lock(hashtext('knowhow queue'))").await?;
    let patience = Patience { acquire: TIMEOUT, statement: TIMEOUT };
    let pool = CheckedPool::builder(CheckedConnector(owner)).max_size(1).build().map_err(sqlx::Error::config)?;
    let driver = RoleDriver::new(pool.clone(), DatabaseRole::Owner, patience, Arc::default());
    let migrated = WorkerUtils::new(QueueDatabase::new(driver), Schema::default()).migrate().await;
    close(&pool).await;
    migrated.map_err(|error| sqlx::Error::Configuration(error.into()))?;
    conn.execute("-- install.open\nbegin; set local role knowhow_owner; select app.open_queue(); commit").await?;
    conn.execute("select pg_advisory_unlock(hashtext('knowhow queue'))").await?;
    Ok(())
}
