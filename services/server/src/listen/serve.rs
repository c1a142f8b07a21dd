//! The server: one pool of connections for each worker thread, opened by the thread that uses it.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::dev::Server;
use actix_web::middleware::{DefaultHeaders, from_fn};
use actix_web::rt::net::TcpStream;
use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse, HttpServer, ResponseError};
use anyhow::{Context, Result, bail};
use chrono::TimeDelta;
use knowhow_domain::{Error, Limits};
use knowhow_ops::follow_up::AtOnce;
use knowhow_ops::sessions::FullUsers;
use knowhow_ops::snapshots::KnownSnapshots;
use knowhow_ops::{App, Library, Readiness, Webhooks};
use knowhow_store::{Database, DatabaseConfig, Gate, OFTEN_RUN};

use super::certificate::Files;
use super::front::Front;
use super::{router, served_document};
use crate::config::Config;
use crate::entry::{
    AtWork, Bodies, Drain, Proxies, Rates, Redis, Refusals, Shared, SharedRates, Strangers, identify, pace_strangers,
};
use crate::http::ApiError;
use crate::http::authorize::authorize;
use crate::http::operations::Operations;
use crate::mcp::{self, Site};

/// Least memory for bodies, MiB.
const LEAST_BODY_MEMORY_MB: usize = 72;

/// A server that listens, and where.
pub struct Listening {
    /// Runs until it is stopped.
    pub server: Server,
    /// The addresses it is bound to.
    pub addresses: Vec<SocketAddr>,
    /// What its threads are told when the process is going.
    pub drain: Data<Drain>,
}

/// Threads of each worker for what takes longer than a request's thread may be held. Each keeps memory of its own that it has
/// freed, and there are processors for few.
const BLOCKING_THREADS: usize = 2;

/// Binds and starts serving, with what the main thread has for all threads.
///
/// # Errors
/// Where the address cannot be bound.
pub fn listen(config: &Config, main: &App) -> Result<Listening> {
    let (gate, models, clock) = (main.gate.state().clone(), main.models.clone(), main.clock.clone());
    let replica = main.replica.clone();
    let database = DatabaseConfig { prepares_ahead: OFTEN_RUN, ..config.database()? };
    let limits = Arc::new(Limits { body_bytes: config.skill_body_bytes, ..Limits::default() });
    let drain = Data::<Drain>::default();
    let draining = drain.clone();
    let shared = Data::new(shared(config)?);
    let catalogues = Arc::new(config.catalogues());
    let library = Arc::<Library>::default();
    let at_once = Arc::<AtOnce>::default();
    let snapshots = Arc::<KnownSnapshots>::default();
    let full_users = Arc::<FullUsers>::default();
    let readiness = Arc::<Readiness>::default();
    let webhooks = Arc::new(Webhooks::new(config.private_webhooks)?);
    let snapshot_lifetime = TimeDelta::minutes(config.snapshot_minutes.into());
    let site = Data::new(Site::of(config)?);
    let redis = (!config.redis_url.is_empty()).then(|| Redis::at(&config.redis_url)).transpose()?;
    let described = served_document(&config.public_url);
    let operations = Data::new(Operations::of(&described)?);
    let tls = Files::of(&config.tls_certificate_path, &config.tls_key_path)?.map(Files::serve).transpose()?;
    let front = Front::new(&described, &config.public_url, config.docs)?;
    let server = HttpServer::new(move || {
        #[expect(clippy::expect_used, reason = "the same configuration was opened once before the workers started")]
        let db = Database::open(&database).expect("the database configuration was checked");
        #[expect(clippy::expect_used, reason = "the same")]
        let replica = replica.as_ref().map(|replica| replica.for_this_thread().expect("its configuration was checked"));
        let gate = Gate::new(db.clone(), gate.clone());
        let app = App {
            db,
            replica,
            gate,
            clock: clock.clone(),
            limits: limits.clone(),
            models: models.clone(),
            catalogues: catalogues.clone(),
            library: library.clone(),
            at_once: at_once.clone(),
            snapshots: snapshots.clone(),
            full_users: full_users.clone(),
            readiness: readiness.clone(),
            webhooks: webhooks.clone(),
            snapshot_lifetime,
        };
        let endpoint = Data::new(mcp::Endpoint::new(site.clone()));
        // Routes are tried in order, and MCP is one path for all of an agent's calls.
        router(actix_web::App::new().route(mcp::PATH, web::to(mcp::answer)))
            .into_app()
            .app_data(Data::new(app))
            .app_data(shared.clone())
            .app_data(draining.clone())
            .app_data(operations.clone())
            .app_data(site.clone())
            .app_data(endpoint)
            .app_data(web::PathConfig::default().error_handler(|error, _| {
                ApiError::from(Error::Malformed(format!("the path cannot be read: {error}"))).into()
            }))
            .configure(|routes| front.open(routes))
            .configure(|routes| share_rates(routes, redis.as_ref()))
            .default_service(web::to(unmatched))
            .wrap(from_fn(authorize))
            .wrap(DefaultHeaders::new().add(("X-Content-Type-Options", "nosniff")).add(("X-Frame-Options", "DENY")))
            .wrap(from_fn(pace_strangers))
            .wrap(from_fn(identify))
    })
    .disable_signals()
    .keep_alive(Duration::from_secs(config.keep_alive_s))
    .workers(config.threads()?)
    .worker_max_blocking_threads(BLOCKING_THREADS)
    .shutdown_timeout(config.shutdown_timeout_s)
    .client_request_timeout(Duration::from_secs(5))
    .on_connect(|connection, _| leave_stalled(connection));
    let address = (config.bind.as_str(), config.port);
    let server = match tls {
        Some(tls) => server.bind_rustls_0_23(address, tls),
        None => server.bind(address),
    };
    let server = server.with_context(|| format!("cannot listen on {}:{}", config.bind, config.port))?;
    let addresses = server.addrs();
    Ok(Listening { server: server.run(), addresses, drain })
}

/// Has all processes count requests together, where there is a Redis.
fn share_rates(routes: &mut web::ServiceConfig, redis: Option<&Redis>) {
    if let Some(redis) = redis {
        routes.app_data(Data::new(SharedRates::new(redis.clone())));
    }
}

/// What all threads know of the requests and callers of the moment.
fn shared(config: &Config) -> Result<Shared> {
    if config.body_memory_mb < LEAST_BODY_MEMORY_MB {
        bail!(
            "KNOWHOW_BODY_MEMORY_MB must be at least {LEAST_BODY_MEMORY_MB}: a caller has a third, and an import 24 MiB"
        );
    }
    Ok(Shared {
        body_timeout: Duration::from_millis(config.body_timeout_ms),
        proxies: Proxies::parse(&config.trusted_proxies)?,
        refusals: Refusals::new(config.wrong_credentials_per_minute),
        bodies: Bodies::new(config.body_memory_mb * 1024 * 1024),
        rates: Rates::new(config.rates()?),
        strangers: Strangers::default(),
        at_work: AtWork::default(),
    })
}

/// A client that takes nothing of its answer for so long is cut off.
const LONGEST_STALL: Duration = Duration::from_secs(30);

/// Lets the kernel close the connection of a client that does not read (RFC 5482): its answer is held for it no longer.
fn leave_stalled(connection: &dyn Any) {
    #[cfg(target_os = "linux")]
    if let Some(stream) = stream_of(connection)
        && let Err(error) = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(LONGEST_STALL))
    {
        tracing::debug!(%error, "a connection has no bound for clients that do not read");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (connection, LONGEST_STALL);
}

/// The stream below a connection, with TLS or without.
#[cfg(target_os = "linux")]
fn stream_of(connection: &dyn Any) -> Option<&TcpStream> {
    let encrypted = || Some(connection.downcast_ref::<TlsStream<TcpStream>>()?.get_ref().0);
    connection.downcast_ref().or_else(encrypted)
}

async fn unmatched(request: HttpRequest, operations: Data<Operations>, shared: Data<Shared>) -> HttpResponse {
    if let Err(refusal) = shared.rates.count_stranger(&request) {
        return ApiError::from(refusal).error_response();
    }
    operations.answer_unmatched(&request)
}
