//! A database that a tenant is moved from or to, accessed as a superuser.

use knowhow_domain::{Error, Result, Secret, TenantId};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Executor, FromRow, PgConnection};
use uuid::Uuid;

use crate::vault::connect::CheckedConnector;
use crate::vault::error::join_messages;
use crate::{DatabaseUrl, PlaceConfig};

/// Session settings. They make the text form of rows independent of the server's settings, so that rows can be
/// compared. They limit the wait for locks of long transactions. Logging is off, because a subscription's URL has a
/// password.
const SESSION: &str =
    "set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
    set extra_float_digits = 1; set search_path = public; set statement_timeout = 0; set lock_timeout = '10s';
    set client_min_messages = 'warning';
    set log_statement = 'none'; set log_min_error_statement = 'panic'; set log_min_duration_statement = -1";

/// A database that takes part in the move.
pub(super) struct MoveSide {
    pub(super) name: String,
    pub(super) url: Secret,
    pub(super) conn: PgConnection,
}

/// State of a tenant at a place, from the place's marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TenantMarker {
    /// The place has no such tenant.
    Nothing,
    /// The tenant lives at this place.
    Here,
    /// The tenant's rows are being copied from the named place.
    Coming(String),
    /// The tenant is being moved, or was moved, to the named place. Rows may remain at this one.
    Leaving(String),
}

impl MoveSide {
    pub(super) async fn connect(place: &PlaceConfig) -> Result<Self> {
        let refused = |error: &dyn std::fmt::Display| {
            Error::Unavailable(format!(
                "place '{}' cannot be reached with its URL in DATABASE_URLS: {error}",
                place.name
            ))
        };
        let url = DatabaseUrl::parse(&place.url).map_err(|error| refused(&error))?;
        let mut conn = CheckedConnector(url).connect().await.map_err(|error| refused(&error))?;
        conn.execute(SESSION).await.map_err(|error| refused(&join_messages(&error)))?;
        Ok(Self { name: place.name.clone(), url: place.url.clone(), conn })
    }

    /// Converts the error of a failed statement to one for the person who runs the command.
    pub(super) fn refuse(&self, error: &sqlx::Error) -> Error {
        cannot(format!("place '{}': {}", self.name, join_messages(error)))
    }

    /// Runs statements. Only validated ids and names may be interpolated.
    pub(super) async fn run(&mut self, sql: &str) -> Result<()> {
        let done = self.conn.execute(AssertSqlSafe(sql.to_owned())).await;
        done.map(drop).map_err(|error| self.refuse(&error))
    }

    /// Runs a statement and returns its only row.
    pub(super) async fn row<T>(&mut self, sql: &str) -> Result<T>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let row = sqlx::query_as(AssertSqlSafe(sql.to_owned())).fetch_one(&mut self.conn).await;
        row.map_err(|error| self.refuse(&error))
    }

    /// Runs a statement and returns its only value.
    pub(super) async fn value<T>(&mut self, sql: &str) -> Result<T>
    where
        (T,): for<'r> FromRow<'r, PgRow>,
        T: Send + Unpin,
    {
        self.row::<(T,)>(sql).await.map(|(value,)| value)
    }

    /// Runs a statement and returns the names in its rows.
    pub(super) async fn names(&mut self, sql: &str) -> Result<Vec<String>> {
        let names = sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.conn).await;
        names.map_err(|error| self.refuse(&error))
    }

    /// Finds the tenant with this slug. The slug comes from the command line, so it is bound.
    pub(super) async fn find(&mut self, slug: &str) -> Result<Option<TenantId>> {
        let found = sqlx::query_scalar::<_, Uuid>("-- side.find\nselect tenant_id from tenants where slug = $1");
        let found = found.bind(slug).fetch_optional(&mut self.conn).await;
        found.map(|id| id.map(TenantId)).map_err(|error| self.refuse(&error))
    }

    pub(super) async fn says(&mut self, tenant: TenantId) -> Result<TenantMarker> {
        let sql = format!(
            "-- side.says
            select coalesce((select heading || ' ' || other_place from tenants_elsewhere where tenant = '{id}'),
                            (select 'here' from tenants where tenant_id = '{id}'), 'nothing')",
            id = tenant.0
        );
        let marker = self.value::<String>(&sql).await?;
        Ok(match marker.split_once(' ') {
            Some(("coming", from)) => TenantMarker::Coming(from.to_owned()),
            Some((_, to)) => TenantMarker::Leaving(to.to_owned()),
            None if marker == "here" => TenantMarker::Here,
            None => TenantMarker::Nothing,
        })
    }

    /// Marks the tenant as living elsewhere.
    pub(super) async fn mark(&mut self, tenant: TenantId, says: &TenantMarker) -> Result<()> {
        let (heading, other) = match says {
            TenantMarker::Coming(from) => ("coming", from),
            TenantMarker::Leaving(to) => ("leaving", to),
            TenantMarker::Here | TenantMarker::Nothing => return self.unmark(tenant).await,
        };
        self.run(&format!(
            "-- side.mark
            insert into tenants_elsewhere (tenant, heading, other_place, since) values ('{}', '{heading}', '{other}', now())
            on conflict (tenant) do update
                set heading = excluded.heading, other_place = excluded.other_place, since = excluded.since",
            tenant.0
        ))
        .await
    }

    /// Takes a lock on the tenant for as long as this command is connected, to prevent concurrent moves.
    pub(super) async fn lock(&mut self, tenant: TenantId) -> Result<()> {
        let lock =
            format!("-- side.lock\nselect pg_try_advisory_lock(hashtext('tenant is moved'), hashtext('{}'))", tenant.0);
        if self.value::<bool>(&lock).await? {
            return Ok(());
        }
        Err(cannot("another command is moving the tenant".into()))
    }

    pub(super) async fn unmark(&mut self, tenant: TenantId) -> Result<()> {
        self.run(&format!("-- side.unmark\ndelete from tenants_elsewhere where tenant = '{}'", tenant.0)).await
    }
}

/// Returns the error for a tenant that cannot be moved.
pub(super) fn cannot(detail: String) -> Error {
    Error::Conflict { code: "cannot-move-tenant", detail }
}
