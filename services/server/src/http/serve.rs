//! The server: one pool of connections for each worker thread, opened by the thread that uses it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::{DefaultHeaders, from_fn};
use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse, HttpServer};
use anyhow::{Context, Result};
use chrono::TimeDelta;
use knowhow_domain::{Clock, Error, Limits};
use knowhow_ops::jobs::AtOnce;
use knowhow_ops::snapshots::KnownSnapshots;
use knowhow_ops::{App, Library, Models};
use knowhow_store::{Database, DatabaseConfig, Gate, GateState};

use super::caller::Refusals;
use super::operations::{Operations, refuse_unknown_parameters};
use super::{ApiError, front, request_id, router, served_document};
use crate::config::Config;
use crate::mcp::{self, Site};

/// What all workers share beside the gate.
pub struct Shared {
    pub(super) body_timeout: Duration,
    pub(super) refusals: Refusals,
}

/// A server that listens, and where.
pub struct Listening {
    /// Runs until it is stopped.
    pub server: Server,
    /// The addresses it is bound to.
    pub addresses: Vec<SocketAddr>,
}

/// Binds and starts serving.
///
/// # Errors
/// Where the address cannot be bound.
pub fn listen(config: &Config, gate: Arc<GateState>, models: Arc<Models>, clock: Arc<dyn Clock>) -> Result<Listening> {
    let database: DatabaseConfig = config.database()?;
    let limits = Arc::new(Limits { body_bytes: config.skill_body_bytes, ..Limits::default() });
    let shared = Data::new(Shared {
        body_timeout: Duration::from_millis(config.body_timeout_ms),
        refusals: Refusals::new(config.wrong_credentials_per_minute),
    });
    let catalogues = Arc::new(config.catalogues());
    let library = Arc::<Library>::default();
    let at_once = Arc::<AtOnce>::default();
    let snapshots = Arc::<KnownSnapshots>::default();
    let snapshot_lifetime = TimeDelta::minutes(config.snapshot_minutes.into());
    let site = Data::new(Site::of(config)?);
    let described = served_document(&config.public_url);
    let operations = Data::new(Operations::of(&described));
    let has_page = config.docs;
    let server = HttpServer::new(move || {
        #[expect(clippy::expect_used, reason = "the same configuration was opened once before the workers started")]
        let db = Database::open(&database).expect("the database configuration was checked");
        let gate = Gate::new(db.clone(), gate.clone());
        let app = App {
            db,
            gate,
            clock: clock.clone(),
            limits: limits.clone(),
            models: models.clone(),
            catalogues: catalogues.clone(),
            library: library.clone(),
            at_once: at_once.clone(),
            snapshots: snapshots.clone(),
            snapshot_lifetime,
        };
        let endpoint = Data::new(mcp::Endpoint::new(app.clone(), site.clone()));
        // Routes are tried in order, and MCP is one path for all of an agent's calls.
        router(actix_web::App::new().route(mcp::PATH, web::to(mcp::answer)))
            .into_app()
            .app_data(Data::new(app))
            .app_data(shared.clone())
            .app_data(operations.clone())
            .app_data(site.clone())
            .app_data(endpoint)
            .app_data(web::PathConfig::default().error_handler(|error, _| {
                ApiError::from(Error::Malformed(format!("the path cannot be read: {error}"))).into()
            }))
            .configure(|routes| front::open(routes, &described, has_page))
            .default_service(web::to(unmatched))
            .wrap(from_fn(refuse_unknown_parameters))
            .wrap(DefaultHeaders::new().add(("X-Content-Type-Options", "nosniff")).add(("X-Frame-Options", "DENY")))
            .wrap(from_fn(request_id::identify))
    })
    .workers(if config.workers == 0 { std::thread::available_parallelism()?.get() } else { config.workers })
    .shutdown_timeout(config.shutdown_timeout_s)
    .client_request_timeout(Duration::from_secs(5))
    .bind((config.bind.as_str(), config.port))
    .with_context(|| format!("cannot listen on {}:{}", config.bind, config.port))?;
    let addresses = server.addrs();
    Ok(Listening { server: server.run(), addresses })
}

async fn unmatched(request: HttpRequest, operations: Data<Operations>) -> HttpResponse {
    operations.answer_unmatched(&request)
}
