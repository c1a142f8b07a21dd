//! Moves a tenant from one place to another while it is in use. Runs as a superuser of both databases, never as the
//! service's login.
//!
//! 1. The new place marks the tenant as living elsewhere, so that incomplete rows are not used there.
//! 2. PostgreSQL copies the tenant's rows and replicates changes.
//! 3. The old place marks the tenant too. From now on, the tenant's requests and jobs are rejected for a moment.
//!    Running requests and jobs are awaited.
//! 4. After all changes have arrived, all rows are compared and the new place deletes its marker. The tenant now
//!    lives there.
//! 5. After a delay the old place is cleared.
//!
//! Only the markers determine the tenant's place. So the command may be killed at any step and run again: it detects
//! how far it came.

mod arrival;
mod checks;
mod find;
mod side;
mod stream;
mod tables;

use std::time::{Duration, Instant};

use knowhow_domain::{Error, Result, TenantId};
use tokio::time::sleep;

use self::arrival::Unopened;
use self::side::{MoveSide, TenantMarker, cannot};
use self::stream::Stream;
use crate::PlaceConfig;

/// A tenant to move.
pub struct Move<'a> {
    pub slug: &'a str,
    /// Name of the new place.
    pub to: &'a str,
    /// All places that may have the tenant, including the new one, with the URLs of superusers.
    pub places: &'a [PlaceConfig],
    /// Delay before the rows at the old place are deleted, for requests that began before the move.
    pub grace: Duration,
}

/// Result of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// The tenant lives at the new place.
    There {
        /// Number of compared rows; `None` if an earlier run compared them.
        rows: Option<i64>,
        /// Time during which requests were rejected. Outdated caches may add up to a second.
        refused: Option<Duration>,
    },
    /// The tenant stays at the old place, and the new place has no data of the tenant.
    Stays,
}

/// Moves the tenant, or continues an earlier attempt. Calls `report` at the start of each step.
///
/// # Errors
/// `NotFound` if no place has the tenant; `Malformed` for an unknown place; `Conflict` `cannot-move-tenant` with the
/// obstacle and, if the tenant is unavailable, with instructions; `Unavailable` if a place is unreachable.
pub async fn relocate(order: &Move<'_>, report: &dyn Fn(&str)) -> Result<Moved> {
    let mut moving = Moving::find(order).await?;
    moving.go(report).await
}

/// Cancels a move as long as the tenant does not live at the new place. The tenant stays at the old place.
///
/// # Errors
/// As [`relocate`]; `Conflict` if the tenant already lives at the new place.
pub async fn abort(order: &Move<'_>, report: &dyn Fn(&str)) -> Result<Moved> {
    let mut moving = Moving::find(order).await?;
    moving.give_up(report).await
}

struct Moving {
    tenant: TenantId,
    from: MoveSide,
    to: MoveSide,
    /// Former places of the tenant that still have its rows.
    left: Vec<MoveSide>,
    /// State derived from the markers of both places.
    state: MoveState,
    stream: Stream,
    tables: Vec<String>,
    grace: Duration,
}

/// Progress of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoveState {
    /// The tenant lives at the old place.
    Stays,
    /// The tenant's requests are rejected.
    Between,
    /// The tenant lives at the new place, and rows remain at the old one.
    Gone,
}

impl Moving {
    async fn go(&mut self, report: &dyn Fn(&str)) -> Result<Moved> {
        if self.state == MoveState::Gone {
            return self.leave(None, None, report).await;
        }
        let is_followed = self.stream.is_subscribed(&mut self.to).await?;
        // If requests are rejected and replication has ended, the earlier attempt stopped just before it opened the
        // new place. In all other cases the tenant may be used while rows are copied.
        if is_followed || self.state == MoveState::Stays {
            self.from.unmark(self.tenant).await?;
            report("preparing the new place");
            self.prepare(is_followed).await?;
            report("copying");
            if !is_followed {
                self.stream.begin(&mut self.from, &mut self.to, &self.tables).await?;
            }
            self.stream.follow(&mut self.from, &mut self.to, report).await?;
            // This is checked before any request is rejected, because processes may have started while rows were
            // copied.
            self.require_listed().await?;
        }
        report("rejecting the tenant's requests");
        let since = Instant::now();
        let rows = match self.fence().await {
            Ok(rows) => rows,
            Err(error) => {
                let error = self.resume_tenant(error).await;
                // The rows at the new place become outdated, so the next attempt copies them again.
                return Err(self.stream.end(&mut self.from, &mut self.to).await.err().unwrap_or(error));
            }
        };
        report("opening the new place");
        match arrival::open(&mut self.from, &mut self.to, self.tenant).await {
            Ok(()) => self.leave(Some(rows), Some(since.elapsed()), report).await,
            Err(Unopened::Surely(error)) => Err(self.resume_tenant(error).await),
            Err(Unopened::Perhaps(error)) => {
                Err(cannot(format!("{error}; the tenant's requests are rejected until you run the command again")))
            }
        }
    }

    /// Resumes the tenant at the old place.
    async fn resume_tenant(&mut self, error: Error) -> Error {
        match self.from.unmark(self.tenant).await {
            Ok(()) => error,
            Err(other) => cannot(format!(
                "{error}; and then {other}; the tenant's requests are rejected until you run the command again, with or without --abort"
            )),
        }
    }

    async fn prepare(&mut self, is_followed: bool) -> Result<()> {
        self.require_fit().await?;
        self.require_aware().await?;
        self.require_listed().await?;
        let has_rows = !is_followed && tables::has_any(&mut self.to, &self.tables, self.tenant).await?;
        if has_rows && self.to.says(self.tenant).await? == TenantMarker::Nothing {
            return Err(cannot(format!(
                "place '{}' has rows of the tenant that were not copied by a move",
                self.to.name
            )));
        }
        self.to.mark(self.tenant, &TenantMarker::Coming(self.from.name.clone())).await?;
        if has_rows {
            // The new place has rows if the tenant lived there before or an earlier move was interrupted.
            tables::clear(&mut self.to, self.tenant).await?;
        }
        arrival::bring_starters(&mut self.from, &mut self.to).await
    }

    /// Rejects the tenant's requests, waits for running requests and for replication of their writes, and compares
    /// all rows. Returns the number of rows.
    async fn fence(&mut self) -> Result<i64> {
        self.from.mark(self.tenant, &TenantMarker::Leaving(self.to.name.clone())).await?;
        // A process may have connected before the tenant was marked, so this check is repeated.
        self.require_aware().await?;
        // Waits for transactions that began before the marker was set: each has this lock in shared mode
        // (app.require_here). Both statements run in one session.
        let lock = format!("hashtext('tenant at work'), hashtext('{}')", self.tenant.0);
        self.from.run(&format!("select pg_advisory_lock({lock})")).await?;
        self.from.run(&format!("select pg_advisory_unlock({lock})")).await?;
        self.stream.drain(&mut self.from, &mut self.to).await?;
        // A release may have added texts while rows were copied.
        arrival::bring_starters(&mut self.from, &mut self.to).await?;
        let rows = tables::compare(&mut self.from, &mut self.to, &self.tables, self.tenant).await?;
        self.stream.end(&mut self.from, &mut self.to).await?;
        Ok(rows)
    }

    /// Clears the old place. Its marker stays for processes that still look for the tenant there.
    async fn leave(&mut self, rows: Option<i64>, refused: Option<Duration>, report: &dyn Fn(&str)) -> Result<Moved> {
        report("the tenant lives at the new place; waiting before the old one is cleared");
        self.stream.end(&mut self.from, &mut self.to).await?;
        sleep(self.grace).await;
        report("clearing the old place");
        for side in std::iter::once(&mut self.from).chain(&mut self.left) {
            tables::clear(side, self.tenant).await?;
        }
        Ok(Moved::There { rows, refused })
    }

    async fn give_up(&mut self, report: &dyn Fn(&str)) -> Result<Moved> {
        if self.state == MoveState::Gone {
            return Err(cannot("the tenant already lives at the new place; move it back instead".into()));
        }
        report("accepting the tenant's requests again");
        self.from.unmark(self.tenant).await?;
        report("clearing the new place");
        self.stream.end(&mut self.from, &mut self.to).await?;
        if matches!(self.to.says(self.tenant).await?, TenantMarker::Coming(_)) {
            tables::clear(&mut self.to, self.tenant).await?;
            self.to.unmark(self.tenant).await?;
        }
        Ok(Moved::Stays)
    }
}
