//! Metadata of a call: its session and idempotency key, read from headers by the API layers.

use std::ops::Deref;

use knowhow_domain::{Error, Result};

/// Metadata of a call in addition to its input.
#[derive(Debug, Clone, Default)]
pub struct CallMetadata {
    /// `Knowhow-Session`, over MCP also in `_meta`: the session of the call, for provenance and taint.
    pub session: Option<SessionRef>,
    /// A second session that the request names: over MCP the header's session, if `_meta` names another one. The
    /// taint of both sessions counts.
    pub other_session: Option<SessionRef>,
    /// `Idempotency-Key`: requests with the same key and content have one effect and one answer, for 24 hours.
    pub idempotency_key: Option<IdempotencyKey>,
    /// Whether the call counts as an agent's, regardless of the credential. Always true over MCP.
    pub by_agent: bool,
}

/// A session by its id or key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRef(String);

/// A key that a client chooses for a request, so that a repeated request is detected.
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
    /// Parses the name of a session.
    ///
    /// # Errors
    /// `Malformed`, with the permitted length and characters.
    pub fn parse(text: &str) -> Result<Self> {
        let named = parse("Knowhow-Session", text).map(Self);
        named.map_err(|error| match error {
            Error::Malformed(detail) => {
                Error::Malformed(format!("{detail}; send the id of the session instead of such a key"))
            }
            other => other,
        })
    }
}

impl IdempotencyKey {
    /// Parses a key.
    ///
    /// # Errors
    /// `Malformed`, with the permitted length and characters.
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

impl CallMetadata {
    /// Returns all sessions that the request names, including `in_body`, without duplicates.
    pub(crate) fn named<'a>(&'a self, in_body: Option<&'a str>) -> Vec<&'a str> {
        let mut named: Vec<&str> =
            [in_body, self.session.as_deref(), self.other_session.as_deref()].into_iter().flatten().collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Returns metadata with a derived idempotency key, for one part of a request with several effects.
    pub(crate) fn part(&self, part: impl std::fmt::Display) -> Self {
        let key = self.idempotency_key.as_ref().map(|key| IdempotencyKey(format!("{}#{part}", key.0)));
        Self { idempotency_key: key, ..self.clone() }
    }
}
