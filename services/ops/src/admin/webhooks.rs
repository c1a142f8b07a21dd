//! A tenant's webhook: where people are told of changes that wait for them.

use knowhow_domain::{Error, Result, Secret, Webhook};
use knowhow_store::credential::new_webhook_secret;
use knowhow_store::webhooks::{self, NewWebhook};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::{begin, note_look, note_read};
use crate::Ctx;
use crate::webhooks::{sealed_for, try_out};

/// A webhook to put.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutWebhook {
    /// Where messages are to be sent: HTTPS on port 443 or 8443 of a public host.
    #[schema(max_length = 2048)]
    pub url: String,
    /// Whether it gets a new secret. Messages are signed by the one before as well, for a day.
    #[serde(default)]
    pub rotate_secret: bool,
}

/// A webhook that was put.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PutWebhookAnswer {
    /// The webhook now.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// Its secret, where it is new: shown this once.
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

/// Puts the tenant's one webhook. A new one gets a secret; one that is there keeps its own, unless another is asked for.
///
/// # Errors
/// `Forbidden`; `Invalid` for an address that messages are not sent to.
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

/// Reads the tenant's webhook, and how messages fare.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn get_webhook(ctx: &Ctx) -> Result<Webhook> {
    let mut tx = begin(ctx).await?;
    let webhook = webhooks::find(&mut tx).await?;
    note_look(ctx, &mut tx, "webhook").await?;
    tx.commit().await?;
    Ok(webhook)
}

/// Removes the tenant's webhook.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn delete_webhook(ctx: &Ctx) -> Result<()> {
    let mut tx = begin(ctx).await?;
    webhooks::delete(&mut tx, ctx.now()).await?;
    tx.commit().await
}

/// What became of a message that was sent for a try.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WebhookTest {
    /// Whether the webhook has taken it.
    pub delivered: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "answered 404 Not Found")]
    pub error: Option<String>,
}

/// Sends the tenant's webhook a message of the type `webhook.test` at once, and says what became of it.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn test_webhook(ctx: &Ctx) -> Result<WebhookTest> {
    let mut tx = begin(ctx).await?;
    webhooks::find(&mut tx).await?;
    note_read(&ctx.app, &mut tx, "webhook.test", "webhook").await?;
    tx.commit().await?;
    let error = try_out(ctx).await?.err();
    Ok(WebhookTest { delivered: error.is_none(), error })
}
