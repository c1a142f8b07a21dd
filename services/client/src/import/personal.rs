//! Imports the memories and the soul of an agent.

use std::collections::HashSet;

use knowhow_domain::skills::manifest;
use knowhow_ops::context::page::Page;
use knowhow_ops::sessions::memories::SaveMemory;
use knowhow_ops::sessions::soul::PutSoul;
use reqwest::Method;

use super::kinds::{Memory, Soul};
use super::report::{ImportEntry, ImportEntryOutcome};
use crate::service::{Bounds, Service, ServiceError};

/// Maximum number of characters in a core memory, because every prompt includes it. Longer memories are saved as
/// ordinary ones.
const CORE_CHARS: usize = 500;

/// The service and the options of the import.
pub(super) struct PersonalImport<'a> {
    pub(super) service: &'a Service,
    pub(super) shown: &'a dyn Fn(&str) -> String,
    pub(super) is_dry: bool,
}

impl PersonalImport<'_> {
    /// Saves the memories that the user does not have yet. If the service rejects a memory, the next one is tried.
    /// Other errors stop the import.
    pub(super) async fn send_memories(
        &self,
        memories: &[Memory],
        entries: &mut Vec<ImportEntry>,
    ) -> Result<(), ServiceError> {
        if memories.is_empty() {
            return Ok(());
        }
        let mut known = self.list_contents().await?;
        for memory in memories {
            let entry = ImportEntry::new(&(self.shown)(&memory.path), ImportEntryOutcome::Unchanged);
            if !known.insert(manifest::digest(memory.content.as_bytes())) {
                entries.push(entry);
                continue;
            }
            let outcome = if self.is_dry { Ok(()) } else { self.save(memory).await };
            match outcome {
                Ok(()) => entries.push(ImportEntry { outcome: ImportEntryOutcome::Created, ..entry }),
                Err(refusal) if refusal.status.is_some_and(|status| status.is_client_error()) => {
                    let start: String = memory.content.chars().take(40).collect();
                    let reason = format!("{} (the memory \"{start}...\")", refusal.detail);
                    entries.push(ImportEntry { outcome: ImportEntryOutcome::Refused, reason: Some(reason), ..entry });
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(())
    }

    /// Returns the digests of all memories of the user. Their texts are not kept, because together they may be large.
    async fn list_contents(&self) -> Result<HashSet<[u8; 32]>, ServiceError> {
        let mut contents = HashSet::new();
        let mut pages = self.service.pages("/v1/memories?limit=200");
        while let Some(page) = pages.next::<Page<knowhow_domain::Memory>>(Bounds::JSON).await? {
            contents.extend(page.items.iter().map(|memory| manifest::digest(memory.content.as_bytes())));
        }
        Ok(contents)
    }

    /// Saves a memory. If the user has too many core memories, it is saved as an ordinary one.
    async fn save(&self, memory: &Memory) -> Result<(), ServiceError> {
        let is_core = memory.core && memory.content.chars().count() <= CORE_CHARS;
        match self.post(memory, is_core).await {
            Err(refusal) if is_core && refusal.code == "quota-exceeded" => self.post(memory, false).await,
            other => other,
        }
    }

    async fn post(&self, memory: &Memory, core: bool) -> Result<(), ServiceError> {
        let body = SaveMemory {
            kind: memory.details.kind,
            content: memory.content.clone(),
            importance: memory.details.importance,
            tags: Some(memory.tags.clone()),
            core: Some(core),
            session: None,
            replaces: None,
            created_at: memory.details.created_at,
            entities: Vec::new(),
        };
        self.service.send(|service| service.request(Method::POST, "/v1/memories").json(&body)).await?;
        Ok(())
    }

    /// Writes the soul if the user's soul is empty, or if `replace` is set.
    pub(super) async fn send_soul(&self, soul: &Soul, replace: bool) -> Result<ImportEntry, ServiceError> {
        let entry = ImportEntry::new(&(self.shown)(&soul.path), ImportEntryOutcome::Unchanged);
        let answer = self.service.send(|service| service.request(Method::GET, "/v1/soul")).await?;
        let current: knowhow_domain::Soul = answer.json(Bounds::JSON).await?;
        if current.text == soul.text {
            return Ok(entry);
        }
        if !current.text.is_empty() && !replace {
            let reason = "the user already has a soul, which is kept; --replace-soul replaces it".to_owned();
            return Ok(ImportEntry { reason: Some(reason), ..entry });
        }
        let outcome = if current.text.is_empty() { ImportEntryOutcome::Created } else { ImportEntryOutcome::Updated };
        if self.is_dry {
            return Ok(ImportEntry { outcome, ..entry });
        }
        // The expected version prevents overwriting a concurrent change to the soul.
        let body = PutSoul { text: soul.text.clone(), expected_version: Some(current.version) };
        match self.service.send(|service| service.request(Method::PUT, "/v1/soul").json(&body)).await {
            Ok(_) => Ok(ImportEntry { outcome, ..entry }),
            Err(refusal) if refusal.status.is_some_and(|status| status.is_client_error()) => {
                Ok(ImportEntry { outcome: ImportEntryOutcome::Refused, reason: Some(refusal.detail), ..entry })
            }
            Err(refusal) => Err(refusal),
        }
    }
}
