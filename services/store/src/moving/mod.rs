//! Moves a tenant from one place to another while it is used. Runs as a superuser of both databases, never as the service's login.
//!
//! 1. The new place marks the tenant as living elsewhere, so that nothing there works on rows that are on their way.
//! 2. PostgreSQL copies the tenant's rows, and brings what changes meanwhile.
//! 3. The old place marks the tenant too. From now on its requests are refused for a moment, as are its jobs; those under way are
//!    waited for.
//! 4. Once everything has arrived, all rows are compared, and the new place takes its mark away: the tenant lives there.
//! 5. After a while the old place is cleared.
//!
//! Where the tenant lives follows from the marks alone, so it may be killed at any step and be run again: it looks how far it was.

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
use self::side::{Says, Side, cannot};
use self::stream::Stream;
use crate::PlaceConfig;

/// A tenant to be moved.
pub struct Move<'a> {
    /// Its slug.
    pub slug: &'a str,
    /// Where to.
    pub to: &'a str,
    /// Every place that it may be at, and the one that it is to go to, by the URLs of superusers.
    pub places: &'a [PlaceConfig],
    /// How long the rows stay at the old place, for requests that began before.
    pub grace: Duration,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// It lives at the new place.
    There {
        /// Rows that were compared; `None` where that was done when the command was given before.
        rows: Option<i64>,
        /// For how long its requests were refused, but for what processes remember of it, a second at most.
        refused: Option<Duration>,
    },
    /// It stays where it was, and nothing of it is at the other place.
    Stays,
}

/// Moves it, or goes on with what was begun. `told` hears of each step as it begins.
///
/// # Errors
/// `NotFound` where no place has the tenant; `Malformed` for a place that is not there; `Conflict` `cannot-move-tenant` with what is in
/// the way, and, where the tenant does not live where it lived, what to do; `Unavailable` where a place cannot be reached.
pub async fn relocate(order: &Move<'_>, told: &dyn Fn(&str)) -> Result<Moved> {
    let mut moving = Moving::find(order).await?;
    moving.go(told).await
}

/// Ends what was begun, as long as the tenant does not live at the new place: it goes on where it was.
///
/// # Errors
/// As [`relocate`]; `Conflict` where the tenant lives there already.
pub async fn abort(order: &Move<'_>, told: &dyn Fn(&str)) -> Result<Moved> {
    let mut moving = Moving::find(order).await?;
    moving.give_up(told).await
}

struct Moving {
    tenant: TenantId,
    from: Side,
    to: Side,
    /// Places that it left before, which were not cleared.
    left: Vec<Side>,
    /// What both say of the tenant, as they were found.
    state: State,
    stream: Stream,
    tables: Vec<String>,
    grace: Duration,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It lives at the old place.
    Stays,
    /// Its requests are refused.
    Between,
    /// It lives at the new place, and rows are left at the old one.
    Gone,
}

impl Moving {
    async fn go(&mut self, told: &dyn Fn(&str)) -> Result<Moved> {
        if self.state == State::Gone {
            return self.leave(None, None, told).await;
        }
        let is_followed = self.stream.is_subscribed(&mut self.to).await?;
        // Where its requests are refused and nothing follows any more, it was ended just before the new place was to be opened. Else it
        // may work on while the rest comes.
        if is_followed || self.state == State::Stays {
            self.from.unmark(self.tenant).await?;
            told("preparing the new place");
            self.prepare(is_followed).await?;
            told("copying");
            if !is_followed {
                self.stream.begin(&mut self.from, &mut self.to, &self.tables).await?;
            }
            self.stream.follow(&mut self.from, &mut self.to, told).await?;
            // Before anybody is refused: processes may have begun while rows were copied.
            self.require_listed().await?;
        }
        told("refusing the tenant's requests");
        let since = Instant::now();
        let rows = match self.fence().await {
            Ok(rows) => rows,
            Err(error) => {
                let error = self.let_in_again(error).await;
                // What has arrived is not what is here, and will not be: the next try copies anew.
                return Err(self.stream.end(&mut self.from, &mut self.to).await.err().unwrap_or(error));
            }
        };
        told("opening the new place");
        match arrival::open(&mut self.from, &mut self.to, self.tenant).await {
            Ok(()) => self.leave(Some(rows), Some(since.elapsed()), told).await,
            Err(Unopened::Surely(error)) => Err(self.let_in_again(error).await),
            Err(Unopened::Perhaps(error)) => {
                Err(cannot(format!("{error}; the tenant's requests are refused until you give the command again")))
            }
        }
    }

    /// It goes on where it was.
    async fn let_in_again(&mut self, error: Error) -> Error {
        match self.from.unmark(self.tenant).await {
            Ok(()) => error,
            Err(other) => cannot(format!(
                "{error}; and then {other}; the tenant's requests are refused until you give the command again, with --abort or without"
            )),
        }
    }

    async fn prepare(&mut self, is_followed: bool) -> Result<()> {
        self.require_fit().await?;
        self.require_aware().await?;
        self.require_listed().await?;
        let has_rows = !is_followed && tables::has_any(&mut self.to, &self.tables, self.tenant).await?;
        if has_rows && self.to.says(self.tenant).await? == Says::Nothing {
            return Err(cannot(format!("place '{}' has rows of the tenant that no move has brought", self.to.name)));
        }
        self.to.mark(self.tenant, &Says::Coming(self.from.name.clone())).await?;
        if has_rows {
            // It lived there before, or a move was ended half way.
            tables::clear(&mut self.to, self.tenant).await?;
        }
        arrival::bring_starters(&mut self.from, &mut self.to).await
    }

    /// Refuses the tenant's requests, waits for those under way and for all that they wrote, and compares all rows.
    async fn fence(&mut self) -> Result<i64> {
        self.from.mark(self.tenant, &Says::Leaving(self.to.name.clone())).await?;
        // Once more, behind the mark.
        self.require_aware().await?;
        // As app.require_here shares it, whose transactions have not seen the mark. Both ends are the same session's.
        let lock = format!("hashtext('tenant at work'), hashtext('{}')", self.tenant.0);
        self.from.run(&format!("select pg_advisory_lock({lock})")).await?;
        self.from.run(&format!("select pg_advisory_unlock({lock})")).await?;
        self.stream.drain(&mut self.from, &mut self.to).await?;
        // A release may have brought texts while rows were copied.
        arrival::bring_starters(&mut self.from, &mut self.to).await?;
        let rows = tables::compare(&mut self.from, &mut self.to, &self.tables, self.tenant).await?;
        self.stream.end(&mut self.from, &mut self.to).await?;
        Ok(rows)
    }

    /// Clears the old place, whose mark stays: a process that did not hear of the move finds it.
    async fn leave(&mut self, rows: Option<i64>, refused: Option<Duration>, told: &dyn Fn(&str)) -> Result<Moved> {
        told("the tenant lives at the new place; waiting before the old one is cleared");
        self.stream.end(&mut self.from, &mut self.to).await?;
        sleep(self.grace).await;
        told("clearing the old place");
        for side in std::iter::once(&mut self.from).chain(&mut self.left) {
            tables::clear(side, self.tenant).await?;
        }
        Ok(Moved::There { rows, refused })
    }

    async fn give_up(&mut self, told: &dyn Fn(&str)) -> Result<Moved> {
        if self.state == State::Gone {
            return Err(cannot("the tenant lives at the new place already; move it back instead".into()));
        }
        told("letting the tenant's requests in again");
        self.from.unmark(self.tenant).await?;
        told("clearing the new place");
        self.stream.end(&mut self.from, &mut self.to).await?;
        if matches!(self.to.says(self.tenant).await?, Says::Coming(_)) {
            tables::clear(&mut self.to, self.tenant).await?;
            self.to.unmark(self.tenant).await?;
        }
        Ok(Moved::Stays)
    }
}
