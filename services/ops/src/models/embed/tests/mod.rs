//! Tests of both embedders: the model of `KNOWHOW_TEST_MODEL_DIR`, and a faulty server.

mod cache;
mod http;
mod local;
mod overload;
mod queue;

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use tokio::time::Instant;

use crate::{Asker, Asking, Priority};

fn asking(asker: Asker, priority: Priority, deadline: Option<Instant>) -> Asking {
    Asking { asker, priority, deadline }
}

/// Polls a future once, so that its work begins.
async fn begin<F: Future + Unpin>(future: &mut F) {
    std::future::poll_fn(|context| {
        assert!(Pin::new(&mut *future).poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}
