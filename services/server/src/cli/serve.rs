//! The command `knowhow serve`.

use std::io;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::FutureExt;
use futures_util::future::{Either, join, select};
use knowhow_domain::review::scanner;
use knowhow_ops::App;
use knowhow_store::Database;
use knowhow_store::deployment::replica::ReplicaWatch;
use tokio::sync::oneshot;

use super::heartbeat::Heartbeat;
use super::signals::{Signals, StopSignal};
use super::startup::{open_models, require_isolation};
use super::{process, shell, worker};
use crate::config::Config;
use crate::listen::{Listening, listen};
use crate::telemetry::{self, Telemetry};

/// Serves until SIGTERM or SIGINT, then finishes the requests in progress. Requests have their own threads. With a
/// worker, the current thread also runs jobs.
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
    let (models, replica) = (open_models(config)?, config.replica(db.user_concurrency())?);
    let app = App { models, replica, ..shell::app_over(config, db)? };
    require_isolation(config, &app.db).await?;
    let worker = config.with_worker.then(|| config.worker()).transpose()?;
    // The scanner's rules are compiled in advance, because that takes about 50 ms.
    std::thread::spawn(scanner::version);
    let listening = listen(config, &app)?;
    for address in &listening.addresses {
        tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "serving");
    }
    let telling = telemetry.open(config, &app, listening.drain.clone())?;
    let watch = app.replica.as_ref().map(|replica| tokio::spawn(ReplicaWatch::over(replica, &app.db).run()));
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

/// A running server.
struct Serving {
    listening: Listening,
    signals: Signals,
    /// Time to keep serving after SIGTERM.
    drain: Duration,
}

impl Serving {
    /// Serves until a signal arrives, then finishes the requests in progress. Drops `working` at the signal or if the
    /// server fails, which stops the worker.
    async fn run(mut self, working: oneshot::Sender<()>) -> io::Result<()> {
        let Listening { server, drain, .. } = self.listening;
        let (handle, mut server) = (server.handle(), pin!(server));
        let signal = match select(server.as_mut(), pin!(self.signals.next())).await {
            Either::Left((failed, _)) => return failed,
            Either::Right((signal, _)) => signal,
        };
        drop(working);
        drain.begin();
        if signal == StopSignal::Terminate {
            tracing::info!(seconds = self.drain.as_secs(), "draining: still serving requests");
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
                tracing::warn!("second signal: aborting requests in progress");
                Ok(())
            }
        }
    }
}
