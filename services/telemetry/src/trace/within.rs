//! A future that carries its span across threads.

use std::pin::Pin;
use std::task::{Context as Waker, Poll};

use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt;
use pin_project_lite::pin_project;

pin_project! {
    /// A future with an optional span, which is active while the future is polled.
    pub struct Within<F> {
        #[pin]
        work: F,
        context: Option<Context>,
    }
}

pub(super) fn within<F: Future>(context: Option<Context>, work: F) -> Within<F> {
    Within { work, context }
}

/// Attaches the current span to a future that becomes a separate task.
pub fn carried<F: Future>(work: F) -> Within<F> {
    let context = Context::map_current(|current| current.has_active_span().then(|| current.clone()));
    within(context, work)
}

impl<F: Future> Future for Within<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, waker: &mut Waker<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.context.as_ref().map(|context| context.clone().attach());
        this.work.poll(waker)
    }
}
