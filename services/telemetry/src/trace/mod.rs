//! Spans. A request or a job has one, which goes along with its work from thread to thread; what it waits for has one below it,
//! where the whole is sampled. Names of spans are words of the program.

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

/// Begins to trace. Before that there are no spans; a second call changes nothing.
pub fn start(tracer: BoxedTracer) {
    TRACER.get_or_init(|| tracer);
}

/// Whether spans are recorded at all.
pub fn is_on() -> bool {
    TRACER.get().is_some()
}

/// Whether the trace that this task works on is recorded.
pub fn is_sampled() -> bool {
    is_on() && Context::map_current(|current| current.span().span_context().is_sampled())
}

/// The span of a request or a job, or the trace that somebody else has begun, to go along with the work.
#[derive(Clone)]
pub struct Whole(Context);

impl Whole {
    /// The span of a request, below that of its sender where there is one. Where nothing is recorded, only the sender's trace is
    /// carried on; without that there is nothing, as going along with the work costs something at each of its steps.
    pub fn request(parent: Option<&Parent>) -> Option<Self> {
        let Some(tracer) = TRACER.get() else { return parent.map(|parent| Self(parent.follow().context())) };
        let above = parent.map(Parent::context).unwrap_or_default();
        let span = tracer.build_with_context(tracer.span_builder("request").with_kind(SpanKind::Server), &above);
        (parent.is_some() || span.span_context().is_sampled()).then(|| Self(above.with_span(span)))
    }

    /// The span of a job, linked with that of the request that has enqueued it; `None` where it is not recorded.
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

    /// Does the work of the request or job.
    pub fn within<F: Future>(whole: Option<&Self>, work: F) -> Within<F> {
        within::within(whole.map(|whole| whole.0.clone()), work)
    }

    /// Does something short as part of it, on this thread.
    pub fn enter<T>(whole: Option<&Self>, work: impl FnOnce() -> T) -> T {
        let _entered = whole.map(|whole| whole.0.clone().attach());
        work()
    }

    /// How others name it as the parent of theirs.
    pub fn traceparent(&self) -> String {
        Parent::new(self.0.span().span_context().clone()).to_string()
    }

    /// Ends a request: the name of its span, its status and what it was about.
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

    /// Ends a job.
    pub fn tried(&self, outcome: Tried) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("outcome", outcome.as_str()));
        if matches!(outcome, Tried::Retried | Tried::Dead) {
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

/// A request that was answered.
pub struct Answered<'a> {
    /// The method, of those that HTTP defines.
    pub method: &'static str,
    /// The template of the path.
    pub route: &'a str,
    /// The status.
    pub status: u16,
    /// The message of JSON-RPC, or the tool.
    pub rpc: Option<&'static str>,
}

/// Links the span of this task with another trace, which its sender named late.
pub fn link(parent: &Parent) {
    Context::map_current(|current| {
        if current.span().is_recording() {
            current.span().add_link(parent.span_context().clone(), Vec::new());
        }
    });
}

/// How others name the span of this task as the parent of theirs.
pub fn traceparent() -> Option<String> {
    Context::map_current(|current| {
        let context = current.span().span_context().clone();
        context.is_valid().then(|| Parent::new(context).to_string())
    })
}

/// The same, where the trace is one that is recorded.
pub fn sampled_traceparent() -> Option<String> {
    if is_sampled() { traceparent() } else { None }
}

/// Something that the work waits for. Its span ends when this is dropped.
pub struct Wait(Option<BoxedSpan>);

/// Begins to wait for something of that name elsewhere: a statement, a model.
pub fn wait_for(name: &'static str) -> Wait {
    let Some(tracer) = TRACER.get() else { return Wait(None) };
    Wait(Context::map_current(|current| {
        let is_sampled = current.span().span_context().is_sampled();
        is_sampled.then(|| tracer.build_with_context(tracer.span_builder(name).with_kind(SpanKind::Client), current))
    }))
}

impl Wait {
    /// How the other side names it as the parent of its own: that of the whole where it has none.
    pub fn traceparent(&self) -> Option<String> {
        match &self.0 {
            Some(span) => Some(Parent::new(span.span_context().clone()).to_string()),
            None => traceparent(),
        }
    }

    /// Notes that it failed, in a word of the program.
    pub fn failed(&mut self, how: &'static str) {
        if let Some(span) = &mut self.0 {
            span.set_status(Status::error(how));
        }
    }
}
