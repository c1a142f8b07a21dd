//! Fixtures of the tests: the migrated database, tenants whose callers authenticate at the gate, and separate
//! databases and roles for tests that break something.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::FutureExt;
use knowhow_domain::{Algorithm, Clock, Issuer, IssuerId, SystemClock, TenantId, TenantSettings, UserId, new_id};
use knowhow_store::across::tenants::{self, NewTenant};
use knowhow_store::tenants::issuers;
use knowhow_store::vault::credential::{NewToken, mint_hs256};
use knowhow_store::{
    Database, DatabaseConfig, FrequentStatements, Gate, GateConfig, GateState, HOME_NAME, Login, Principal, TenantTx,
};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::sync::OnceCell;
use url::Url;

const AUDIENCE: &str = "knowhow";
const ISSUER: &str = "https://login.test.example";

/// The Postgres server of the tests.
pub struct Server {
    owner: Url,
    password: String,
}

impl Server {
    fn login(&self) -> Login {
        Login { role: "knowhow_login".into(), password: Some(self.password.clone().into()), set_password: false }
    }
}

/// Returns the server. The first call in a process migrates the shared database.
pub async fn server() -> &'static Server {
    static SERVER: OnceCell<Server> = OnceCell::const_new();
    SERVER
        .get_or_init(|| async {
            let server = Server {
                owner: variable("DATABASE_URL").parse().expect("DATABASE_URL is a URL"),
                password: variable("KNOWHOW_LOGIN_PASSWORD"),
            };
            knowhow_store::migrate(server.owner.as_str(), Some(&server.login())).await.unwrap();
            server
        })
        .await
}

#[expect(clippy::disallowed_methods, reason = "the one place where tests read the environment")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run make test, which starts a database"))
}

/// A database of the server, and the URLs to connect to it.
#[derive(Clone)]
pub struct Place {
    /// URL of the role that owns the schema, a superuser.
    pub owner_url: String,
    /// URL of the service's login role.
    pub login_url: String,
    /// The service's login role.
    pub login: Login,
}

impl Place {
    /// Returns the database that all tests share.
    pub async fn shared() -> Self {
        let server = server().await;
        Self::named(server, server.owner.path().trim_start_matches('/'))
    }

    fn named(server: &Server, database: &str) -> Self {
        let mut owner = server.owner.clone();
        owner.set_path(database);
        Self {
            owner_url: owner.to_string(),
            login_url: login(&owner, "knowhow_login", &server.password),
            login: server.login(),
        }
    }

    /// Opens a connection as the superuser.
    pub async fn owner(&self) -> PgConnection {
        PgConnection::connect(&self.owner_url).await.unwrap()
    }

    /// Opens a connection as the service's login role.
    pub async fn login(&self) -> PgConnection {
        PgConnection::connect(&self.login_url).await.unwrap()
    }

    /// Returns the URL of this database with another login role.
    pub fn login_url_of(&self, role: &str, password: &str) -> String {
        login(&self.owner_url.parse().unwrap(), role, password)
    }

    /// Runs statements as the superuser.
    pub async fn run(&self, sql: &str) {
        let mut conn = self.owner().await;
        conn.execute(AssertSqlSafe(sql)).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        conn.close().await.unwrap();
    }

    /// Returns a number that a query reads as the superuser.
    pub async fn count(&self, sql: &str) -> i64 {
        let mut conn = self.owner().await;
        let count = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut conn).await;
        conn.close().await.unwrap();
        count.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }
}

fn login(owner: &Url, role: &str, password: &str) -> String {
    let mut url = owner.clone();
    url.set_username(role).unwrap();
    url.set_password(Some(password)).unwrap();
    url.to_string()
}

/// Runs `test` with an empty database, and drops the database even if the test panics.
pub async fn with_empty_database(test: impl AsyncFnOnce(&Place)) {
    let server = server().await;
    let name = format!("knowhow_test_{}", new_id().simple());
    let shared = Place::shared().await;
    shared.run(&format!("create database {name} template template0")).await;
    let place = Place::named(server, &name);
    let outcome = AssertUnwindSafe(test(&place)).catch_unwind().await;
    shared.run(&format!("drop database {name} with (force)")).await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
}

/// Runs `test` with a separate, migrated database.
pub async fn with_database(test: impl AsyncFnOnce(&Place)) {
    with_empty_database(async |place| {
        knowhow_store::migrate(&place.owner_url, None).await.unwrap();
        test(place).await;
    })
    .await;
}

/// Runs `test` with a new login role that has these options and may take the service's roles. Drops the role
/// afterwards.
pub async fn with_role(place: &Place, options: &str, test: impl AsyncFnOnce(&str, &str)) {
    let role = format!("knowhow_test_{}", new_id().simple());
    let password = new_id().simple().to_string();
    let grant = format!(
        "grant knowhow_tenant, knowhow_admin, knowhow_system, knowhow_queue to {role} with inherit false, set true"
    );
    let usage = format!("grant usage on schema app to {role}");
    // Concurrent changes of the grants on one schema fail, so a lock serializes them.
    let alone = "select pg_advisory_xact_lock(hashtext('roles of tests'))";
    place.run(&format!("{alone}; create role {role} login {options} password '{password}'; {grant}; {usage}")).await;
    let url = place.login_url_of(&role, &password);
    let outcome = AssertUnwindSafe(test(&role, &url)).catch_unwind().await;
    place.run(&format!("{alone}; drop owned by {role}; drop role {role}")).await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
}

/// Opens small connection pools, because all tests share the server's connections.
pub fn open(url: &str, write_connections: u32, read_connections: usize) -> Database {
    Database::open(&config(url, write_connections, read_connections)).unwrap()
}

/// Returns the database configuration that [`open`] uses.
pub fn config(url: &str, write_connections: u32, read_connections: usize) -> DatabaseConfig {
    DatabaseConfig {
        url: url.into(),
        places: Vec::new(),
        write_connections,
        read_connections,
        prepares_ahead: FrequentStatements::default(),
        acquire_timeout: Duration::from_secs(60),
        queue_length: 10_000,
        queue_wait: Duration::from_secs(60),
        statement_timeout: Duration::from_secs(60),
    }
}

/// Returns a gate with empty caches.
pub fn gate(db: &Database) -> Gate {
    gate_under(db, 7, None)
}

/// Returns a gate of a deployment with these master keys, each of 32 equal bytes.
pub fn gate_under(db: &Database, master_key: u8, previous: Option<u8>) -> Gate {
    let config = GateConfig {
        secret_key: vec![master_key; 32],
        previous_secret_key: previous.map(|byte| vec![byte; 32]),
        audience: AUDIENCE.into(),
        operator: None,
        private_issuers: false,
    };
    Gate::new(db.clone(), Arc::new(GateState::new(config, Arc::new(SystemClock)).unwrap()))
}

/// Test fixture of the service without REST and MCP: a database, its connection pools and a gate.
pub struct House {
    /// The database.
    pub place: Place,
    /// Connection pools of the database.
    pub db: Database,
    /// Gate that converts credentials to principals.
    pub gate: Gate,
}

impl House {
    /// Uses the database that all tests share.
    pub async fn open() -> Self {
        Self::at(&Place::shared().await, 4, 2)
    }

    /// Uses any database, with these numbers of connections.
    pub fn at(place: &Place, write_connections: u32, read_connections: usize) -> Self {
        let db = open(&place.login_url, write_connections, read_connections);
        Self { place: place.clone(), gate: gate(&db), db }
    }

    /// Creates a tenant with default settings.
    pub async fn tenant(&self) -> Tenancy<'_> {
        self.tenant_with(&TenantSettings::default()).await
    }

    /// Creates a tenant with an issuer whose tokens the test can sign.
    pub async fn tenant_with(&self, settings: &TenantSettings) -> Tenancy<'_> {
        self.tenant_at(HOME_NAME, settings).await
    }

    /// Creates a tenant at this place, with an issuer whose tokens the test can sign.
    pub async fn tenant_at(&self, place: &str, settings: &TenantSettings) -> Tenancy<'_> {
        let slug = format!("t-{}", new_id().simple());
        let operator = self.gate.operator_at_shell(None).await.unwrap();
        let tenant = tenants::create(
            &self.db,
            &operator,
            &NewTenant { slug: &slug, name: "Test", settings: &json!(settings), place },
            now(),
        )
        .await
        .unwrap();
        let secret = [9; 32];
        let sealed = self.gate.state().sealer().seal(&secret, tenant.id.0.as_bytes()).unwrap();
        let operator = self.gate.operator_at_shell(Some(&slug)).await.unwrap();
        let issuer = Issuer {
            id: IssuerId(new_id()),
            tenant: slug.clone(),
            iss: ISSUER.into(),
            audience: AUDIENCE.into(),
            algorithm: Algorithm::HS256,
            jwks_url: None,
            created_at: now(),
        };
        let mut tx = TenantTx::begin_admin(&self.db, &operator, UserId::TENANT_WIDE, "test").await.unwrap();
        issuers::create(&mut tx, &issuer, Some(&sealed), 32).await.unwrap();
        tx.commit().await.unwrap();
        self.gate.state().forget_tenants();
        Tenancy { house: self, id: tenant.id, slug, secret }
    }
}

/// A tenant of one test.
pub struct Tenancy<'a> {
    house: &'a House,
    /// Id of the tenant.
    pub id: TenantId,
    /// Slug of the tenant.
    pub slug: String,
    secret: [u8; 32],
}

impl Tenancy<'_> {
    /// Returns the principal of a user, who is created on first use.
    pub async fn user(&self, external_id: &str) -> Principal {
        self.authenticate(&self.house.gate, external_id, "user").await
    }

    /// Returns the principal of an admin of the tenant.
    pub async fn admin(&self) -> Principal {
        self.authenticate(&self.house.gate, "the-admin", "tenant_admin").await
    }

    /// Authenticates a user with this role at any gate over the tenant's database.
    pub async fn authenticate(&self, gate: &Gate, external_id: &str, role: &str) -> Principal {
        gate.authenticate(&self.token(external_id, role), None).await.unwrap()
    }

    /// Returns a token of a user with this role.
    pub fn token(&self, external_id: &str, role: &str) -> String {
        let token = NewToken {
            iss: ISSUER.into(),
            sub: external_id.into(),
            tid: self.slug.clone(),
            aud: AUDIENCE.into(),
            scope: Vec::new(),
            roles: vec![role.into()],
            ttl: TimeDelta::minutes(10),
            now: now(),
        };
        mint_hs256(&self.secret, &token).unwrap()
    }
}

/// Returns the current time.
pub fn now() -> DateTime<Utc> {
    SystemClock.now()
}
