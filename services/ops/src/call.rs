//! What accompanies a call: the session it comes from and the key that makes it happen once. Faces read it from headers.

use std::ops::Deref;

use knowhow_domain::{Error, Result};

/// What a caller says of a call beside its input.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// `Knowhow-Session`, over MCP also in `_meta`: the conversation this comes from, for provenance and taint.
    pub session: Option<SessionRef>,
    /// Another conversation that the request names: over MCP `_meta` goes before the header, and the taint of both counts.
    pub other_session: Option<SessionRef>,
    /// `Idempotency-Key`: the same key and request have one effect and one answer, for 24 hours.
    pub idempotency_key: Option<IdempotencyKey>,
    /// An agent calls by itself, as over MCP, whatever its credential.
    pub by_agent: bool,
}

/// A conversation by its id or key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRef(String);

/// The name that a client gives to a request, so that a repetition is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

const NAME_CHARS: usize = 255;

fn parse(header: &str, text: &str) -> Result<String> {
    if (1..=NAME_CHARS).contains(&text.len()) && text.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err(Error::Malformed(format!("{header} takes 1 to {NAME_CHARS} visible ASCII characters without blanks")))
}

impl SessionRef {
    /// Reads the name of a conversation.
    ///
    /// # Errors
    /// `Malformed`, with the rule.
    pub fn parse(text: &str) -> Result<Self> {
        parse("Knowhow-Session", text).map(Self)
    }
}

impl IdempotencyKey {
    /// Reads a key.
    ///
    /// # Errors
    /// `Malformed`, with the rule.
    pub fn parse(text: &str) -> Result<Self> {
        parse("Idempotency-Key", text).map(Self)
    }
}

impl Deref for SessionRef {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for IdempotencyKey {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Call {
    /// Every conversation that the request names, `in_body` included, each once.
    pub(crate) fn named<'a>(&'a self, in_body: Option<&'a str>) -> Vec<&'a str> {
        let mut named: Vec<&str> =
            [in_body, self.session.as_deref(), self.other_session.as_deref()].into_iter().flatten().collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// The same with a key of its own for one part of a request that does many things.
    pub(crate) fn part(&self, part: impl std::fmt::Display) -> Self {
        let key = self.idempotency_key.as_ref().map(|key| IdempotencyKey(format!("{}#{part}", key.0)));
        Self { idempotency_key: key, ..self.clone() }
    }
}
