//! Stores the text of a reflection as a memory, which can be found by words, vector and named skills.

use std::time::Duration;

use knowhow_domain::{MemoryId, MemoryKind, Result};
use knowhow_store::WriteTx;
use knowhow_store::learning::reflections::{self, Carried};
use knowhow_store::sessions::memories::{self, NewMemory};

use super::ReflectionInProgress;
use crate::learning::reflect::material::MaterialPart;
use crate::sessions::memories::{PreparedText, prepare_text};

/// The importance of a reflection among memories.
const IMPORTANCE: f32 = 0.6;
/// Maximum wait for the vector of a reflection. Without a vector, recall finds the reflection by words.
const WAIT: Duration = Duration::from_secs(10);

/// A text to store as a memory, with the data for recall to find it.
pub(super) struct Ready<'a> {
    part: &'a MaterialPart,
    text: &'a str,
    prepared: PreparedText,
}

impl ReflectionInProgress<'_> {
    pub(super) async fn prepare<'a>(&self, part: &'a MaterialPart, text: &'a str) -> Result<Ready<'a>> {
        Ok(Ready { part, text, prepared: prepare_text(self.ctx, text, Vec::new(), WAIT).await? })
    }

    /// Stores one text as a memory; returns `None` if the user has the maximum number of memories.
    pub(super) async fn remember(&self, tx: &mut WriteTx, ready: &Ready<'_>) -> Result<Option<MemoryId>> {
        let Ready { part, text, prepared } = ready;
        // A daily reflection inherits the taint of its sessions; the others inherit the taint of the reflections that
        // they summarize.
        let sessions: Vec<String> = match part.from.is_empty() {
            true => part.list_sessions().iter().map(ToString::to_string).collect(),
            false => Vec::new(),
        };
        let named: Vec<&str> = sessions.iter().map(String::as_str).collect();
        let new = NewMemory {
            kind: MemoryKind::Reflection,
            content: text,
            tags: &[self.of.cadence.as_str().to_owned(), self.of.period.to_string()],
            importance: IMPORTANCE,
            core: false,
            session: None,
            conversation: None,
            named: &named,
            is_doubtful: prepared.is_doubtful,
            embedding: prepared.embedding(self.ctx),
            now: self.of.now,
        };
        let Some(memory) = memories::add(tx, &new).await? else { return Ok(None) };
        prepared.link(self.ctx, tx, &memory);
        reflections::carry(tx, Carried { memory: memory.id, from: &part.from, is_tainted: part.is_tainted });
        Ok(Some(memory.id))
    }
}
