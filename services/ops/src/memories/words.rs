//! The words of users' memories, kept in this process: a recall does not read all texts.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use knowhow_domain::recall::{Catalogue, Listed, SkillText};
use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::Principal;
use knowhow_store::memories::{self, Standing};
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};
use uuid::Uuid;

use crate::{App, compute};

/// What is not asked for that long is let go.
const IDLE: Duration = Duration::from_secs(3600);
/// Texts of at most so many bytes are read at once, some 100 ms of the processor. Of more, a recall goes by meaning and by
/// the words that are known, while the others are read.
const TEXTS: i64 = 2 * 1024 * 1024;

/// More are looked at for one caller of a tenant at a time.
const MANY: usize = 1000;

type Owner = (TenantId, UserId);

/// The words of one user's memories. A memory never changes; it comes and goes.
#[derive(Default)]
struct Words {
    /// Ascending.
    ids: Vec<Uuid>,
    /// In that order.
    index: Catalogue,
}

/// The words of users' memories, within a weight.
pub(crate) struct MemoryWords {
    kept: Cache<Owner, Arc<Words>>,
    /// Whose many texts are being read.
    reading: Mutex<HashSet<Owner>>,
}

impl MemoryWords {
    /// None yet, and at most so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &Owner, words: &Arc<Words>| u32::try_from(words.weight()).unwrap_or(u32::MAX);
        let kept = Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE).build();
        Self { kept, reading: Mutex::default() }
    }

    /// Whether the caller has so many memories that a question to them is dear.
    pub(super) async fn are_many(&self, principal: &Principal) -> Result<bool> {
        let kept = self.kept.get(&(principal.tenant(), principal.user()?)).await;
        Ok(kept.is_some_and(|kept| kept.ids.len() > MANY))
    }

    /// For each of the caller's memories, given as they stand, the weights of the terms that it holds, together.
    pub(crate) async fn weigh(
        &self,
        app: &App,
        principal: &Principal,
        standing: &[Standing],
        (terms, weights): (&[String], &[f32]),
    ) -> Result<Vec<f32>> {
        let words = self.get(app, principal, standing).await?;
        let sums = words.index.weigh_terms(terms, weights);
        let of =
            |memory: &Standing| words.ids.binary_search(&memory.id).ok().and_then(|place| sums.get(place)).copied();
        Ok(standing.iter().map(|memory| of(memory).unwrap_or_default()).collect())
    }

    async fn get(&self, app: &App, principal: &Principal, standing: &[Standing]) -> Result<Arc<Words>> {
        let owner = (principal.tenant(), principal.user()?);
        let kept = self.kept.get(&owner).await.unwrap_or_default();
        let missing = standing.iter().filter(|memory| !kept.has(memory.id));
        let bytes: i64 = missing.map(|memory| i64::from(memory.bytes)).sum();
        if bytes <= TEXTS {
            return if kept.is_of(standing) { Ok(kept) } else { self.read_some(app, principal, owner, standing).await };
        }
        if self.lock_reading().insert(owner) {
            let (app, principal, standing) = (app.clone(), principal.clone(), standing.to_vec());
            tokio::spawn(async move {
                let memories = &app.catalogues.memories;
                if let Err(error) = memories.read_all(&app, &principal, owner, &standing).await {
                    tracing::warn!(%error, "the texts of many memories were not read; the next recall tries again");
                }
                memories.lock_reading().remove(&owner);
            });
        }
        Ok(kept)
    }

    async fn read_all(&self, app: &App, principal: &Principal, owner: Owner, standing: &[Standing]) -> Result<()> {
        while !self.read_some(app, principal, owner, standing).await?.is_of(standing) {}
        Ok(())
    }

    /// Reads texts that are missing, up to a bound, and forgets those that are gone.
    async fn read_some(
        &self,
        app: &App,
        principal: &Principal,
        owner: Owner,
        standing: &[Standing],
    ) -> Result<Arc<Words>> {
        let built = self.kept.entry(owner).and_try_compute_with(async |kept| {
            let before = kept.map(|kept| kept.value().clone()).unwrap_or_default();
            if before.is_of(standing) {
                return Ok(Op::Nop);
            }
            let mut room = TEXTS;
            let missing = standing.iter().filter(|memory| !before.has(memory.id)).take_while(|memory| {
                let has_room = room > 0;
                room -= i64::from(memory.bytes);
                has_room
            });
            let missing: Vec<Uuid> = missing.map(|memory| memory.id).collect();
            let read = memories::list_contents(&app.db, principal, &missing).await?;
            // One that went meanwhile has no words.
            let mut texts: HashMap<Uuid, String> = missing.into_iter().map(|id| (id, String::new())).collect();
            texts.extend(read);
            let standing: Vec<Uuid> = standing.iter().map(|memory| memory.id).collect();
            let _turn = app.catalogues.take_turn().await?;
            let words = compute(move || Ok(before.update(&standing, &texts))).await?;
            Ok::<_, Error>(Op::Put(Arc::new(words)))
        });
        match built.await? {
            CompResult::Inserted(entry) | CompResult::ReplacedWith(entry) | CompResult::Unchanged(entry) => {
                Ok(entry.into_value())
            }
            CompResult::Removed(_) | CompResult::StillNone(_) => Ok(Arc::default()),
        }
    }

    fn lock_reading(&self) -> std::sync::MutexGuard<'_, HashSet<Owner>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Words {
    fn has(&self, memory: Uuid) -> bool {
        self.ids.binary_search(&memory).is_ok()
    }

    /// Whether these are the words of exactly those memories.
    fn is_of(&self, standing: &[Standing]) -> bool {
        self.ids.iter().eq(standing.iter().map(|memory| &memory.id))
    }

    /// The words of the memories that stand, ascending: what was known of them, and of those that were read.
    fn update(&self, standing: &[Uuid], read: &HashMap<Uuid, String>) -> Self {
        let known: Vec<(Uuid, Option<usize>)> = standing
            .iter()
            .map(|id| (*id, self.ids.binary_search(id).ok()))
            .filter(|(id, before)| before.is_some() || read.contains_key(id))
            .collect();
        let listed = known.iter().map(|(id, before)| Listed {
            before: *before,
            text: read.get(id).map(|content| SkillText { body: content, ..SkillText::default() }),
            ..Listed::default()
        });
        let index = self.index.update(&listed.collect::<Vec<_>>());
        Self { ids: known.into_iter().map(|(id, _)| id).collect(), index }
    }

    fn weight(&self) -> usize {
        size_of::<Self>() + self.ids.capacity() * size_of::<Uuid>() + self.index.weight()
    }
}

#[cfg(test)]
mod tests {
    use knowhow_domain::new_id;

    use super::*;

    #[test]
    fn words_come_and_go_with_their_memories() {
        let ids = [new_id(), new_id(), new_id()];
        let text = |at: usize, text: &str| (ids[at], text.to_owned());
        let weigh = |words: &Words| words.index.weigh_terms(&["zebra".to_owned(), "quetzal".to_owned()], &[0.75, 0.25]);
        let first = Words::default().update(&ids[..2], &[text(0, "A zebra."), text(1, "Nothing.")].into());
        assert_eq!(weigh(&first), [0.75, 0.0]);
        // One is gone, one is new, one was not read yet.
        let second = first.update(&ids[1..], &[text(2, "Zebras and a quetzal")].into());
        assert_eq!((second.ids.as_slice(), weigh(&second)), (&ids[1..], vec![0.0, 1.0]));
        let third = second.update(&ids, &HashMap::new());
        assert_eq!(third.ids, ids[1..]);
    }
}
