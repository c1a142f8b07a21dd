//! A connection on which a transaction is sent in several round trips. It goes back to its pool once the transaction is
//! over and every answer has come; else it is closed.

mod round_trip;

use futures_util::future::try_join;
use knowhow_domain::{Error, Result};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use uuid::Uuid;

use self::round_trip::{Answered, send, within};
use super::ahead::Connections;
use super::held::Patience;
use super::pipeline::Lease;
use super::queued::Queued;
use super::room::Place;
use crate::error::refuse_read;

/// Why a round trip failed.
pub(crate) enum Failed {
    Postgres(tokio_postgres::Error),
    /// No answer came in time.
    Silent,
}

impl Failed {
    pub(crate) fn refuse(self, transaction: &str) -> Error {
        match self {
            Self::Postgres(error) => refuse_read(error),
            Self::Silent => {
                tracing::warn!(transaction, "the database has not answered in time");
                Error::Unavailable("the database is out of reach; try again in a moment".into())
            }
        }
    }

    /// Whether `app.require_written` has refused what was sent.
    pub(crate) fn is_refused_write(&self) -> bool {
        matches!(self, Self::Postgres(error) if error.code().is_some_and(|code| code.code() == "KH001"))
    }

    /// A server that goes down says so on the connections it closes (PostgreSQL, appendix A: 57P01 to 57P05); after a
    /// crash there is nothing to read.
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
enum State {
    Fresh,
    Waiting,
    /// Every answer has come, the transaction is open.
    Open,
    /// Every answer has come, the transaction is over.
    Over,
    /// It is to be rolled back before another begins.
    GivenUp,
    /// It was closed before it began anything.
    Lost,
}

/// Whose rows a transaction works on: `$1` and `$2` of its statements.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowOwner {
    pub(crate) tenant: Uuid,
    pub(crate) user: Uuid,
}

pub(crate) struct Connection {
    lease: Option<Lease>,
    state: State,
    patience: Patience,
    begin: String,
    owner: RowOwner,
    places: Option<Places>,
}

/// What a transaction gives back when it is over: its place in the user's line, and the one before the connections.
pub(crate) struct Places {
    pub(crate) _line: Option<OwnedSemaphorePermit>,
    pub(crate) _room: Place,
}

impl Connection {
    pub(crate) async fn take(pool: &Connections, patience: Patience) -> Result<Self> {
        let lease = Some(Lease::take(pool).await?);
        let (begin, owner) = (String::new(), RowOwner::default());
        Ok(Self { lease, state: State::Fresh, patience, begin, owner, places: None })
    }

    /// The message that is sent before the first statement, whose tenant and user each statement is given, and their
    /// places, which are given back when the transaction is over.
    pub(crate) fn begin_with(mut self, begin: String, owner: RowOwner, places: Places) -> Self {
        (self.begin, self.owner, self.places) = (begin, owner, Some(places));
        self
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.state != State::Fresh
    }

    pub(crate) fn was_closed_before_it_began(&self) -> bool {
        self.state == State::Lost
    }

    /// Begins anew with what is sent next, which rolls back what was done before.
    pub(crate) fn begin_again(&mut self) {
        if self.state == State::Open {
            self.state = State::GivenUp;
        }
    }

    /// Takes another one, on which nothing has begun.
    pub(crate) async fn replace(&mut self, pool: &Connections) -> Result<()> {
        // Given up before it is waited for another: where all connections were lost, each would wait for the others.
        drop(self.lease.take());
        self.lease = Some(Lease::take(pool).await?);
        self.state = State::Fresh;
        Ok(())
    }

    /// One round trip. Of statements behind one that fails, nothing comes.
    pub(crate) async fn send(&mut self, flight: &[Box<dyn Queued>], commits: bool) -> Answered {
        let begin = match self.state {
            State::Fresh => Some(self.begin.clone()),
            State::GivenUp => Some(format!("ROLLBACK; {}", self.begin)),
            _ => None,
        };
        let is_first = begin.is_some();
        self.state = State::Waiting;
        let Some(lease) = &self.lease else { return Answered::nothing(Failed::Silent) };
        let client = lease.client();
        // BEGIN waits for nothing, so it alone finds out a network that swallows answers.
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
                self.state = if is_over { State::Over } else { State::Open };
                answered
            }
            Err(failed) => Answered::nothing(failed),
        };
        // Behind a COMMIT nobody knows whether it was heard.
        if is_first && !commits && answered.failed.as_ref().is_some_and(Failed::is_loss) {
            self.state = State::Lost;
        }
        answered
    }
}

impl Drop for Connection {
    /// A transaction that is left is rolled back behind whatever is still at work on the connection. The connection and
    /// the user's place in line are given back after that: closed at once, Postgres would go on with a statement that
    /// waits for a lock, and the user's next request begin another beside it.
    fn drop(&mut self) {
        let Some(lease) = self.lease.take() else { return };
        match (self.state, Handle::try_current()) {
            (State::Fresh | State::Over, _) => lease.give_back(),
            (State::Open | State::Waiting | State::GivenUp, Ok(runtime)) => {
                let (answer, places) = (self.patience.answer(), self.places.take());
                runtime.spawn(async move {
                    if matches!(timeout(answer, lease.client().batch_execute("ROLLBACK")).await, Ok(Ok(()))) {
                        lease.give_back();
                    }
                    drop(places);
                });
            }
            _ => {}
        }
    }
}
