//! Test clients for both MCP revisions: one message, one answer.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use super::schema;
use crate::answers::{Answer, members};
use crate::callers::{Caller, Sending};
use crate::raw::BOTH;

/// The revision whose requests are self-contained.
pub const CURRENT: &str = "2026-07-28";
/// The newest revision that begins with `initialize`.
pub const OLDER: &str = "2025-11-25";
/// The JSON-RPC id that the test requests use.
pub const ID: i64 = 7;

/// Builds a request of the current revision.
pub fn request(method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = meta();
    json!({"jsonrpc": "2.0", "id": ID, "method": method, "params": params})
}

/// Returns the `_meta` members that the current revision requires.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": CURRENT,
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Builds a request of the older revisions.
pub fn older_request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": ID, "method": method, "params": params})
}

/// Returns the parameters of `initialize`.
pub fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}})
}

/// Returns the headers that repeat members of a message of the current revision.
pub fn repeated(message: &Value) -> Vec<(&'static str, String)> {
    let method = message["method"].as_str().unwrap_or_default();
    let mut headers = vec![("MCP-Protocol-Version", CURRENT.to_owned()), ("Mcp-Method", header_value(method))];
    let named = match method {
        "tools/call" | "prompts/get" => &message["params"]["name"],
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => &message["params"]["uri"],
        "tasks/get" => &message["params"]["taskId"],
        _ => &Value::Null,
    };
    headers.extend(named.as_str().map(|name| ("Mcp-Name", header_value(name))));
    headers
}

/// Encodes a text as a header value, in Base64 if necessary.
fn header_value(text: &str) -> String {
    let plain =
        text.bytes().all(|b| (0x20..0x7f).contains(&b)) && text.trim() == text && !text.starts_with("=?base64?");
    if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

impl Caller {
    /// Sends a request of the current revision.
    pub fn rpc(&self, method: &str, params: Value) -> Sending {
        self.message(&request(method, params))
    }

    /// Sends a message of the current revision.
    pub fn message(&self, message: &Value) -> Sending {
        let sending = repeated(message).into_iter().fold(self.bare(message), |s, (name, value)| s.header(name, &value));
        sending.json(message)
    }

    /// Sends a request of the revision 2025-11-25, without `initialize` before it.
    pub fn legacy(&self, method: &str, params: Value) -> Sending {
        let message = older_request(method, params);
        self.bare(&message).header("MCP-Protocol-Version", OLDER).json(&message)
    }

    /// Starts a POST that accepts JSON and event streams, without a body and without the protocol's headers.
    pub fn bare(&self, message: &Value) -> Sending {
        let name = message["params"]["name"].as_str().unwrap_or_default();
        let asked = format!("{} {name}", message["method"].as_str().unwrap_or_default());
        self.send(Method::POST, "/mcp").called(asked).header("Accept", BOTH)
    }

    /// Sends bytes as a message.
    pub fn bytes(&self, body: &[u8]) -> Sending {
        let shown: String = String::from_utf8_lossy(body).chars().take(80).collect();
        self.bare(&Value::Null).called(shown).body("application/json", body.to_vec())
    }

    /// Calls a tool.
    pub fn tool(&self, name: &str, arguments: Value) -> Sending {
        self.rpc("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Calls a tool, asserts success and returns its structured answer.
    pub async fn does(&self, name: &str, arguments: Value) -> Value {
        self.tool(name, arguments).await.done(name)
    }

    /// Calls a tool and asserts that it fails. Returns the text for models and the problem.
    pub async fn fails(&self, name: &str, arguments: Value) -> (String, Value) {
        self.tool(name, arguments).await.failed()
    }

    /// Returns the items of all pages of a list.
    pub async fn all(&self, method: &str, member: &str, params: Value) -> Vec<Value> {
        self.pages(method, member, params).await.concat()
    }

    /// Returns all pages of a list.
    pub async fn pages(&self, method: &str, member: &str, mut params: Value) -> Vec<Vec<Value>> {
        let mut pages = Vec::new();
        loop {
            let mut page = self.rpc(method, params.clone()).await.result();
            pages.push(page[member].as_array().unwrap().clone());
            params["cursor"] = page["nextCursor"].take();
            if params["cursor"].is_null() {
                return pages;
            }
        }
    }

    /// Reads a resource and returns its bytes.
    pub async fn read(&self, uri: &str) -> Vec<u8> {
        content(&self.rpc("resources/read", json!({"uri": uri})).await.result()["contents"], uri)
    }
}

/// Returns the bytes of the only content, whose URI must be `uri`.
pub fn content(contents: &Value, uri: &str) -> Vec<u8> {
    let [content] = contents.as_array().unwrap().as_slice() else { panic!("{uri}: {contents}") };
    assert_eq!(content["uri"], uri);
    match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(blob)) => STANDARD.decode(blob).unwrap(),
        _ => panic!("{uri}: {contents}"),
    }
}

impl Answer {
    /// Asserts that the request succeeded and returns its result.
    #[track_caller]
    pub fn result(&self) -> Value {
        let mut message = self.ok(200);
        assert_eq!(members(&message), ["id", "jsonrpc", "result"], "{self}");
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(ID)), "{self}");
        message["result"].take()
    }

    /// Asserts a well-formed error with this status and code, and returns it.
    #[track_caller]
    pub fn error(&self, status: u16, code: i64) -> Value {
        assert_eq!(self.status, status, "{self}");
        let error = self.any_error();
        assert_eq!(error["code"], code, "{self}");
        assert!(self.json()["id"].is_null() || self.json()["id"] == ID, "{self}");
        error
    }

    /// Asserts a well-formed error with any status and code, and returns it.
    #[track_caller]
    pub fn any_error(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json", "{self}");
        let mut message = self.json();
        assert_eq!(message["jsonrpc"], "2.0", "{self}");
        // An error without a request may have no id.
        let mut known = members(&message);
        known.retain(|member| *member != "id");
        assert_eq!(known, ["error", "jsonrpc"], "{self}");
        let error = message["error"].take();
        assert!(error["code"].is_i64() && error["message"].as_str().is_some_and(|text| !text.is_empty()), "{self}");
        self.tells_nothing();
        error
    }

    /// Asserts that a tool succeeded and that its answer fits its schema. Returns the structured answer.
    #[track_caller]
    pub fn done(&self, tool: &str) -> Value {
        let mut result = self.result();
        assert_ne!(result["isError"], true, "{self}");
        assert!(!told(&result).is_empty(), "{self}");
        let Some(schema) = schema::output_of(tool) else {
            // About half of the clients would show their model this member instead of the text.
            assert!(result.get("structuredContent").is_none(), "{self}");
            return result["_meta"]["dev.knowhow/answer"].take();
        };
        let violations = schema::violations(schema, &result["structuredContent"]);
        assert!(violations.is_empty(), "{violations:#?} in {self}");
        assert!(nulls(&result["structuredContent"]).is_empty(), "{self}");
        result["structuredContent"].take()
    }

    /// Asserts that a tool failed. Returns the text for models and the problem.
    #[track_caller]
    pub fn failed(&self) -> (String, Value) {
        let mut result = self.result();
        assert_eq!(result["isError"], true, "{self}");
        assert!(result["structuredContent"].is_null(), "{self}");
        let problem = result["_meta"]["dev.knowhow/problem"].take();
        assert_eq!(problem["instance"], format!("/requests/{}", self.header("x-request-id")), "{self}");
        for member in ["title", "detail"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{self}");
        }
        assert!(problem["status"].is_u64(), "{self}");
        self.tells_nothing();
        (told(&result), problem)
    }
}

/// Returns the names of all null members, at any depth.
fn nulls(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(members) => {
            let empty = members.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name.as_str());
            empty.chain(members.values().flat_map(nulls)).collect()
        }
        Value::Array(items) => items.iter().flat_map(nulls).collect(),
        _ => Vec::new(),
    }
}

/// Returns the only text of a tool's result.
#[track_caller]
pub fn told(result: &Value) -> String {
    let [content] = result["content"].as_array().unwrap().as_slice() else { panic!("{result}") };
    assert_eq!(content["type"], "text");
    content["text"].as_str().unwrap().to_owned()
}
