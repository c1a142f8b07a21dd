//! Connections through tokio-postgres for requests, which can send several statements in one round trip.

use std::io;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use tokio::task::JoinHandle;
use tokio_postgres::config::{ChannelBinding, SslMode};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{CheckedConnector, Driver, Encryption, SESSION_STATE, Unreachable, connect, tls};
use crate::vault::database_url::{DatabaseUrl, Host, ServerAddress};

/// Opens connections through tokio-postgres.
pub(crate) struct Pipelined(pub(crate) DatabaseUrl);

pub(crate) type PipelinedPool = managed::Pool<Pipelined>;

impl Pipelined {
    /// Connects without the pool. The spawned task reads the server's answers.
    pub(crate) async fn connect(&self) -> Result<(Client, JoinHandle<()>), Unreachable> {
        connect(self, &self.0).await
    }

    fn config(&self, to: &ServerAddress, encryption: Encryption) -> Config {
        let (of, keepalive, mut config) = (&self.0, &self.0.keepalive, Config::new());
        config.user(&of.user).dbname(&of.database).port(to.port).ssl_mode(match encryption {
            Encryption::Plain => SslMode::Disable,
            Encryption::Offered => SslMode::Prefer,
            Encryption::Required => SslMode::Require,
        });
        match &to.host {
            Host::Name(name) => config.host(name),
            Host::Folder(folder) => config.host_path(folder),
        };
        if let Some(address) = to.address {
            config.hostaddr(address);
        }
        let password = of.password.as_deref().map(str::to_owned);
        if let Some(password) = password.or_else(|| CheckedConnector(of.clone()).password_of_file(to)) {
            config.password(password);
        }
        if let Some(options) = of.all_options() {
            config.options(options);
        }
        if let Some(name) = &of.application_name {
            config.application_name(name);
        }
        if !of.binds_channel {
            config.channel_binding(ChannelBinding::Disable);
        }
        // Detects dead connections while they are idle in the pool.
        config
            .tcp_user_timeout(keepalive.user_timeout)
            .keepalives(keepalive.is_on)
            .keepalives_idle(keepalive.idle)
            .keepalives_interval(keepalive.interval)
            .keepalives_retries(keepalive.count);
        config
    }
}

impl Driver for Pipelined {
    type Connection = (Client, JoinHandle<()>);
    type Error = PipelinedError;

    async fn open(&self, to: &ServerAddress, encryption: Encryption) -> Result<Self::Connection, PipelinedError> {
        let config = self.config(to, encryption);
        if encryption == Encryption::Plain {
            let (client, connection) = config.connect(NoTls).await?;
            return Ok((client, tokio::spawn(async { drop(connection.await) })));
        }
        // The TLS files are read for each connection, as in the other driver, so that renewed certificates are used.
        let client = tls::client_config(&self.0.tls).map_err(io::Error::other)?;
        let (client, connection) = config.connect(MakeRustlsConnect::new(client)).await?;
        Ok((client, tokio::spawn(async { drop(connection.await) })))
    }

    async fn session_state(&self, (client, _): &mut Self::Connection) -> Result<String, PipelinedError> {
        let answer = client.simple_query(SESSION_STATE).await?;
        let state = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        Ok(state.unwrap_or_default())
    }
}

/// An error from the driver, or in the TLS files.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) enum PipelinedError {
    Driver(#[from] tokio_postgres::Error),
    Files(#[from] io::Error),
}

impl managed::Manager for Pipelined {
    type Type = ClientWrapper;
    type Error = Unreachable;

    async fn create(&self) -> Result<ClientWrapper, Unreachable> {
        // The future is boxed to keep the futures of waiting callers small.
        let (client, task) = Box::pin(self.connect()).await?;
        Ok(ClientWrapper::new(client, task))
    }

    async fn recycle(&self, client: &mut ClientWrapper, _: &Metrics) -> RecycleResult<Unreachable> {
        match client.is_closed() {
            true => Err(RecycleError::message("the server has closed the connection")),
            false => Ok(()),
        }
    }
}
