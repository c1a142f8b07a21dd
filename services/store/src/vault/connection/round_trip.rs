//! One round trip: all statements of a flight are sent before the first answer is waited for.

use std::time::Duration;

use deadpool::managed::Object;
use futures_util::future::{join, join_all};
use knowhow_domain::Result;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{Failed, RowOwner};
use crate::connect::Pipelined;
use crate::vault::queued::Queued;

/// The answers to a round trip, up to the first statement that failed.
pub(crate) struct Answered {
    pub(crate) rows: Vec<Vec<Row>>,
    pub(crate) failed: Option<Failed>,
}

impl Answered {
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

/// Sends all statements, and COMMIT behind them, before it waits for an answer; says whether the transaction is over.
/// What this connection has not prepared yet it prepares first: a statement that is prepared must not overtake another
/// that is not. Behind one that fails Postgres refuses all others, and COMMIT rolls back.
pub(super) async fn send(
    client: &Object<Pipelined>,
    owner: RowOwner,
    flight: &[Box<dyn Queued>],
    commits: bool,
) -> (Answered, bool) {
    let mut prepared = Vec::with_capacity(flight.len());
    for queued in flight {
        match client.prepare_cached(queued.sql()).await {
            Ok(statement) => prepared.push(statement),
            Err(error) => return (Answered::nothing(Failed::Postgres(error)), false),
        }
    }
    // The first poll of each sends it, and they are polled in this order.
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
    let mut answered = Answered::of(rows);
    answered.failed = answered.failed.or(committed.err().map(Failed::Postgres));
    (answered, is_over)
}
