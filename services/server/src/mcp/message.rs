//! A JSON-RPC message (JSON-RPC 2.0, 4) as far as the endpoint must know it before the library reads it whole.

use knowhow_domain::{Error, Scope, uri};
use rmcp::ErrorData;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::problem::protocol_error;
use super::prompts;
use super::tools::AnyTool;

/// Invalid JSON was received.
const PARSE_ERROR: i32 = -32700;
/// The JSON is no request object.
pub const INVALID_REQUEST: i32 = -32600;

/// What clients send that is answered with more than a refusal.
const METHODS: [&str; 14] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/directory/read",
    "skills/list",
    "skills/get",
    "prompts/list",
    "prompts/get",
    "notifications/initialized",
];

/// The method in our own words; `None` for one that is not ours.
pub fn known_method(method: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|known| *known == method)
}

/// What decides who may send a message. Members that come twice are refused: the library could read the other one.
pub struct Message<'a> {
    id: Option<&'a RawValue>,
    method: Option<String>,
    inner: Inner,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<String>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    fn check(&self) -> Result<(), &'static str> {
        if self.jsonrpc.as_deref() != Some("2.0") {
            return Err("a message needs \"jsonrpc\": \"2.0\"");
        }
        if self.method.is_none() && self.result.is_none() && self.error.is_none() {
            return Err("a message needs a method");
        }
        let fits = |id: &&RawValue| id.get().parse::<i64>().is_ok() || serde_json::from_str::<String>(id.get()).is_ok();
        if self.id.as_ref().is_some_and(|id| !fits(id)) {
            return Err("an id is a string or an integer");
        }
        Ok(())
    }
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    traceparent: Option<&'a RawValue>,
    #[serde(borrow, rename = "dev.knowhow/session")]
    session: Option<&'a RawValue>,
    #[serde(borrow, rename = "dev.knowhow/tainted_by")]
    tainted_by: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads one message.
    ///
    /// # Errors
    /// The code of JSON-RPC and what to send instead.
    pub fn read(bytes: &'a [u8]) -> Result<Self, (i32, String)> {
        let refused = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Data => (INVALID_REQUEST, format!("no JSON-RPC message: {error}")),
            _ => (PARSE_ERROR, format!("the body is not valid JSON: {error}")),
        };
        if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
            serde_json::from_slice::<&RawValue>(bytes).map_err(refused)?;
            return Err((INVALID_REQUEST, "send one message, a JSON object; batches are not taken".into()));
        }
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(refused)?;
        envelope.check().map_err(|reason| (INVALID_REQUEST, reason.to_owned()))?;
        let inner = envelope.params.map(Inner::of).transpose().map_err(refused)?.unwrap_or_default();
        Ok(Self { id: envelope.id, method: envelope.method, inner })
    }

    /// The id to answer with, as it came.
    pub fn id(&self) -> Option<&'a RawValue> {
        self.id
    }

    /// What is wrong with parameters that the library takes, or refuses in words of its own: a cursor that is no text,
    /// which it would overlook, and a URI of `skills/get` that no skill can have.
    pub fn unfit(&self) -> Option<ErrorData> {
        let method = self.method.as_deref().unwrap_or_default();
        // Nothing else has pages, and what has them only reads: by now it has been carried out.
        if self.inner.odd_cursor && (method.ends_with("/list") || method == "resources/directory/read") {
            return Some(ErrorData::invalid_params("the cursor is a text: nextCursor of the page before", None));
        }
        let uri = self.inner.uri.as_deref().filter(|_| method == "skills/get")?;
        let none = uri::skill_of(uri).is_none();
        none.then(|| protocol_error(Error::not_found("skill"), Some(uri), ""))
    }

    /// What the caller must be allowed to do; `None` where any caller may send this.
    pub fn scope(&self) -> Option<Scope> {
        let method = self.method.as_deref()?;
        match method {
            "tools/call" => Some(AnyTool::named(self.inner.name.as_deref()?)?.scope),
            "prompts/get" => prompts::scope(self.inner.name.as_deref()?),
            _ if method.starts_with("resources/") || method.starts_with("skills/") => Some(Scope::SkillsRead),
            _ => None,
        }
    }

    /// What is logged of it: the method, and the tool where one is called; nothing that is not ours.
    pub fn label(&self) -> &'static str {
        match self.method.as_deref() {
            Some("tools/call") => {
                self.inner.name.as_deref().and_then(AnyTool::named).map_or("tools/call", |tool| tool.name)
            }
            Some(method) => known_method(method).unwrap_or("other"),
            None => "response",
        }
    }

    /// The trace the message is part of (SEP-414): W3C Trace Context in `_meta`.
    pub fn traceparent(&self) -> Option<&str> {
        self.inner.traceparent.as_deref()
    }

    /// The conversation that `_meta` says the message comes from; empty, which none can be, where it is no text.
    pub fn session(&self) -> Option<&str> {
        self.inner.session.as_deref()
    }

    /// What `_meta` says that the conversation has read which is not to be trusted: one source or a list of them; `None`
    /// where it is neither.
    pub fn tainted_by(&self) -> Option<Vec<String>> {
        let Some(sources) = &self.inner.tainted_by else { return Some(Vec::new()) };
        let one = serde_json::from_str(sources).ok().map(|one| vec![one]);
        one.or_else(|| serde_json::from_str(sources).ok())
    }
}

/// What of the parameters decides or is logged. Unfit ones are the library's to refuse.
#[derive(Default)]
struct Inner {
    name: Option<String>,
    uri: Option<String>,
    odd_cursor: bool,
    traceparent: Option<String>,
    session: Option<String>,
    tainted_by: Option<String>,
}

impl Inner {
    fn of(params: &RawValue) -> Result<Self, serde_json::Error> {
        let params: Params<'_> = members(params)?;
        let meta: Meta<'_> = params.meta.map(members).transpose()?.unwrap_or_default();
        let text = |value: &RawValue| serde_json::from_str(value.get()).ok();
        Ok(Self {
            name: params.name.and_then(text),
            uri: params.uri.and_then(text),
            odd_cursor: params.cursor.is_some_and(|cursor| !cursor.get().starts_with('"')),
            traceparent: meta.traceparent.and_then(text),
            session: meta.session.map(|session| text(session).unwrap_or_default()),
            tainted_by: meta.tainted_by.map(|sources| sources.get().to_owned()),
        })
    }
}

/// The members of an object; of anything else, none. Serde would take a list of them in their order.
fn members<'a, T: Default + Deserialize<'a>>(object: &'a RawValue) -> Result<T, serde_json::Error> {
    if !object.get().starts_with('{') {
        return Ok(T::default());
    }
    match serde_json::from_str(object.get()) {
        // The endpoint and the library could read different ones.
        Err(error) if error.to_string().starts_with("duplicate field") => Err(error),
        read => Ok(read.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
