//! The months of `usage_events`: partitions made ahead, and summed up and dropped when their time is over.
//!
//! Why across tenants: a month has the rows of all users.

use std::time::{Duration, Instant};

use chrono::NaiveDate;
use knowhow_domain::Result;
use uuid::Uuid;

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// Rows that were summed up, and partitions that went.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Rows that are part of a day's sum now.
    pub rows: i64,
    /// Months that were dropped whole.
    pub months: i32,
}

/// How the table stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Months {
    /// Months after this one that have a partition, without a gap.
    pub ahead: i32,
    /// Whether a row has no month of its own.
    pub has_caught: bool,
}

/// Sees to it that the month of a day and the three after it have a partition. How many were made.
///
/// # Errors
/// `Unavailable`, also where somebody is in the way for more than a second.
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

/// Sums up the months that ended 60 days ago, at most `batch` rows in a transaction, and drops them. No step begins after `longest`.
///
/// # Errors
/// `Unavailable`. What was summed up stays so.
pub async fn end(db: &Database, today: NaiveDate, batch: i32, longest: Duration) -> Result<Ended> {
    let began = Instant::now();
    let (mut ended, mut from) = (Ended::default(), User::default());
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

/// Where a step ended: users are gone through in order.
#[derive(Debug, Default, Clone, Copy)]
struct User {
    tenant: Uuid,
    user: Uuid,
}

struct Step {
    rows: i64,
    /// None where nothing was left, or another worker is at it.
    last: Option<User>,
}

async fn sum_up(db: &Database, today: NaiveDate, batch: i32, from: User) -> Result<Step> {
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
    Ok(Step { rows, last: last.filter(|_| rows > 0) })
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

/// How the table stands, as of a day.
///
/// # Errors
/// `Unavailable`.
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
