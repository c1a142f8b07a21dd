//! A tenant's webhook, which notifies people of pending reviews.

use knowhow_domain::{Error, Result, Secret, Webhook};
use knowhow_store::tenants::webhooks::{self, NewWebhook};
use knowhow_store::vault::credential::new_webhook_secret;
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::{begin, note_look, note_read};
use crate::Ctx;
use crate::platform::webhooks::{sealed_for, try_out};

/// A webhook to set.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutWebhook {
    /// The URL for messages: HTTPS on port 443 or 8443 of a public host.
    #[schema(max_length = 2048)]
    pub url: String,
    /// Whether to create a new secret. For a day, messages are signed with the old secret too.
    #[serde(default)]
    pub rotate_secret: bool,
}

/// The result of setting the webhook.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PutWebhookAnswer {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// The secret, if it is new; shown only once.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show")]
    #[schema(value_type = Option<String>, example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwdJ3XZ0mR4hc=")]
    pub secret: Option<Secret>,
}

fn show<S: Serializer>(secret: &Option<Secret>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match secret {
        Some(secret) => secret.show(serializer),
        None => serializer.serialize_none(),
    }
}

/// Sets the tenant's only webhook. A new webhook gets a secret. An existing webhook keeps its secret unless a
/// rotation is requested.
///
/// # Errors
/// `Forbidden`; `Invalid` for a URL that is not allowed.
pub async fn put_webhook(ctx: &Ctx, input: &PutWebhook) -> Result<PutWebhookAnswer> {
    ctx.principal.require_admin()?;
    let url = ctx.app.webhooks.read_url(&input.url).map_err(|reason| Error::invalid("/url", reason))?;
    let secret = new_webhook_secret()?;
    let sealer = ctx.app.gate.state().sealer();
    let sealed = sealer.seal(secret.as_bytes(), &sealed_for(ctx.principal.tenant())).map_err(Error::internal)?;
    let new = NewWebhook {
        url: url.as_str(),
        host: url.host_str().unwrap_or_default(),
        sealed_secret: &sealed,
        rotates: input.rotate_secret,
        now: ctx.now(),
    };
    let mut tx = begin(ctx).await?;
    let (webhook, is_new) = webhooks::put(&mut tx, new).await?;
    tx.commit().await?;
    Ok(PutWebhookAnswer { webhook, secret: is_new.then(|| secret.into()) })
}

/// Reads the tenant's webhook and its delivery status.
pub async fn get_webhook(ctx: &Ctx) -> Result<Webhook> {
    let mut tx = begin(ctx).await?;
    let webhook = webhooks::find(&mut tx).await?;
    note_look(ctx, &mut tx, "webhook").await?;
    tx.commit().await?;
    Ok(webhook)
}

/// Deletes the tenant's webhook.
pub async fn delete_webhook(ctx: &Ctx) -> Result<()> {
    let mut tx = begin(ctx).await?;
    webhooks::delete(&mut tx, ctx.now()).await?;
    tx.commit().await
}

/// The result of a test message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WebhookTest {
    /// Whether the webhook accepted the message.
    pub delivered: bool,
    /// The reason for a failed delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "answered 404 Not Found")]
    pub error: Option<String>,
}

/// Sends a message of the type `webhook.test` to the tenant's webhook, and returns the result.
pub async fn test_webhook(ctx: &Ctx) -> Result<WebhookTest> {
    let mut tx = begin(ctx).await?;
    webhooks::find(&mut tx).await?;
    note_read(&ctx.app, &mut tx, "webhook.test", "webhook").await?;
    tx.commit().await?;
    let error = try_out(ctx).await?.err();
    Ok(WebhookTest { delivered: error.is_none(), error })
}
