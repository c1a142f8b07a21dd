//! Sends what an agent knew of its user: memories, and the soul.

use std::collections::HashSet;

use knowhow_domain::manifest;
use knowhow_ops::memories::SaveMemory;
use knowhow_ops::page::Page;
use knowhow_ops::soul::PutSoul;
use reqwest::Method;

use super::kinds::{Memory, Soul};
use super::report::{Entry, Outcome};
use crate::cli::client::{Bounds, Refusal, Service};

/// What a core memory may have, which is a line of every prompt.
const CORE_CHARS: usize = 500;

/// Where it goes to, and how.
pub(super) struct Personal<'a> {
    pub(super) service: &'a Service,
    pub(super) shown: &'a dyn Fn(&str) -> String,
    pub(super) is_dry: bool,
}

impl Personal<'_> {
    /// Saves memories that the user has not; `Err` says why it stopped.
    pub(super) async fn send_memories(&self, memories: &[Memory], entries: &mut Vec<Entry>) -> Result<(), Refusal> {
        if memories.is_empty() {
            return Ok(());
        }
        let mut known = self.list_contents().await?;
        for memory in memories {
            let entry = Entry::new(&(self.shown)(&memory.path), Outcome::Unchanged);
            if !known.insert(manifest::digest(memory.content.as_bytes())) {
                entries.push(entry);
                continue;
            }
            let outcome = if self.is_dry { Ok(()) } else { self.save(memory).await };
            match outcome {
                Ok(()) => entries.push(Entry { outcome: Outcome::Created, ..entry }),
                Err(refusal) if refusal.status.is_some_and(|status| status.is_client_error()) => {
                    let start: String = memory.content.chars().take(40).collect();
                    let reason = format!("{} (the memory \"{start}...\")", refusal.detail);
                    entries.push(Entry { outcome: Outcome::Refused, reason: Some(reason), ..entry });
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(())
    }

    /// Lists digests of all memories: the texts together may be large.
    async fn list_contents(&self) -> Result<HashSet<[u8; 32]>, Refusal> {
        let mut contents = HashSet::new();
        let mut pages = self.service.pages("/v1/memories?limit=200");
        while let Some(page) = pages.next::<Page<knowhow_domain::Memory>>(Bounds::JSON).await? {
            contents.extend(page.items.iter().map(|memory| manifest::digest(memory.content.as_bytes())));
        }
        Ok(contents)
    }

    /// Core memories are few: one more is kept like any other.
    async fn save(&self, memory: &Memory) -> Result<(), Refusal> {
        let is_core = memory.core && memory.content.chars().count() <= CORE_CHARS;
        match self.post(memory, is_core).await {
            Err(refusal) if is_core && refusal.code == "quota-exceeded" => self.post(memory, false).await,
            other => other,
        }
    }

    async fn post(&self, memory: &Memory, core: bool) -> Result<(), Refusal> {
        let body = SaveMemory {
            kind: None,
            content: memory.content.clone(),
            importance: None,
            tags: Some(memory.tags.clone()),
            core: Some(core),
            session: None,
            entities: Vec::new(),
        };
        self.service.send(|service| service.request(Method::POST, "/v1/memories").json(&body)).await?;
        Ok(())
    }

    /// Writes the soul where the user has none, or `replace` says so.
    pub(super) async fn send_soul(&self, soul: &Soul, replace: bool) -> Result<Entry, Refusal> {
        let entry = Entry::new(&(self.shown)(&soul.path), Outcome::Unchanged);
        let answer = self.service.send(|service| service.request(Method::GET, "/v1/soul")).await?;
        let current: knowhow_domain::Soul = answer.json(Bounds::JSON).await?;
        if current.text == soul.text {
            return Ok(entry);
        }
        if !current.text.is_empty() && !replace {
            let reason = "the user has one already, which is kept; --replace-soul replaces it".to_owned();
            return Ok(Entry { reason: Some(reason), ..entry });
        }
        let outcome = if current.text.is_empty() { Outcome::Created } else { Outcome::Updated };
        if self.is_dry {
            return Ok(Entry { outcome, ..entry });
        }
        // Somebody who writes it at the same time is not overwritten.
        let body = PutSoul { text: soul.text.clone(), expected_version: Some(current.version) };
        match self.service.send(|service| service.request(Method::PUT, "/v1/soul").json(&body)).await {
            Ok(_) => Ok(Entry { outcome, ..entry }),
            Err(refusal) if refusal.status.is_some_and(|status| status.is_client_error()) => {
                Ok(Entry { outcome: Outcome::Refused, reason: Some(refusal.detail), ..entry })
            }
            Err(refusal) => Err(refusal),
        }
    }
}
