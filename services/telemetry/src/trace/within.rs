//! Work that carries its span along: whichever thread goes on with it, finds the span.

use std::pin::Pin;
use std::task::{Context as Waker, Poll};

use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt;
use pin_project_lite::pin_project;

pin_project! {
    /// Work with the span that it is part of; without one it is the work itself.
    pub struct Within<F> {
        #[pin]
        work: F,
        context: Option<Context>,
    }
}

pub(super) fn within<F: Future>(context: Option<Context>, work: F) -> Within<F> {
    Within { work, context }
}

/// Has work that becomes a task of its own be part of what this task does.
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
