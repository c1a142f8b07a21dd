//! Where a tenant's people are told of changes that wait for them.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, delete, get, post, put};
use knowhow_domain::Webhook;
use knowhow_ops::admin::{self, PutWebhook, PutWebhookAnswer, WebhookTest};

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, ChangeProblems, JsonBody, ReadProblems, WriteProblems, json};

/// Put the tenant's webhook
///
/// It is told of each change that waits for a person, signed in the form of Standard Webhooks. The answer shows the secret where
/// it is new, this once; a webhook that is there keeps its secret unless `rotate_secret` asks for another.
#[utoipa::path(
    operation_id = "put_webhook",
    tag = "admin",
    params(TenantQuery),
    request_body = PutWebhook,
    responses((status = 200, description = "The webhook now", body = PutWebhookAnswer), ChangeProblems)
)]
#[put("/webhook")]
pub(crate) async fn put_webhook(ctx: AdminCaller, body: JsonBody<PutWebhook>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::put_webhook(&ctx, &body.0).await?))
}

/// Read the tenant's webhook
///
/// Without its secret; with when it took a message last, and why it did not take one.
#[utoipa::path(
    operation_id = "get_webhook",
    tag = "admin",
    params(TenantQuery),
    responses((status = 200, description = "The webhook", body = Webhook), ReadProblems)
)]
#[get("/webhook")]
pub(crate) async fn get_webhook(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::get_webhook(&ctx).await?))
}

/// Remove the tenant's webhook
///
/// Nothing is sent to it from now on.
#[utoipa::path(
    operation_id = "delete_webhook",
    tag = "admin",
    params(TenantQuery),
    responses((status = 204, description = "Removed"), WriteProblems)
)]
#[delete("/webhook")]
pub(crate) async fn delete_webhook(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    admin::delete_webhook(&ctx).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Try the tenant's webhook
///
/// Sends it a message of the type `webhook.test` now, and says whether it was taken.
#[utoipa::path(
    operation_id = "test_webhook",
    tag = "admin",
    params(TenantQuery),
    responses((status = 200, description = "What became of the message", body = WebhookTest), WriteProblems)
)]
#[post("/webhook/test")]
pub(crate) async fn test_webhook(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::test_webhook(&ctx).await?))
}
