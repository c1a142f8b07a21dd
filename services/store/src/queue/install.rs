//! The queue's tables, which `knowhow migrate` makes.

use std::sync::Arc;
use std::time::Duration;

use graphile_worker::{Database as QueueDatabase, Schema, WorkerUtils};
use sqlx::{Executor, PgConnection};

use super::driver::RoleDriver;
use crate::DatabaseUrl;
use crate::connect::{Checked, CheckedPool};
use crate::vault::held::Patience;
use crate::vault::pools::close;
use crate::vault::tx::DatabaseRole;

/// A migration of the queue may rewrite its tables.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Brings the queue's tables up to date as their owner, and lets the roles of the service in. `conn` waits for others
/// that do the same.
pub(crate) async fn install(conn: &mut PgConnection, owner: DatabaseUrl) -> Result<(), sqlx::Error> {
    conn.execute("select pg_advisory_lock(hashtext('knowhow queue'))").await?;
    let patience = Patience { acquire: TIMEOUT, statement: TIMEOUT };
    let pool = CheckedPool::builder(Checked(owner)).max_size(1).build().map_err(sqlx::Error::config)?;
    let driver = RoleDriver::new(pool.clone(), DatabaseRole::Owner, patience, Arc::default());
    let migrated = WorkerUtils::new(QueueDatabase::new(driver), Schema::default()).migrate().await;
    close(&pool).await;
    migrated.map_err(|error| sqlx::Error::Configuration(error.into()))?;
    conn.execute("-- install.open\nbegin; set local role knowhow_owner; select app.open_queue(); commit").await?;
    conn.execute("select pg_advisory_unlock(hashtext('knowhow queue'))").await?;
    Ok(())
}
