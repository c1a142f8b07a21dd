//! Commands that suspend and resume tenants and users.

use anyhow::Result;
use reqwest::Method;
use serde_json::json;

use crate::admin::requests::{AdminRequests, encoded, text, user_path};

impl AdminRequests {
    /// Suspends a user or tenant if there is a reason, otherwise resumes it. `nouns` is `users` or `tenants`.
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
            None => format!("{name} is not suspended"),
        };
        self.tell(&answer, sentence)
    }
}
