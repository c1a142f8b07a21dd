//! A connection for a transaction of several round trips. When the transaction is over and all answers have arrived,
//! it returns to its pool. Otherwise it is closed.

mod round_trip;

use futures_util::future::try_join;
use knowhow_domain::{Error, Result};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use uuid::Uuid;

use self::round_trip::{RoundTripAnswers, send, within};
use super::pipeline::Lease;
use crate::vault::batch::QueuedStatement;
use crate::vault::connection_queue::Place;
use crate::vault::error::refuse_read;
use crate::vault::rollback_guard::Patience;
use crate::vault::warm_up::WarmPool;

/// Reason for a failed round trip.
pub(crate) enum Failed {
    Postgres(tokio_postgres::Error),
    /// The server sent no answer in time.
    Silent,
}

impl Failed {
    pub(crate) fn refuse(self, transaction: &str) -> Error {
        match self {
            Self::Postgres(error) => refuse_read(error),
            Self::Silent => {
                tracing::warn!(transaction, "the database did not answer in time");
                Error::Unavailable("the database is unreachable; try again in a moment".into())
            }
        }
    }

    /// Returns whether `app.require_written` rejected the write.
    pub(crate) fn is_refused_write(&self) -> bool {
        matches!(self, Self::Postgres(error) if error.code().is_some_and(|code| code.code() == "KH001"))
    }

    /// Returns whether the connection was lost. A server that shuts down reports it on each connection (PostgreSQL,
    /// appendix A: 57P01 to 57P05). After a crash the connection is just closed.
    fn is_loss(&self) -> bool {
        match self {
            Self::Postgres(error) => {
                error.is_closed() || error.code().is_some_and(|code| code.code().starts_with("57P"))
            }
            Self::Silent => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    Fresh,
    Waiting,
    /// All answers have arrived and the transaction is open.
    Open,
    /// All answers have arrived and the transaction is over.
    Over,
    /// The transaction must be rolled back before the next one begins.
    GivenUp,
    /// The connection was closed before the transaction began.
    Lost,
}

/// Tenant and user of the rows that a transaction works on: `$1` and `$2` of its statements.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowOwner {
    pub(crate) tenant: Uuid,
    pub(crate) user: Uuid,
}

pub(crate) struct Connection {
    lease: Option<Lease>,
    state: ConnectionState,
    patience: Patience,
    begin: String,
    owner: RowOwner,
    permits: Option<TransactionPermits>,
}

/// Permits that a transaction releases at its end: the user's concurrency permit and the admission permit.
pub(crate) struct TransactionPermits {
    pub(crate) _line: Option<OwnedSemaphorePermit>,
    pub(crate) _room: Place,
}

impl Connection {
    pub(crate) async fn take(pool: &WarmPool, patience: Patience) -> Result<Self> {
        let lease = Some(Lease::take(pool).await?);
        let (begin, owner) = (String::new(), RowOwner::default());
        Ok(Self { lease, state: ConnectionState::Fresh, patience, begin, owner, permits: None })
    }

    /// Sets the message sent before the first statement and the tenant and user bound to each statement. `permits` are
    /// released when the transaction is over.
    pub(crate) fn begin_with(mut self, begin: String, owner: RowOwner, permits: TransactionPermits) -> Self {
        (self.begin, self.owner, self.permits) = (begin, owner, Some(permits));
        self
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.state != ConnectionState::Fresh
    }

    pub(crate) fn was_closed_before_it_began(&self) -> bool {
        self.state == ConnectionState::Lost
    }

    /// Rolls back the work so far and starts a new transaction with the next round trip.
    pub(crate) fn begin_again(&mut self) {
        if self.state == ConnectionState::Open {
            self.state = ConnectionState::GivenUp;
        }
    }

    /// Takes another connection from the pool, on which no transaction has begun.
    pub(crate) async fn replace(&mut self, pool: &WarmPool) -> Result<()> {
        // Returned before waiting for another connection. If all connections were lost, transactions would otherwise
        // wait for each other.
        drop(self.lease.take());
        self.lease = Some(Lease::take(pool).await?);
        self.state = ConnectionState::Fresh;
        Ok(())
    }

    /// Sends one round trip. If a statement fails, later statements return no rows.
    pub(crate) async fn send(&mut self, flight: &[Box<dyn QueuedStatement>], commits: bool) -> RoundTripAnswers {
        let begin = match self.state {
            ConnectionState::Fresh => Some(self.begin.clone()),
            ConnectionState::GivenUp => Some(format!("ROLLBACK; {}", self.begin)),
            _ => None,
        };
        let is_first = begin.is_some();
        self.state = ConnectionState::Waiting;
        let Some(lease) = &self.lease else { return RoundTripAnswers::nothing(Failed::Silent) };
        let client = lease.client();
        // BEGIN never waits for a lock, so only its timeout detects a network that drops answers.
        let began = async {
            match &begin {
                Some(begin) => within(self.patience.acquire, client.batch_execute(begin)).await,
                None => Ok(()),
            }
        };
        let sent = timeout(self.patience.answer(), send(client, self.owner, flight, commits));
        let sent = async { sent.await.map_err(|_| Failed::Silent) };
        let answered = match try_join(began, sent).await {
            Ok(((), (answered, is_over))) => {
                self.state = if is_over { ConnectionState::Over } else { ConnectionState::Open };
                answered
            }
            Err(failed) => RoundTripAnswers::nothing(failed),
        };
        // After a failed COMMIT it is unknown whether the transaction was committed, so it must not be repeated.
        if is_first && !commits && answered.failed.as_ref().is_some_and(Failed::is_loss) {
            self.state = ConnectionState::Lost;
        }
        answered
    }
}

impl Drop for Connection {
    /// Rolls back an unfinished transaction. The rollback waits for the statement that still runs on the connection,
    /// and only then are the connection and the user's permit released. Closing the connection at once would not stop
    /// a statement that waits for a lock, so the user's next request would run concurrently with it.
    fn drop(&mut self) {
        let Some(lease) = self.lease.take() else { return };
        match (self.state, Handle::try_current()) {
            (ConnectionState::Fresh | ConnectionState::Over, _) => lease.give_back(),
            (ConnectionState::Open | ConnectionState::Waiting | ConnectionState::GivenUp, Ok(runtime)) => {
                let (answer, permits) = (self.patience.answer(), self.permits.take());
                runtime.spawn(async move {
                    if matches!(timeout(answer, lease.client().batch_execute("ROLLBACK")).await, Ok(Ok(()))) {
                        lease.give_back();
                    }
                    drop(permits);
                });
            }
            _ => {}
        }
    }
}
