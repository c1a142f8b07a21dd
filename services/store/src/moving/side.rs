//! A database that a tenant is moved from or to, as its superuser sees it.

use knowhow_domain::{Error, Result, Secret, TenantId};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Executor, FromRow, PgConnection};
use uuid::Uuid;

use crate::connect::Checked;
use crate::error::said;
use crate::{DatabaseUrl, PlaceConfig};

/// How rows are written out where they are compared, whatever the server's settings; and the wait for a lock, which somebody holds
/// who reads for long. A subscription's URL has a password, so the server does not log what it is told.
const SESSION: &str =
    "set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
    set extra_float_digits = 1; set search_path = public; set statement_timeout = 0; set lock_timeout = '10s';
    set client_min_messages = 'warning';
    set log_statement = 'none'; set log_min_error_statement = 'panic'; set log_min_duration_statement = -1";

/// One of the two.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) url: Secret,
    pub(super) conn: PgConnection,
}

/// What a place says of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Says {
    /// It has no such tenant.
    Nothing,
    /// The tenant lives there.
    Here,
    /// Its rows are on their way there, from that place.
    Coming(String),
    /// It leaves for that place, or has gone there; its rows may be left.
    Leaving(String),
}

impl Side {
    pub(super) async fn connect(place: &PlaceConfig) -> Result<Self> {
        let refused = |error: &dyn std::fmt::Display| {
            Error::Unavailable(format!("place '{}' cannot be reached as DATABASE_URLS says: {error}", place.name))
        };
        let url = DatabaseUrl::parse(&place.url).map_err(|error| refused(&error))?;
        let mut conn = Checked(url).connect().await.map_err(|error| refused(&error))?;
        conn.execute(SESSION).await.map_err(|error| refused(&said(&error)))?;
        Ok(Self { name: place.name.clone(), url: place.url.clone(), conn })
    }

    /// What was said when a statement failed, for the person who runs the command.
    pub(super) fn refuse(&self, error: &sqlx::Error) -> Error {
        cannot(format!("place '{}': {}", self.name, said(error)))
    }

    /// Runs statements in which nothing but ids and names that were checked is put.
    pub(super) async fn run(&mut self, sql: &str) -> Result<()> {
        let done = self.conn.execute(AssertSqlSafe(sql.to_owned())).await;
        done.map(drop).map_err(|error| self.refuse(&error))
    }

    /// The one row that such a statement answers with.
    pub(super) async fn row<T>(&mut self, sql: &str) -> Result<T>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let row = sqlx::query_as(AssertSqlSafe(sql.to_owned())).fetch_one(&mut self.conn).await;
        row.map_err(|error| self.refuse(&error))
    }

    /// The one value that it answers with.
    pub(super) async fn value<T>(&mut self, sql: &str) -> Result<T>
    where
        (T,): for<'r> FromRow<'r, PgRow>,
        T: Send + Unpin,
    {
        self.row::<(T,)>(sql).await.map(|(value,)| value)
    }

    /// The names that it answers with, one in each row.
    pub(super) async fn names(&mut self, sql: &str) -> Result<Vec<String>> {
        let names = sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.conn).await;
        names.map_err(|error| self.refuse(&error))
    }

    /// The tenant of that name with what the place says of it. A slug is text of the command line, so it is bound.
    pub(super) async fn find(&mut self, slug: &str) -> Result<Option<TenantId>> {
        let found = sqlx::query_scalar::<_, Uuid>("-- side.find\nselect tenant_id from tenants where slug = $1");
        let found = found.bind(slug).fetch_optional(&mut self.conn).await;
        found.map(|id| id.map(TenantId)).map_err(|error| self.refuse(&error))
    }

    pub(super) async fn says(&mut self, tenant: TenantId) -> Result<Says> {
        let sql = format!(
            "-- side.says
            select coalesce((select heading || ' ' || other_place from tenants_elsewhere where tenant = '{id}'),
                            (select 'here' from tenants where tenant_id = '{id}'), 'nothing')",
            id = tenant.0
        );
        let said = self.value::<String>(&sql).await?;
        Ok(match said.split_once(' ') {
            Some(("coming", from)) => Says::Coming(from.to_owned()),
            Some((_, to)) => Says::Leaving(to.to_owned()),
            None if said == "here" => Says::Here,
            None => Says::Nothing,
        })
    }

    /// Marks the tenant as one that lives elsewhere.
    pub(super) async fn mark(&mut self, tenant: TenantId, says: &Says) -> Result<()> {
        let (heading, other) = match says {
            Says::Coming(from) => ("coming", from),
            Says::Leaving(to) => ("leaving", to),
            Says::Here | Says::Nothing => return self.unmark(tenant).await,
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

    /// Keeps other such commands off the tenant as long as this one is connected.
    pub(super) async fn lock(&mut self, tenant: TenantId) -> Result<()> {
        let lock =
            format!("-- side.lock\nselect pg_try_advisory_lock(hashtext('tenant is moved'), hashtext('{}'))", tenant.0);
        if self.value::<bool>(&lock).await? {
            return Ok(());
        }
        Err(cannot("another such command moves the tenant at this moment".into()))
    }

    pub(super) async fn unmark(&mut self, tenant: TenantId) -> Result<()> {
        self.run(&format!("-- side.unmark\ndelete from tenants_elsewhere where tenant = '{}'", tenant.0)).await
    }
}

/// Why a tenant cannot be moved, or no further.
pub(super) fn cannot(detail: String) -> Error {
    Error::Conflict { code: "cannot-move-tenant", detail }
}
