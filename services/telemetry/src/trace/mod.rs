//! Spans. A request or job has a span that follows its work across threads. If the span is sampled, each wait has a
//! child span. Names of spans are constants of the program.

mod parent;
mod within;

use std::sync::OnceLock;

use opentelemetry::global::{BoxedSpan, BoxedTracer};
use opentelemetry::trace::{Link, Span, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};

use crate::metrics::Tried;

pub use parent::Parent;
pub use within::{Within, carried};

static TRACER: OnceLock<BoxedTracer> = OnceLock::new();

/// Starts tracing. Before this call, no spans are created. Later calls have no effect.
pub fn start(tracer: BoxedTracer) {
    TRACER.get_or_init(|| tracer);
}

/// Returns whether tracing is on.
pub fn is_on() -> bool {
    TRACER.get().is_some()
}

/// Returns whether the current task's trace is recorded.
pub fn is_sampled() -> bool {
    is_on() && Context::map_current(|current| current.span().span_context().is_sampled())
}

/// The span of a request or job, attached to its work. If no span is recorded, the sender's trace is attached instead.
#[derive(Clone)]
pub struct Whole(Context);

impl Whole {
    /// Starts the span of a request. If the sender named its own span, the new span is a child of it. Returns `None`
    /// for a request that is neither recorded nor part of a trace, because propagating a span costs time at each
    /// step.
    pub fn request(parent: Option<&Parent>) -> Option<Self> {
        let Some(tracer) = TRACER.get() else { return parent.map(|parent| Self(parent.follow().context())) };
        let above = parent.map(Parent::context).unwrap_or_default();
        let span = tracer.build_with_context(tracer.span_builder("request").with_kind(SpanKind::Server), &above);
        (parent.is_some() || span.span_context().is_sampled()).then(|| Self(above.with_span(span)))
    }

    /// Starts the span of a job, with a link to the request that enqueued it. Returns `None` if the span is not
    /// recorded.
    pub fn job(task: &'static str, cause: Option<&Parent>) -> Option<Self> {
        let tracer = TRACER.get()?;
        let mut span = tracer.span_builder(task).with_kind(SpanKind::Consumer);
        if let Some(cause) = cause {
            span = span.with_links(vec![Link::with_context(cause.span_context().clone())]);
        }
        let above = Context::new();
        let span = tracer.build_with_context(span, &above);
        span.span_context().is_sampled().then(|| Self(above.with_span(span)))
    }

    /// Runs the future within the span.
    pub fn within<F: Future>(whole: Option<&Self>, work: F) -> Within<F> {
        within::within(whole.map(|whole| whole.0.clone()), work)
    }

    /// Runs a function within the span, on the current thread.
    pub fn enter<T>(whole: Option<&Self>, work: impl FnOnce() -> T) -> T {
        let _entered = whole.map(|whole| whole.0.clone().attach());
        work()
    }

    /// Returns the `traceparent` under which other services create child spans.
    pub fn traceparent(&self) -> String {
        Parent::new(self.0.span().span_context().clone()).to_string()
    }

    /// Ends the span of a request, and sets its name, status and attributes.
    pub fn answered(&self, request: &Answered<'_>) {
        let span = self.0.span();
        if !span.is_recording() {
            return;
        }
        span.update_name(format!("{} {}", request.method, request.route));
        span.set_attributes([
            KeyValue::new("http.request.method", request.method),
            KeyValue::new("http.route", request.route.to_owned()),
            KeyValue::new("http.response.status_code", i64::from(request.status)),
        ]);
        if let Some(rpc) = request.rpc {
            span.set_attribute(KeyValue::new("rpc.method", rpc));
        }
        if request.status >= 500 {
            span.set_status(Status::error(""));
        }
        span.end();
    }

    /// Ends the span of a job, and sets its outcome.
    pub fn tried(&self, outcome: Tried) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("outcome", outcome.as_str()));
        if matches!(outcome, Tried::Retried | Tried::Dead) {
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

/// An answered request.
pub struct Answered<'a> {
    /// Method if HTTP defines it, otherwise a constant.
    pub method: &'static str,
    /// Path template.
    pub route: &'a str,
    /// HTTP status.
    pub status: u16,
    /// JSON-RPC method, or the name of the MCP tool.
    pub rpc: Option<&'static str>,
}

/// Links the span of the current task to another trace, which became known later.
pub fn link(parent: &Parent) {
    Context::map_current(|current| {
        if current.span().is_recording() {
            current.span().add_link(parent.span_context().clone(), Vec::new());
        }
    });
}

/// Returns the `traceparent` of the current task's span.
pub fn traceparent() -> Option<String> {
    Context::map_current(|current| {
        let context = current.span().span_context().clone();
        context.is_valid().then(|| Parent::new(context).to_string())
    })
}

/// Returns the `traceparent` of the current task's span if its trace is recorded.
pub fn sampled_traceparent() -> Option<String> {
    if is_sampled() { traceparent() } else { None }
}

/// A wait. Its span ends on drop.
pub struct Wait(Option<BoxedSpan>);

/// Starts the span of a wait for an external operation, such as a statement or a model.
pub fn wait_for(name: &'static str) -> Wait {
    let Some(tracer) = TRACER.get() else { return Wait(None) };
    Wait(Context::map_current(|current| {
        let is_sampled = current.span().span_context().is_sampled();
        is_sampled.then(|| tracer.build_with_context(tracer.span_builder(name).with_kind(SpanKind::Client), current))
    }))
}

impl Wait {
    /// Returns the `traceparent` of the wait. If the wait has no span, returns that of the current task.
    pub fn traceparent(&self) -> Option<String> {
        match &self.0 {
            Some(span) => Some(Parent::new(span.span_context().clone()).to_string()),
            None => traceparent(),
        }
    }

    /// Marks the wait as failed, with a constant reason.
    pub fn failed(&mut self, how: &'static str) {
        if let Some(span) = &mut self.0 {
            span.set_status(Status::error(how));
        }
    }
}
