//! Parses and formats the `traceparent` header of W3C Trace Context, version 00.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};

/// A span received from another service, or sent to another service as the parent.
#[derive(Debug, Clone)]
pub struct Parent(SpanContext);

impl Parent {
    pub(super) fn new(context: SpanContext) -> Self {
        Self(context)
    }

    /// Parses the header. Returns `None` if it is invalid or has another version.
    pub fn read(header: &str) -> Option<Self> {
        let mut parts = header.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let hex = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        if version != "00" || parts.next().is_some() || !hex(trace, 32) || !hex(span, 16) || !hex(flags, 2) {
            return None;
        }
        let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
        let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
        let context = SpanContext::new(trace, span, flags, true, TraceState::NONE);
        context.is_valid().then_some(Self(context))
    }

    /// Returns a new span in the same trace. It is not recorded.
    pub fn follow(&self) -> Self {
        let id = RandomState::new().hash_one(self.0.span_id()) | 1;
        let (trace, flags) = (self.0.trace_id(), self.0.trace_flags());
        Self(SpanContext::new(trace, SpanId::from_bytes(id.to_be_bytes()), flags, true, TraceState::NONE))
    }

    pub(super) fn context(&self) -> Context {
        Context::new().with_remote_span_context(self.0.clone())
    }

    pub(super) fn span_context(&self) -> &SpanContext {
        &self.0
    }
}

impl fmt::Display for Parent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.0.trace_id(), self.0.span_id(), self.0.trace_flags())
    }
}

#[cfg(test)]
mod tests;
