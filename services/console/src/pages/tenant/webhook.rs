//! The tenant's webhook: its address, state, and a test message. A new secret is shown once.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use knowhow_domain::{Error, Webhook};
use knowhow_ops::tenants::{self, PutWebhook, WebhookTest};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::failure::{Failure, sentence, status_of};
use crate::form::{AdminForm, Nothing};
use crate::layout::{Layout, Section};
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When};
use crate::visit::{AdminVisit, Visit};

/// A webhook to set.
#[derive(Deserialize)]
pub struct WebhookForm {
    url: String,
}

struct WebhookState {
    url: Line,
    delivered: Option<When>,
    failed: Option<When>,
    failures: i32,
    last_error: Option<Line>,
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct WebhookPage {
    layout: Layout,
    state: Option<WebhookState>,
    url: String,
    secret: Option<String>,
    test: Option<WebhookTest>,
    error: Option<Block>,
}

/// Shows the webhook.
pub async fn show(visit: AdminVisit) -> Result<HttpResponse, Failure> {
    respond(&visit.0, WebhookResult::default()).await
}

/// Sets the webhook, and shows its secret if that is new.
pub async fn save(form: AdminForm<WebhookForm>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields } = form;
    // The API alone rotates the secret: a form that is sent twice would drop the one that receivers still have.
    let input = PutWebhook { url: fields.url.trim().to_owned(), rotate_secret: false };
    match tenants::put_webhook(&visit.ctx, &input).await {
        Ok(answer) => match answer.secret {
            Some(secret) => {
                respond(&visit, WebhookResult { secret: Some((*secret).to_owned()), ..WebhookResult::default() }).await
            }
            None => Ok(see("/console/webhook?done=saved")),
        },
        Err(error @ Error::Internal(_)) => Err(error.into()),
        Err(error) => {
            respond(&visit, WebhookResult { error: Some(error), url: Some(input.url), ..WebhookResult::default() })
                .await
        }
    }
}

/// Sends a test message, and shows the result.
pub async fn test(form: AdminForm<Nothing>) -> Result<HttpResponse, Failure> {
    let test = tenants::test_webhook(&form.visit.ctx).await?;
    respond(&form.visit, WebhookResult { test: Some(test), ..WebhookResult::default() }).await
}

/// Removes the webhook.
pub async fn remove(form: AdminForm<Nothing>) -> Result<HttpResponse, Failure> {
    tenants::delete_webhook(&form.visit.ctx).await?;
    Ok(see("/console/webhook?done=removed"))
}

/// Results of a form.
#[derive(Default)]
struct WebhookResult {
    secret: Option<String>,
    test: Option<WebhookTest>,
    error: Option<Error>,
    /// The typed address, if it was rejected.
    url: Option<String>,
}

async fn respond(visit: &Visit, shown: WebhookResult) -> Result<HttpResponse, Failure> {
    let webhook = match tenants::get_webhook(&visit.ctx).await {
        Ok(webhook) => Some(webhook),
        Err(Error::NotFound { .. }) => None,
        // The new secret is shown even if the state cannot be read, because it is shown only once.
        Err(_) if shown.secret.is_some() => None,
        Err(error) => return Err(error.into()),
    };
    let current = webhook.as_ref().map(|webhook| webhook.url.clone()).unwrap_or_default();
    let address = json!({ "url": "https://review.example/knowhow" });
    let calls = [
        ApiCall::get("/v1/admin/webhook"),
        ApiCall::new("PUT", "/v1/admin/webhook").with_body(address),
        ApiCall::new("POST", "/v1/admin/webhook/test"),
        ApiCall::new("DELETE", "/v1/admin/webhook"),
    ];
    page_with(
        shown.error.as_ref().map_or(StatusCode::OK, status_of),
        &WebhookPage {
            layout: Layout::new(visit, Section::Webhook, "Webhook").with_calls(visit, calls),
            state: webhook.map(|webhook| state_of(visit, webhook)),
            url: shown.url.unwrap_or(current),
            secret: shown.secret,
            test: shown.test,
            error: shown.error.as_ref().map(sentence),
        },
    )
}

fn state_of(visit: &Visit, webhook: Webhook) -> WebhookState {
    WebhookState {
        url: webhook.url.into(),
        delivered: webhook.delivered_at.map(|at| visit.when(at)),
        failed: webhook.failed_at.map(|at| visit.when(at)),
        failures: webhook.failures,
        last_error: webhook.last_error.map(Line),
    }
}
