//! Endpoints of a tenant's webhook, which receives a message for each change that awaits review.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, delete, get, post, put};
use knowhow_domain::Webhook;
use knowhow_ops::tenants::{self, PutWebhook, PutWebhookAnswer, WebhookTest};

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, ChangeProblems, JsonBody, ReadProblems, WriteProblems, json};

/// Set the tenant's webhook
///
/// The webhook receives a message for each change that awaits review, signed as defined by Standard Webhooks. The
/// response contains the secret only when it is new. An existing webhook keeps its secret unless `rotate_secret` is
/// set.
#[utoipa::path(
    operation_id = "put_webhook",
    tag = "admin",
    params(TenantQuery),
    request_body = PutWebhook,
    responses((status = 200, description = "The webhook after the change", body = PutWebhookAnswer), ChangeProblems)
)]
#[put("/webhook")]
pub(crate) async fn put_webhook(ctx: AdminCaller, body: JsonBody<PutWebhook>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::put_webhook(&ctx, &body.0).await?))
}

/// Read the tenant's webhook
///
/// Does not include the secret. Includes the time of the last accepted message and the last failure.
#[utoipa::path(
    operation_id = "get_webhook",
    tag = "admin",
    params(TenantQuery),
    responses((status = 200, description = "The webhook", body = Webhook), ReadProblems)
)]
#[get("/webhook")]
pub(crate) async fn get_webhook(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::get_webhook(&ctx).await?))
}

/// Remove the tenant's webhook
///
/// No further messages are sent.
#[utoipa::path(
    operation_id = "delete_webhook",
    tag = "admin",
    params(TenantQuery),
    responses((status = 204, description = "Removed"), WriteProblems)
)]
#[delete("/webhook")]
pub(crate) async fn delete_webhook(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    tenants::delete_webhook(&ctx).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Test the tenant's webhook
///
/// Sends a message of type `webhook.test` now and returns whether it was accepted.
#[utoipa::path(
    operation_id = "test_webhook",
    tag = "admin",
    params(TenantQuery),
    responses((status = 200, description = "The outcome of the message", body = WebhookTest), WriteProblems)
)]
#[post("/webhook/test")]
pub(crate) async fn test_webhook(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::test_webhook(&ctx).await?))
}
