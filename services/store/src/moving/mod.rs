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
use uuid::Uuid;

use self::side::{Says, Side, cannot};
use self::stream::Stream;
use crate::PlaceConfig;
use crate::vault::pools::ONE_PLACE;

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
/// the way: the tenant lives where it lived; `Unavailable` where a place cannot be reached.
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
    stream: Stream,
    tables: Vec<String>,
    grace: Duration,
}

impl Moving {
    /// Finds the tenant. Only one such command works on it: the lock ends with the connection.
    async fn find(order: &Move<'_>) -> Result<Self> {
        let mut target = None;
        let mut sources = Vec::new();
        for place in order.places {
            let side = Side::connect(place).await?;
            if place.name == order.to { target = Some(side) } else { sources.push(side) }
        }
        let missing = || Error::Malformed(format!("DATABASE_URLS has no place '{}'", order.to));
        let mut to = target.ok_or_else(missing)?;
        let mut found = None;
        for mut from in sources {
            if let Some(tenant) = find_tenant(&mut from, order.slug).await? {
                let says = from.says(tenant).await?;
                // The rows that another move has left are no help.
                if says == Says::Here || goes_to(&mut from, tenant).await? == to.name {
                    found = Some((tenant, from));
                    break;
                }
            }
        }
        let Some((tenant, mut from)) = found else {
            return Err(match find_tenant(&mut to, order.slug).await? {
                Some(tenant) if to.says(tenant).await? == Says::Here => {
                    cannot(format!("the tenant '{}' lives at place '{}' already", order.slug, to.name))
                }
                _ => Error::not_found("tenant"),
            });
        };
        let lock = format!("select pg_try_advisory_lock(hashtext('tenant is moved'), hashtext('{}'))", tenant.0);
        if !to.value::<bool>(&lock).await? {
            return Err(cannot("another such command moves the tenant at this moment".into()));
        }
        let tables = tables::list(&mut from).await?;
        Ok(Self { tenant, from, to, stream: Stream::of(tenant), tables, grace: order.grace })
    }

    async fn go(&mut self, told: &dyn Fn(&str)) -> Result<Moved> {
        let left = self.from.says(self.tenant).await? == Says::Elsewhere;
        if self.to.says(self.tenant).await? == Says::Here {
            if !left {
                return Err(cannot(
                    "the tenant lives at both places: one of them is a copy of the other, or was restored".into(),
                ));
            }
            return self.leave(None, None, told).await;
        }
        let is_followed = self.stream.is_subscribed(&mut self.to).await?;
        // Where its requests are refused and nothing follows any more, it was ended just before the new place was to be opened.
        if is_followed || !left {
            told("preparing the new place");
            self.prepare(is_followed).await?;
            told("copying");
            if !is_followed {
                self.stream.begin(&mut self.from, &mut self.to, &self.tables).await?;
            }
            self.stream.follow(&mut self.from, &mut self.to, told).await?;
        }
        told("refusing the tenant's requests");
        let since = Instant::now();
        let rows = match self.fence().await {
            Ok(rows) => rows,
            Err(error) => {
                // It goes on where it was; what was copied stays, for the next try.
                self.from.unmark(self.tenant).await?;
                return Err(error);
            }
        };
        told("opening the new place");
        arrival::open(&mut self.from, &mut self.to, self.tenant).await?;
        let refused = since.elapsed();
        self.leave(Some(rows), Some(refused), told).await
    }

    async fn prepare(&mut self, is_followed: bool) -> Result<()> {
        self.require_fit().await?;
        let is_marked = self.to.says(self.tenant).await? == Says::Elsewhere;
        let has_rows = !is_followed && tables::has_any(&mut self.to, &self.tables, self.tenant).await?;
        if has_rows && !is_marked {
            return Err(cannot(format!("place '{}' has rows of the tenant that no move has brought", self.to.name)));
        }
        self.to.mark(self.tenant, &self.from.name).await?;
        if has_rows {
            // It lived there before, or a move was ended half way.
            tables::clear(&mut self.to, self.tenant).await?;
            clear_jobs(&mut self.to, self.tenant).await?;
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
        let unaware = format!(
            "-- moving.count_unaware
             select count(*) from pg_stat_activity where datname = current_database() and application_name = '{ONE_PLACE}'"
        );
        if self.from.value::<i64>(&unaware).await? > 0 {
            return Err(cannot(format!(
                "processes are connected to place '{}' that do not know of other places: set KNOWHOW_PLACES for each, and restart it",
                self.from.name
            )));
        }
        Ok(())
    }

    /// Refuses the tenant's requests, waits for those under way and for all that they wrote, and compares all rows.
    async fn fence(&mut self) -> Result<i64> {
        self.from.mark(self.tenant, &self.to.name).await?;
        // As app.require_here shares it, whose transactions have not seen the mark. Both ends are the same session's.
        let lock = format!("hashtext('tenant at work'), hashtext('{}')", self.tenant.0);
        self.from.run(&format!("select pg_advisory_lock({lock})")).await?;
        self.from.run(&format!("select pg_advisory_unlock({lock})")).await?;
        self.stream.drain(&mut self.from, &mut self.to).await?;
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
        clear_jobs(&mut self.from, self.tenant).await?;
        tables::clear(&mut self.from, self.tenant).await?;
        Ok(Moved::There { rows, refused })
    }

    async fn give_up(&mut self, told: &dyn Fn(&str)) -> Result<Moved> {
        if self.to.says(self.tenant).await? == Says::Here {
            return Err(cannot("the tenant lives at the new place already; move it back instead".into()));
        }
        told("letting the tenant's requests in again");
        self.from.unmark(self.tenant).await?;
        told("clearing the new place");
        self.stream.end(&mut self.from, &mut self.to).await?;
        tables::clear(&mut self.to, self.tenant).await?;
        self.to.unmark(self.tenant).await?;
        Ok(Moved::Stays)
    }
}

/// The tenant of that name, as a place has it. A slug is text of the command line, so it is bound.
async fn find_tenant(side: &mut Side, slug: &str) -> Result<Option<TenantId>> {
    let found: std::result::Result<Option<Uuid>, _> =
        sqlx::query_scalar("-- moving.find_tenant\nselect tenant_id from tenants where slug = $1")
            .bind(slug)
            .fetch_optional(&mut side.conn)
            .await;
    found.map(|id| id.map(TenantId)).map_err(|error| side.refuse(&error))
}

/// Where a tenant has gone, or goes, that is marked here; empty where it is not marked.
async fn goes_to(side: &mut Side, tenant: TenantId) -> Result<String> {
    let sql = "-- moving.goes_to\nselect coalesce((select other_place from tenants_elsewhere where tenant = '{}'), '')";
    side.value(&sql.replace("{}", &tenant.0.to_string())).await
}

async fn clear_jobs(side: &mut Side, tenant: TenantId) -> Result<()> {
    side.run(&format!(
        "-- moving.clear_jobs
        delete from graphile_worker._private_jobs where coalesce(payload ->> 'tenant_id', '') = '{}'",
        tenant.0
    ))
    .await
}
