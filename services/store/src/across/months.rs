//! Monthly partitions of `usage_events`: created in advance, summed up and dropped after their retention.
//!
//! Runs across tenants because a partition has the rows of all users.

use std::time::{Duration, Instant};

use chrono::NaiveDate;
use knowhow_domain::Result;
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Counts of summed-up rows and dropped partitions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct EndedMonths {
    /// Number of rows added to daily sums.
    pub rows: i64,
    /// Number of dropped monthly partitions.
    pub months: i32,
}

/// State of the table's partitions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Months {
    /// Number of consecutive future months that have a partition.
    pub ahead: i32,
    /// Whether the default partition has rows. If so, the month of these rows has no partition.
    pub has_caught: bool,
}

/// Creates missing partitions for the month of `today` and the three months after it. Returns the number of created
/// partitions.
///
/// # Errors
/// `Unavailable`, also if a lock is not available within a second.
pub async fn ensure(db: &Database, today: NaiveDate) -> Result<i32> {
    let mut tx = SystemTx::begin_at_leisure(db, "months.ensure").await?;
    let made = sqlx::query_scalar!(
        r#"-- months.ensure
        select app.ensure_partitions($1) as "made!""#,
        today
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(made)
}

/// Sums up the months that ended at least 60 days ago, at most `batch` rows per transaction, and drops their
/// partitions. Starts no further step after `longest`.
///
/// # Errors
/// `Unavailable`. Rows already summed up stay so.
pub async fn end(db: &Database, today: NaiveDate, batch: i32, longest: Duration) -> Result<EndedMonths> {
    let began = Instant::now();
    let (mut ended, mut from) = (EndedMonths::default(), User::default());
    loop {
        let step = sum_up(db, today, batch, from).await?;
        ended.rows += step.rows;
        match step.last {
            Some(_) if began.elapsed() > longest => return Ok(ended),
            Some(last) => from = last,
            None => break,
        }
    }
    ended.months = drop_ended(db, today).await?;
    Ok(ended)
}

/// The last user processed in a step. Users are processed in key order.
#[derive(Debug, Default, Clone, Copy)]
struct User {
    tenant: Uuid,
    user: Uuid,
}

struct SumStep {
    rows: i64,
    /// The last processed user; `None` if no rows were left or another worker is processing the month.
    last: Option<User>,
}

async fn sum_up(db: &Database, today: NaiveDate, batch: i32, from: User) -> Result<SumStep> {
    let mut tx = SystemTx::begin_at_leisure(db, "months.sum_up").await?;
    let step = sqlx::query!(
        "-- months.sum_up
        select removed, of_tenant, of_user from app.sum_up_step($1, $2, $3, $4)",
        today,
        batch,
        from.tenant,
        from.user
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let rows = step.removed.unwrap_or_default();
    let last = step.of_tenant.zip(step.of_user).map(|(tenant, user)| User { tenant, user });
    Ok(SumStep { rows, last: last.filter(|_| rows > 0) })
}

async fn drop_ended(db: &Database, today: NaiveDate) -> Result<i32> {
    let mut tx = SystemTx::begin_at_leisure(db, "months.drop_ended").await?;
    let dropped = sqlx::query_scalar!(
        r#"-- months.drop_ended
        select app.drop_partitions($1) as "dropped!""#,
        today
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(dropped)
}

/// Returns the state of the table's partitions as of `today`.
pub async fn look(db: &Database, today: NaiveDate) -> Result<Months> {
    let mut tx = SystemTx::begin_at_leisure(db, "months.look").await?;
    let months = sqlx::query_as!(
        Months,
        r#"-- months.look
        select months_ahead as "ahead!", has_caught as "has_caught!" from app.look_at_partitions($1)"#,
        today
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(months)
}
