//! Settings: a typed struct that is read from an optional TOML file and overridden by `KNOWHOW_*` environment
//! variables. Only this module reads the environment.

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

use self::address::ConfiguredUrl;
pub use self::otel::{Otel, Sampler};
pub use self::owner::{owner_url, owner_urls};
pub use self::page::page;

/// All settings. The comments on the members become the table in docs/reference/settings.md.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// URL of the database, with the login role `knowhow_login` or one of your own.
    #[schema(value_type = String)]
    pub database_url: ConfiguredUrl,
    /// Additional databases for tenants (`docs/operators/places.md`), each with its login role: `name=postgres://...`,
    /// separated by spaces or line ends. The first database is called `home`.
    #[schema(value_type = String)]
    pub places: Secret,
    /// URL of one read replica of the first database (not a load balancer for several replicas). Catalogues and
    /// exports are read from the replica while it is up to date, otherwise from the primary. Empty: not used.
    #[schema(value_type = String)]
    pub replica_url: ConfiguredUrl,
    /// Master secret, 64 hex characters (`openssl rand -hex 32`). It hashes API keys and encrypts the secrets of
    /// issuers and webhooks.
    #[schema(value_type = String)]
    pub secret_key: Secret,
    /// The previous master secret, while the secret is being rotated. Data that was stored under the previous secret
    /// can still be verified and decrypted (`docs/operators/keys.md`).
    #[schema(value_type = String)]
    pub secret_key_previous: Secret,
    /// Number of connections for writes, per worker thread. Another 4 are used for administration, jobs and
    /// authentication.
    pub write_connections: u32,
    /// Number of connections for frequent reads, per worker thread.
    pub read_connections: usize,
    /// Longest wait for a connection after a request has started, in milliseconds; then 503. If the database refuses
    /// connections, 503 is returned immediately.
    pub acquire_timeout_ms: u64,
    /// Number of requests that may wait for their first connection, per worker thread; further requests get 503
    /// immediately. 0 means twice the number of connections.
    pub queue_length: usize,
    /// Longest wait of a request for its first connection, in milliseconds; then 503.
    pub queue_wait_ms: u64,
    /// Timeout of a statement including its lock waits, in milliseconds; then 503. If the database does not respond at
    /// all, the 503 follows at most half a second later.
    pub statement_timeout_ms: u64,
    /// Address to listen on.
    pub bind: String,
    /// Port to listen on.
    pub port: u16,
    /// Number of worker threads, each with its own connections; 0 means one per core.
    pub workers: usize,
    /// Longest time to receive a request body, in milliseconds.
    pub body_timeout_ms: u64,
    /// Memory for request bodies that are being received, in MiB. One caller may use a third of it. At least 120,
    /// because one import may need 40.
    pub body_memory_mb: usize,
    /// Idle timeout of a connection, in seconds. It must be longer than the load balancer's own idle timeout; otherwise
    /// the balancer may send a request on a connection that is being closed.
    pub keep_alive_s: u64,
    /// Time to keep serving after SIGTERM, in seconds, while `/readyz` returns 503 and responses close their
    /// connections. Use the time that load balancers need to notice. A second signal ends the drain.
    pub drain_s: u64,
    /// After the drain, the longest wait for requests in progress and running jobs, in seconds.
    pub shutdown_timeout_s: u64,
    /// URL at which clients reach the service, e.g. `https://api.example.com`; by default the listening address. The
    /// MCP endpoint is `/mcp` below it, and tokens may name that URI in `aud`.
    pub public_url: String,
    /// Whether the interactive API page is served at `/docs`; `/openapi.json` is always served.
    pub docs: bool,
    /// Serves the console at `/console`: pages for users and admins.
    pub console: bool,
    /// Additional hosts that MCP requests may name, with or without a port, separated by commas. The host of
    /// `KNOWHOW_PUBLIC_URL` and loopback are always allowed.
    pub allowed_hosts: String,
    /// Additional origins of browser requests to MCP, separated by commas. The origin of `KNOWHOW_PUBLIC_URL` is always
    /// allowed.
    pub allowed_origins: String,
    /// URLs of the authorization servers that MCP clients get tokens from, separated by commas.
    pub authorization_servers: String,
    /// Whether `serve` also runs jobs, as `knowhow worker` does. If not, at least one `knowhow worker` must run.
    pub with_worker: bool,
    /// Number of jobs that a worker runs concurrently. Half of them are reserved for jobs that a user's action caused.
    pub worker_concurrency: usize,
    /// A worker without a heartbeat for this many seconds is considered dead, and its jobs are run by others.
    pub worker_recovery_s: u64,
    /// Required `aud` of tokens.
    pub audience: String,
    /// `iss` of the deployment's own tokens, which may carry the role `operator`.
    pub operator_issuer: String,
    /// HS256 secret of the deployment's own tokens; by default derived from `KNOWHOW_SECRET_KEY`.
    #[schema(value_type = String)]
    pub operator_secret: Secret,
    /// Whether tenants' issuers may have key URLs in private networks or without TLS.
    pub private_issuers: bool,
    /// Whether tenants' webhooks may be in private networks or without TLS.
    pub private_webhooks: bool,
    /// Path of the service's certificate chain in PEM; enables TLS, together with `KNOWHOW_TLS_KEY_PATH`. The file is
    /// read again when it changes.
    pub tls_certificate_path: String,
    /// Path of the certificate's private key in PEM, without a password.
    pub tls_key_path: String,
    /// Networks of trusted proxies, e.g. `10.0.0.0/8`, separated by commas. A client's address is the last address in
    /// `X-Forwarded-For` that is in none of these networks. If empty, it is the address of the connection.
    pub trusted_proxies: String,
    /// Number of wrong credentials per minute from one address before it gets 429; 0 for no limit.
    pub wrong_credentials_per_minute: u32,
    /// Requests per second of all users of a tenant together, with a burst of three times as many, unless the tenant's
    /// own settings define it; 0 for no limit.
    pub tenant_requests_per_second: u32,
    /// Requests per second of one user or operator. Burst, tenant settings and 0 as for
    /// `KNOWHOW_TENANT_REQUESTS_PER_SECOND`.
    pub user_requests_per_second: u32,
    /// Requests per second of one API key. Burst, tenant settings and 0 as for `KNOWHOW_TENANT_REQUESTS_PER_SECOND`.
    pub key_requests_per_second: u32,
    /// Requests per second of one address without a credential: for the API's document, its page and unknown paths.
    /// Burst and 0 as for `KNOWHOW_TENANT_REQUESTS_PER_SECOND`.
    pub anonymous_requests_per_second: u32,
    /// Redis that counts requests from users, keys, tenants and operators for all processes together, e.g.
    /// `redis://host:6379`, or `rediss://` for TLS. Without it, or while it does not respond, each process counts its
    /// own requests.
    #[schema(value_type = String)]
    pub redis_url: ConfiguredUrl,
    /// Largest body of a skill, in bytes.
    pub skill_body_bytes: usize,
    /// Memory for cached recall data of users, in MiB: 64 hold about 1,200 users with 50 skills of 10 KB, or 700 with
    /// their vectors. Other users are read from the database at each turn, which then takes several times as long.
    pub catalogue_cache_mb: u64,
    /// Maximum number of skills per user with cached vectors. For users with more skills, the database computes the
    /// similarities.
    pub catalogue_vectors: usize,
    /// Reuse time of a snapshot for new sessions, in minutes. The worker renders it again for active users.
    pub snapshot_minutes: u32,
    /// Folder of the embeddings model that runs in the service; `make run` downloads one.
    pub model_dir: String,
    /// Networks of the model folder that compute vectors: `default` (all-MiniLM and mUSE, 16 languages), `minilm`
    /// (all-MiniLM alone, English) or `every-language` (multilingual-e5-small and mUSE, 100 languages;
    /// docs/operators/model.md). After a change, all skills are embedded again in the background.
    pub model: String,
    /// Number of threads that run the model; 0 means one per two cores.
    pub embed_threads: usize,
    /// Base URL of an OpenAI-compatible API for embeddings, e.g. `https://api.example.com/v1`. Takes precedence over
    /// `KNOWHOW_MODEL_DIR`.
    #[schema(value_type = String)]
    pub embeddings_url: ConfiguredUrl,
    /// API key of the embeddings API.
    #[schema(value_type = String)]
    pub embeddings_key: Secret,
    /// Name of the embeddings model in the embeddings API.
    pub embeddings_model: String,
    /// Vector dimensions. Changing this or the model embeds all skills again.
    pub embeddings_dimensions: usize,
    /// Longest wait for a response from the embeddings API, in milliseconds; it is retried twice.
    pub embeddings_timeout_ms: u64,
    /// Base URL of an OpenAI-compatible API for chat, which writes summaries.
    #[schema(value_type = String)]
    pub chat_url: ConfiguredUrl,
    /// API key of the chat API.
    #[schema(value_type = String)]
    pub chat_key: Secret,
    /// Name of the chat model in the chat API.
    pub chat_model: String,
    /// Longest wait for a response from the chat API, in milliseconds; it is retried twice.
    pub chat_timeout_ms: u64,
    /// Address and port, e.g. `0.0.0.0:9464`, at which `serve` and `worker` serve `/metrics`, `/healthz` and `/readyz`.
    /// They require no credential, so keep the port internal. Empty: not served, and no metrics are recorded.
    pub metrics_bind: String,
    /// Log filter, e.g. `info,knowhow_store=debug`.
    pub log: String,
    /// `json` or `pretty`.
    pub log_format: String,
    /// Variables with this prefix that Kubernetes created for Services and that were ignored.
    #[serde(skip)]
    #[schema(ignore)]
    pub ignored_variables: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            database_url: ConfiguredUrl::default(),
            places: Secret::default(),
            replica_url: ConfiguredUrl::default(),
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
            body_memory_mb: 128,
            keep_alive_s: 75,
            drain_s: 5,
            shutdown_timeout_s: 8,
            public_url: String::new(),
            docs: true,
            console: true,
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
            redis_url: ConfiguredUrl::default(),
            skill_body_bytes: 256 * 1024,
            catalogue_cache_mb: 64,
            catalogue_vectors: 5_000,
            snapshot_minutes: 30,
            model_dir: String::new(),
            model: "default".into(),
            embed_threads: 0,
            embeddings_url: ConfiguredUrl::default(),
            embeddings_key: Secret::default(),
            embeddings_model: String::new(),
            embeddings_dimensions: 0,
            embeddings_timeout_ms: 5000,
            chat_url: ConfiguredUrl::default(),
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
    /// Reads the settings from the environment and an optional file. The environment takes precedence.
    ///
    /// # Errors
    /// Fails for an unreadable file, an unknown key or a value of the wrong type. The error names it.
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

    /// Returns the settings as TOML. All secrets are masked.
    pub fn masked(&self) -> Result<String> {
        Ok(toml::to_string(self)?)
    }
}

#[cfg(test)]
mod tests;
