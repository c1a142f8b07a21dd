//! Telling a tenant's webhook what waits for a person, in the form of Standard Webhooks 1.0 (standardwebhooks.com).

use std::fmt::Display;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use knowhow_domain::{Error, Result, SubmissionId, TenantId, new_id};
use knowhow_store::credential::{self, guarded_client, sign_webhook};
use knowhow_store::submissions;
use knowhow_store::webhooks::{self, Outcome, Target};
use knowhow_telemetry::trace;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode};
use serde::Serialize;
use serde_json::json;
use url::Url;

use crate::{App, Ctx};

/// Longest wait for a webhook, from the lookup of its name to its status.
const PATIENCE: Duration = Duration::from_secs(5);
/// After so many failures in a row a webhook is left alone for a while, so that a dead one does not hold the worker up.
const FAILURES: i32 = 3;
const PAUSE: TimeDelta = TimeDelta::seconds(30);

/// The way to webhooks; one for the whole process.
pub struct Webhooks {
    client: Client,
    private_network: bool,
}

impl Webhooks {
    /// With `private_network`, webhooks may be in private networks and without TLS.
    ///
    /// # Errors
    /// `Internal` where the machine has no certificate roots.
    pub fn new(private_network: bool) -> Result<Self> {
        Ok(Self { client: guarded_client(private_network).map_err(Error::internal)?, private_network })
    }

    /// Reads an address that somebody registers; what is wrong with it, where it is not taken.
    pub(crate) fn read_url(&self, text: &str) -> Result<Url, String> {
        credential::read_url(text, self.private_network)
    }

    /// Sends a message. Its answer's body is not read.
    async fn send(&self, url: &str, message: &Message, signature: &str) -> Result<(), String> {
        // Also of what was registered under other settings.
        let url = self.read_url(url).map_err(|reason| format!("the address {reason}"))?;
        let mut span = trace::wait_for("webhook");
        let mut request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", message.sent_at.timestamp())
            .header("webhook-signature", signature)
            .body(message.payload.clone());
        if let Some(traceparent) = span.traceparent() {
            request = request.header("traceparent", traceparent);
        }
        let outcome = match tokio::time::timeout(PATIENCE, request.send()).await {
            Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
            // Which of these it is would tell whoever registers addresses what there is in our network.
            Ok(Err(error)) if error.is_connect() => {
                Err("no connection: no public address, nobody listens there, or its certificate does not fit".into())
            }
            Ok(Err(_)) => Err("the connection broke before an answer came".into()),
            Ok(Ok(answer)) => read_status(answer.status()),
        };
        if outcome.is_err() {
            span.failed("not taken");
        }
        outcome
    }
}

fn read_status(status: StatusCode) -> Result<(), String> {
    match status {
        status if status.is_success() => Ok(()),
        status if status.is_redirection() => Err(format!("answered {status}; redirects are not followed")),
        status => Err(format!("answered {status}")),
    }
}

/// What is sent.
struct Message {
    /// The same each time that it is sent, so that the other side knows it again.
    id: String,
    sent_at: DateTime<Utc>,
    payload: String,
}

impl Message {
    fn new(id: impl Display, kind: &str, data: impl Serialize, now: DateTime<Utc>) -> Self {
        let timestamp = now.to_rfc3339_opts(SecondsFormat::Millis, true);
        let payload = json!({ "type": kind, "timestamp": timestamp, "data": data }).to_string();
        Self { id: id.to_string(), sent_at: now, payload }
    }
}

/// Tells the tenant's webhook that a submission waits for a person, once. It may be run again: what was told, or decided since,
/// is not told.
///
/// # Errors
/// `Unavailable` where the webhook has not taken it, or is left alone for a moment.
pub(crate) async fn notify(ctx: &Ctx, submission: SubmissionId) -> Result<()> {
    let (db, now) = (&ctx.app.db, ctx.now());
    let Some(notice) = submissions::find_unnotified(db, &ctx.principal, submission).await? else { return Ok(()) };
    let tenant = ctx.principal.tenant();
    let Some(target) = webhooks::find_target(db, tenant, now).await? else { return Ok(()) };
    if is_paused(&target, now) {
        return Err(Error::Unavailable("the webhook has failed repeatedly; it is tried again in a while".into()));
    }
    let message = Message::new(submission, "submission.needs_review", notice, now);
    deliver(&ctx.app, tenant, &target, &message)
        .await?
        .map_err(|reason| Error::Unavailable(format!("the webhook has not taken it: {reason}")))?;
    submissions::note_notified(db, &ctx.principal, submission, ctx.now()).await
}

fn is_paused(target: &Target, now: DateTime<Utc>) -> bool {
    target.failures >= FAILURES && target.failed_at.is_some_and(|failed_at| now - failed_at < PAUSE)
}

/// Sends a message for a try to a webhook, paused or not; why it was not taken, where it was not.
pub(crate) async fn try_out(ctx: &Ctx) -> Result<Result<(), String>> {
    let (tenant, now) = (ctx.principal.tenant(), ctx.now());
    let target = webhooks::find_target(&ctx.app.db, tenant, now).await?;
    let target = target.ok_or_else(|| Error::not_found("webhook"))?;
    let message = Message::new(new_id(), "webhook.test", json!({ "tenant": ctx.principal.tenant_slug() }), now);
    deliver(&ctx.app, tenant, &target, &message).await
}

/// Signs and sends a message, and notes what became of it. No transaction is open meanwhile.
async fn deliver(app: &App, tenant: TenantId, target: &Target, message: &Message) -> Result<Result<(), String>> {
    let sealer = app.gate.state().sealer();
    let open =
        |sealed: &Vec<u8>| -> Option<String> { String::from_utf8(sealer.open(sealed, &sealed_for(tenant)).ok()?).ok() };
    // Sealed under another KNOWHOW_SECRET_KEY, where none opens.
    let secrets: Vec<String> = target.sealed_secrets.iter().filter_map(open).collect();
    let outcome = match secrets.is_empty() {
        true => Err("its secret cannot be read any more: put the webhook again with a new one".to_owned()),
        false => {
            let signature = sign_webhook(&secrets, &message.id, message.sent_at.timestamp(), &message.payload)?;
            app.webhooks.send(&target.url, message, &signature).await
        }
    };
    let error = outcome.as_ref().err().map(String::as_str);
    webhooks::note_outcome(&app.db, tenant, Outcome { url: &target.url, error, now: app.now() }).await?;
    Ok(outcome)
}

/// What a tenant's secret is sealed for.
pub(crate) fn sealed_for(tenant: TenantId) -> Vec<u8> {
    [tenant.0.as_bytes().as_slice(), b"webhook"].concat()
}

#[cfg(test)]
mod tests;
