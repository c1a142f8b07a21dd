//! Commands for the tenant's webhook.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use reqwest::Method;
use serde_json::{Value, json};

use crate::admin::lines::labelled;
use crate::admin::requests::{AdminRequests, text};

const PATH: &str = "/v1/admin/webhook";

/// Commands for the webhook.
#[derive(Subcommand)]
pub(super) enum WebhookCommand {
    /// Show the tenant's webhook with its last success and failure
    Webhook,
    /// Set the URL that is called for each change that awaits review; print its secret if that is new
    SetWebhook {
        /// HTTPS URL on port 443 or 8443 of a public host
        url: String,
        /// Create a new secret; for a day, messages are signed with the old one too
        #[arg(long)]
        rotate_secret: bool,
    },
    /// Send a test message to the webhook now; the command fails if it is not accepted
    TestWebhook,
    /// Remove the tenant's webhook
    DeleteWebhook,
}

impl AdminRequests {
    pub(super) async fn manage_webhook(&self, command: WebhookCommand) -> Result<ExitCode> {
        match command {
            WebhookCommand::Webhook => {
                let webhook = self.ask(Method::GET, PATH, None).await?;
                self.tell(&webhook, line_of(&webhook))?;
            }
            WebhookCommand::SetWebhook { url, rotate_secret } => {
                let body = json!({ "url": url, "rotate_secret": rotate_secret });
                let webhook = self.ask(Method::PUT, PATH, Some(&body)).await?;
                match webhook["secret"].is_null() {
                    true => self.tell(&webhook, line_of(&webhook))?,
                    false => self.tell_secret(&webhook, &line_of(&webhook))?,
                }
            }
            WebhookCommand::TestWebhook => return self.test_webhook().await,
            WebhookCommand::DeleteWebhook => {
                self.delete(PATH, "webhook", "the webhook is removed".to_owned()).await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn test_webhook(&self) -> Result<ExitCode> {
        let result = self.ask(Method::POST, &format!("{PATH}/test"), None).await?;
        let is_delivered = result["delivered"] == true;
        let sentence = match is_delivered {
            true => "the webhook accepted the message".to_owned(),
            false => format!("the webhook did not accept the message{}", labelled(": ", &result, "error")),
        };
        self.tell(&result, sentence)?;
        Ok(if is_delivered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn line_of(webhook: &Value) -> String {
    format!(
        "{}: created {}{}{}{}, {} failures in a row",
        text(webhook, "url"),
        text(webhook, "created_at"),
        labelled(", last success ", webhook, "delivered_at"),
        labelled(", last failure ", webhook, "failed_at"),
        labelled(": ", webhook, "last_error"),
        text(webhook, "failures"),
    )
}
