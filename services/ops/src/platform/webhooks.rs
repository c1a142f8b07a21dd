//! Notifies a tenant's webhook of pending reviews, in the format of Standard Webhooks 1.0 (standardwebhooks.com).

use std::fmt::Display;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use knowhow_domain::learning::dream::RunPass;
use knowhow_domain::{DreamId, Error, Result, SubmissionId, TenantId, new_id};
use knowhow_store::learning::dreams;
use knowhow_store::review::submissions;
use knowhow_store::tenants::webhooks::{self, Outcome, Target};
use knowhow_store::vault::credential::{self, guarded_client, sign_webhook};
use knowhow_telemetry::trace;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode};
use serde::Serialize;
use serde_json::json;
use url::Url;

use crate::{App, Ctx};

/// Timeout of a request, from the DNS lookup to the response status.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of consecutive failures after which a webhook is paused, so that an unreachable webhook does not block the
/// worker.
const FAILURES: i32 = 3;
/// Time after the last failure during which a paused webhook is not called.
const PAUSE: TimeDelta = TimeDelta::seconds(30);

/// The client for webhooks; shared by the process.
pub struct Webhooks {
    client: Client,
    private_network: bool,
}

impl Webhooks {
    /// Creates a client. With `private_network`, webhooks may be in private networks and without TLS.
    ///
    /// # Errors
    /// `Internal` if the machine has no root certificates.
    pub fn new(private_network: bool) -> Result<Self> {
        Ok(Self { client: guarded_client(private_network).map_err(Error::internal)?, private_network })
    }

    /// Parses and validates a webhook URL. The error is the reason for a rejection.
    pub(crate) fn read_url(&self, text: &str) -> Result<Url, String> {
        credential::read_url(text, self.private_network)
    }

    /// Sends a message. The body of the answer is ignored. The error is the reason for the failure.
    async fn send(&self, url: &str, message: &Message, signature: &str) -> Result<(), String> {
        // Checked again, as the URL may have been registered under other settings.
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
            // A more precise error would reveal to tenants' admins which hosts and ports exist in the service's
            // network.
            Ok(Err(error)) if error.is_connect() => {
                Err("no connection: the address is not public, the port is closed, or the certificate is invalid"
                    .into())
            }
            Ok(Err(_)) => Err("the connection failed before an answer".into()),
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

/// A message to send.
struct Message {
    /// The message id, identical for all attempts, so that the receiver can detect repetitions.
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

/// Notifies the tenant's webhook once that a submission needs a decision. Idempotent: submissions that were decided
/// or notified are skipped.
///
/// # Errors
/// `Unavailable` if the webhook did not accept the message, or is paused.
pub(crate) async fn notify(ctx: &Ctx, submission: SubmissionId) -> Result<()> {
    let (db, now) = (&ctx.app.db, ctx.now());
    let Some(notice) = submissions::find_unnotified(db, &ctx.principal, submission).await? else { return Ok(()) };
    let message = Message::new(submission, "submission.needs_review", notice, now);
    match send(ctx, &message).await? {
        true => submissions::note_notified(db, &ctx.principal, submission, ctx.now()).await,
        false => Ok(()),
    }
}

/// Notifies the tenant's webhook once that operations of a dream or a reflection need a decision. Idempotent: runs
/// that were decided or notified are skipped.
///
/// # Errors
/// `Unavailable` if the webhook did not accept the message, or is paused.
pub(crate) async fn notify_of_dream(ctx: &Ctx, run: DreamId) -> Result<()> {
    let (db, now) = (&ctx.app.db, ctx.now());
    let Some(notice) = dreams::find_unnotified(db, &ctx.principal, run).await? else { return Ok(()) };
    let kind = if notice.pass == RunPass::Reflection { "reflection.waiting" } else { "dream.waiting" };
    match send(ctx, &Message::new(run, kind, notice, now)).await? {
        true => dreams::note_notified(db, &ctx.principal, run, ctx.now()).await,
        false => Ok(()),
    }
}

/// Sends a message to the tenant's webhook. Returns whether the tenant has a webhook.
async fn send(ctx: &Ctx, message: &Message) -> Result<bool> {
    let (tenant, now) = (ctx.principal.tenant(), ctx.now());
    let Some(target) = webhooks::find_target(&ctx.app.db, tenant, now).await? else { return Ok(false) };
    if is_paused(&target, now) {
        return Err(Error::Unavailable("the webhook has failed repeatedly; it will be tried again later".into()));
    }
    deliver(&ctx.app, tenant, &target, message)
        .await?
        .map_err(|reason| Error::Unavailable(format!("the webhook did not accept it: {reason}")))?;
    Ok(true)
}

fn is_paused(target: &Target, now: DateTime<Utc>) -> bool {
    target.failures >= FAILURES && target.failed_at.is_some_and(|failed_at| now - failed_at < PAUSE)
}

/// Sends a test message to a webhook, even if it is paused. The error is the reason for a failed delivery.
pub(crate) async fn try_out(ctx: &Ctx) -> Result<Result<(), String>> {
    let (tenant, now) = (ctx.principal.tenant(), ctx.now());
    let target = webhooks::find_target(&ctx.app.db, tenant, now).await?;
    let target = target.ok_or_else(|| Error::not_found("webhook"))?;
    let message = Message::new(new_id(), "webhook.test", json!({ "tenant": ctx.principal.tenant_slug() }), now);
    deliver(&ctx.app, tenant, &target, &message).await
}

/// Signs and sends a message, and stores the outcome. No transaction is open during the request.
async fn deliver(app: &App, tenant: TenantId, target: &Target, message: &Message) -> Result<Result<(), String>> {
    let sealer = app.gate.state().sealer();
    let open =
        |sealed: &Vec<u8>| -> Option<String> { String::from_utf8(sealer.open(sealed, &sealed_for(tenant)).ok()?).ok() };
    // Empty if the secrets were sealed with another KNOWHOW_SECRET_KEY.
    let secrets: Vec<String> = target.sealed_secrets.iter().filter_map(open).collect();
    let outcome = match secrets.is_empty() {
        true => Err("the webhook's secret cannot be decrypted; set the webhook again with a new one".to_owned()),
        false => {
            let signature = sign_webhook(&secrets, &message.id, message.sent_at.timestamp(), &message.payload)?;
            app.webhooks.send(&target.url, message, &signature).await
        }
    };
    let error = outcome.as_ref().err().map(String::as_str);
    webhooks::note_outcome(&app.db, tenant, Outcome { url: &target.url, error, now: app.now() }).await?;
    Ok(outcome)
}

/// Returns the context bytes with which a tenant's webhook secret is encrypted.
pub(crate) fn sealed_for(tenant: TenantId) -> Vec<u8> {
    [tenant.0.as_bytes().as_slice(), b"webhook"].concat()
}

#[cfg(test)]
mod tests;
