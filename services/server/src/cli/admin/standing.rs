//! Suspending tenants and users.

use anyhow::Result;
use reqwest::Method;
use serde_json::json;

use super::desk::{Desk, encoded, text, user_path};

impl Desk {
    /// Suspends one of the `nouns` with a reason, or lets it in again without one.
    pub(super) async fn suspend(&self, nouns: &str, name: &str, reason: Option<&str>) -> Result<()> {
        let path = match nouns {
            "users" => user_path(name, "/suspension"),
            _ => format!("/v1/admin/{nouns}/{}/suspension", encoded(name)),
        };
        let body = reason.map(|reason| json!({ "reason": reason }));
        let method = if reason.is_some() { Method::PUT } else { Method::DELETE };
        let answer = self.ask(method, &path, body.as_ref()).await?;
        let sentence = match answer["suspended_at"].as_str() {
            Some(since) => format!("{name} is suspended since {since}: {}", text(&answer, "suspended_reason")),
            None => format!("{name} is let in"),
        };
        self.tell(&answer, sentence)
    }
}
