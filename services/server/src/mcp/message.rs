//! Parses the parts of a JSON-RPC message (JSON-RPC 2.0, 4) that the endpoint needs before the library parses the
//! whole message.

use knowhow_domain::skills::uri;
use knowhow_domain::{Error, Scope};
use rmcp::ErrorData;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::problem::protocol_error;
use super::prompts;
use super::tools::AnyTool;

/// JSON-RPC error code for a body that is not valid JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC error code for JSON that is not a request object.
pub const INVALID_REQUEST: i32 = -32600;

/// The methods that the service implements.
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

/// Returns the static name of a known method. Logs and metrics use this name, because a client can send any text as
/// method.
pub fn known_method(method: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|known| *known == method)
}

/// The parts of a message that authorization depends on. Messages with repeated members are rejected, because the
/// library could use another of the repeated values.
pub struct Message<'a> {
    id: Option<&'a RawValue>,
    method: Option<String>,
    parameters: MessageParameters,
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
    /// Parses one message.
    ///
    /// # Errors
    /// Returns a JSON-RPC error code, and a text with the required form.
    pub fn read(bytes: &'a [u8]) -> Result<Self, (i32, String)> {
        let refused = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Data => (INVALID_REQUEST, format!("not a JSON-RPC message: {error}")),
            _ => (PARSE_ERROR, format!("the body is not valid JSON: {error}")),
        };
        if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
            serde_json::from_slice::<&RawValue>(bytes).map_err(refused)?;
            return Err((INVALID_REQUEST, "send one message, a JSON object; batches are not supported".into()));
        }
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(refused)?;
        envelope.check().map_err(|reason| (INVALID_REQUEST, reason.to_owned()))?;
        let parameters = envelope.params.map(MessageParameters::of).transpose().map_err(refused)?.unwrap_or_default();
        Ok(Self { id: envelope.id, method: envelope.method, parameters })
    }

    /// Returns the id of the message, unchanged, for the response.
    pub fn id(&self) -> Option<&'a RawValue> {
        self.id
    }

    /// Returns an error for parameters that the library would ignore or reject with an unclear error. These are a
    /// cursor that is not a string, and an invalid skill URI in `skills/get`.
    pub fn unfit(&self) -> Option<ErrorData> {
        let method = self.method.as_deref().unwrap_or_default();
        // Only lists have cursors, and lists only read, so it does not matter that the request has already run.
        if self.parameters.odd_cursor && (method.ends_with("/list") || method == "resources/directory/read") {
            return Some(ErrorData::invalid_params(
                "the cursor must be a string: nextCursor of the previous page",
                None,
            ));
        }
        let uri = self.parameters.uri.as_deref().filter(|_| method == "skills/get")?;
        let none = uri::skill_of(uri).is_none();
        none.then(|| protocol_error(Error::not_found("skill"), Some(uri), ""))
    }

    /// Returns the scope that the message requires; `None` if any caller may send it.
    pub fn scope(&self) -> Option<Scope> {
        let method = self.method.as_deref()?;
        match method {
            "tools/call" => Some(AnyTool::named(self.parameters.name.as_deref()?)?.scope),
            "prompts/get" => prompts::scope(self.parameters.name.as_deref()?),
            _ if method.starts_with("resources/") || method.starts_with("skills/") => Some(Scope::SkillsRead),
            _ => None,
        }
    }

    /// Returns the name of the message for logs and metrics: the tool of a tool call, otherwise the method. It never
    /// contains text from the client.
    pub fn label(&self) -> &'static str {
        match self.method.as_deref() {
            Some("tools/call") => {
                self.parameters.name.as_deref().and_then(AnyTool::named).map_or("tools/call", |tool| tool.name)
            }
            Some(method) => known_method(method).unwrap_or("other"),
            None => "response",
        }
    }

    /// Returns the trace of the message: the W3C Trace Context in its `_meta` (SEP-414).
    pub fn traceparent(&self) -> Option<&str> {
        self.parameters.traceparent.as_deref()
    }

    /// Returns the session that `_meta` names. If the value is not a string, returns an empty text, which is an
    /// invalid session.
    pub fn session(&self) -> Option<&str> {
        self.parameters.session.as_deref()
    }

    /// Returns the untrusted sources that `_meta` names for the session. Returns `None` if the value is neither a
    /// string nor a list of strings.
    pub fn tainted_by(&self) -> Option<Vec<String>> {
        let Some(sources) = &self.parameters.tainted_by else { return Some(Vec::new()) };
        let one = serde_json::from_str(sources).ok().map(|one| vec![one]);
        one.or_else(|| serde_json::from_str(sources).ok())
    }
}

/// The parameters that authorization or logs need. Invalid values are left to the library, which rejects them.
#[derive(Default)]
struct MessageParameters {
    name: Option<String>,
    uri: Option<String>,
    odd_cursor: bool,
    traceparent: Option<String>,
    session: Option<String>,
    tainted_by: Option<String>,
}

impl MessageParameters {
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

/// Parses the members of an object. Returns the default for any other value, because Serde would accept a list with
/// the values of the members in order.
fn members<'a, T: Default + Deserialize<'a>>(object: &'a RawValue) -> Result<T, serde_json::Error> {
    if !object.get().starts_with('{') {
        return Ok(T::default());
    }
    match serde_json::from_str(object.get()) {
        // A repeated member is an error, because the endpoint and the library could use different values.
        Err(error) if error.to_string().starts_with("duplicate field") => Err(error),
        read => Ok(read.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
