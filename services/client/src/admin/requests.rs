//! Sends an admin's requests to the service, and prints the responses.

use anyhow::{Result, bail};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::{Value, json};

use crate::print;
pub(super) use crate::service::with;
use crate::service::{Bounds, Service, ServiceError, ServiceResponse};

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

    /// Returns these requests with a reason to access users' data.
    pub(super) fn with_reason(self, reason: Option<&str>) -> Result<Self> {
        Ok(Self { service: self.service.with_reason(reason)?, ..self })
    }

    /// Adds the tenant to the query, if one was named. Paths below `/v1/admin/tenants` have no such parameter.
    fn in_tenant(&self, path: &str) -> Result<String> {
        match self.tenant.as_deref().filter(|_| !path.starts_with("/v1/admin/tenants")) {
            Some(_) if !path.starts_with("/v1/admin/") => bail!(NO_TENANT),
            Some(slug) => Ok(with(path, "tenant", slug)),
            None => Ok(path.to_owned()),
        }
    }

    /// Requests a value that belongs to the whole deployment instead of a tenant.
    pub(super) async fn ask_above(&self, path: &str) -> Result<Value> {
        let answer = self.service.send(|service| service.request(Method::GET, path)).await?;
        Ok(answer.json(Bounds::VALUE).await?)
    }

    /// Creates something that every repetition would create again. The request is not repeated if the service is
    /// unavailable, because its effect is then unknown.
    pub(super) async fn create_once(&self, path: &str, body: &Value) -> Result<Value> {
        let path = self.in_tenant(path)?;
        let answer = self.service.send_at_most(1, |service| service.request(Method::POST, &path).json(body));
        Ok(answer.await.map_err(in_terms_of_options)?.json(Bounds::VALUE).await?)
    }

    pub(super) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<ServiceResponse> {
        let path = self.in_tenant(path)?;
        let answer = self.service.send(|service| {
            let request = service.request(method.clone(), &path);
            match body {
                Some(body) => request.json(body),
                None => request,
            }
        });
        answer.await.map_err(in_terms_of_options)
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
        let path = self.in_tenant(&with(path, "limit", "200"))?;
        let mut pages = self.service.pages(&path);
        // Printing starts after the first response. If the request fails, no incomplete JSON is printed.
        let mut page: Option<Items> = pages.next(Bounds::VALUE).await.map_err(in_terms_of_options)?;
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

    /// Prints a new secret. Without `--json`, standard output has only the secret, so that a script can store it.
    pub(super) fn tell_secret(&self, answer: &Value, sentence: &str) -> Result<()> {
        print::note(format!("{sentence}; the secret is shown only once"));
        self.tell(answer, text(answer, "secret"))
    }

    /// Deletes an item, and prints `sentence`, or with `--json` the item's id.
    pub(super) async fn delete(&self, path: &str, id: &str, sentence: String) -> Result<()> {
        self.ask(Method::DELETE, path, None).await?;
        self.tell(&json!({ "id": id, "deleted": true }), sentence)
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

const NO_TENANT: &str = "--tenant cannot be used with this command: it works in the tenant of the token";

/// Words of the service's errors, and the options that they are about.
const OPTIONS: [(&str, &str); 3] = [
    ("Knowhow-Reason", "give your reason with --reason"),
    ("\"take\"", "add --take mine or --take theirs"),
    ("\"accept_findings\"", "add --accept-findings to accept them"),
];

/// Adds the option that the service's error is about, if there is one.
fn in_terms_of_options(error: ServiceError) -> anyhow::Error {
    let option = OPTIONS.into_iter().find(|(words, _)| error.detail.contains(words));
    let error = anyhow::Error::new(error);
    match option {
        Some((_, advice)) => error.context(advice),
        None => error,
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
