//! Memory for the bodies of requests that are under way. A body that stays half sent holds what has come of it, so all of
//! them together are bounded, and each caller's: a caller that sends many large bodies at once waits, and no other does.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Data;
use knowhow_domain::{Error, Result};

use super::Shared;

/// The beginning of a body, which is not counted: everyday requests are smaller, and must not wait for large ones.
const FREE_BYTES: usize = 16 * 1024;
/// How many callers there must be to take all of the memory.
const CALLERS: usize = 3;
/// Whose credential was good within this time is known.
const KNOWN_FOR: Duration = Duration::from_secs(600);
/// Seconds after which a caller who had too many bodies under way tries again.
const RETRY_S: u32 = 5;

/// Who sends: the credential, by a hash that nobody can foresee.
type Sender = u64;

/// The memory, and who holds how much of it.
pub struct Bodies {
    most: usize,
    held: Mutex<Held>,
    /// Bodies are read while the credential is verified. Until one was good, its sender shares a part with all strangers.
    known: moka::sync::Cache<Sender, ()>,
    hasher: RandomState,
}

#[derive(Default)]
struct Held {
    by_all: usize,
    by_strangers: usize,
    by_known: HashMap<Sender, usize>,
}

impl Bodies {
    /// Memory of so many bytes.
    pub fn new(most: usize) -> Self {
        let known = moka::sync::Cache::builder().max_capacity(100_000).time_to_idle(KNOWN_FOR).build();
        Self { most, held: Mutex::default(), known, hasher: RandomState::new() }
    }

    /// The request's credential is good.
    pub(super) fn welcome(&self, request: &HttpRequest) {
        let sender = self.sender(request);
        // Most are known already, and reading is cheaper than writing.
        if self.known.get(&sender).is_none() {
            self.known.insert(sender, ());
        }
    }

    fn sender(&self, request: &HttpRequest) -> Sender {
        let credential = request.headers().get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
        let user = request.headers().get("knowhow-user").map(header::HeaderValue::as_bytes);
        self.hasher.hash_one((credential, user))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, sender: Option<Sender>, bytes: usize) -> Result<()> {
        let share = self.most / CALLERS;
        let mut held = self.held();
        if held.by_all + bytes > self.most {
            let detail = "too many request bodies are under way; try again in a moment";
            return Err(Error::Unavailable(detail.into()));
        }
        let own = match sender {
            Some(sender) => held.by_known.get(&sender).copied().unwrap_or_default(),
            None => held.by_strangers,
        };
        if own + bytes > share {
            let detail = "too many request bodies of this caller are under way; send fewer large ones at once";
            return Err(Error::RateLimited { detail: detail.into(), retry_after: RETRY_S });
        }
        match sender {
            Some(sender) => drop(held.by_known.insert(sender, own + bytes)),
            None => held.by_strangers += bytes,
        }
        held.by_all += bytes;
        Ok(())
    }

    fn give_back(&self, sender: Option<Sender>, bytes: usize) {
        let mut held = self.held();
        held.by_all -= bytes;
        let Some(sender) = sender else {
            held.by_strangers -= bytes;
            return;
        };
        let left = held.by_known.get(&sender).map_or(0, |own| own - bytes);
        if left == 0 {
            held.by_known.remove(&sender);
        } else {
            held.by_known.insert(sender, left);
        }
    }
}

/// What one body holds, given back when the request is over.
pub struct Lease {
    shared: Option<Data<Shared>>,
    sender: Option<Sender>,
    free: usize,
    bytes: usize,
}

impl Lease {
    /// A reader that has read nothing of the body yet.
    pub fn of(request: &HttpRequest) -> Self {
        let shared = request.app_data::<Data<Shared>>().cloned();
        let sender = shared.as_ref().and_then(|shared| {
            let sender = shared.bodies.sender(request);
            shared.bodies.known.get(&sender).map(|()| sender)
        });
        Self { shared, sender, free: FREE_BYTES, bytes: 0 }
    }

    /// Room for the next bytes.
    ///
    /// # Errors
    /// `RateLimited` where the caller has too much under way, `Unavailable` where all together have.
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        let counted = bytes.saturating_sub(self.free);
        self.free = self.free.saturating_sub(bytes);
        if let Some(shared) = self.shared.as_ref().filter(|_| counted > 0) {
            shared.bodies.take(self.sender, counted)?;
            self.bytes += counted;
        }
        Ok(())
    }

    /// Holds it until the request is answered.
    pub fn keep(self, request: &HttpRequest) {
        use actix_web::HttpMessage;
        request.extensions_mut().insert(Arc::new(self));
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.as_ref().filter(|_| self.bytes > 0) {
            shared.bodies.give_back(self.sender, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests;
