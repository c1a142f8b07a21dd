//! Sends all statements of a round trip before awaiting the first answer.

use std::time::Duration;

use deadpool::managed::Object;
use futures_util::future::{join, join_all};
use knowhow_domain::Result;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{Failed, RowOwner};
use crate::vault::batch::QueuedStatement;
use crate::vault::connect::Pipelined;

/// Answers to a round trip, up to the first failed statement.
pub(crate) struct RoundTripAnswers {
    pub(crate) rows: Vec<Vec<Row>>,
    pub(crate) failed: Option<Failed>,
}

impl RoundTripAnswers {
    pub(super) fn nothing(failed: Failed) -> Self {
        Self { rows: Vec::new(), failed: Some(failed) }
    }

    fn of(all: Vec<Result<Vec<Row>, tokio_postgres::Error>>) -> Self {
        let mut rows = Vec::with_capacity(all.len());
        for one in all {
            match one {
                Ok(one) => rows.push(one),
                Err(error) => return Self { rows, failed: Some(Failed::Postgres(error)) },
            }
        }
        Self { rows, failed: None }
    }
}

pub(super) async fn within(
    longest: Duration,
    work: impl Future<Output = Result<(), tokio_postgres::Error>>,
) -> Result<(), Failed> {
    match timeout(longest, work).await {
        Ok(done) => done.map_err(Failed::Postgres),
        Err(_) => Err(Failed::Silent),
    }
}

/// Sends all statements, and COMMIT if `commits`, before awaiting answers. Returns the answers and whether the
/// transaction is over.
///
/// Statements new to this connection are prepared before any is sent, so that the order of execution is preserved.
/// After a failed statement Postgres rejects all later ones, and COMMIT rolls back.
pub(super) async fn send(
    client: &Object<Pipelined>,
    owner: RowOwner,
    flight: &[Box<dyn QueuedStatement>],
    commits: bool,
) -> (RoundTripAnswers, bool) {
    let mut prepared = Vec::with_capacity(flight.len());
    for queued in flight {
        match client.prepare_cached(queued.sql()).await {
            Ok(statement) => prepared.push(statement),
            Err(error) => return (RoundTripAnswers::nothing(Failed::Postgres(error)), false),
        }
    }
    // The first poll of a query sends it, and the queries are polled in this order.
    let queries = join_all(flight.iter().zip(&prepared).map(|(queued, statement)| async move {
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&owner.tenant, &owner.user];
        params.extend(queued.values());
        client.query(statement, &params).await
    }));
    let commit = async {
        match commits {
            true => client.batch_execute("COMMIT").await.map(|()| true),
            false => Ok(false),
        }
    };
    let (rows, committed) = join(queries, commit).await;
    let is_over = matches!(committed, Ok(true));
    let mut answered = RoundTripAnswers::of(rows);
    answered.failed = answered.failed.or(committed.err().map(Failed::Postgres));
    (answered, is_over)
}
