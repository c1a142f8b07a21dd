//! The HTTP server. Each worker thread opens its own connection pools.

use std::any::Any;
use std::net::SocketAddr;
use std::time::Duration;

use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::dev::Server;
use actix_web::middleware::{DefaultHeaders, from_fn};
use actix_web::rt::net::TcpStream;
use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse, HttpServer, ResponseError};
use anyhow::{Context, Result, bail};
use knowhow_domain::Error;
use knowhow_ops::App;

use super::certificate::CertificateFiles;
use super::console::console;
use super::front::PreparedRoutes;
use super::thread_apps::ThreadApps;
use super::{router, served_document};
use crate::config::Config;
use crate::entry::{
    Bodies, ConcurrencyLimits, Drain, Proxies, Rates, Redis, Refusals, SharedRates, SharedState, UnauthenticatedLimits,
    identify, limit_unauthenticated,
};
use crate::http::ApiError;
use crate::http::authorize::authorize;
use crate::http::operations::Operations;
use crate::mcp::{self, Site};

/// Minimum memory for request bodies, in MiB.
const LEAST_BODY_MEMORY_MB: usize = 120;

/// A server that is bound to its addresses.
pub struct Listening {
    /// The future that runs until the server stops.
    pub server: Server,
    /// The addresses that the server listens on.
    pub addresses: Vec<SocketAddr>,
    /// Signals to the worker threads that the process is shutting down.
    pub drain: Data<Drain>,
}

/// Number of threads for blocking calls, per worker thread. It is low, because each thread retains the memory that it
/// freed, and cores are limited.
const BLOCKING_THREADS: usize = 2;

/// Binds the address and starts the server. `main` provides the state that all threads share.
///
/// # Errors
/// Fails if the address cannot be bound.
pub fn listen(config: &Config, main: &App) -> Result<Listening> {
    let apps = ThreadApps::of(config, main)?;
    let drain = Data::<Drain>::default();
    let draining = drain.clone();
    let shared = Data::new(shared(config)?);
    let site = Data::new(Site::of(config)?);
    let redis = (!config.redis_url.is_empty()).then(|| Redis::at(&config.redis_url)).transpose()?;
    let described = served_document(&config.public_url);
    let operations = Data::new(Operations::of(&described)?);
    let tls = CertificateFiles::of(&config.tls_certificate_path, &config.tls_key_path)?
        .map(CertificateFiles::serve)
        .transpose()?;
    let console = console(config);
    let front = PreparedRoutes::new(&described, &config.public_url, config.docs)?;
    let server = HttpServer::new(move || {
        let app = apps.open();
        let endpoint = Data::new(mcp::Endpoint::new(site.clone()));
        // MCP comes first: routes are tried in order, and all MCP calls from an agent use this one path.
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
            .configure(|routes| console.iter().for_each(|console| knowhow_console::configure(routes, console)))
            .configure(|routes| share_rates(routes, redis.as_ref()))
            .default_service(web::to(unmatched))
            .wrap(from_fn(authorize))
            .wrap(DefaultHeaders::new().add(("X-Content-Type-Options", "nosniff")).add(("X-Frame-Options", "DENY")))
            .wrap(from_fn(limit_unauthenticated))
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

/// Registers the Redis client for shared rate limits, if Redis is configured.
fn share_rates(routes: &mut web::ServiceConfig, redis: Option<&Redis>) {
    if let Some(redis) = redis {
        routes.app_data(Data::new(SharedRates::new(redis.clone())));
    }
}

/// Creates the state for handling requests that all threads share.
fn shared(config: &Config) -> Result<SharedState> {
    if config.body_memory_mb < LEAST_BODY_MEMORY_MB {
        bail!(
            "KNOWHOW_BODY_MEMORY_MB must be at least {LEAST_BODY_MEMORY_MB}: a caller may use a third, and an import \
             needs 40 MiB"
        );
    }
    Ok(SharedState {
        body_timeout: Duration::from_millis(config.body_timeout_ms),
        proxies: Proxies::parse(&config.trusted_proxies)?,
        refusals: Refusals::new(config.wrong_credentials_per_minute),
        bodies: Bodies::new(config.body_memory_mb * 1024 * 1024),
        rates: Rates::new(config.rates()?),
        unauthenticated_limits: UnauthenticatedLimits::default(),
        concurrency_limits: ConcurrencyLimits::default(),
    })
}

/// Maximum time that a client may take to acknowledge sent data. After that the kernel closes the connection.
const LONGEST_STALL: Duration = Duration::from_secs(30);

/// Makes the kernel close the connection to a client that does not read its response (RFC 5482). This frees the memory
/// of the response.
fn leave_stalled(connection: &dyn Any) {
    #[cfg(target_os = "linux")]
    if let Some(stream) = stream_of(connection)
        && let Err(error) = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(LONGEST_STALL))
    {
        tracing::debug!(%error, "cannot set the timeout for a client that does not read");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (connection, LONGEST_STALL);
}

/// Returns the TCP stream of a connection with or without TLS.
#[cfg(target_os = "linux")]
fn stream_of(connection: &dyn Any) -> Option<&TcpStream> {
    let encrypted = || Some(connection.downcast_ref::<TlsStream<TcpStream>>()?.get_ref().0);
    connection.downcast_ref().or_else(encrypted)
}

async fn unmatched(request: HttpRequest, operations: Data<Operations>, shared: Data<SharedState>) -> HttpResponse {
    if let Err(refusal) = shared.rates.count_stranger(&request) {
        return ApiError::from(refusal).error_response();
    }
    operations.answer_unmatched(&request)
}
