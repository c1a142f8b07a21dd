//! The service as an admin asks it, and how its answers are told.

use anyhow::{Context, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::cli::client::Service;

/// The service, and how its answers are told.
pub(super) struct Desk {
    service: Service,
    tenant: Option<String>,
    json: bool,
}

impl Desk {
    pub(super) fn new(service: Service, tenant: Option<String>, json: bool) -> Self {
        Self { service, tenant, json }
    }

    /// The path with the tenant to work in, where one was named. What stands above tenants takes none.
    fn in_tenant(&self, path: &str) -> String {
        match self.tenant.as_deref().filter(|_| !path.starts_with("/v1/admin/tenants")) {
            Some(slug) => with(path, "tenant", slug),
            None => path.to_owned(),
        }
    }

    /// Asks for what is of no tenant.
    pub(super) async fn ask_above(&self, path: &str) -> Result<Value> {
        let response = self.service.send(|service| service.request(Method::GET, path)).await?;
        response.json().await.context("the answer cannot be read")
    }

    pub(super) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response> {
        let path = self.in_tenant(path);
        let response = self.service.send(|service| {
            let request = service.request(method.clone(), &path);
            match body {
                Some(body) => request.json(body),
                None => request,
            }
        });
        Ok(response.await?)
    }

    pub(super) async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let response = self.send(method, path, body).await?;
        if response.status() == StatusCode::NO_CONTENT {
            return Ok(Value::Null);
        }
        response.json().await.context("the answer cannot be read")
    }

    /// All items of a list, page by page.
    pub(super) async fn ask_all(&self, path: &str) -> Result<Vec<Value>> {
        let first = with(path, "limit", "200");
        let (mut next, mut all) = (first.clone(), Vec::new());
        loop {
            let page = self.ask(Method::GET, &next, None).await?;
            all.extend(page["items"].as_array().cloned().unwrap_or_default());
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            next = with(&first, "cursor", cursor);
        }
        Ok(all)
    }

    pub(super) fn tell(&self, answer: &Value, sentence: String) {
        if self.json { println!("{answer:#}") } else { println!("{sentence}") }
    }

    /// Tells a list, a line for each item, or that there is none.
    pub(super) fn tell_all(&self, all: &[Value], line: impl Fn(&Value) -> String, none: &str) {
        let lines: Vec<String> = all.iter().map(line).collect();
        self.tell(&json!(all), if lines.is_empty() { none.to_owned() } else { lines.join("\n") });
    }
}

/// The path with another member in its query.
pub(super) fn with(path: &str, name: &str, value: &str) -> String {
    let joined = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joined}{name}={}", encoded(value))
}

/// Returns the path of a user, and below it `rest`. An id that clients or proxies may change in a path goes into the query.
pub(super) fn user_path(external_id: &str, rest: &str) -> String {
    let is_safe = !external_id.contains(['/', '\\', '%']) && external_id != "-" && !external_id.ends_with('.');
    match is_safe {
        true => format!("/v1/admin/users/{}{rest}", encoded(external_id)),
        false => with(&format!("/v1/admin/users/-{rest}"), "external_id", external_id),
    }
}

/// A text as a part of an address.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// A member as text; empty where there is none.
pub(super) fn text(of: &Value, member: &str) -> String {
    match &of[member] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
