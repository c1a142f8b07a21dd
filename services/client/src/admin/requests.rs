//! Sends an admin's requests to the service, and prints the responses.

use anyhow::Result;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::{Value, json};

use crate::print;
pub(super) use crate::service::with;
use crate::service::{Bounds, Service, ServiceResponse};

/// The service, the tenant for the requests, and the output format.
pub(super) struct AdminRequests {
    service: Service,
    tenant: Option<String>,
    json: bool,
}

impl AdminRequests {
    pub(super) fn new(service: Service, tenant: Option<String>, json: bool) -> Self {
        Self { service, tenant, json }
    }

    /// Adds the tenant to the query, if one was named. Paths below `/v1/admin/tenants` have no such parameter.
    fn in_tenant(&self, path: &str) -> String {
        match self.tenant.as_deref().filter(|_| !path.starts_with("/v1/admin/tenants")) {
            Some(slug) => with(path, "tenant", slug),
            None => path.to_owned(),
        }
    }

    /// Requests a value that belongs to the whole deployment instead of a tenant.
    pub(super) async fn ask_above(&self, path: &str) -> Result<Value> {
        let answer = self.service.send(|service| service.request(Method::GET, path)).await?;
        Ok(answer.json(Bounds::VALUE).await?)
    }

    pub(super) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<ServiceResponse> {
        let path = self.in_tenant(path);
        let answer = self.service.send(|service| {
            let request = service.request(method.clone(), &path);
            match body {
                Some(body) => request.json(body),
                None => request,
            }
        });
        Ok(answer.await?)
    }

    pub(super) async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let answer = self.send(method, path, body).await?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(Value::Null);
        }
        Ok(answer.json(Bounds::VALUE).await?)
    }

    /// Prints a list page by page with one line per item. Prints `none` if the list is empty.
    pub(super) async fn list(&self, path: &str, line: impl Fn(&Value) -> String, none: &str) -> Result<()> {
        let path = self.in_tenant(&with(path, "limit", "200"));
        let mut pages = self.service.pages(&path);
        // Printing starts after the first response. If the request fails, no incomplete JSON is printed.
        let mut page: Option<Items> = pages.next(Bounds::VALUE).await?;
        let mut output = print::json_output();
        let mut array = if self.json { Some(output.serialize_seq(None)?) } else { None };
        let mut is_empty = true;
        while let Some(Items { items }) = page {
            is_empty &= items.is_empty();
            match &mut array {
                Some(array) => items.iter().try_for_each(|item| array.serialize_element(item))?,
                None => print::lines(items.iter().map(&line))?,
            }
            page = pages.next(Bounds::VALUE).await?;
        }
        match array {
            Some(array) => array.end().map_err(Into::into).and_then(|()| print::line("")),
            None if is_empty => print::line(none),
            None => Ok(()),
        }
    }

    /// Prints a response as JSON with `--json`, otherwise as `sentence`.
    pub(super) fn tell(&self, answer: &Value, sentence: String) -> Result<()> {
        self.tell_lines(answer, &[sentence])
    }

    /// Prints a response as JSON with `--json`, otherwise as `lines`.
    pub(super) fn tell_lines(&self, answer: &Value, lines: &[String]) -> Result<()> {
        if self.json { print::json(answer) } else { print::lines(lines) }
    }

    /// Prints items with one line per item. Prints `none` if there are no items.
    pub(super) fn tell_all(&self, all: &[Value], line: impl Fn(&Value) -> String, none: &str) -> Result<()> {
        let lines: Vec<String> = if all.is_empty() { vec![none.to_owned()] } else { all.iter().map(line).collect() };
        self.tell_lines(&json!(all), &lines)
    }
}

/// A page of any list.
#[derive(Deserialize)]
struct Items {
    items: Vec<Value>,
}

/// Returns the path of a user, followed by `rest`. If clients or proxies could change the external id in a path, the
/// query contains it instead.
pub(super) fn user_path(external_id: &str, rest: &str) -> String {
    let is_safe = !external_id.contains(['/', '\\', '%']) && external_id != "-" && !external_id.ends_with('.');
    match is_safe {
        true => format!("/v1/admin/users/{}{rest}", encoded(external_id)),
        false => with(&format!("/v1/admin/users/-{rest}"), "external_id", external_id),
    }
}

/// Percent-encodes a text for a URL.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Returns a member of a JSON object as text. Returns an empty text if the member is missing.
pub(super) fn text(of: &Value, member: &str) -> String {
    match &of[member] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
