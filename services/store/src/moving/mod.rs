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
use crate::vault::place::HOME_NAME;
use crate::vault::pools::PROGRAM;

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

/// How long a process that has just begun may take until both places list it.
const LISTED_WITHIN: Duration = Duration::from_secs(5);

const TWICE: &str = "the tenant lives at two places: one of them is a copy of the other, or was restored";

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
    /// Finds the tenant. The place where it lives goes before any mark: marks of moves that ended long ago may be left, with rows. Only
    /// one such command works on it: the locks end with the connections.
    async fn find(order: &Move<'_>) -> Result<Self> {
        let mut target = None;
        let (mut here, mut left) = (None, Vec::new());
        for place in order.places {
            let mut side = Side::connect(place).await?;
            if place.name == order.to {
                target = Some(side);
                continue;
            }
            let Some(tenant) = side.find(order.slug).await? else { continue };
            side.lock(tenant).await?;
            match side.says(tenant).await? {
                Says::Here if here.is_none() => here = Some((tenant, side)),
                Says::Here => return Err(cannot(TWICE.into())),
                Says::Leaving(place) => left.push((tenant, side, place)),
                Says::Coming(_) | Says::Nothing => {}
            }
        }
        let missing = || Error::Malformed(format!("DATABASE_URLS has no place '{}'", order.to));
        let mut to = target.ok_or_else(missing)?;
        let Some(tenant) = here.as_ref().map(|(tenant, _)| *tenant).or(left.first().map(|(tenant, ..)| *tenant)) else {
            return Err(Self::explain_missing(order, &mut to, None).await?);
        };
        to.lock(tenant).await?;
        let (state, mut from) = match (to.says(tenant).await?, here) {
            (Says::Here, Some(_)) => return Err(cannot(TWICE.into())),
            (_, Some((_, side))) => (State::Stays, side),
            (Says::Here, None) => (State::Gone, left.remove(0).1),
            (says, None) => match left
                .iter()
                .position(|(_, side, place)| *place == to.name && says == Says::Coming(side.name.clone()))
            {
                Some(index) => (State::Between, left.remove(index).1),
                None => {
                    let goes_to = left.pop().map(|(_, _, place)| place);
                    return Err(Self::explain_missing(order, &mut to, goes_to).await?);
                }
            },
        };
        let stream = Stream::of(tenant);
        stream.require_own(&mut from, &to).await?;
        let tables = tables::list(&mut from).await?;
        let left = left.into_iter().map(|(_, side, _)| side).collect();
        Ok(Self { tenant, from, to, left, state, stream, tables, grace: order.grace })
    }

    /// Why no other place has the tenant to move.
    async fn explain_missing(order: &Move<'_>, to: &mut Side, goes_to: Option<String>) -> Result<Error> {
        let said = match to.find(order.slug).await? {
            Some(tenant) => to.says(tenant).await?,
            None => Says::Nothing,
        };
        let slug = order.slug;
        Ok(match (said, goes_to) {
            (Says::Here, _) => cannot(format!("the tenant '{slug}' lives at place '{}' already", to.name)),
            (Says::Leaving(place), _) | (_, Some(place)) => cannot(format!(
                "the tenant '{slug}' is on its way to place '{place}': give that command again, or end it with --abort"
            )),
            _ => Error::not_found("tenant"),
        })
    }

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

    async fn require_fit(&mut self) -> Result<()> {
        if self.from.value::<String>("show wal_level").await? != "logical" {
            let name = &self.from.name;
            return Err(cannot(format!("set wal_level = logical in the server of place '{name}', and restart it")));
        }
        let applied = "-- moving.list_applied
                       select coalesce(string_agg(version || ':' || encode(checksum, 'hex'), ',' order by version), '')
                       from _sqlx_migrations where success";
        if self.from.value::<String>(applied).await? != self.to.value::<String>(applied).await? {
            return Err(cannot("the places have different migrations: run knowhow migrate for both".into()));
        }
        Ok(())
    }

    /// A process that does not know the new place does not find the tenant there; one that knows of no other place does not even ask
    /// whether it is here still.
    async fn require_aware(&mut self) -> Result<()> {
        let unaware = format!(
            "-- moving.count_unaware
             select count(*) from pg_stat_activity
             where datname = current_database() and (
                 application_name = '{PROGRAM}'
                 -- Whoever knows any place knows home. Postgres keeps 63 bytes of a name: the rest may be behind them.
                 or '{to}' <> '{HOME_NAME}' and application_name like '{PROGRAM} %' and length(application_name) < 63
                    and position(' {to} ' in application_name || ' ') = 0)",
            to = self.to.name
        );
        if self.from.value::<i64>(&unaware).await? > 0 {
            return Err(cannot(format!(
                "processes are connected to place '{}' that do not know of place '{}': set KNOWHOW_PLACES for each, and restart it",
                self.from.name, self.to.name
            )));
        }
        Ok(())
    }

    /// The same of processes that have no connection at this moment, or that a pooler stands before: each keeps a row at every place
    /// that it knows.
    async fn require_listed(&mut self) -> Result<()> {
        let began = Instant::now();
        loop {
            let unlisted = self.count_unlisted().await?;
            if unlisted == 0 {
                return Ok(());
            }
            if began.elapsed() > LISTED_WITHIN {
                return Err(cannot(format!(
                    "{unlisted} of the processes that place '{}' lists have no row at place '{}': they do not know of it (set \
                     KNOWHOW_PLACES for each, and restart it), or cannot reach it; one that was killed is counted for 30 seconds",
                    self.from.name, self.to.name
                )));
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn count_unlisted(&mut self) -> Result<usize> {
        // A process says every 20 s that it is there. The row of one that was killed leaves either place after a minute, and not
        // at the same moment: by then it no longer counts.
        let running = "-- moving.list_running
                       select process_id::text from processes where seen_at >= now() - interval '30 seconds'";
        let here = self.from.names(running).await?;
        let there = self.to.names("-- moving.list_listed\nselect process_id::text from processes").await?;
        Ok(here.iter().filter(|id| !there.contains(id)).count())
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
