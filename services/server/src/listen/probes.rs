//! Serves metrics and health checks on a separate address, which is not public. A worker has no other server.

use std::net::SocketAddr;

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Data};
use actix_web::{HttpResponse, HttpServer};
use anyhow::{Context, Result};
use knowhow_domain::Error;
use knowhow_ops::App;
use knowhow_store::Database;

use crate::api;
use crate::config::Config;
use crate::entry::Drain;
use crate::http::ApiError;
use crate::telemetry::MetricsPage;

/// A running server for metrics and health checks.
pub struct Probes {
    server: ServerHandle,
    /// The addresses that the server listens on.
    pub addresses: Vec<SocketAddr>,
}

impl Probes {
    /// Starts the server. It has its own thread and its own database connection, so that it responds even if the
    /// process is busy.
    ///
    /// # Errors
    /// Fails if the address cannot be bound.
    pub fn listen(config: &Config, app: &App, page: MetricsPage, drain: Data<Drain>) -> Result<Self> {
        let (database, app, page) = (config.database()?.one_at_a_time(), app.clone(), Data::new(page));
        let server = HttpServer::new(move || {
            #[expect(clippy::expect_used, reason = "the same configuration was opened before")]
            let db = Database::open_sharing(&database, app.db.user_concurrency())
                .expect("the database configuration was checked");
            actix_web::App::new()
                .app_data(Data::new(App { db, ..app.clone() }))
                .app_data(page.clone())
                .app_data(drain.clone())
                .route("/metrics", web::get().to(serve_metrics))
                .configure(api::configure_health)
        })
        .workers(1)
        .worker_max_blocking_threads(1)
        .disable_signals()
        .shutdown_timeout(1)
        .bind(config.metrics_bind.as_str())
        .with_context(|| format!("cannot listen on {}, KNOWHOW_METRICS_BIND", config.metrics_bind))?;
        let addresses = server.addrs();
        let server = server.run();
        let handle = server.handle();
        tokio::spawn(server);
        Ok(Self { server: handle, addresses })
    }

    /// Stops the server.
    pub async fn stop(self) {
        self.server.stop(true).await;
    }
}

async fn serve_metrics(app: Data<App>, page: Data<MetricsPage>) -> Result<HttpResponse, ApiError> {
    let page = page.write(&app.db).await.map_err(Error::internal)?;
    Ok(HttpResponse::Ok().content_type(MetricsPage::CONTENT_TYPE).body(page))
}
