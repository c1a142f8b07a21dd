//! The request of the REST API with the effect of a page or an action, as a curl command.

use serde_json::Value;

/// A request of the REST API. The credential is a variable of the shell.
pub struct ApiCall {
    method: &'static str,
    /// Path and query, percent-encoded, so that no character has a meaning for a shell.
    path: String,
    body: Option<Value>,
    headers: Vec<String>,
}

impl ApiCall {
    /// Creates the request of a page.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path)
    }

    /// Creates a request.
    pub fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), body: None, headers: Vec::new() }
    }

    /// Returns whether the request only reads.
    pub fn is_get(&self) -> bool {
        self.method == "GET"
    }

    /// Adds a JSON body.
    pub fn with_body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// Adds a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(format!("{name}: {value}"));
        self
    }

    /// Returns the command. `user` is the user that an API key acts for, or that an admin views.
    pub fn command(&self, user: Option<&str>) -> String {
        let mut lines = vec![match self.method {
            "GET" => "curl -s".to_owned(),
            method => format!("curl -s -X {method}"),
        }];
        lines.push("-H \"Authorization: Bearer $KNOWHOW_TOKEN\"".into());
        lines.extend(user.map(|user| format!("-H {}", quoted(&format!("Knowhow-User: {user}")))));
        lines.extend(self.headers.iter().map(|header| format!("-H {}", quoted(header))));
        if let Some(body) = &self.body {
            lines.push("-H 'Content-Type: application/json'".into());
            lines.push(format!("-d {}", quoted(&body.to_string())));
        }
        lines.push(format!("\"$KNOWHOW_URL{}\"", self.path));
        lines.join(" \\\n  ")
    }
}

/// Returns a word for a POSIX shell, in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
