//! Spans.
