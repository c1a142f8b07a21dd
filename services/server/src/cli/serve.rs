//! `knowhow serve`.

use std::io;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::FutureExt;
use futures_util::future::{Either, join, select};
use knowhow_domain::scanner;
use knowhow_ops::{App, Models};
use knowhow_store::replica::Watch;
use knowhow_store::{Database, HOME, boot};
use tokio::sync::oneshot;

use super::database::explained;
use super::heartbeat::Heartbeat;
use super::signals::{Signals, Told};
use super::{process, shell, worker};
use crate::config::Config;
use crate::listen::{Listening, listen};
use crate::telemetry::{self, Telemetry};

/// Serves until SIGTERM or SIGINT, then finishes what is in flight. With a worker, this thread works on jobs too: requests
/// have threads of their own.
pub(super) fn run(config: &Config) -> Result<ExitCode> {
    let telemetry = telemetry::init(config)?;
    let served = actix_web::rt::System::new().block_on(serve(config, &telemetry));
    telemetry.end();
    served?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(config: &Config, telemetry: &Telemetry) -> Result<()> {
    let signals = Signals::listen()?;
    let db = Database::open(&process::of_main_thread(config)?)?;
    let app = App { models: open_models(config)?, replica: config.replica()?, ..shell::app_over(config, db)? };
    require_walls(config, &app.db).await?;
    let worker = config.with_worker.then(|| config.worker()).transpose()?;
    // Reads the scanner's rules, which takes some 50 ms, so that no request does.
    std::thread::spawn(scanner::version);
    let listening = listen(config, &app)?;
    for address in &listening.addresses {
        tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "serving");
    }
    let telling = telemetry.open(config, &app, listening.drain.clone())?;
    let watch = app.replica.as_ref().map(|replica| tokio::spawn(Watch::over(replica, &app.db).run()));
    let heartbeat = Heartbeat::start(&app.db, process::serving(config)?);
    let (until, stop) = oneshot::channel::<()>();
    let served = Serving { listening, signals, drain: Duration::from_secs(config.drain_s) }.run(until);
    let working = async {
        match worker {
            Some(worker) => worker::work(&worker, &app, stop.map(drop)).await,
            None => Ok(()),
        }
    };
    let (served, worked) = join(served, working).await;
    heartbeat.stop().await;
    if let (Some(watch), Some(replica)) = (watch, &app.replica) {
        watch.abort();
        replica.close().await;
    }
    app.db.close().await;
    telling.stop().await;
    tracing::info!("stopped");
    served.context("the server failed")?;
    worked
}

/// A server that runs until it is told to stop.
struct Serving {
    listening: Listening,
    signals: Signals,
    /// How long it goes on after SIGTERM.
    drain: Duration,
}

impl Serving {
    /// Serves until a signal, and ends what is in flight. `working` is dropped with the signal, or with a server that fails: a
    /// worker beside it then ends too.
    async fn run(mut self, working: oneshot::Sender<()>) -> io::Result<()> {
        let Listening { server, drain, .. } = self.listening;
        let (handle, mut server) = (server.handle(), pin!(server));
        let told = match select(server.as_mut(), pin!(self.signals.next())).await {
            Either::Left((failed, _)) => return failed,
            Either::Right((told, _)) => told,
        };
        drop(working);
        drain.begin();
        if told == Told::Terminate {
            tracing::info!(seconds = self.drain.as_secs(), "draining: requests are still answered");
            if let Either::Left((failed, _)) =
                select(server.as_mut(), pin!(self.signals.comes_within(self.drain))).await
            {
                return failed;
            }
        }
        actix_web::rt::spawn(handle.stop(true));
        match select(server, pin!(self.signals.next())).await {
            Either::Left((ended, _)) => ended,
            Either::Right(_) => {
                tracing::warn!("told to stop again: what is in flight is cut off");
                Ok(())
            }
        }
    }
}

/// The models that are configured; the service works without them, and says so.
pub(super) fn open_models(config: &Config) -> Result<Arc<Models>> {
    let models = Models::open(config.models()?)?;
    match (models.problem(), &models.embedder) {
        (Some(problem), _) => {
            tracing::warn!(problem, "the embeddings model cannot be used: skills are found by words only")
        }
        (None, None) => tracing::warn!("no embeddings model is configured: skills are found by words only"),
        (None, Some(embedder)) => tracing::info!(model = embedder.model(), "embeddings"),
    }
    Ok(Arc::new(models))
}

/// Behind a wall with a hole it is better not to serve at all. A place besides `home` that is out of reach is no reason: it may come
/// back, and the tenants of the others are there.
pub(super) async fn require_walls(config: &Config, db: &Database) -> Result<()> {
    for at in db.each() {
        let findings = match boot::inspect(&at).await {
            Ok(findings) => findings,
            Err(error) if at.here() == HOME => return Err(explained(config, error.into()).await),
            Err(error) => {
                tracing::warn!(place = at.place_name(), %error, "a place is out of reach: its tenants are not served");
                continue;
            }
        };
        if !findings.is_empty() {
            let place = if at.here() == HOME { String::new() } else { format!(" at place '{}'", at.place_name()) };
            bail!("refusing to serve{place}: {}", findings.join("; "))
        }
    }
    Ok(())
}
