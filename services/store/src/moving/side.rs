//! A database that a tenant is moved from or to, as its superuser sees it.

use knowhow_domain::{Error, Result, Secret, TenantId};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use crate::PlaceConfig;
use crate::error::said;

/// How rows are written out where they are compared, whatever the server's settings; and the wait for a lock, which somebody holds
/// who reads for long.
const SESSION: &str =
    "set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
    set extra_float_digits = 1; set search_path = public; set statement_timeout = 0; set lock_timeout = '10s';
    set client_min_messages = 'warning'";

/// One of the two.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) url: Secret,
    pub(super) conn: PgConnection,
}

/// What a place says of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// It has no such tenant.
    Nothing,
    /// The tenant lives there.
    Here,
    /// Its rows are there, or on their way, and it lives elsewhere.
    Elsewhere,
}

impl Side {
    pub(super) async fn connect(place: &PlaceConfig) -> Result<Self> {
        let refused = |error: sqlx::Error| {
            Error::Unavailable(format!(
                "place '{}' cannot be reached as DATABASE_URLS says: {}",
                place.name,
                said(&error)
            ))
        };
        let mut conn = PgConnection::connect(&place.url).await.map_err(refused)?;
        conn.execute(SESSION).await.map_err(refused)?;
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

    /// The rows that such a statement answers with.
    pub(super) async fn rows(&mut self, sql: &str) -> Result<Vec<PgRow>> {
        let rows = self.conn.fetch_all(AssertSqlSafe(sql.to_owned())).await;
        rows.map_err(|error| self.refuse(&error))
    }

    /// The one value that such a statement answers with.
    pub(super) async fn value<T>(&mut self, sql: &str) -> Result<T>
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        let row = self.conn.fetch_one(AssertSqlSafe(sql.to_owned())).await;
        row.and_then(|row| row.try_get(0)).map_err(|error| self.refuse(&error))
    }

    pub(super) async fn says(&mut self, tenant: TenantId) -> Result<Says> {
        let sql = format!(
            "-- side.says
            select case when exists (select from tenants_elsewhere where tenant = '{id}') then 'elsewhere'
                        when exists (select from tenants where tenant_id = '{id}') then 'here' else 'nothing' end",
            id = tenant.0
        );
        Ok(match self.value::<String>(&sql).await?.as_str() {
            "elsewhere" => Says::Elsewhere,
            "here" => Says::Here,
            _ => Says::Nothing,
        })
    }

    /// Marks the tenant as one that lives elsewhere.
    pub(super) async fn mark(&mut self, tenant: TenantId, other_place: &str) -> Result<()> {
        self.run(&format!(
            "-- side.mark
            insert into tenants_elsewhere (tenant, other_place, since) values ('{}', '{other_place}', now())
            on conflict do nothing",
            tenant.0
        ))
        .await
    }

    pub(super) async fn unmark(&mut self, tenant: TenantId) -> Result<()> {
        self.run(&format!("-- side.unmark\ndelete from tenants_elsewhere where tenant = '{}'", tenant.0)).await
    }
}

/// Why a tenant cannot be moved, or no further.
pub(super) fn cannot(detail: String) -> Error {
    Error::Conflict { code: "cannot-move-tenant", detail }
}
