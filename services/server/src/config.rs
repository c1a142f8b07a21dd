//! Settings: one typed struct, `KNOWHOW_*` environment over an optional TOML file. The only room that reads the
//! environment.

mod address;
mod environment;
mod models;
mod otel;
mod owner;
mod page;
mod parts;
mod places;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use knowhow_domain::Secret;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::address::Address;
pub use self::otel::{Otel, Sampler};
pub use self::owner::{owner_url, owner_urls};
pub use self::page::page;

/// Everything that can be set. The comments are the table of docs/settings.md.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The database through its login role, `knowhow_login` or one of its own.
    #[schema(value_type = String)]
    pub database_url: Address,
    /// Other databases that tenants may live in (`docs/places.md`), each through its login role: `name=postgres://...`, with spaces or
    /// line ends between them. The first is called `home`.
    #[schema(value_type = String)]
    pub places: Secret,
    /// A replica of that database, one server and no balancer before several: catalogues and exports are read there where it shows
    /// what the primary shows, and else from the primary. Empty for none.
    #[schema(value_type = String)]
    pub replica_url: Address,
    /// Master secret, 64 hex characters (`openssl rand -hex 32`): hashes API keys, seals the secrets of issuers and webhooks.
    #[schema(value_type = String)]
    pub secret_key: Secret,
    /// The master secret before, while that is being changed: opens and verifies what is under it still (`docs/keys.md`).
    #[schema(value_type = String)]
    pub secret_key_previous: Secret,
    /// Connections for changes, for each worker thread, beside 4 for administration, jobs and callers.
    pub write_connections: u32,
    /// Connections for hot reads, for each worker thread.
    pub read_connections: usize,
    /// Longest wait for a connection once a request has begun, milliseconds; then 503. Where nobody listens, the 503 comes at once.
    pub acquire_timeout_ms: u64,
    /// Requests that may wait for their first connection, for each worker thread; others are 503 at once. 0 is twice as many as there
    /// are connections.
    pub queue_length: usize,
    /// Longest wait of such a request, milliseconds; then 503.
    pub queue_wait_ms: u64,
    /// Longest wait for a statement with all the locks it needs, milliseconds; then 503, at the latest half a second later where
    /// the database does not answer at all.
    pub statement_timeout_ms: u64,
    /// Address to listen on.
    pub bind: String,
    /// Port to listen on.
    pub port: u16,
    /// Worker threads, each with its own connections; 0 is one for each core.
    pub workers: usize,
    /// Longest wait for a whole request body, milliseconds.
    pub body_timeout_ms: u64,
    /// Memory for request bodies that are under way, MiB, a third of it for each caller; 72 or more, as one import may have 24.
    pub body_memory_mb: usize,
    /// How long a connection on which nothing is asked stays open, seconds: longer than a load balancer keeps it, so that the
    /// balancer never sends a request into a connection that is being closed.
    pub keep_alive_s: u64,
    /// How long the service goes on after SIGTERM while `/readyz` says 503 and answers close their connections, seconds: as
    /// long as load balancers take to notice. A second signal ends the drain.
    pub drain_s: u64,
    /// Longest wait for requests in flight, after the drain, and for jobs in hand, seconds.
    pub shutdown_timeout_s: u64,
    /// Where clients reach the service, e.g. `https://api.example.com`; by default the address it listens on. The MCP
    /// endpoint is below it, at `/mcp`, and tokens may name that URI in `aud`.
    pub public_url: String,
    /// Whether the interactive page is served at `/docs`; `/openapi.json` always is.
    pub docs: bool,
    /// Hosts besides those of `KNOWHOW_PUBLIC_URL` and loopback that MCP requests may name, with or without a port,
    /// separated by commas.
    pub allowed_hosts: String,
    /// Origins besides that of `KNOWHOW_PUBLIC_URL` from which browsers may send MCP requests, separated by commas.
    pub allowed_origins: String,
    /// URLs of the authorization servers that MCP clients are sent to for a token, separated by commas.
    pub authorization_servers: String,
    /// Whether `serve` works on jobs too, as `knowhow worker` does; otherwise some `knowhow worker` must.
    pub with_worker: bool,
    /// Jobs that a worker does at once, half of them for what persons cause alone.
    pub worker_concurrency: usize,
    /// A worker that is silent for so long is taken for dead, and others get its jobs, seconds.
    pub worker_recovery_s: u64,
    /// `aud` that tokens must carry.
    pub audience: String,
    /// `iss` of the deployment's own tokens, which may carry the role `operator`.
    pub operator_issuer: String,
    /// HS256 secret of those tokens; by default derived from `KNOWHOW_SECRET_KEY`.
    #[schema(value_type = String)]
    pub operator_secret: Secret,
    /// Whether tenants' issuers may have key URLs in private networks and without TLS.
    pub private_issuers: bool,
    /// Whether tenants' webhooks may be in private networks and without TLS.
    pub private_webhooks: bool,
    /// Where the service's certificate is, with those that vouch for it, in PEM: requests come over TLS then. It is read again when it
    /// changes. With `KNOWHOW_TLS_KEY_PATH`.
    pub tls_certificate_path: String,
    /// Where the key of that certificate is, in PEM without a password.
    pub tls_key_path: String,
    /// Networks of proxies whose `X-Forwarded-For` is believed, e.g. `10.0.0.0/8`, separated by commas: a request comes from the
    /// last address there that is in none of them. Without any, it comes from the address that is connected.
    pub trusted_proxies: String,
    /// Wrong credentials from one address and minute before it is answered 429; 0 for no limit.
    pub wrong_credentials_per_minute: u32,
    /// Requests a second of all of a tenant together, three times as many at once, where the tenant's own settings do not say; 0 for
    /// any number.
    pub tenant_requests_per_second: u32,
    /// The same for one user, or operator.
    pub user_requests_per_second: u32,
    /// The same for one API key.
    pub key_requests_per_second: u32,
    /// The same for one address without a credential: the API's document, its page, and what there is not.
    pub anonymous_requests_per_second: u32,
    /// Redis that counts the requests of users, keys, tenants and operators for all processes together, e.g. `redis://host:6379`, or `rediss://` for TLS; without
    /// it, or while it does not answer, each process counts its own.
    #[schema(value_type = String)]
    pub redis_url: Address,
    /// Largest body of a skill, bytes.
    pub skill_body_bytes: usize,
    /// Memory for what recall knows of users, MiB: 64 hold some 1,200 users with 50 skills of 10 KB, 700 with their vectors. Users
    /// beyond it are read again at each turn, which then takes several times as long.
    pub catalogue_cache_mb: u64,
    /// Skills of one user whose vectors are kept in that memory; of users with more, cosines come from the database.
    pub catalogue_vectors: usize,
    /// How long a snapshot is given to sessions that begin, minutes; the worker renders it anew for active users.
    pub snapshot_minutes: u32,
    /// Folder of the embeddings model that runs in the service; `make run` fetches one.
    pub model_dir: String,
    /// Which networks of that folder make the vectors: `default` all of them, `minilm` the BERT alone, which knows English only.
    /// After a change skills are embedded anew in the background.
    pub model: String,
    /// Threads that run it; 0 is one for two cores.
    pub embed_threads: usize,
    /// Base URL of an OpenAI-compatible API for embeddings, e.g. `https://api.example.com/v1`; goes before `KNOWHOW_MODEL_DIR`.
    #[schema(value_type = String)]
    pub embeddings_url: Address,
    /// Its key.
    #[schema(value_type = String)]
    pub embeddings_key: Secret,
    /// The model's name there.
    pub embeddings_model: String,
    /// Numbers of its vectors. After a change of this or of the model, skills are embedded anew.
    pub embeddings_dimensions: usize,
    /// Longest wait for one answer, milliseconds; two more attempts.
    pub embeddings_timeout_ms: u64,
    /// Base URL of an OpenAI-compatible API for chat, which writes summaries.
    #[schema(value_type = String)]
    pub chat_url: Address,
    /// Its key.
    #[schema(value_type = String)]
    pub chat_key: Secret,
    /// The model's name there.
    pub chat_model: String,
    /// Longest wait for one answer, milliseconds; two more attempts.
    pub chat_timeout_ms: u64,
    /// Address and port, e.g. `0.0.0.0:9464`, where `/metrics`, `/healthz` and `/readyz` are served, of `worker` too. Not for the
    /// world: whoever reaches it reads them. Empty: nowhere, and nothing is measured.
    pub metrics_bind: String,
    /// Log filter, e.g. `info,knowhow_store=debug`.
    pub log: String,
    /// `json` or `pretty`.
    pub log_format: String,
    /// Variables of this prefix that Kubernetes has made of Services, and that were passed over.
    #[serde(skip)]
    #[schema(ignore)]
    pub ignored_variables: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            database_url: Address::default(),
            places: Secret::default(),
            replica_url: Address::default(),
            secret_key: Secret::default(),
            secret_key_previous: Secret::default(),
            write_connections: 8,
            read_connections: 4,
            acquire_timeout_ms: 3000,
            queue_length: 0,
            queue_wait_ms: 100,
            statement_timeout_ms: 4500,
            bind: "127.0.0.1".into(),
            port: 8080,
            workers: 0,
            body_timeout_ms: 30_000,
            body_memory_mb: 96,
            keep_alive_s: 75,
            drain_s: 5,
            shutdown_timeout_s: 8,
            public_url: String::new(),
            docs: true,
            allowed_hosts: String::new(),
            allowed_origins: String::new(),
            authorization_servers: String::new(),
            with_worker: false,
            worker_concurrency: 4,
            worker_recovery_s: 30,
            audience: "knowhow".into(),
            operator_issuer: "knowhow-operator".into(),
            operator_secret: Secret::default(),
            private_issuers: false,
            private_webhooks: false,
            tls_certificate_path: String::new(),
            tls_key_path: String::new(),
            trusted_proxies: String::new(),
            wrong_credentials_per_minute: 100,
            tenant_requests_per_second: 500,
            user_requests_per_second: 20,
            key_requests_per_second: 200,
            anonymous_requests_per_second: 20,
            redis_url: Address::default(),
            skill_body_bytes: 256 * 1024,
            catalogue_cache_mb: 64,
            catalogue_vectors: 5_000,
            snapshot_minutes: 30,
            model_dir: String::new(),
            model: "default".into(),
            embed_threads: 0,
            embeddings_url: Address::default(),
            embeddings_key: Secret::default(),
            embeddings_model: String::new(),
            embeddings_dimensions: 0,
            embeddings_timeout_ms: 5000,
            chat_url: Address::default(),
            chat_key: Secret::default(),
            chat_model: String::new(),
            chat_timeout_ms: 60_000,
            metrics_bind: String::new(),
            log: "info".into(),
            log_format: "json".into(),
            ignored_variables: Vec::new(),
        }
    }
}

impl Config {
    /// The file, where one is given, under the environment.
    ///
    /// # Errors
    /// For an unreadable file, an unknown key, or a value of the wrong kind, naming it.
    #[expect(clippy::disallowed_methods, reason = "the one room that reads the environment")]
    pub fn load(file: Option<&Path>) -> Result<Self> {
        let text = match file {
            Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
            None => String::new(),
        };
        Self::from_parts(&text, std::env::vars().collect())
    }

    fn from_parts(file: &str, environment: BTreeMap<String, String>) -> Result<Self> {
        let mut table: toml::Table = file.parse().map_err(|error: toml::de::Error| {
            let end = error.span().map_or(0, |span| span.start);
            let line = 1 + file.bytes().take(end).filter(|byte| *byte == b'\n').count();
            anyhow!("the configuration file is not valid TOML: line {line}: {}", error.message())
        })?;
        let (given, ignored_variables) = environment::read(environment)?;
        table.extend(given);
        let config: Self = toml::Value::Table(table).try_into().map_err(|error: toml::de::Error| {
            let cause = error.to_string().trim_end().replace('\n', " ");
            anyhow!("the configuration has an unknown key or a wrong value: {cause}")
        })?;
        Ok(Self { ignored_variables, ..config })
    }

    /// The settings as TOML with every secret masked.
    ///
    /// # Errors
    /// Never in practice; the type can be written.
    pub fn masked(&self) -> Result<String> {
        Ok(toml::to_string(self)?)
    }
}

#[cfg(test)]
mod tests;
